"""Each mode against the first one, task by task."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from statistics import median

from swarm_bench.analysis.comparison.compared import trials_of, values_of
from swarm_bench.analysis.frame import by_case, frame
from swarm_bench.analysis.selection import Selection, once
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.report import Column, Ratio, RatioRow, Ratios
from swarm_bench.core.session.base import RecordView


def ratios(selection: Selection, columns: Collection[Column], metrics: Iterable[Metric]) -> Ratios:
    """Compare the columns with the reference."""
    reference = selection.modes[0]
    compared = [Column(mode=mode) for mode in modes_of(selection, columns)]
    chosen = selection.has_tool(reference)
    sides = [
        (column, Column(mode=reference, as_used=column.as_used and chosen)) for column in columns
    ]
    return Ratios(
        reference=reference,
        reference_as_used=chosen,
        columns=tuple(columns),
        tasks=len({task for side in compared for task in tasks_of(selection, side)}),
        runs=len({trial.run for side in compared for trial in trials_of(selection, side)}),
        rows=tuple(
            RatioRow(
                metric=metric,
                ratios=tuple(ratio(selection, side, other, metric) for side, other in sides),
            )
            for metric in metrics
        ),
    )


def modes_of(selection: Selection, columns: Iterable[Column]) -> tuple[str, ...]:
    """Name the reference and the modes of the columns."""
    return tuple(dict.fromkeys([selection.modes[0], *(column.mode for column in columns)]))


def ratio(selection: Selection, side: Column, other: Column, metric: Metric) -> Ratio | None:
    """Compute the median over tasks of side / other, where a task's value on a side is the median
    over its trials there; `None` when no task has both."""
    return divide(*(_medians(selection, column, metric) for column in (side, other)))


def divide(values: Mapping[str, float], reference: Mapping[str, float]) -> Ratio | None:
    """Divide case by case; `None` when no case has both. There is no ratio to 0."""
    divided = [values[case] / reference[case] for case in values if reference.get(case)]
    if not divided:
        return None
    return Ratio(
        median=median(divided),
        lowest_task=min(divided),
        highest_task=max(divided),
        tasks=len(divided),
    )


def case_medians(records: Iterable[RecordView], metric: Metric) -> dict[str, float]:
    """Compute the median of each case over its trials."""
    cases = by_case(frame(records, metric))
    return {case: median(several) for case, several in cases.items()}


@once
def by_task(selection: Selection, side: Column, metric: Metric) -> dict[str, list[float]]:
    """Group the values of the trials in a column by task; without those that have none."""
    grouped: dict[str, list[float]] = defaultdict(list)
    values = values_of(selection, side)[metric.key]
    for task, value in zip(tasks_of(selection, side), values, strict=True):
        if value is not None:
            grouped[task].append(value)
    return dict(grouped)


@once
def tasks_of(selection: Selection, side: Column) -> list[str]:
    """Return the task of each trial that is compared in a column."""
    return [trial.task_key for trial in trials_of(selection, side)]


@once
def _medians(selection: Selection, side: Column, metric: Metric) -> dict[str, float]:
    tasks = by_task(selection, side, metric)
    return {task: median(several) for task, several in tasks.items()}
