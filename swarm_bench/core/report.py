"""A report as data: everything is computed, nothing is formatted.

All text in it is plain text; a reporter escapes what its format needs escaped.
"""

from dataclasses import dataclass
from enum import StrEnum

from swarm_bench.core.records import TrialRecord


class Style(StrEnum):
    """How a figure is written."""

    SECONDS = "seconds"
    WHOLE = "whole"
    AVERAGE = "average"
    PERCENT = "percent"
    """The value is a share between 0 and 1."""
    DOLLARS = "dollars"


@dataclass(frozen=True, kw_only=True)
class Metric:
    """What a row of the summary says, in one place for computing, printing and documenting."""

    key: str
    title: str
    unit: str
    definition: str
    style: Style


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A metric of one mode: the median over its runs."""

    value: float | None
    """`None` when nothing gave it in any run."""
    low: float | None = None
    high: float | None = None
    runs: int = 0
    """Runs that have a value."""
    missing: int = 0
    """Trials that should be in it and are not."""


@dataclass(frozen=True, kw_only=True)
class Row:
    metric: Metric
    figures: tuple[Figure | None, ...]
    """By mode, in the order of the report; `None` where the metric does not apply."""
    estimated: bool = False
    """Some of it comes from a price table of ours and not from a bill."""


@dataclass(frozen=True, kw_only=True)
class Table:
    title: str
    rows: tuple[Row, ...]
    unknown: tuple[Metric, ...] = ()
    """Metrics that apply, but that nothing in the whole session gave."""


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """A mode against the reference: median, lowest and highest of the ratios of the tasks."""

    median: float
    low: float
    high: float
    tasks: int
    """Tasks that have the figure in both modes."""


@dataclass(frozen=True, kw_only=True)
class RatioRow:
    metric: Metric
    ratios: tuple[Ratio | None, ...]
    """By mode, the reference left out; `None` when no task has the figure in both modes."""


@dataclass(frozen=True, kw_only=True)
class Ratios:
    """Descriptive: no interval, no test."""

    reference: str
    modes: tuple[str, ...]
    tasks: int
    """Tasks in the comparison."""
    runs: int
    left_out: int
    """Trials that gave no answer for a reason other than a budget, or were contaminated."""
    rows: tuple[RatioRow, ...]


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A labelled word of the head."""

    label: str
    value: str


@dataclass(frozen=True, kw_only=True)
class Report:
    title: str
    banner: str | None
    """What must be known before anything else: that these are no figures of a model, or that they
    are figures of an older session."""
    head: tuple[tuple[Fact, ...], ...]
    """Line by line."""
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    """What a reader must know to read the figures, where nothing went wrong."""
    modes: tuple[str, ...]
    """The first one is the reference of the ratios."""
    runs: int
    ratios: Ratios | None
    """`None` with a single mode."""
    tables: tuple[Table, ...]
    trials: tuple[TrialRecord, ...]
    """By run, mode and agent; of a trial that was run again, the last attempt."""
    titles: dict[str, str]
    """Titles of the tasks by id; a task without one is known by its prompt."""
    measured: int
    """Trials that say something about their mode: the harness ran them to their own end."""
    retrieval_exercised: bool | None
    """Whether each mode that has a retrieval tool used it in each of its runs; `None` when no
    mode has one, or nothing can tell."""


@dataclass(frozen=True, kw_only=True)
class Key:
    """A key of a stored file, for the page that documents it."""

    key: str
    unit: str
    definition: str
