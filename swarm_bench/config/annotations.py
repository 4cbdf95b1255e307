"""What the annotation of an option says of it, beside its type.

Imported for `--help` and completion, so it must be light.
"""

from dataclasses import fields
from enum import StrEnum
from typing import Any, Literal, NamedTuple, TypeVar


class Option(NamedTuple):
    """What the command line has of a setting."""

    help: str
    metavar: str | None = None
    default: str | None = None
    """What happens without the option, where its default value does not say that."""
    several: bool = False
    """Whether more than one word may follow."""
    bare: str | None = None
    """What the option means without a word; `None`: it needs one."""
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
    """Where an option counts, and for how long. One without an `Option` is on no command line."""

    group: Group = Group.SESSION
    also: tuple[Literal["retrieve", "doctor", "demo"], ...] = ()
    """Commands that have it, beside those of the designs."""
    without: tuple[Literal["ab", "calibrate"], ...] = ()
    """Designs whose commands do not have it."""
    of_call: bool = False
    """Whether it holds for one call, and a session that is continued does not take it over."""
    of_recording: bool = False
    """Whether a replay has it from the session that was recorded."""
    of_models: bool = False
    """Whether `run` has it only where a benchmark asks models."""


_Note = TypeVar("_Note", Option, Scope)


def notes(kind: type[Any], note: type[_Note]) -> dict[str, _Note]:
    """Return the notes of a kind that fields of a dataclass have, by their names."""
    return {
        it.name: found
        for it in fields(kind)
        for found in getattr(it.type, "__metadata__", ())
        if isinstance(found, note)
    }


def written_name(name: str) -> str:
    """Return what a person calls the option of a field, with underscores."""
    return "continue" if name == "resume" else name


def flag(name: str) -> str:
    """Return the option of a field, as the command line has it."""
    return "--" + written_name(name).replace("_", "-")
