"""A report as data: everything is computed, nothing is formatted.

All text in it is plain text; a reporter escapes what its format needs escaped.
"""

from dataclasses import dataclass

from swarm_bench.core.metric import Metric, ReadTrial, Style
from swarm_bench.core.report.document import Fact, Section
from swarm_bench.core.report.pictures import RowChart
from swarm_bench.core.report.ratios import Difference, Ratio, Ratios
from swarm_bench.core.report.standing import Standing
from swarm_bench.core.session.experiment import ControlKind
from swarm_bench.core.session.records import TrialRecord


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
    """Figures by mode, in the order of the report; `None` where the metric does not apply."""
    estimated: bool = False
    """Whether some of it comes from a price table of ours and not from a bill."""


@dataclass(frozen=True, kw_only=True)
class Table:
    title: str
    rows: tuple[Row, ...]
    unknown: tuple[Metric, ...] = ()
    """Metrics that apply, but that nothing in the whole session gave."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of a sheet."""

    labels: tuple[str, ...]
    """Foreign text: names of modes and tools."""
    figures: tuple[Figure | None, ...]
    """Figures by column; `None` where the metric does not apply."""


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A table with metrics as columns: a line per mode, or per mode and tool."""

    title: str
    labels: tuple[str, ...]
    """Headers of the labels."""
    metrics: tuple[Metric, ...]
    """Headers of the figures."""
    lines: tuple[Line, ...]
    unknown: tuple[Metric, ...] = ()
    """Metrics that apply, but that nothing in the whole session gave."""
    about: str = ""
    """How to read it."""
    notes: tuple[str, ...] = ()
    """Notes on what could not be measured, and why."""


@dataclass(frozen=True, kw_only=True)
class FoundRow:
    """What the answers of each mode came to, on a scale from 0 to 1."""

    metric: Metric
    figures: tuple[Figure | None, ...]
    """The mean over tasks, by mode."""
    differences: tuple[Difference | None, ...]
    """Differences by mode; `None` for the reference, and where no task has both."""


@dataclass(frozen=True, kw_only=True)
class Tagged:
    """What was found of the tasks with one tag."""

    tag: str
    tasks: int
    recall: tuple[Figure | None, ...]
    """Recall by mode, in the order of the right answers."""
    right: tuple[Figure | None, ...]


@dataclass(frozen=True, kw_only=True)
class Correctness:
    """What the answers named, against the keys of their tasks, in absolute figures."""

    rows: tuple[FoundRow, ...]
    spent: tuple[Row, ...]
    """Cost of a right answer; none by fixed rules. With runs but no value: no right answer."""
    tags: tuple[Tagged, ...]
    margin: float
    """Difference in what was found that is of no importance."""


@dataclass(frozen=True, kw_only=True)
class Headline:
    """The answer, or why there is none."""

    no_verdict: str | None
    """Why nothing can be said at all."""
    standings: tuple[Standing, ...]
    """Status by mode, without those that have no tool and no fault."""
    ratios: Ratios | None
    """Ratios of the modes with a verdict; `None` when there is nothing to compare."""
    all_used: bool
    """Every trial in the ratios used its mode's tool: as assigned and as used are the same."""
    remark: str = ""
    """Remark that must be known beside the ratios; empty where there is no verdict."""
    details: Section | None = None
    """Figures for a reader who wants to check it; `None` where nothing is compared."""
    size: str = ""
    """Tasks and runs that have trials: `12 tasks × 3 runs`."""
    correctness: Correctness | None = None
    """Figures of right answers; `None` where these are unknown, and where nothing could be
    measured."""


@dataclass(frozen=True, kw_only=True)
class Split:
    """The difference that a mode makes, in two steps: what its control makes, then the rest."""

    mode: str
    control: str
    tasks: int
    """Tasks in the comparison."""
    rows: tuple[tuple[Metric, tuple[Ratio | None, ...]], ...]
    """Each metric with the ratios of the steps: the control against the reference, the mode against
    the control, and both together."""


@dataclass(frozen=True, kw_only=True)
class Controls:
    """The splits by one kind of control."""

    kind: ControlKind
    title: str
    steps: tuple[str, str, str]
    """Headers of the control, the tool, and both together."""
    about: str
    splits: tuple[Split, ...]
    notes: tuple[str, ...]
    """Tool modes that have no such control, or no split, and why."""


@dataclass(frozen=True, kw_only=True)
class SpentByRules:
    """Ratios of what agents spent that no language model drove: no part of a headline."""

    ratios: Ratios
    controls: tuple[Controls, ...]
    per_right_answer: tuple[Row, ...]
    """Rows by mode; none without answer keys."""


@dataclass(frozen=True, kw_only=True)
class Missed:
    """Tasks in which an arm found nothing of what another one found."""

    arm: str
    finder: str
    tasks: tuple[str, ...]
    """Their titles."""
    where: str = ""
    """The form in which they were asked, if there are several."""


@dataclass(frozen=True, kw_only=True)
class TrialColumn:
    """A column of the table of trials."""

    title: str
    style: Style
    read: ReadTrial
    beside: ReadTrial | None = None
    """Value that stands behind it in brackets."""


@dataclass(frozen=True, kw_only=True)
class Report:
    title: str
    banner: str | None
    """Notice that must be known before anything else: that these are no figures of a model, or that
    they are figures of an older session."""
    head: tuple[tuple[Fact, ...], ...]
    """Line by line."""
    warnings: tuple[str, ...]
    gravest: tuple[str, ...]
    """The warnings, and the caveats that none of them is of."""
    notes: tuple[str, ...]
    """Notes that a reader needs to read the figures, where nothing went wrong."""
    modes: tuple[str, ...]
    """The first one is the reference of the ratios."""
    runs: int
    headline: Headline
    controls: tuple[Controls, ...]
    spent_by_rules: SpentByRules | None
    """`None` when a model decided what was spent."""
    tables: tuple[Table, ...]
    tools: Sheet | None
    """Calls by mode and tool; `None` when no transcript shows a call."""
    overhead: Sheet | None
    """Cost of each tool that is only present; `None` when it was not measured."""
    judging: Section | None
    """`None` when no model was asked to compare answers."""
    rehearsed: Section | None
    """Figures of each mode with a tool; `None` in a session that is no rehearsal."""
    missed: tuple[Missed, ...]
    """Files in answer keys that modes missed; nothing without keys."""
    by_task: tuple[RowChart, ...]
    """Charts of the modes with a verdict, each against the reference task by task."""
    trials: tuple[TrialRecord, ...]
    """Trials by run, mode and agent; of a trial that was run again, the last attempt."""
    columns: tuple[TrialColumn, ...]
    """Their figures."""
    titles: dict[str, str]
    """Titles of the tasks by id; a task without one is known by its prompt."""
    measured: int
    """Trials that say something about their mode: the harness ran them to their own end."""
    retrieval_exercised: bool | None
    """Whether each mode that has a retrieval tool used it in each of its runs; `None` when no
    mode has one, or nothing can tell."""
