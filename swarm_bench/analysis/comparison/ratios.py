"""Each mode against the first one, task by task."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable
from statistics import fmean

from swarm_bench.analysis.comparison.compared import rows_of, values_of
from swarm_bench.analysis.comparison.pairs import at_every_look, groups
from swarm_bench.analysis.once import once
from swarm_bench.analysis.readings import RUN, TASK, column
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.effects import within
from swarm_bench.analysis.statistics.pairing import Cases, Pairs, middle, paired
from swarm_bench.analysis.statistics.rule import few_differ
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.ratios import Column, Difference, Ratio, RatioRow, Ratios


def ratios(selection: Selection, columns: Collection[Column], metrics: Iterable[Metric]) -> Ratios:
    """Compare the columns with the reference."""
    reference = selection.modes[0]
    compared = [Column(mode=mode) for mode in modes_of(selection, columns)]
    chosen = selection.has_tool(reference)
    experiment = selection.data.experiment
    sides = [
        (column, Column(mode=reference, as_used=column.as_used and chosen)) for column in columns
    ]
    return Ratios(
        reference=reference,
        reference_as_used=chosen,
        columns=tuple(columns),
        tasks=len({task for side in compared for task in tasks_of(selection, side)}),
        primary=experiment.primary,
        margin=experiment.margin,
        runs=len(
            {
                column(selection, side.mode, RUN)[row]
                for side in compared
                for row in rows_of(selection, side)
            }
        ),
        rows=tuple(
            RatioRow(
                metric=metric,
                typical=tuple(_typical(selection, mode, metric) for mode in selection.modes),
                ratios=tuple(ratio(selection, side, other, metric) for side, other in sides),
            )
            for metric in metrics
        ),
    )


def modes_of(selection: Selection, columns: Iterable[Column]) -> tuple[str, ...]:
    """Name the reference and the modes of the columns."""
    return tuple(dict.fromkeys([selection.modes[0], *(column.mode for column in columns)]))


def ratio(selection: Selection, side: Column, other: Column, metric: Metric) -> Ratio | None:
    """Divide task by task; `None` when no task has both."""
    own, reference = (by_task(selection, column, metric) for column in (side, other))
    return divide(paired(own, reference, _cases(selection, own), relative=True))


def _cases(selection: Selection, tasks: Collection[str]) -> Cases:
    return Cases(
        ids=tasks,
        weights=selection.weights,
        groups=groups(selection),
        at_every_look=at_every_look(selection),
    )


def divide(pairs: Pairs) -> Ratio | None:
    """Divide case by case; `None` when no case has both. There is no ratio to 0."""
    if not pairs.cases:
        return None
    effect = pairs.effect
    bounds = within(effect.interval())
    return Ratio(
        estimate=math.exp(effect.estimate),
        interval=(math.exp(bounds[0]), math.exp(bounds[1])) if bounds else None,
        tasks=len(pairs.cases),
    )


def _typical(selection: Selection, mode: str, metric: Metric) -> float | None:
    """Compute the geometric mean of a mode over its tasks; 0 is left out, as of the ratios."""
    tasks = by_task(selection, Column(mode=mode), metric)
    logs = {
        task: middle(values, relative=True) for task, values in tasks.items() if min(values) > 0
    }
    weights = _cases(selection, logs).weights_of(logs)
    return math.exp(fmean(logs.values(), weights or None)) if logs else None


def subtract(
    pairs: Pairs, margin: float, *, most: float = 1.0, both: bool = True
) -> Difference | None:
    """Subtract case by case figures of which none is above `most`; `None` when no case has both.
    There is no interval where the rule relies on none: gains are too few, too, with `both`."""
    if not pairs.cases:
        return None
    effect = pairs.effect
    few = few_differ(effect, margin, both=both)
    interval = None if few else within(effect.interval(), most)
    return Difference(estimate=effect.estimate, interval=interval, tasks=effect.cases)


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
    tasks = column(selection, side.mode, TASK)
    return [tasks[row] for row in rows_of(selection, side)]
