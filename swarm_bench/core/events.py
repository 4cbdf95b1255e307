"""What the engine tells whoever watches. The watcher can only look."""

from collections.abc import Callable
from dataclasses import dataclass

from swarm_bench.core.outcome import Activity
from swarm_bench.core.session.base import RecordView


@dataclass(frozen=True, kw_only=True)
class Preparing:
    """Something that takes time before the session can start."""

    step: str


@dataclass(frozen=True, kw_only=True)
class SessionStarted:
    session: str
    folder: str
    trials: int
    done: int
    """Trials that an earlier call has already run."""
    planned: dict[str, int]
    """Trials to run now, by arm."""


@dataclass(frozen=True, kw_only=True)
class BlockStarted:
    run: int
    runs: int
    number: int
    """Among those of its run."""
    of_run: int
    """How many its run has."""
    order: tuple[str, ...]

    def __str__(self) -> str:
        """Name it, with the run it is of."""
        block = f", block {self.number} of {self.of_run}" if self.of_run > 1 else ""
        return f"run {self.run} of {self.runs}{block}"


@dataclass(frozen=True, kw_only=True)
class StepStarted:
    """Something that takes time before or after the trials: a workspace, a service, an index."""

    run: int
    arm: str
    step: str


@dataclass(frozen=True, kw_only=True)
class TrialStarted:
    run: int
    arm: str
    number: int
    case: str
    """Its title."""


@dataclass(frozen=True, kw_only=True)
class TrialActive:
    run: int
    arm: str
    number: int
    activity: Activity


@dataclass(frozen=True, kw_only=True)
class TrialEnded:
    record: RecordView


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """Something went wrong and the session goes on."""

    message: str


Event = (
    Preparing
    | SessionStarted
    | BlockStarted
    | StepStarted
    | TrialStarted
    | TrialActive
    | TrialEnded
    | Trouble
)
Emit = Callable[[Event], None]
