"""Events that the engine reports to its observer, which can only watch."""

from collections.abc import Callable
from dataclasses import dataclass

from swarm_bench.core.outcome import Activity
from swarm_bench.core.session.base import RecordView


@dataclass(frozen=True, kw_only=True)
class Preparing:
    """Something that takes time before the session can start."""

    step: str
    done: int | None = None
    """Number of things of `total` that are done; `None` where nothing is counted."""
    total: int | None = None

    def __str__(self) -> str:
        """Say how far it is, where that is counted."""
        total = f" of {self.total:,}" if self.total is not None else ""
        return self.step if self.done is None else f"{self.step} ({self.done:,}{total})"


@dataclass(frozen=True, kw_only=True)
class PartStarted:
    """Beginning of one of several sessions that belong together."""

    part: str
    number: int
    parts: int

    def __str__(self) -> str:
        """Name it, and which it is."""
        return f"{self.part} ({self.number} of {self.parts})"


@dataclass(frozen=True, kw_only=True)
class SessionStarted:
    session: str
    folder: str
    done: dict[str, int]
    """Trials that earlier calls have run, by arm."""
    failed: dict[str, int]
    """Number of these that failed, by arm."""
    planned: dict[str, int]
    """Trials to run now, by arm."""
    groups: dict[str, int]
    """Number of groups, each of which is set up, by arm."""
    may_end_earlier: bool
    """Whether it ends as soon as it is clear what it came to."""

    @property
    def trials(self) -> int:
        """Return the number of its trials, at most."""
        return sum(self.done.values()) + sum(self.planned.values())


@dataclass(frozen=True, kw_only=True)
class BlockStarted:
    run: int
    runs: int
    number: int
    """Number of the block within its run."""
    of_run: int
    """Number of blocks of its run."""
    order: tuple[str, ...]
    node: str | None = None
    """Name of the machine that it runs on; `None` for this one."""

    def __str__(self) -> str:
        """Name it, with the run it is of."""
        block = f", block {self.number} of {self.of_run}" if self.of_run > 1 else ""
        return f"run {self.run} of {self.runs}{block}"


@dataclass(frozen=True, kw_only=True)
class BlockEnded:
    run: int
    number: int
    """Number of the block within its run."""
    node: str | None = None
    """As when it started."""


@dataclass(frozen=True, kw_only=True)
class RerunStarted:
    """Trials that were lost with their node run once more: they count as not ended again."""

    trials: dict[str, int]
    """Number of them, by arm."""
    groups: dict[str, int]
    """Number of groups that they are of, by arm."""

    def __str__(self) -> str:
        """Say how many there are."""
        number = sum(self.trials.values())
        if number == 1:
            return "1 trial was lost with its node, and runs once more"
        return f"{number:,} trials were lost with their node, and run once more"


WORKSPACE = "workspace"
"""The step with which the set-up of a group begins."""


@dataclass(frozen=True, kw_only=True)
class StepStarted:
    """Something that takes time before or after the trials: a workspace, a service, an index."""

    run: int
    arm: str
    step: str
    number: int = 1
    """Number of the workspace that the step is for, among the `total` of its group."""
    total: int = 1
    node: str | None = None
    """Name of the machine; `None` for this one."""

    def __str__(self) -> str:
        """Say what is done, and for which workspace where there are several."""
        return step_of(self.step, self.number, self.total)


@dataclass(frozen=True, kw_only=True)
class TrialStarted:
    run: int
    arm: str
    number: int
    case: str
    """Title of the case."""
    node: str | None = None
    """Name of the machine that it runs on; `None` for this one."""


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
class VerdictsRead:
    """A session that ends when its verdicts stand was looked at."""

    tasks: int
    """Number of tasks that the verdicts rest on."""
    max_tasks: int
    stand: dict[str, bool]
    """Whether the verdict stands, by mode."""

    @property
    def forms(self) -> tuple[str, ...]:
        """How far the verdicts are, in full and shorter."""
        behind = f"{self.tasks:,} of {self.max_tasks:,} tasks: "
        without = [mode for mode, stands in self.stand.items() if not stands]
        if not without:
            return (f"{behind}{'every' if len(self.stand) > 1 else 'the'} verdict stands",)
        none = f"{behind}no verdict yet"
        count_clause = f"{none} on {len(without)} of {len(self.stand)}"
        return f"{none} on {', '.join(without)}", count_clause, none

    def __str__(self) -> str:
        """Say it in full."""
        return self.forms[0]


@dataclass(frozen=True, kw_only=True)
class WarningRaised:
    """Something went wrong and the session goes on."""

    message: str


@dataclass(frozen=True, kw_only=True)
class Foresight:
    """What the session could show. It is of no use beside what it showed."""

    message: str


@dataclass(frozen=True, kw_only=True)
class EndingAtOnce:
    """The process ends without any order: the code that draws restores the terminal."""


Event = (
    Preparing
    | PartStarted
    | SessionStarted
    | BlockStarted
    | BlockEnded
    | RerunStarted
    | StepStarted
    | TrialStarted
    | TrialActive
    | TrialEnded
    | VerdictsRead
    | WarningRaised
    | Foresight
    | EndingAtOnce
)
FarEvent = Preparing | StepStarted | TrialStarted | TrialActive | WarningRaised
"""Events that a worker on another machine may send."""
Emit = Callable[[Event], None]


def step_of(step: str, number: int, total: int) -> str:
    """Say for which of several workspaces a step is."""
    if total < 2:
        return step
    which = f"{WORKSPACE} {number} of {total}"
    return which if step == WORKSPACE else f"{step}, {which}"
