"""The command that repeats a session, from what its experiment stores: options that differ from
their defaults, and no keys."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import prod
from pathlib import Path
from shlex import join
from typing import Any

from swarm_bench.config.addresses import remove_logins
from swarm_bench.config.command_line import command_line, defaults_of
from swarm_bench.config.compare_options import SCOPES, Settings
from swarm_bench.config.run_options import CONCURRENCY, MAX_TURNS, TIMEOUT
from swarm_bench.core.session.cases import CaseExperiment
from swarm_bench.core.session.designs import ENVIRONMENT, MARGIN
from swarm_bench.core.session.experiment import NOT_STORED, Experiment, Setting
from swarm_bench.core.session.models import ModelExperiment
from swarm_bench.core.session.retrieving import AnyExperiment
from swarm_bench.retrieval.modes.secret_parts import redact_secret_parts

_OF_CALL = ("service_url", "on")
"""Options of a call that decide where a session ran."""
_OF_SESSION = ("repo", "record", *(name for name, scope in SCOPES.items() if scope.of_call))
_RUNS = "runs"
"""An option whose default depends on others."""
_ENVIRONMENTS = {"bubblewrap": ENVIRONMENT, "prlimit": "unconfined"}
"""Words of environments by the programs that sessions store; a container has its image in the
word, which is not stored."""


class _CannotBeWritten(Exception):
    """A session has a word that a command line would take for another one."""


def write_agent_command(experiment: AnyExperiment) -> str:
    """Write the command of a session that has modes and tasks; empty where that cannot be."""
    return _write(_list_agent_words(experiment))


def write_series_command(experiments: Sequence[Experiment], sizes: Sequence[int]) -> str:
    """Write that of a series of these sizes, with as many runs as any session of it has; empty
    where these are no sizes of a series."""
    experiment = max(experiments, key=lambda experiment: experiment.runs)
    if len(sizes) < 2 or experiment.agents != max(sizes):
        return ""
    agents = Setting(value=list(sizes), source="session")
    settings = {**experiment.settings, "agents": agents}
    return write_agent_command(experiment.model_copy(update={"settings": settings}))


def write_run_command(experiment: CaseExperiment) -> str:
    """Write that of a benchmark which asks no models; empty where that cannot be."""
    return _write(chain(_list_benchmark(experiment), _list_case_options(experiment)))


def write_model_command(experiment: ModelExperiment) -> str:
    """Write that of a benchmark which asks models; empty where its experiment does not tell it."""
    environment = experiment.environment
    if environment is not None and environment.name not in _ENVIRONMENTS:
        return ""
    arms = _list_arm_words(experiment)
    if arms is None:
        return ""
    requests = _list_request_words(experiment)
    return _write(
        chain(_list_benchmark(experiment), arms, requests, _list_case_options(experiment))
    )


def _write(argv: Iterable[str]) -> str:
    try:
        shell = [remove_logins(word) for word in ("swarm-bench", *argv)]
    except _CannotBeWritten:
        return ""
    return join(redact_secret_parts(shell))


def _check(*values: str) -> Iterator[str]:
    """Yield words that are no options, whoever wrote them into the session."""
    for word in values:
        if word.startswith("-"):
            raise _CannotBeWritten
        yield word


def _list_agent_words(experiment: AnyExperiment) -> Iterator[str]:
    design = experiment.design
    yield from (design.name, "--repo", *_check(experiment.repository.path))
    defaults = vars(Settings(**defaults_of(design)))
    for option in command_line(design):
        setting, default = experiment.settings.get(option.name), defaults[option.name]
        if setting is None or (option.name in _OF_SESSION and option.name not in _OF_CALL):
            continue
        value = setting.value
        if option.several and not isinstance(value, list):
            raise _CannotBeWritten
        is_default = value == (str(default) if isinstance(default, Path) else default)
        if value is None or (is_default and option.name != _RUNS):
            continue
        if option.name == "modes" and design.mode_twice:
            yield from ("--mode", *_check(*value))
        elif option.kind == "switch":
            yield option.flag
        elif option.several:
            yield from (option.flag, *_check(*map(str, value)))
        else:
            values = value if isinstance(value, list) else [value]
            for word in redact_secret_parts([*map(str, values)]):  # options of an agent in a row
                yield from _write_option(option.flag, word)


def _write_option(flag: str, word: str) -> Iterator[str]:
    """Write an option with its word; of a variable that is not stored only the name."""
    word = word.removesuffix(f"={NOT_STORED}")
    yield from [f"{flag}={word}"] if word.startswith("-") else [flag, word]


def _list_benchmark(experiment: CaseExperiment) -> Iterator[str]:
    yield from ("run", *_check(experiment.typed_benchmark))


def _list_case_options(experiment: CaseExperiment) -> Iterator[str]:
    for name in experiment.property_sources:
        value = experiment.properties.get(name)
        if value != NOT_STORED:
            text = _write_value(value)
            if text.startswith("@"):  # would be read as the name of a file
                raise _CannotBeWritten
            yield from ("--property", *_check(f"{name}={text}"))
    yield from ("--runs", str(experiment.runs))
    if experiment.primary is not None:
        yield from ("--primary", *_check(experiment.primary))
    options = {
        "--margin": None if experiment.margin == MARGIN else experiment.margin,
        "--seed": experiment.seed or None,
        "--slice": experiment.slice,
    }
    for flag, value in options.items():
        if value is not None:
            yield from (flag, str(value))


def _list_arm_words(experiment: ModelExperiment) -> Iterable[str] | None:
    """Return the models and what is varied; `None` where the arms are not all combinations, or a
    value cannot be written among others."""
    arms = [arm for arm in experiment.models if not arm.follows]
    models = dict.fromkeys(arm.model for arm in arms)
    varied = dict[str, dict[str, None]]()
    for arm in arms:
        for name, value in arm.properties.items():
            varied.setdefault(name, {})[_write_value(value)] = None
    flat = [value for values in varied.values() for value in values]
    if len(models) * prod(map(len, varied.values())) != len(arms) or any(
        "," in value or value.startswith("@") for value in flat
    ):
        return None
    options = (f"{name}={','.join(values)}" for name, values in varied.items())
    of_options = (("--vary", *_check(option)) for option in options)
    return chain(["--models"], _check(*models), chain.from_iterable(of_options))


def _list_request_words(experiment: ModelExperiment) -> Iterator[str]:
    yield from ("--dataset", *_check(experiment.data.name))
    if experiment.first or len(experiment.cases) != experiment.data.rows:
        yield from ("--limit", f"{experiment.first}:{len(experiment.cases)}")
    if experiment.environment is not None:
        yield "--allow-code-execution"
        word = _ENVIRONMENTS[experiment.environment.name]
        yield from [] if word == ENVIRONMENT else ["--environment", word]
    if experiment.judge is not None:
        yield from ("--judge", *_check(experiment.judge))
    if experiment.generate_only:
        yield "--generate-only"
    if experiment.requests_at_once != CONCURRENCY:
        yield from ("--concurrency", str(experiment.requests_at_once))
    if experiment.request_timeout != TIMEOUT:
        yield from ("--timeout", f"{experiment.request_timeout:g}")
    if experiment.max_turns not in (None, MAX_TURNS):
        yield from ("--max-turns", str(experiment.max_turns))


def _write_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
