"""What the answers named, against the keys of their tasks: absolute, mode by mode."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from statistics import median

from swarm_bench.analysis.comparison.compared import billed
from swarm_bench.analysis.comparison.pairs import compared, judged_rows
from swarm_bench.analysis.comparison.ratios import subtract
from swarm_bench.analysis.metrics.aggregates import mean_over_tasks
from swarm_bench.analysis.once import once
from swarm_bench.analysis.readings import (
    RUN,
    TASK,
    all_by_task,
    answered,
    column,
    trials_by_task,
)
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.slices import Weights
from swarm_bench.core.metric import KeyPart, Metric
from swarm_bench.core.report.ratios import Difference
from swarm_bench.core.report.report import (
    Correctness,
    Figure,
    FoundRow,
    Row,
    Tagged,
)
from swarm_bench.core.session.tasks import DONE_ALREADY, Task
from swarm_bench.source.constant import constant_recall

RECALL, CONSTANT, RIGHT = "file_recall", "constant_recall", "right_answer"
_BY_KEY = (RECALL, CONSTANT, RIGHT, "file_precision", "symbol_recall", "fact_share")
_INVENTED = "invented_share"
_PER_RIGHT = {"tokens_per_right_answer": "effective_tokens", "cost_per_right_answer": "cost"}
_MOST_TAGS = 20


@once
def correctness(selection: Selection) -> Correctness | None:
    """Compute what the headline begins with; `None` without answer keys, or scores by them."""
    rows = tuple(_rows(selection, found_metrics(selection)))
    if not any(row.metric.key in _BY_KEY for row in rows):
        return None
    return Correctness(
        rows=rows,
        spent=() if selection.fixed_rules else spent_per_right(selection),
        tags=tuple(_tags(selection)),
    )


def found_metrics(selection: Selection) -> tuple[Metric, ...]:
    """List what answers are judged by; none where no task has a key."""
    if not selection.keyed:
        return ()
    invented = replace(selection.metrics[_INVENTED], keyed="any")
    return (*selection.metrics.named(_BY_KEY), invented)


def figure_of(selection: Selection, mode: str, metric: Metric, tasks: Weights) -> Figure:
    """Compute a metric of the mode's answers to some tasks."""
    if metric.key == CONSTANT:
        runs = figure_of(selection, mode, selection.metrics[RECALL], tasks).runs
        return Figure(value=constant(selection, "files") if runs else None, runs=runs)
    return _figure(selection, mode, metric, frozenset(tasks.items()))


@once
def constant(selection: Selection, part: KeyPart) -> float | None:
    """Compute the recall of the best answer that is the same for every task."""
    return constant_recall(_judged_tasks(selection), part)


@once
def constant_as_long(selection: Selection, mode: str, part: KeyPart) -> float | None:
    """Compute the recall of the best list of what several tasks ask for, of as many names as the
    answers of a mode typically have: whoever names one file is held against one."""
    most = _names(selection, mode, part)
    return constant_recall(_judged_tasks(selection), part, shared_only=True, max_names=most)


def _names(selection: Selection, mode: str, part: KeyPart) -> int | None:
    """Return how many names an answer of a mode typically has, by its recall and its precision;
    `None` where these do not tell."""
    kind = {"files": "file", "symbols": "symbol"}.get(part)
    keys = {task.id: len(vars(task.key)[part]) for task in selection.keyed_tasks if task.key}
    numbers = []
    rows = judged_rows(selection, mode) if kind else ()
    metrics = selection.metrics.named((f"{kind}_recall", f"{kind}_precision")) if kind else ()
    columns = [column(selection, mode, read) for read in (TASK, *(it.read for it in metrics))]
    for row in rows:
        task, recall, precision = (values[row] for values in columns)
        if recall and precision:
            numbers.append(round(float(recall) * keys[task] / float(precision)))
    return math.ceil(median(numbers)) if numbers else None


def _judged_tasks(selection: Selection) -> list[Task]:
    return [task for task in selection.keyed_tasks if task.id in selection.keyed]


def about_constant(selection: Selection) -> Iterator[str]:
    """Say that the recall of a constant answer is by another rule than when the session began."""
    named = selection.data.experiment.beforehand
    shown = correctness(selection)
    if shown is None or (named and named.verdict_version is not None):
        return
    if any(row.metric.key == CONSTANT for row in shown.rows):
        yield (
            "The recall of a constant answer is that of the best list that the keys allow. When "
            "this session began it was that of another list, so its summary may have had a lower "
            "one."
        )


_Tasks = frozenset[tuple[str, float]]


@once
def _figure(selection: Selection, mode: str, metric: Metric, tasks: _Tasks) -> Figure:
    """Take the mean over tasks by their weight: all runs as if they were one."""
    parts = selection.slices(mode)
    if not parts:
        return Figure(value=None)
    assert metric.read
    assert metric.keyed
    keyed = selection.with_part[metric.keyed]
    weights = {task: weight for task, weight in tasks if task in keyed}
    there, planned = trials_by_task(selection, mode), _planned(selection, mode)
    expected = max(sum(counts[task] for task in weights) for counts in (there, planned))
    values = all_by_task(selection, mode, metric.read)
    values = {task: values[task] for task in weights if task in values}
    missing = max(expected - sum(map(len, values.values())), 0)
    # Where only trials without an answer tell, they say no to anything.
    if answered(selection, mode) & weights.keys() and not (
        answered(selection, mode, metric.read) & weights.keys()
    ):
        return Figure(value=None, missing=expected)
    mean = mean_over_tasks(values, weights)
    return Figure(value=mean, runs=0 if mean is None else len(parts), missing=missing)


@once
def _planned(selection: Selection, mode: str) -> Counter[str]:
    """Count the planned trials of all runs by task."""
    return Counter(task for part in selection.slices(mode) for task in part.asked)


def _rows(selection: Selection, metrics: Iterable[Metric]) -> Iterator[FoundRow]:
    """Yield those that any mode has."""
    for metric in metrics:
        figures = _figures(selection, metric, selection.keyed)
        if any(figure.runs for figure in figures):
            differences = (_difference(selection, mode, metric) for mode in selection.modes[1:])
            yield FoundRow(metric=metric, figures=figures, differences=(None, *differences))


def _figures(selection: Selection, metric: Metric, tasks: Weights) -> tuple[Figure, ...]:
    return tuple(figure_of(selection, mode, metric, tasks) for mode in selection.modes)


def _difference(selection: Selection, mode: str, metric: Metric) -> Difference | None:
    if metric.better is None:
        return None
    pairs = compared(selection, mode, metric).pairs
    return subtract(pairs, selection.data.experiment.quality_margin, both=selection.fixed_rules)


def spent_per_right(selection: Selection) -> tuple[Row, ...]:
    """Compute what a right answer took: the sums over all trials, divided by the right answers."""
    shown = billed(selection.metrics.named(_PER_RIGHT), selection)
    return tuple(_per_right(selection, metric.key) for metric in shown)


def _per_right(selection: Selection, key: str) -> Row:
    metrics = selection.metrics
    spent = metrics[_PER_RIGHT[key]]
    figures = tuple(_spent_per_right(selection, mode, spent) for mode in selection.modes)
    estimated = any(trial.cost_estimated for trial in selection.various)
    return Row(metric=metrics[key], figures=figures, estimated=estimated and spent.key == "cost")


@once
def _spent_per_right(selection: Selection, mode: str, spent: Metric) -> Figure:
    """Divide what all trials spent by the right answers among them; nothing is divided by 0."""
    rows = judged_rows(selection, mode)
    reads = spent.read, selection.metrics[RIGHT].read, RUN
    columns = [column(selection, mode, read) for read in reads]
    trials = [tuple(values[row] for values in columns) for row in rows]
    values = [(value, right) for value, right, _ in trials if None not in (value, right)]
    right_answers = sum(right for _, right in values)
    total = sum(value for value, _ in values)
    return Figure(
        value=total / right_answers if right_answers else None,
        runs=len({run for _, _, run in trials}) if values else 0,
        missing=len(trials) - len(values),
    )


def _tags(selection: Selection) -> Iterator[Tagged]:
    """Yield what was found by tag, where tasks differ in them; done already stands apart."""
    metrics = selection.metrics.named((RECALL, RIGHT))
    for tag, tasks in _by_tag(selection).items():
        recall, right = (_figures(selection, metric, tasks) for metric in metrics)
        yield Tagged(tag=tag, tasks=len(tasks), recall=recall, right=right)


def _by_tag(selection: Selection) -> dict[str, Weights]:
    tasks, keyed = selection.keyed_tasks, selection.keyed
    counts = Counter(tag for task in tasks if task.id in keyed for tag in task.tags)
    some = {tag for tag, count in counts.most_common(_MOST_TAGS) if count < len(keyed)}
    groups: dict[str, Weights] = {
        tag: {task.id: task.weight for task in tasks if task.id in keyed and tag in task.tags}
        for tag in counts
        if tag in some
    }
    if apart := {task.id: task.weight for task in tasks if task.id not in keyed}:
        groups[DONE_ALREADY] = apart
    return groups
