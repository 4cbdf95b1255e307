"""One line of what `swarm-bench doctor` finds."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """What a check says of the comparison that was asked for."""

    OK = "ok"
    WARNING = "warning"
    """It can run, but worse than it could."""
    PROBLEM = "problem"
    """It cannot run, or would measure something else."""
    ABSENT = "absent"
    """Not there, and not needed by what was asked for."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """What was looked at, the finding, and what to do about it."""

    about: str
    state: State
    finding: str
    advice: str | None = None
