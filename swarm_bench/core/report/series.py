"""What a series of growing swarms says, as data: everything is computed, nothing is formatted."""

from collections.abc import Mapping
from dataclasses import dataclass

from swarm_bench.core.metric import Metric
from swarm_bench.core.report.document import Fact
from swarm_bench.core.report.standing import Standing

Sizes = tuple[int, ...]
"""Agents that share a workspace, the smallest first."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A metric of one mode in swarms of one size."""

    value: float | None
    of: int | None = None
    """Total that the value is a part of, when it is a count."""
    ratio: float | None = None
    """Against the smallest swarms; `None` for those, where nothing can be divided, and where one
    of the two sizes has no verdict."""
    excluded: bool = False
    """Whether there are trials, none of which can be compared."""


@dataclass(frozen=True, kw_only=True)
class SeriesRow:
    metric: Metric
    cells: tuple[Cell, ...]
    """Cells by size."""


@dataclass(frozen=True, kw_only=True)
class ModeSeries:
    mode: str
    rows: tuple[SeriesRow, ...]
    spent_by_rules: tuple[SeriesRow, ...]
    """Rows of what fixed rules spent; empty when a model decided it, and `rows` has it."""
    unknown: tuple[Metric, ...]
    """Metrics that nothing gave in any size."""
    standings: Mapping[Standing, Sizes]
    """Standings of the mode in the sizes' own headlines, without what qualifies them."""
    qualifications: Mapping[str, Sizes]
    no_verdict: Sizes
    """Sizes without a verdict on the mode."""
    excluded: tuple[str, ...]
    """Trials that are not in the times and tokens, and why, by size."""
    sentence: str
    """Sentence on what sharing costs or brings, as far as the figures say; empty when they do
    not."""


@dataclass(frozen=True, kw_only=True)
class Series:
    """The sessions of a series against each other."""

    title: str
    banner: str | None
    head: tuple[tuple[Fact, ...], ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    sizes: Sizes
    extents: Mapping[str, Sizes]
    """Tasks and runs that have trials, as `12 tasks × 3 runs`, with the sizes that have them."""
    no_verdict: Mapping[str, Sizes]
    """Reasons why nothing at all can be said of these sizes."""
    modes: tuple[ModeSeries, ...]
    remark: str
    """Remark that must be known beside the sentences on what sharing costs or brings."""
