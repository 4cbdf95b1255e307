"""A metric is declared once; whatever shows, compares or documents it names its key."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from math import inf, isfinite
from typing import Any, Generic, Literal, TypeVar

from swarm_bench.core.errors import described
from swarm_bench.core.session.records import SwarmRecord


class Style(StrEnum):
    """How a figure is written."""

    SECONDS = "seconds"
    WHOLE = "whole"
    AVERAGE = "average"
    PERCENT = "percent"
    """The value is a share between 0 and 1."""
    DOLLARS = "dollars"
    FRACTION = "fraction"
    """A number with two decimals."""
    CENTS = "cents"
    """Dollars of a single trial, with four decimals."""
    MILLISECONDS = "milliseconds"
    """The value is in seconds."""


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
    TASK_MEAN = "mean over tasks"
    """Mean over the tasks, by their weight, of the mean over the trials of each."""
    WHOLE_MEAN = "whole mean"
    """Mean without its decimals, as canopy's script divides."""
    SHARE = "share"
    """Trials that pass, of those that tell."""
    NUMBER = "number"
    """Trials that pass."""


KeyPart = Literal["any", "files", "symbols", "facts"]
ReadTrial = Callable[[Any], float | None]
"""Reads a record. `None` when the trial does not tell; a check gives true or false."""
ReadSwarm = Callable[[SwarmRecord], float | None]


@dataclass(frozen=True, kw_only=True)
class Row:
    """The metric as a row of the summary."""

    table: str
    how: How
    title: str = ""
    """Title; empty when the metric's own title says it."""
    definition: str = ""
    """Definition; empty when the metric's own definition says it."""
    read: ReadTrial | None = None
    """Function that reads the row instead of the metric's own: a trial without an answer passes no
    check."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """The metric as a column of the table of trials."""

    title: str
    style: Style | None = None
    """`None` for that of the metric."""
    beside: str = ""
    """Key of the metric that stands behind it in brackets."""


@dataclass(frozen=True, kw_only=True)
class Confusion:
    """Number of times each label was answered, by the right label."""

    labels: tuple[str, ...]
    read: Callable[[Any], tuple[str, str | None] | None]
    """Reads the right label of a record, and the answered one if there is any."""


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
    phrase: str = ""
    """Phrase for what an arm did, with {} for the figure: `found {} of the files`; empty: its
    title."""
    read: ReadTrial | None = None
    read_swarm: ReadSwarm | None = None
    of_case: Callable[[Sequence[float]], float | None] | None = None
    """Makes the figure of a case of those of its trials; `None`: their mean, of ratios a median."""
    counts: Callable[[Any], Sequence[float] | None] | None = None
    """Reads numbers of a record, always as many, which are summed; `None` when it does not tell."""
    of_counts: Callable[[Sequence[float]], float | None] | None = None
    """Makes the figure of many records of the sums of their counts; `None` where there is none."""
    of_groups: Literal["mean", "sum"] | None = None
    """The figure is the mean of the means of groups, or their sum, which is of one part alone."""
    part: str | None = None
    """The part of the data that it is of; `None` for all."""
    made_from: str = ""
    """Key of the metric of the part that arms were made from: what is only gained there is said."""
    judged: bool = False
    """A judge gives it: where one was asked and it is missing, that is counted."""
    confusion: Confusion | None = None
    relative: bool = True
    """Modes are compared by ratios, and not by differences."""
    spent: bool = False
    """Whether a model decides it, or fixed rules in the place of one."""
    of_failed: bool = False
    """Trials that failed have it too."""
    row: Row | None = None
    column: Column | None = None
    page: str = ""
    """Label on the page of a trial; empty when the metric is not on it."""
    probe: str | None = None
    """The counter it is read from; the metric applies to modes that have it."""
    tool_only: bool = False
    """Applies to modes with a retrieval tool."""
    rehearsal_only: bool = False
    """Applies to sessions in which the rehearsal server answered."""
    keyed: KeyPart | None = None
    """The part of an answer key that it is about: it is of the tasks whose key has that part."""
    compared: bool = False
    """Stands among what is compared, and in calibrations, beside those that these list by key."""

    @property
    def is_of_trials(self) -> bool:
        """Whether it is made of what trials have."""
        return bool(self.read or self.counts)

    @property
    def reader(self) -> ReadTrial:
        """What reads its figure of a trial. Raises `ValueError` where nothing does."""
        if self.read is None:
            raise ValueError(f"{self.key} is not read from trials")
        return self.read

    @property
    def is_of_many(self) -> bool:
        """Whether the figure is of many records or groups, and no mean over cases."""
        return bool(self.counts or self.of_groups)

    @property
    def is_share(self) -> bool:
        """Whether its figures lie between 0 and 1."""
        return self.unit in _SHARES

    def least(self, lowest: float) -> float:
        """Return the lowest figure there can be, where a case has `lowest`: a difference may be in
        seconds too. Infinite where none is known."""
        is_count = self.unit in _COUNT_UNITS and (self.is_of_many or lowest >= 0)
        return 0.0 if self.is_share or self.unit == "shares" or is_count else -inf

    def most(self, groups: int) -> float:
        """Return the highest figure of so many groups; infinite where none is known."""
        return groups if self.unit == "shares" else 1.0 if self.is_share else inf

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


_SHARES = frozenset({"0 to 1", "share", "true or false", "0 or 1", "% of references"})
_COUNT_UNITS = frozenset(
    {
        *("answers", "bytes", "calls", "compactions", "files", "lines", "rank", "references"),
        *("requests", "seconds", "tokens", "turns", "US dollars", "words"),
    }
)
"""Units of which nothing has less than none."""
_AGGREGATED: dict[How, tuple[str | None, Style]] = {
    How.MEAN: (None, Style.AVERAGE),
    How.SHARE: ("% of trials", Style.PERCENT),
    How.NUMBER: ("trials", Style.WHOLE),
}
"""The unit and style of the aggregate, where they are not those of the figure."""


def fault(metric: Metric) -> str | None:
    """Say in a clause why the metric cannot be shown; `None` when it can."""
    better, how = metric.better or Better.LOWER, metric.row.how if metric.row else How.MEAN
    for kind, value in {Style: metric.style, Better: better, How: how}.items():
        if not isinstance(value, kind):
            choices = ", ".join(f"{kind.__name__}.{member.name}" for member in kind)
            return f"has the {kind.__name__.lower()} {value!r}, which is none of {choices}"
    names = (metric.key, metric.title)
    if not all(isinstance(text, str) and text and text.isprintable() for text in names):
        return "needs a key and a title of one line each"
    if metric.phrase and metric.phrase.count("{}") != 1:
        return "has a phrase without {} for the figure"
    if metric.row and not (metric.read or metric.read_swarm or metric.row.read):
        return "has a row, and reads nothing"
    if (metric.column or metric.page) and not metric.read:
        return "has a column or a page, and reads no trial"
    if metric.compared and not metric.is_of_trials:
        return "is compared, and reads no trial"
    return _fault_of_many(metric)


def _fault_of_many(metric: Metric) -> str | None:
    """Say in a clause why it cannot be a figure of many records, or of groups."""
    if (metric.counts is None) != (metric.of_counts is None):
        return "has one of counts and of_counts, and needs both"
    keys = [name for name in ("counts", "of_case", "of_groups") if getattr(metric, name)]
    if len(keys) > 1 and keys != ["of_case", "of_groups"]:
        return f"has {' and '.join(keys)}, of which one makes the figure"
    if metric.relative and (metric.counts or metric.of_groups):
        return f"has {keys[0]}, and is relative; only differences of such figures are compared"
    is_sum = metric.compared and metric.of_groups == "sum"
    return "is compared, and a sum; compare the mean" if is_sum else None


@dataclass(frozen=True)
class Metrics:
    """The metrics of a benchmark by key; tables and columns have them in this order."""

    all: tuple[Metric, ...] = ()
    omitted: tuple[str, ...] = ()
    """A sentence for each metric of a package that cannot be used."""

    def __post_init__(self) -> None:
        """Refuse a key that is declared twice."""
        keys = Counter(metric.key for metric in self.all)
        for key, count in keys.items():
            if count > 1:
                raise ValueError(f"the metric {key} is declared {count} times")

    @cached_property
    def _by_key(self) -> dict[str, Metric]:
        return {metric.key: metric for metric in self.all}

    def __iter__(self) -> Iterator[Metric]:
        return iter(self.all)

    def __getitem__(self, key: str) -> Metric:
        return self._by_key[key]

    def __contains__(self, key: str) -> bool:
        return key in self._by_key

    def get(self, key: str | None) -> Metric | None:
        """Return the metric with the key, if there is one."""
        return self._by_key.get(key or "")

    def title_of(self, key: str) -> str:
        """Return the title of the metric with the key, or the key where there is none."""
        return self._by_key[key].title if key in self._by_key else key

    def named(self, keys: Iterable[str]) -> tuple[Metric, ...]:
        """List those with the keys, in the order of the keys."""
        return tuple(self._by_key[key] for key in keys)

    @property
    def compared(self) -> tuple[Metric, ...]:
        return tuple(metric for metric in self.all if metric.compared)

    @property
    def tables(self) -> dict[str, list[Metric]]:
        """The rows of the summary by table."""
        tables = dict[str, list[Metric]]()
        for metric in self.all:
            if metric.row:
                tables.setdefault(metric.row.table, []).append(metric.in_table)
        return tables


Record = TypeVar("Record")
_ROUNDING = 1e-9
"""Amount by which a sum of parts may exceed the whole, through rounding."""


class Guarded(Generic[Record]):
    """A reader of another package. What it raises, or gives that is no figure, is missing."""

    def __init__(self, read: Callable[[Record], float | None], *, share: bool = False) -> None:
        self._read = read
        self._share = share

    def __call__(self, record: Record) -> float | None:
        return self.attempt(record)[0]

    def attempt(self, record: Record) -> tuple[float | None, str | None]:
        """Read the figure, and say in a clause why it is missing when the reader failed."""
        try:
            value = self._read(record)
            if value is None:
                return None, None
            clause = self._describe_fault(value)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # others are shown, whatever it is
            return None, described(error)
        return (None, f"it gave {value}, {clause}") if clause else (value, None)

    def _describe_fault(self, value: float) -> str:
        """Say in a clause why the value is none of its figures; empty where it is one."""
        if not isfinite(value):
            return "which is no figure"
        outside = self._share and not -_ROUNDING <= value <= 1 + _ROUNDING
        return "and a share lies between 0 and 1" if outside else ""


def guarded_metric(metric: Metric) -> Metric:
    """Return the metric with readers that cannot raise, and give no share outside 0 to 1."""
    row, share = metric.row, metric.is_share
    row = replace(row, read=Guarded(row.read, share=share)) if row and row.read else row
    return replace(
        metric,
        read=Guarded(metric.read, share=share) if metric.read else None,
        read_swarm=Guarded(metric.read_swarm, share=share) if metric.read_swarm else None,
        row=row,
    )
