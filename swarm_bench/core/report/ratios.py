"""Ratios of modes to the reference, task by task."""

from dataclasses import dataclass

from swarm_bench.core.figures import total
from swarm_bench.core.metric import Metric


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """A mode against another, task by task: the ratio of the geometric means over the tasks."""

    estimate: float
    interval: tuple[float, float] | None
    """Interval of 95 % over tasks; `None` for a single task."""
    tasks: int
    """Tasks that have the figure in both modes, and not 0."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A mode minus the reference, over the tasks that both have."""

    estimate: float
    interval: tuple[float, float] | None
    """Interval of 95 % over tasks; `None` for a single task."""
    tasks: int


@dataclass(frozen=True, kw_only=True)
class Column:
    """A side that is compared with the reference."""

    mode: str
    as_used: bool = False
    """Only trials that used the tool of their mode, also of a reference that has one: a choice that
    the agents made, so it is not randomised."""


@dataclass(frozen=True, kw_only=True)
class RatioRow:
    metric: Metric
    typical: tuple[float | None, ...]
    """Geometric mean over the tasks of each mode, the reference first; `None` if there are no
    figures."""
    ratios: tuple[Ratio | None, ...]
    """Ratios by column; `None` when no task has the figure on both sides."""


@dataclass(frozen=True, kw_only=True)
class Indexing:
    """Seconds that the index of a swarm took; both are `None` when no swarm says."""

    before: float | None
    """Seconds before its agents started, a first call (`warm_up`) included."""
    within: float | None
    """While its agents ran, so that their time has it."""
    missing: int
    """Swarms that do not say what indexing took."""
    copied: int = 0
    """Swarms that got a copy of an index; the seconds are those that making it took."""

    @property
    def seconds(self) -> float | None:
        """Both together."""
        return total(part for part in (self.before, self.within) if part is not None)


@dataclass(frozen=True, kw_only=True)
class IndexingRow:
    metric: Metric
    cells: tuple[Indexing | None, ...]
    """Indexing by column; `None` for a mode without a tool."""


@dataclass(frozen=True, kw_only=True)
class Ratios:
    """Exploratory, but for the primary metric."""

    reference: str
    reference_as_used: bool
    """The reference has a tool, so that as used has only its trials that used it."""
    columns: tuple[Column, ...]
    tasks: int
    """Tasks in the comparison."""
    runs: int
    rows: tuple[RatioRow, ...]
    primary: str = ""
    """The key of the metric that was named beforehand; empty where nothing says."""
    margin: float = 0.1
    """Margin of the primary metric."""
    indexing: IndexingRow | None = None
    """`None` when no column has a tool, and where it is not told."""
    legend: tuple[str, ...] = ()
    """Legend in paragraphs."""
    found_less: frozenset[str] = frozenset()
    """Modes that found less than the reference: what they spend less is no saving."""
