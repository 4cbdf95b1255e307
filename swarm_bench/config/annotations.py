"""What the annotation of an option says of it, beside its type; and options of several commands.

Imported for `--help` and completion, so it must be light.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from swarm_bench.config import parsing
from swarm_bench.config.parsing import Checker, Converter, Limits


class Option(NamedTuple):
    """What the command line has of a setting."""

    help: str
    metavar: str | None = None
    default: str | None = None
    """Behaviour without the option, where its default value does not say that."""
    several: bool = False
    """Whether more than one word may follow."""
    bare: str | None = None
    """Meaning of the option without a word; `None`: it needs one."""
    retrieve: str | None = None
    """Its help in `retrieve`, where that is another."""


class Group(StrEnum):
    """The headings of the help, in its order."""

    COMPARED = "What is compared"
    AMOUNT = "How much is run"
    AGENTS = "Agents and servers"
    VERDICT = "Scoring and verdict"
    SESSION = "Session"


class Scope(NamedTuple):
    """Scope and lifetime of an option. One without an `Option` is on no command line."""

    group: Group = Group.SESSION
    also: tuple[Literal["retrieve", "doctor", "demo"], ...] = ()
    """Commands that have it, beside those of the designs."""
    without: tuple[str, ...] = ()
    """Designs whose commands do not have it."""
    of_call: bool = False
    """Whether it holds for one call, and a session that is continued does not take it over."""
    of_recording: bool = False
    """Whether a replay has it from the session that was recorded."""
    anchor: Callable[[Any], Any] | None = None
    """Makes a value as it is stored, whose paths begin at the root; `None` for one without any."""
    fixed: bool = False
    """Whether a session that is continued has the value that it began with."""
    named: bool = False
    """Whether it is named before the first trial; `report` shows the session by another value."""
    decides: str | None = None
    """Part of an experiment that the option decides, and that a session that is continued keeps."""
    trusted: bool = False
    """Whether a file can have something started by it: `app/trust/option_parts.py` says what."""
    stored: bool = False
    """Whether a session holds itself what is named by it, and does not only name it again."""
    of_models: bool = False
    """Whether `run` has it only where a benchmark asks models."""
    defaults: Mapping[str, Any] = MappingProxyType({})
    """Defaults in the commands of designs, by name, that differ from the one of the field."""


Seconds = Annotated[float, Limits(gt=0, allow_inf_nan=False), Converter(parsing.parse_seconds)]
Count = Annotated[int, Limits(ge=1)]
Part = Annotated[float, Converter(parsing.parse_share), Checker(parsing.check_share)]
Arguments = Annotated[list[str], Converter(parsing.parse_arguments)]
Folder = Annotated[Path, Converter(parsing.check_folder)]
METRIC = Option("Metric that the verdict is on, named before the first trial.", metavar="KEY")
MaxCost = Annotated[
    Annotated[float, Limits(gt=0, allow_inf_nan=False)] | None,
    Option(
        "Start no trial that could make the session cost more, and exit 4 then.",
        metavar="DOLLARS",
    ),
    Scope(Group.AMOUNT, of_call=True, of_recording=True, of_models=True),
]
Output = Annotated[
    Folder | None,
    Option("Folder of the session.", metavar="DIR", default="results/<benchmark>-<time>"),
    Scope(also=("retrieve", "demo"), of_call=True),
]
Resume = Annotated[
    str | None,
    Option(
        "Continue a session, or extend it: its folder, its id, or nothing for the newest one.",
        metavar="[DIR|ID]",
        bare="",
    ),
    Scope(also=("retrieve",), of_call=True, trusted=True),
]
Slice = Annotated[
    Annotated[str, Checker(parsing.check_slice)] | None,
    Option(
        "Run this part of the plan, as 2/6: a job for each, and swarm-bench merge joins them.",
        metavar="I/N",
    ),
    Scope(Group.AMOUNT, also=("retrieve",), fixed=True),
]
On = Annotated[
    str,
    Option(
        "Run on: this machine (local), or the nodes of a Ray cluster (ray).",
        metavar="local|ray",
    ),
    Scope(Group.AMOUNT, also=("retrieve", "doctor"), of_call=True, trusted=True),
]
Plan = Annotated[
    bool,
    Option("Print what would run, and start nothing."),
    Scope(also=("retrieve",), of_call=True),
]
Quiet = Annotated[
    bool, Option("Print no progress."), Scope(also=("retrieve", "demo"), of_call=True)
]

_Note = TypeVar("_Note", Option, Scope)


def notes(kind: type[Any], note: type[_Note]) -> dict[str, _Note]:
    """Return the notes of a kind that fields of a dataclass have, by their names."""
    return {
        entry.name: annotation
        for entry in fields(kind)
        for annotation in getattr(entry.type, "__metadata__", ())
        if isinstance(annotation, note)
    }


def written_name(name: str) -> str:
    """Return what a person calls the option of a field, with underscores."""
    return "continue" if name == "resume" else name


def flag(name: str) -> str:
    """Return the option of a field, as the command line has it."""
    return "--" + written_name(name).replace("_", "-")
