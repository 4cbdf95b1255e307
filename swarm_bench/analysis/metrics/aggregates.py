"""Turns the trials of a mode in one run into one value, and the values of the runs into a figure.

Nothing missing becomes 0: a value that was not given is left out and counted as missing.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from swarm_bench.analysis.metrics.reading import read_finite
from swarm_bench.analysis.slices import Slice, Weights
from swarm_bench.core.metric import How, Metric, ReadSwarm, ReadTrial
from swarm_bench.core.report.report import Figure, Row, Table
from swarm_bench.core.session.base import RecordView
from swarm_bench.core.session.records import TrialRecord


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
    read = metric.row.read or metric.read
    assert read
    checks = keyed or metric.row.how in (How.SHARE, How.NUMBER)
    if checks and _has_only_unanswered(read, trials):
        return Value(value=None, missing=expected)
    return reduce_trials(metric, trials, expected, part.keyed_weights)


def reduce_trials(
    metric: Metric, trials: Iterable[RecordView], expected: int, weights: Weights | None = None
) -> Value:
    """Make one value of so many trials as were expected in a run."""
    assert metric.row
    read = metric.row.read or metric.read
    assert read
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
    tasks: dict[str, list[float]] = defaultdict(list)
    for trial in trials:
        if (value := read(trial)) is not None:
            tasks[trial.case].append(value)
    missing = max(expected - sum(map(len, tasks.values())), 0)
    return Value(value=compute_task_mean(tasks, weights), missing=missing)


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
