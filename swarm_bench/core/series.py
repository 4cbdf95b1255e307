"""What a series of growing swarms says, as data: everything is computed, nothing is formatted."""

from dataclasses import dataclass

from swarm_bench.core.report import Fact, Metric


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A metric of one mode in swarms of one size."""

    value: float | None
    of: int | None = None
    """What the value is a part of, when it is a count."""
    ratio: float | None = None
    """Against the smallest swarms; `None` for those, and where nothing can be divided."""


@dataclass(frozen=True, kw_only=True)
class SeriesRow:
    metric: Metric
    cells: tuple[Cell, ...]
    """By size."""


@dataclass(frozen=True, kw_only=True)
class ModeSeries:
    mode: str
    rows: tuple[SeriesRow, ...]
    unknown: tuple[Metric, ...]
    """Metrics that nothing gave in any size."""
    sentence: str
    """What sharing costs or brings, as far as the figures say; empty when they do not."""


@dataclass(frozen=True, kw_only=True)
class Series:
    """The sessions of a series against each other."""

    title: str
    banner: str | None
    head: tuple[tuple[Fact, ...], ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    sizes: tuple[int, ...]
    """Agents that share a workspace, the smallest first."""
    modes: tuple[ModeSeries, ...]
