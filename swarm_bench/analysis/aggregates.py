"""Turns the trials of a mode in one run into one value, and the values of the runs into a figure.

Nothing missing becomes 0: a value that was not given is left out and counted as missing.

Of a metric that counts, what many records count is added, and the figure is that of the sums. Each
case gets a value, such that the mean of these is the figure, and their spread tells how sure it is:
the pseudo-values of a jackknife that omits a case at a time. So intervals, tests and groups are
those of any other metric. docs/statistics.md says how well they cover.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, isfinite
from operator import attrgetter
from statistics import fmean, median
from typing import Any

from swarm_bench.analysis.selection import Slice, Weights
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.errors import described
from swarm_bench.core.metric import Guarded, How, Metric, ReadSwarm, ReadTrial
from swarm_bench.core.report.report import Figure, Row, Table
from swarm_bench.core.session.base import RecordView
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.session.records import SwarmRecord, TrialRecord


@dataclass(frozen=True)
class Value:
    """What one run gives, and how many trials or swarms it lacks."""

    value: float | None
    missing: int


_REDUCE: Mapping[How, Callable[[list[Any]], float]] = {
    How.TOTAL: sum,
    How.LARGEST: max,
    How.MEDIAN: median,
    How.MEAN: fmean,
    How.WHOLE_MEAN: lambda values: sum(values) // len(values),
    How.SHARE: fmean,
    How.NUMBER: sum,
}


def reduce_runs(values: Iterable[Value]) -> Figure:
    """Take the median over runs, with the range."""
    values = list(values)
    present = [value.value for value in values if value.value is not None]
    missing = sum(value.missing for value in values)
    if not present:
        return Figure(value=None, missing=missing)
    return Figure(
        value=median(present),
        low=min(present),
        high=max(present),
        runs=len(present),
        missing=missing,
    )


def make_metrics_table(title: str, rows: Iterable[Row]) -> Table:
    """Make a table of the rows that apply to an arm: those that nothing gave are only named."""
    applying = [row for row in rows if any(row.figures)]
    present = [
        row
        for row in applying
        if any(figure and figure.value is not None for figure in row.figures)
    ]
    return Table(
        title=title,
        rows=tuple(present),
        unknown=tuple(row.metric for row in applying if row not in present),
    )


def aggregate(metric: Metric, part: Slice) -> Value:
    """Make one value of a run, as the metric's row says; it has one."""
    assert metric.row
    if metric.read_swarm:
        return _reduce_swarms(metric.read_swarm, _REDUCE[metric.row.how], part)
    keyed = metric.keyed
    trials = part.select_judged(keyed) if keyed else part.trials
    expected = part.count_to_judge(keyed) if keyed else len(trials) + part.absent
    read = metric.row.read or metric.reader
    checks = keyed or metric.row.how in (How.SHARE, How.NUMBER)
    if checks and _has_only_unanswered(read, trials):
        return Value(value=None, missing=expected)
    return reduce_trials(metric, trials, expected, part.keyed_weights)


def reduce_trials(
    metric: Metric, trials: Iterable[RecordView], expected: int, weights: Weights | None = None
) -> Value:
    """Make one value of so many trials as were expected in a run."""
    assert metric.row
    read = metric.row.read or metric.reader
    if metric.row.how is How.TASK_MEAN:
        return _reduce_tasks(read, trials, expected, weights or {})
    values = [value for trial in trials if (value := read(trial)) is not None]
    reduce = _REDUCE[metric.row.how]
    return Value(
        value=reduce(values) if values else None,
        missing=max(expected - len(values), 0),
    )


def _reduce_tasks(
    read: ReadTrial, trials: Iterable[RecordView], expected: int, weights: Weights
) -> Value:
    tasks = group_figures(trials, read)
    missing = max(expected - sum(map(len, tasks.values())), 0)
    return Value(value=compute_task_mean(tasks, weights), missing=missing)


def group_figures(trials: Iterable[RecordView], read: ReadTrial) -> dict[str, list[float]]:
    """Group the figures of trials by case; a trial that does not tell is in none."""
    cases: dict[str, list[float]] = defaultdict(list)
    for trial in trials:
        if (value := read(trial)) is not None:
            cases[trial.case].append(value)
    return dict(cases)


def compute_task_mean(tasks: Mapping[str, Sequence[float]], weights: Weights) -> float | None:
    """Take the mean over tasks of the mean of each; `None` where there is none."""
    if not tasks:
        return None
    means = [values[0] if len(values) == 1 else fmean(values) for values in tasks.values()]
    return fmean(means, [weights.get(task, 1) for task in tasks])


def _has_only_unanswered(check: ReadTrial, trials: Iterable[TrialRecord]) -> bool:
    """Tell whether only trials without an answer tell, and they say no to anything."""
    has_answer = False
    for trial in trials:
        if trial.result_lines is not None:
            if check(trial) is not None:
                return False
            has_answer = True
    return has_answer


def _reduce_swarms(read: ReadSwarm, reduce: Callable[[list[Any]], float], part: Slice) -> Value:
    """Reduce the figures of the run's swarms; an agent of a swarm without one is missing."""
    present: list[float] = []
    covered: set[int] = set()
    for swarm in part.swarms:
        value = read_finite(read(swarm))
        if value is not None:
            present.append(value)
            covered.update(swarm.agents)
    uncovered = sum(trial.agent not in covered for trial in part.trials)
    return Value(value=reduce(present) if present else None, missing=uncovered + part.absent)


def read_field(key: str) -> ReadTrial:
    """Read a figure under its key in the record."""
    return attrgetter(key)


def sum_by_name(key: str) -> ReadTrial:
    """Sum a figure that the record has by name."""

    def read(trial: TrialRecord) -> float | None:
        figures = getattr(trial, key)
        return None if figures is None else sum(figures.values())

    return read


def sum_over_tools(key: str) -> ReadTrial:
    """Sum a figure over the tools; `None` when it lacks a tool that was called."""

    def read(trial: TrialRecord) -> float | None:
        figures = getattr(trial, key)
        if figures is None or not (trial.tool_calls or {}).keys() <= figures.keys():
            return None
        return float(sum(figures.values()))

    return read


def read_counter(probe: str, key: str) -> ReadSwarm:
    """Read a retrieval tool's counter. Broken-off swarms have it too: their agents asked the same
    tool."""

    def read(swarm: SwarmRecord) -> float | None:
        return read_finite((swarm.difference.get(probe) or {}).get(key))

    return read


def read_finite(value: object) -> float | None:
    """Return a counter as a number; `None` for anything else that a tool may put there."""
    return value if isinstance(value, (int, float)) and isfinite(value) else None


Numbers = tuple[float, ...]
_MIDDLE = 0.5
"""Middle of the range of shares."""


@dataclass(frozen=True, kw_only=True)
class RecordCounts:
    """What the records of a session count for one metric."""

    by_trial: Mapping[str, Numbers]
    """Counts by the id of a trial; without the trials that have none."""
    failures: Sequence[tuple[CaseRecord, str]]
    """Trials whose counts cannot be used, each with a clause that says why."""

    @cached_property
    def failed_trials(self) -> frozenset[str]:
        """The ids of the trials whose counts cannot be used."""
        return frozenset(record.trial for record, _ in self.failures)


def count_records(metric: Metric, records: Iterable[CaseRecord]) -> RecordCounts:
    """Read the counts of all records. All must have as many numbers as most have."""
    by_trial: dict[str, Numbers] = {}
    failures: list[tuple[CaseRecord, str]] = []
    read: list[tuple[CaseRecord, Numbers]] = []
    for record in records:
        numbers, clause = _read_numbers(metric, record)
        if clause is not None:
            failures.append((record, clause))
        elif numbers is not None:
            read.append((record, numbers))
    lengths = Counter(len(numbers) for _, numbers in read)
    length = max(lengths, key=lambda count: (lengths[count], count), default=0)
    for record, numbers in read:
        if len(numbers) == length:
            by_trial[record.trial] = numbers
        else:
            clause = f"it has {quantify(len(numbers), 'number')}, and most have {length}"
            failures.append((record, clause))
    return RecordCounts(by_trial=by_trial, failures=failures)


def pool(metric: Metric, runs: Collection[Mapping[str, Numbers]]) -> dict[str, list[float]]:
    """Return a value for each case, whose mean over cases is the figure: of several runs the mean
    of their values. `runs` have the counts by case. Empty where no run has a figure."""
    runs_values = [
        values for counts in runs if counts and (values := _compute_pseudo_values(metric, counts))
    ]
    if not runs_values:
        return {}
    figures = [fmean(values.values()) for values in runs_values]
    figure, moves = fmean(figures), defaultdict[str, float](float)
    cases = dict.fromkeys(case for values in runs_values for case in values)
    for values, run_figure in zip(runs_values, figures, strict=True):
        share = len(cases) / len(values) / len(runs_values)  # a run may have lost some cases
        for case, value in values.items():
            moves[case] += share * (value - run_figure)
    return {case: [figure + moves[case]] for case in cases}


def describe_failure(metric: Metric, counts: Mapping[str, Numbers]) -> str | None:
    """Say in a clause why the sums of a run have no figure where that failed."""
    assert metric.of_counts
    return Guarded(metric.of_counts, share=metric.is_share).attempt(_add_counts(counts.values()))[1]


def _add_counts(counts: Iterable[Numbers]) -> list[float]:
    return [fsum(column) for column in zip(*counts, strict=True)]


def _compute_pseudo_values(
    metric: Metric, counts: Mapping[str, Numbers]
) -> dict[str, float] | None:
    """Return the pseudo-values of one run; `None` where it has no figure."""
    assert metric.of_counts
    of_counts = Guarded(metric.of_counts, share=metric.is_share)
    sums = _add_counts(counts.values())
    figure = of_counts(sums)
    if figure is None:
        return None
    number = len(counts)
    if number == 1:
        return dict.fromkeys(counts, figure)
    without: dict[Numbers, float] = {}
    for numbers in dict.fromkeys(counts.values()):
        figure_without = of_counts(
            [sum_of_all - part for sum_of_all, part in zip(sums, numbers, strict=True)]
        )
        if figure_without is None:
            # This case alone decides whether there is a figure, so nothing is known without it.
            if not metric.is_share:
                return None
            figure_without = 0.0 if figure > _MIDDLE else 1.0
        without[numbers] = figure_without
    mean = fmean(without[numbers] for numbers in counts.values())
    return {
        case: figure + (number - 1) * (mean - without[numbers]) for case, numbers in counts.items()
    }


def _read_numbers(metric: Metric, record: CaseRecord) -> tuple[Numbers | None, str | None]:
    """Return the counts of a record, and in a clause why they cannot be used."""
    assert metric.counts
    try:
        read = metric.counts(record)
        numbers = None if read is None else tuple(map(float, read))
    except (Exception, SystemExit) as error:  # noqa: BLE001  # code of others may raise anything
        return None, described(error)
    for number in numbers or ():
        if not isfinite(number):
            return None, f"it counts {number}, which is no figure"
    return numbers, None
