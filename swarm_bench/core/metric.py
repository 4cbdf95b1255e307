"""A metric is declared once: what it means, where it is read, how it aggregates, where it is shown.

Whatever shows, compares or documents a metric names its key.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from swarm_bench.core.session.records import SwarmRecord, TrialRecord


class Style(StrEnum):
    """How a figure is written."""

    SECONDS = "seconds"
    WHOLE = "whole"
    AVERAGE = "average"
    PERCENT = "percent"
    """The value is a share between 0 and 1."""
    DOLLARS = "dollars"
    CENTS = "cents"
    """Dollars of a single trial, with four decimals."""


class Better(StrEnum):
    """The direction in which a figure is better, other things being equal."""

    LOWER = "lower"
    HIGHER = "higher"


class How(StrEnum):
    """How the figures of one mode in one run become one."""

    TOTAL = "total"
    LARGEST = "largest"
    MEDIAN = "median"
    MEAN = "mean"
    WHOLE_MEAN = "whole mean"
    """Without its decimals, as canopy's script divides."""
    SHARE = "share"
    """Trials that pass, of those that tell."""
    NUMBER = "number"
    """Trials that pass."""


ReadTrial = Callable[[TrialRecord], float | None]
"""`None` when the trial does not tell; a check gives true or false."""
ReadSwarm = Callable[[SwarmRecord], float | None]


@dataclass(frozen=True, kw_only=True)
class Row:
    """The metric as a row of the summary."""

    table: str
    how: How
    title: str = ""
    """Empty when the metric's own title says it."""
    definition: str = ""
    """Empty when the metric's own definition says it."""
    read: ReadTrial | None = None
    """In the place of the metric's own: a trial without an answer passes no check."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """The metric as a column of the table of trials."""

    title: str
    style: Style | None = None
    """`None` for that of the metric."""
    beside: str = ""
    """Key of the metric that stands behind it in brackets."""


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A figure of a trial or of a swarm, or one that only a section of its own can compute."""

    key: str
    title: str
    unit: str
    style: Style
    definition: str
    better: Better | None = None
    """`None` where neither less nor more is better."""
    read: ReadTrial | None = None
    read_swarm: ReadSwarm | None = None
    relative: bool = True
    """Modes are compared by ratios, and not by differences."""
    spent: bool = False
    """Whoever thinks decides it: a model, or fixed rules in the place of one."""
    of_failed: bool = False
    """Trials that failed have it too."""
    row: Row | None = None
    column: Column | None = None
    page: str = ""
    """Its label on the page of a trial; empty when it is not on it."""
    probe: str | None = None
    """The counter it is read from; the metric applies to modes that have it."""
    tool_only: bool = False
    """Applies to modes with a retrieval tool."""
    rehearsal_only: bool = False
    """Applies to sessions in which the rehearsal server answered."""

    @cached_property
    def in_table(self) -> "Metric":
        """The metric as its row in the summary has it."""
        if self.row is None:
            return self
        unit, style = _AGGREGATED.get(self.row.how, (None, None))
        return replace(
            self,
            title=self.row.title or self.title,
            definition=self.row.definition or self.definition,
            unit=unit or self.unit,
            style=style or self.style,
        )


_AGGREGATED: dict[How, tuple[str | None, Style]] = {
    How.MEAN: (None, Style.AVERAGE),
    How.SHARE: ("% of trials", Style.PERCENT),
    How.NUMBER: ("trials", Style.WHOLE),
}
"""The unit and style of the aggregate, where they are not those of the figure."""


@dataclass(frozen=True)
class Metrics:
    """The metrics of a benchmark by key; tables and columns have them in this order."""

    all: tuple[Metric, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a key that is declared twice."""
        keys = Counter(one.key for one in self.all)
        for key, count in keys.items():
            if count > 1:
                raise ValueError(f"the metric {key} is declared {count} times")

    @cached_property
    def _by_key(self) -> dict[str, Metric]:
        return {one.key: one for one in self.all}

    def __iter__(self) -> Iterator[Metric]:
        return iter(self.all)

    def __getitem__(self, key: str) -> Metric:
        return self._by_key[key]

    def named(self, keys: Iterable[str]) -> tuple[Metric, ...]:
        """Those with the keys, in their order."""
        return tuple(self._by_key[key] for key in keys)

    @property
    def tables(self) -> dict[str, list[Metric]]:
        """The rows of the summary by table."""
        tables: dict[str, list[Metric]] = {}
        for metric in self.all:
            if metric.row:
                tables.setdefault(metric.row.table, []).append(metric.in_table)
        return tables
