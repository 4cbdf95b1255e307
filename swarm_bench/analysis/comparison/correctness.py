"""What the answers named, against the keys of their tasks: absolute, mode by mode."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from statistics import median

from swarm_bench.analysis.aggregates import compute_task_mean
from swarm_bench.analysis.caching import once
from swarm_bench.analysis.comparison.headline_metrics import select_billed
from swarm_bench.analysis.comparison.pairs import pair_metric, select_judged_rows
from swarm_bench.analysis.comparison.ratios import subtract
from swarm_bench.analysis.readings import (
    RUN,
    TASK,
    count_trials,
    find_answered,
    group_all,
    read_column,
)
from swarm_bench.analysis.selection import Selection, Weights
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
from swarm_bench.source.key_measures import constant_recall

RECALL, CONSTANT, RIGHT = "file_recall", "constant_recall", "right_answer"
_BY_KEY = (RECALL, CONSTANT, RIGHT, "file_precision", "symbol_recall", "fact_share")
_INVENTED = "invented_share"
_PER_RIGHT = {"tokens_per_right_answer": "effective_tokens", "cost_per_right_answer": "cost"}
_MAX_TAGS = 20


@once
def compute_correctness(selection: Selection) -> Correctness | None:
    """Compute what the headline begins with; `None` without answer keys, or scores by them."""
    rows = tuple(_make_rows(selection, list_found_metrics(selection)))
    if not any(row.metric.key in _BY_KEY for row in rows):
        return None
    return Correctness(
        rows=rows,
        spent=() if selection.fixed_rules else compute_spending_per_right(selection),
        tags=tuple(_make_tags(selection)),
        margin=selection.data.experiment.quality_margin,
    )


def list_found_metrics(selection: Selection) -> tuple[Metric, ...]:
    """List what answers are judged by; none where no task has a key."""
    if not selection.keyed_weights:
        return ()
    invented = replace(selection.metrics[_INVENTED], keyed="any")
    return (*selection.metrics.named(_BY_KEY), invented)


def compute_figure(selection: Selection, mode: str, metric: Metric, tasks: Weights) -> Figure:
    """Compute a metric of the mode's answers to some tasks."""
    if metric.key == CONSTANT:
        runs = compute_figure(selection, mode, selection.metrics[RECALL], tasks).runs
        return Figure(value=compute_constant(selection, "files") if runs else None, runs=runs)
    return _compute_figure(selection, mode, metric, frozenset(tasks.items()))


@once
def compute_constant(selection: Selection, part: KeyPart) -> float | None:
    """Compute the recall of the best answer that is the same for every task."""
    return constant_recall(_list_judged_tasks(selection), part)


@once
def compute_constant_as_long(selection: Selection, mode: str, part: KeyPart) -> float | None:
    """Compute the recall of the best list of what several tasks ask for, of as many names as the
    answers of a mode typically have: an answer of one file is compared with a list of one."""
    max_names = _count_names(selection, mode, part)
    return constant_recall(
        _list_judged_tasks(selection), part, shared_only=True, max_names=max_names
    )


def _count_names(selection: Selection, mode: str, part: KeyPart) -> int | None:
    """Return how many names an answer of a mode typically has, by its recall and its precision;
    `None` where these do not tell."""
    kind = {"files": "file", "symbols": "symbol"}.get(part)
    keys = {task.id: len(vars(task.key)[part]) for task in selection.keyed_tasks if task.key}
    numbers = []
    rows = select_judged_rows(selection, mode) if kind else ()
    metrics = selection.metrics.named((f"{kind}_recall", f"{kind}_precision")) if kind else ()
    columns = [
        read_column(selection, mode, read) for read in (TASK, *(metric.read for metric in metrics))
    ]
    for row in rows:
        task, recall, precision = (values[row] for values in columns)
        if recall and precision:
            numbers.append(round(float(recall) * keys[task] / float(precision)))
    return math.ceil(median(numbers)) if numbers else None


def _list_judged_tasks(selection: Selection) -> list[Task]:
    return [task for task in selection.keyed_tasks if task.id in selection.keyed_weights]


def describe_constant_rule(selection: Selection) -> Iterator[str]:
    """Say that the recall of a constant answer is by another rule than when the session began."""
    declaration = selection.data.experiment.beforehand
    current = compute_correctness(selection)
    if current is None or (declaration and declaration.verdict_version is not None):
        return
    if any(row.metric.key == CONSTANT for row in current.rows):
        yield (
            "The recall of a constant answer is that of the best list that the keys allow. When "
            "this session began it was that of another list, so its summary may have had a lower "
            "one."
        )


_Tasks = frozenset[tuple[str, float]]


@once
def _compute_figure(selection: Selection, mode: str, metric: Metric, tasks: _Tasks) -> Figure:
    """Take the mean over tasks by their weight: all runs as if they were one."""
    parts = selection.list_slices(mode)
    if not parts:
        return Figure(value=None)
    assert metric.keyed
    keyed = selection.tasks_by_part[metric.keyed]
    weights = {task: weight for task, weight in tasks if task in keyed}
    recorded_counts, planned_counts = count_trials(selection, mode), _count_planned(selection, mode)
    expected = max(
        sum(counts[task] for task in weights) for counts in (recorded_counts, planned_counts)
    )
    values = group_all(selection, mode, metric.reader)
    values = {task: values[task] for task in weights if task in values}
    missing = max(expected - sum(map(len, values.values())), 0)
    # Where only trials without an answer tell, they say no to anything.
    if find_answered(selection, mode) & weights.keys() and not (
        find_answered(selection, mode, metric.read) & weights.keys()
    ):
        return Figure(value=None, missing=expected)
    mean = compute_task_mean(values, weights)
    return Figure(value=mean, runs=0 if mean is None else len(parts), missing=missing)


@once
def _count_planned(selection: Selection, mode: str) -> Counter[str]:
    """Count the planned trials of all runs by task."""
    return Counter(task for part in selection.list_slices(mode) for task in part.run_tasks)


def _make_rows(selection: Selection, metrics: Iterable[Metric]) -> Iterator[FoundRow]:
    """Yield those that any mode has."""
    for metric in metrics:
        figures = _compute_figures(selection, metric, selection.keyed_weights)
        if any(figure.runs for figure in figures):
            differences = (
                _compute_difference(selection, mode, metric) for mode in selection.modes[1:]
            )
            yield FoundRow(metric=metric, figures=figures, differences=(None, *differences))


def _compute_figures(selection: Selection, metric: Metric, tasks: Weights) -> tuple[Figure, ...]:
    return tuple(compute_figure(selection, mode, metric, tasks) for mode in selection.modes)


def _compute_difference(selection: Selection, mode: str, metric: Metric) -> Difference | None:
    if metric.better is None:
        return None
    pairs = pair_metric(selection, mode, metric).pairs
    return subtract(
        pairs, selection.data.experiment.quality_margin, count_gains=selection.fixed_rules
    )


def compute_spending_per_right(selection: Selection) -> tuple[Row, ...]:
    """Compute what a right answer took: the sums over all trials, divided by the right answers."""
    metrics = select_billed(selection.metrics.named(_PER_RIGHT), selection)
    return tuple(_make_row(selection, metric.key) for metric in metrics)


def _make_row(selection: Selection, key: str) -> Row:
    metrics = selection.metrics
    spending = metrics[_PER_RIGHT[key]]
    figures = tuple(_divide_by_right(selection, mode, spending) for mode in selection.modes)
    estimated = any(trial.cost_estimated for trial in selection.various)
    return Row(metric=metrics[key], figures=figures, estimated=estimated and spending.key == "cost")


@once
def _divide_by_right(selection: Selection, mode: str, spending: Metric) -> Figure:
    """Divide what all trials spent by the right answers among them; nothing is divided by 0."""
    rows = select_judged_rows(selection, mode)
    reads = spending.read, selection.metrics[RIGHT].read, RUN
    columns = [read_column(selection, mode, read) for read in reads]
    trials = [tuple(values[row] for values in columns) for row in rows]
    values = [(value, right) for value, right, _ in trials if None not in (value, right)]
    right_answers = sum(right for _, right in values)
    total = sum(value for value, _ in values)
    return Figure(
        value=total / right_answers if right_answers else None,
        runs=len({run for _, _, run in trials}) if values else 0,
        missing=len(trials) - len(values),
    )


def _make_tags(selection: Selection) -> Iterator[Tagged]:
    """Yield what was found by tag, where tasks differ in them; done already stands apart."""
    metrics = selection.metrics.named((RECALL, RIGHT))
    for tag, tasks in _group_by_tag(selection).items():
        recall, right = (_compute_figures(selection, metric, tasks) for metric in metrics)
        yield Tagged(tag=tag, tasks=len(tasks), recall=recall, right=right)


def _group_by_tag(selection: Selection) -> dict[str, Weights]:
    tasks, keyed = selection.keyed_tasks, selection.keyed_weights
    counts = Counter(tag for task in tasks if task.id in keyed for tag in task.tags)
    chosen_tags = {tag for tag, count in counts.most_common(_MAX_TAGS) if count < len(keyed)}
    groups: dict[str, Weights] = {
        tag: {task.id: task.weight for task in tasks if task.id in keyed and tag in task.tags}
        for tag in counts
        if tag in chosen_tags
    }
    if other_weights := {task.id: task.weight for task in tasks if task.id not in keyed}:
        groups[DONE_ALREADY] = other_weights
    return groups
