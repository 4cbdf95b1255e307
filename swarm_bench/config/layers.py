"""Every option, wherever it is set: command line, environment, `.env`, settings file, default."""

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from swarm_bench.config.annotations import flag, written_name
from swarm_bench.config.compare_options import SCOPES
from swarm_bench.config.compare_options import Settings as Settings
from swarm_bench.config.dotenv_file import DotEnv, check_plain, read_dotenv
from swarm_bench.config.run_options import RUN_SCOPES
from swarm_bench.config.settings_file import SettingsFile, read_settings
from swarm_bench.core.errors import ConfigError, UsageError
from swarm_bench.core.session.base import Source as Source
from swarm_bench.core.session.experiment import NOT_STORED, Experiment, Setting
from swarm_bench.core.session.retrieving import RetrieveExperiment
from swarm_bench.core.validation import describe_problem, format_value

PREFIX = "SWARM_BENCH_"
PROPERTY_PREFIX = f"{PREFIX}PROPERTY_"


_Kind = TypeVar("_Kind")
_SETTINGS = TypeAdapter(Settings)
_NAMES = {written_name(name) for name in (*SCOPES, *RUN_SCOPES)}
"""Names of the options as a user writes them, those of all commands: one file serves them all."""
MARKS = {f"{PREFIX}{name}" for name in ("TRIAL", "OWNER", "DEBUG")}
"""Variables with our prefix that are no options: one swarm-bench may run inside another, and may be
asked for a traceback."""
TRUST = f"{PREFIX}TRUST"
"""Counts in the environment of the process only: a file cannot vouch for itself."""

Layers = dict[Source, Mapping[str, Any]]
"""Values that each source sets, the first one to win first."""


@dataclass(frozen=True, kw_only=True)
class Member:
    """One session of a series that differ in the size of their swarms."""

    size: int
    like: Experiment | None = None
    """Experiment of another member of the series, which measures the same; `None` for the first."""
    other_sessions: tuple["Continued", ...] = ()
    """Other sessions of the series, as far as they exist."""


@dataclass(frozen=True, kw_only=True)
class Continued:
    """A session that is continued, as it was read when the call began."""

    folder: Path
    experiment: Experiment
    state: tuple[int, ...] | None
    """State of the experiment's file at that time (`runtime/files.py`)."""


@dataclass(frozen=True, kw_only=True)
class Resolved:
    """The options, and where each came from."""

    settings: Settings
    sources: Mapping[str, Source]
    config: Path | None = None
    """The settings file that `--config` names; `None` for the one of the working folder."""
    dotenv: DotEnv = field(default_factory=DotEnv, repr=False)
    """Variables in `.env` that are not ours: an agent gets those that its adapter documents, as
    they are written."""
    approved: frozenset[str] = frozenset()
    """Digests of what files may have started in this call (`config/trust.py`)."""
    from_dotenv: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables of `dotenv` that the agent's adapter documents and may have."""
    member: Member | None = None
    """`None` for a session that is alone."""
    continued: tuple[Continued, ...] = ()
    """The session that is continued, or those of the series, the smallest size first."""
    retrieve_session: RetrieveExperiment | None = None
    """The session of `retrieve` that is continued."""

    def dump_settings(self) -> dict[str, Setting]:
        """Return them as `experiment.json` keeps them."""
        values = _SETTINGS.dump_python(self.settings, mode="json")
        values["agent_env"] = [_redact_value(word) for word in self.settings.agent_env]
        return {
            name: Setting(value=value, source=self.sources[name]) for name, value in values.items()
        }

    @property
    def environment(self) -> dict[str, str]:
        """The user's variables: those of this process, then what `.env` may add."""
        return {**self.from_dotenv, **os.environ}

    @property
    def session(self) -> Experiment | None:
        """The session that is continued; of a series its first."""
        return self.continued[0].experiment if self.continued else None

    def is_typed(self, name: str) -> bool:
        """Tell whether the option stands on the command line of this call."""
        return self.sources[name] == "command line"


def _redact_value(variable: str) -> str:
    name, sets, _ = variable.partition("=")
    return f"{name}={NOT_STORED}" if sets else name


@dataclass(frozen=True, kw_only=True)
class OptionSources:
    """What sets options besides the command line and a session, as it was read."""

    config: Path | None
    environment: Mapping[str, Any]
    dotenv: DotEnv
    of_dotenv: Mapping[str, Any]
    """The options in it."""
    file: SettingsFile

    def resolve(
        self,
        arguments: Mapping[str, Any],
        *,
        session: Mapping[str, Setting] | None = None,
        defaults: Mapping[str, Any] | None = None,
    ) -> Resolved:
        """Resolve the options; the first source that has one wins.

        `session` holds the options of a session that is continued: they come right after the
        command line. Raises `UsageError` for a value that cannot be, `ConfigError` for a file that
        is wrong.
        """
        of_session = {
            name: setting.value
            for name, setting in (session or {}).items()
            if name in SCOPES and not SCOPES[name].of_call
        }
        layers: Layers = {
            "command line": arguments,
            "session": of_session,
            **self.layers(SCOPES),
            "default": defaults or {},
        }
        settings, sources = self.validate(_SETTINGS, SCOPES, layers)
        dotenv = self.dotenv.exclude(PREFIX)
        return Resolved(settings=settings, sources=sources, config=self.config, dotenv=dotenv)

    def layers(self, names: Collection[str]) -> Layers:
        """Return what sets these options here, the first source to win first."""
        options = self.file.options
        of_file = _fields({name: options[name] for name in options if name in _NAMES})
        layers: Layers = {
            "environment": self.environment,
            ".env": self.of_dotenv,
            "file": of_file,
        }
        return {
            source: {name: value for name, value in layer.items() if name in names}
            for source, layer in layers.items()
        }

    def validate(
        self,
        adapter: TypeAdapter[_Kind],
        names: Iterable[str],
        layers: Layers,
    ) -> tuple[_Kind, dict[str, Source]]:
        """Merge the layers, and say where each value comes from. Raises `UsageError` for a value
        that cannot be, `ConfigError` for a file that is wrong."""
        values, origins = merge(layers)
        sources: dict[str, Source] = {**dict.fromkeys(names, "default"), **origins}
        try:
            settings = adapter.validate_python(values)
        except ValidationError as error:
            raise _sentence(error, sources, self.file) from error
        if problems := self.file.problems(_NAMES):
            raise ConfigError("; ".join(problems))
        return settings, sources


NOTHING = OptionSources(
    config=None, environment={}, dotenv=DotEnv(), of_dotenv={}, file=SettingsFile()
)
"""Sources without any setting, for what is to be the same on every machine."""


def merge(layers: Layers) -> tuple[dict[str, Any], dict[str, Source]]:
    """Merge the layers, and say where each value comes from."""
    values: dict[str, Any] = {}
    sources: dict[str, Source] = {}
    for source, layer in reversed(layers.items()):
        values.update(layer)
        sources.update(dict.fromkeys(layer, source))
    return values, sources


def read_sources(config: Path | None = None) -> OptionSources:
    """Read the environment, `.env` and the settings file. Raises `ConfigError`."""
    dotenv, file = read_dotenv(), read_settings(config)
    return OptionSources(
        config=config,
        environment=_read_environment(),
        dotenv=dotenv,
        of_dotenv=_read_dotenv_options(dotenv),
        file=file,
    )


def load(
    arguments: Mapping[str, Any],
    *,
    config: Path | None = None,
    session: Mapping[str, Setting] | None = None,
    defaults: Mapping[str, Any] | None = None,
) -> Resolved:
    """Resolve the options of a call that reads its surroundings here."""
    return read_sources(config).resolve(arguments, session=session, defaults=defaults)


def check_options(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Check options of a command that looks for them nowhere else; one that is `None` is not there.
    Raises `UsageError`."""
    options = {name: value for name, value in arguments.items() if value is not None}
    settings = NOTHING.resolve(options).settings
    return {name: getattr(settings, name) for name in options}


def _read_environment() -> dict[str, Any]:
    _refuse_unknown("The environment", (name for name in os.environ if name != TRUST))
    return _our_options(os.environ)


def _read_dotenv_options(dotenv: DotEnv) -> dict[str, Any]:
    names = [*dotenv.raw, *sorted(dotenv.names_only)]
    if TRUST in map(str.upper, names):
        raise ConfigError(
            f".env sets {TRUST}, and a file cannot vouch for itself; remove the line, and give "
            "--trust or set it in the environment"
        )
    _refuse_unknown(".env", names)
    if names_only := next(filter(_has_prefix, sorted(dotenv.names_only)), None):
        raise ConfigError(
            f".env has {names_only} without a value; write {names_only}=VALUE, or remove it"
        )
    check_plain({name: value for name, value in dotenv.raw.items() if _has_prefix(name)})
    return _our_options(dotenv.raw)


def _has_prefix(name: str) -> bool:
    return name.upper().startswith(PREFIX)


def _our_options(variables: Mapping[str, str]) -> dict[str, Any]:
    """Return the options among variables; other programs keep their own there too."""
    options = {
        name.upper().removeprefix(PREFIX).lower(): value
        for name, value in variables.items()
        if _has_prefix(name)
    }
    return _fields({name: value for name, value in options.items() if name in _NAMES})


def _fields(options: Mapping[str, Any]) -> dict[str, Any]:
    """Name them by the fields: `continue` cannot be one of Python's, and is `resume`."""
    return {"resume" if name == "continue" else name: value for name, value in options.items()}


def _refuse_unknown(origin: str, variables: Iterable[str]) -> None:
    for name in variables:
        option = name.upper().removeprefix(PREFIX).lower()
        if name.upper().startswith(PROPERTY_PREFIX):  # of a benchmark
            continue
        if _has_prefix(name) and option not in _NAMES and name.upper() not in MARKS:
            close = get_close_matches(option, sorted(_NAMES), n=1)
            advice = f"did you mean {PREFIX}{close[0].upper()}?" if close else "unset it"
            if option == "mode":
                advice += " calibrate takes its one mode from that"
            raise ConfigError(f"{origin} sets {name.upper()}, which is no option; {advice}")


def _sentence(
    error: ValidationError, sources: Mapping[str, Source], file: SettingsFile
) -> UsageError:
    """List all options that are wrong, and all that is wrong in the file besides."""
    clauses = (_clause(detail, sources, file) for detail in error.errors())
    return UsageError("; ".join(dict.fromkeys([*file.problems(_NAMES), *clauses])))


def _clause(error: ErrorDetails, sources: Mapping[str, Source], file: SettingsFile) -> str:
    name = str(error["loc"][0])
    origin: str = sources.get(name, "default")
    if origin == "file":
        origin = file.position(written_name(name))
    location = "" if origin == "command line" else f" (from {origin})"
    value = error["input"]
    if name == "agent_env" and isinstance(value, list):
        value = [_redact_value(str(word)) for word in value]
    return f"{flag(name)} {format_value(value)}{location}: it {describe_problem(error)}"


def property_layers(benchmark: str, config: Path | None = None) -> Layers:
    """Read what the environment, `.env` and the settings file set. Raises `ConfigError`."""
    dotenv = _select_properties(read_dotenv().raw)
    check_plain({f"{PROPERTY_PREFIX}{name}": value for name, value in dotenv.items()})
    file = read_settings(config)
    option = benchmark.replace("-", "_")
    table = file.options.get(option, {})
    if not isinstance(table, dict):
        raise ConfigError(
            f"{file.position(option)}: {benchmark} is a benchmark, whose properties stand in a "
            f"table: [{benchmark}]"
        )
    properties = {name.replace("-", "_"): value for name, value in table.items()}
    return {"environment": _select_properties(os.environ), ".env": dotenv, "file": properties}


def _select_properties(variables: Mapping[str, str]) -> dict[str, str]:
    return {
        name.upper().removeprefix(PROPERTY_PREFIX).lower(): value
        for name, value in variables.items()
        if name.upper().startswith(PROPERTY_PREFIX)
    }
