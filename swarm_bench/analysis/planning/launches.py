"""What would be started, and who asked for it, for a person to look at before it is."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from swarm_bench.core.report.plan import Entry
from swarm_bench.core.session.experiment import Experiment, Setting

_PLACES = {"file": "settings file"}


@dataclass(frozen=True, kw_only=True)
class Launches:
    """What is started beside the servers of the modes."""

    agent: Sequence[str] = ()
    """Its command line, with names for the prompt and its folders; empty when it is not known."""
    variables: Sequence[str] = ()
    """Names of those that an agent gets."""
    programs: Mapping[str, str] = field(default_factory=dict)
    """Paths of canopy's programs that run."""
    dotenv: Sequence[str] = ()
    """Names of the variables that come from `.env`."""
    unapproved: Sequence[str] = ()
    """Things that the user has not approved, a clause each."""
    paid: bool | None = False
    """Whether the agent's provider charges for it; `None` where that cannot be told."""


def list_commands(launches: Launches) -> Iterator[Entry]:
    """Yield command lines, and the names of variables."""
    yield from _make_entries("Command", [shlex.join(launches.agent)] if launches.agent else [])
    yield from _make_entries("Gets", [", ".join(launches.variables)] if launches.variables else [])
    yield from _make_entries(
        "Canopy", [f"{name}: {path}" for name, path in launches.programs.items()]
    )


def list_origins(experiment: Experiment, launches: Launches) -> Iterator[Entry]:
    """Name the source of each setting that is no default, and what waits for trust."""
    settings = [
        f"{name.replace('_', '-')} = {_format_value(setting)} "
        f"({_PLACES.get(setting.source, setting.source)})"
        for name, setting in experiment.settings.items()
        if setting.source != "default" and name not in ("plan", "resume")
    ]
    yield from _make_entries("Set by", [*settings, *(f"{name} (.env)" for name in launches.dotenv)])
    if launches.unapproved:
        untrusted = (*launches.unapproved, "nothing of this was started; add --trust to run it")
        yield Entry(label="Untrusted", texts=untrusted)


def _make_entries(label: str, texts: Sequence[str]) -> Iterator[Entry]:
    if texts:
        yield Entry(label=label, texts=tuple(texts))


def _format_value(setting: Setting) -> str:
    value = setting.value
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
