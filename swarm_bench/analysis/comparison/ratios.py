"""Each mode against the first one, task by task."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from statistics import median

from swarm_bench.analysis.selection import Selection, once
from swarm_bench.core.report.report import Column, Metric, Ratio, RatioRow, Ratios
from swarm_bench.core.session.records import Treatment, TrialRecord


def ratios(selection: Selection, columns: Collection[Column], metrics: Iterable[Metric]) -> Ratios:
    """The columns against the reference."""
    reference, compared = selection.modes[0], in_ratios(selection, columns)
    chosen = selection.has_tool(reference)
    sides = [
        (column, Column(mode=reference, as_used=column.as_used and chosen)) for column in columns
    ]
    return Ratios(
        reference=reference,
        reference_as_used=chosen,
        columns=tuple(columns),
        tasks=len({trial.task_key for trial in compared}),
        runs=len({trial.run for trial in compared}),
        rows=tuple(
            RatioRow(
                metric=metric,
                ratios=tuple(ratio(selection, side, other, metric.key) for side, other in sides),
            )
            for metric in metrics
        ),
    )


def in_ratios(selection: Selection, columns: Iterable[Column]) -> list[TrialRecord]:
    """The trials that the columns and their reference are about."""
    shown = dict.fromkeys([selection.modes[0], *(column.mode for column in columns)])
    return [trial for mode in shown for trial in selection.arm(mode).compared]


def ratio(selection: Selection, side: Column, other: Column, key: str) -> Ratio | None:
    """The median over tasks of side / other, where a task's value on a side is the median over
    its trials there; `None` when no task has both."""
    values, reference = (_by_task(selection, one, key) for one in (side, other))
    found = [values[task] / reference[task] for task in values if reference.get(task)]
    if not found:
        return None
    return Ratio(median=median(found), low=min(found), high=max(found), tasks=len(found))


@once
def _with_tasks(selection: Selection, side: Column) -> list[tuple[str, TrialRecord]]:
    return [
        (trial.task_key, trial)
        for trial in selection.arm(side.mode).compared
        if not side.as_used or trial.retrieval is Treatment.USED
    ]


@once
def _by_task(selection: Selection, side: Column, key: str) -> dict[str, float]:
    values: dict[str, list[float]] = defaultdict(list)
    for task, trial in _with_tasks(selection, side):
        value = getattr(trial, key)
        if value is not None:
            values[task].append(value)
    return {task: median(several) for task, several in values.items()}
