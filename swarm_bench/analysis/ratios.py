"""Each mode against the first one, task by task."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from statistics import median

from swarm_bench.analysis.selection import Selection, compares
from swarm_bench.core.records import Treatment, TrialRecord
from swarm_bench.core.report import Column, Metric, Ratio, RatioRow, Ratios


def ratios(selection: Selection, columns: Collection[Column], metrics: Iterable[Metric]) -> Ratios:
    """The columns against the reference."""
    reference, compared = selection.modes[0], in_ratios(selection, columns)
    chosen = selection.has_tool(reference)
    sides = [
        (
            _side(compared, column.mode, used=column.as_used),
            _side(compared, reference, used=column.as_used and chosen),
        )
        for column in columns
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
                ratios=tuple(ratio(side, other, metric.key) for side, other in sides),
            )
            for metric in metrics
        ),
    )


def in_ratios(selection: Selection, columns: Iterable[Column]) -> list[TrialRecord]:
    """The trials that the columns and their reference are about."""
    shown = {selection.modes[0], *(column.mode for column in columns)}
    return [one for one in selection.trials if compares(one) and one.mode in shown]


def ratio(side: Iterable[TrialRecord], other: Iterable[TrialRecord], key: str) -> Ratio | None:
    """The median over tasks of side / other, where a task's value on a side is the median over
    its trials there; `None` when no task has both."""
    values, reference = _by_task(side, key), _by_task(other, key)
    found = [values[task] / reference[task] for task in values if reference.get(task)]
    if not found:
        return None
    return Ratio(median=median(found), low=min(found), high=max(found), tasks=len(found))


def _side(trials: Iterable[TrialRecord], mode: str, *, used: bool) -> list[TrialRecord]:
    return [
        trial
        for trial in trials
        if trial.mode == mode and (trial.retrieval is Treatment.USED or not used)
    ]


def _by_task(trials: Iterable[TrialRecord], key: str) -> dict[str, float]:
    values: dict[str, list[float]] = defaultdict(list)
    for trial in trials:
        value = getattr(trial, key)
        if value is not None:
            values[trial.task_key].append(value)
    return {task: median(several) for task, several in values.items()}
