"""Limits on the figures of a session, and what became of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from swarm_bench.core.metric import Metric
from swarm_bench.core.report.document import Step
from swarm_bench.core.report.standing import Caveat


class Kind(StrEnum):
    """What a limit is on; the value is its option."""

    MAX_RATIO = "--max-ratio"
    """A mode against the reference."""
    MAX = "--max"
    """A mode by itself, as the next one."""
    MIN = "--min"


class Bound(StrEnum):
    """What a limit is held against."""

    ESTIMATE = "estimate"
    INTERVAL = "interval"
    """The end of the 95 % interval that is nearer to the limit, or beyond it."""


class State(StrEnum):
    """What became of a limit."""

    HOLDS = "holds"
    VIOLATED = "violated"
    MISSING = "not measured"
    """No figure, or none that may be relied on."""
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, kw_only=True)
class Limit:
    """Limit that the user set."""

    kind: Kind
    metric: str
    """Key of the metric, or another name that the benchmark understands."""
    value: float
    mode: str | None = None
    """`None`: every mode that is compared."""

    def __str__(self) -> str:
        """Write the option as it is typed, for any mode."""
        return f"{self.kind} {self.metric}={self.value:g}"

    def admits(self, figure: float) -> bool:
        """Tell whether the figure is within the limit; what a sum rounds is."""
        beyond = round(figure - self.value, 9)
        return beyond >= 0 if self.kind is Kind.MIN else beyond <= 0


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What became of a limit on one mode."""

    limit: Limit
    mode: str
    """Mode that the limit is on; empty where there is none."""
    state: State
    why: str
    """One sentence or more."""
    but: str = ""
    """Why the figure shows little, in a few words; empty where its interval says how much."""
    needed: int | None = None
    """Number of cases that would tell; `None` where that is no matter of their number."""
    next: Step | None = None
    reference: str = ""
    """Arm that a ratio is relative to."""
    metric: Metric | None = None
    estimate: float | None = None
    """A ratio, or a mean over tasks; `None` when nothing gave it."""
    interval: tuple[float, float] | None = None
    """Interval of 95 % over tasks."""
    cases: int = 0
    """Number of cases that it is over."""
    noun: str = "task"
    """Noun for a case."""


@dataclass(frozen=True, kw_only=True)
class Gate:
    """All limits on a session."""

    session: str
    bound: Bound
    verdicts: tuple[Verdict, ...]
    caveats: Mapping[str, tuple[Caveat, ...]]
    """Caveats that must be known beside the figures, by each mode that a limit was held against."""
    notes: tuple[str, ...]

    def count(self, state: State) -> int:
        """Count the limits that came to that."""
        return sum(verdict.state is state for verdict in self.verdicts)

    @property
    def state(self) -> State:
        """The worst of all."""
        worst = (State.VIOLATED, State.MISSING, State.INCONCLUSIVE)
        return next((state for state in worst if self.count(state)), State.HOLDS)
