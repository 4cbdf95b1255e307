"""Lines of what `modes`, `tasks`, `agents` and `benchmarks` list, and of what `doctor` finds."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, kw_only=True)
class Listing:
    """Something that a name stands for."""

    name: str
    about: str
    source: str
    problem: str | None = None
    """Reason why it cannot be used; `None` when it can."""
    caveat: str | None = None
    """Caveat on what may keep it from being of use, instead of `usable`."""


class State(StrEnum):
    """What a check says of the comparison that was asked for."""

    OK = "ok"
    WARNING = "warning"
    """Able to run, but worse than it could."""
    PROBLEM = "problem"
    """Unable to run, or measuring something else."""
    ABSENT = "absent"
    """Not there, and not needed by what was asked for."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """What was looked at, the finding, and what to do about it."""

    about: str
    state: State
    finding: str
    advice: str | None = None
