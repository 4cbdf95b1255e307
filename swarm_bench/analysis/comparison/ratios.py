"""Each mode against the first one, task by task."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable
from statistics import fmean

from swarm_bench.analysis.caching import once
from swarm_bench.analysis.comparison.headline_metrics import read_values, select_rows
from swarm_bench.analysis.comparison.pairs import find_groups, is_at_every_look
from swarm_bench.analysis.readings import RUN, TASK, read_column
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.effects import clip_interval, exponentiate
from swarm_bench.analysis.statistics.pairing import Cases, Pairs, compute_typical, pair_figures
from swarm_bench.analysis.statistics.verdict_rule import is_too_few
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.ratios import Column, Difference, Ratio, RatioRow, Ratios


def compute_ratios(
    selection: Selection, columns: Collection[Column], metrics: Iterable[Metric]
) -> Ratios:
    """Compare the columns with the reference."""
    reference = selection.modes[0]
    sides_compared = [Column(mode=mode) for mode in list_modes(selection, columns)]
    has_tool = selection.has_tool(reference)
    experiment = selection.data.experiment
    sides = [
        (column, Column(mode=reference, as_used=column.as_used and has_tool)) for column in columns
    ]
    return Ratios(
        reference=reference,
        reference_as_used=has_tool,
        columns=tuple(columns),
        tasks=len({task for side in sides_compared for task in list_tasks(selection, side)}),
        primary=experiment.primary,
        margin=experiment.margin,
        runs=len(
            {
                read_column(selection, side.mode, RUN)[row]
                for side in sides_compared
                for row in select_rows(selection, side)
            }
        ),
        rows=tuple(
            RatioRow(
                metric=metric,
                typical=tuple(
                    _compute_typical(selection, mode, metric) for mode in selection.modes
                ),
                ratios=tuple(
                    compute_ratio(selection, side, reference_side, metric)
                    for side, reference_side in sides
                ),
            )
            for metric in metrics
        ),
    )


def list_modes(selection: Selection, columns: Iterable[Column]) -> tuple[str, ...]:
    """Name the reference and the modes of the columns."""
    return tuple(dict.fromkeys([selection.modes[0], *(column.mode for column in columns)]))


def compute_ratio(
    selection: Selection, side: Column, reference_side: Column, metric: Metric
) -> Ratio | None:
    """Divide task by task; `None` when no task has both."""
    values, reference_values = (
        group_by_task(selection, column, metric) for column in (side, reference_side)
    )
    return divide(
        pair_figures(values, reference_values, _make_cases(selection, values), relative=True)
    )


def _make_cases(selection: Selection, tasks: Collection[str]) -> Cases:
    return Cases(
        ids=tasks,
        weights=selection.weights,
        groups=find_groups(selection),
        at_every_look=is_at_every_look(selection),
    )


def divide(pairs: Pairs) -> Ratio | None:
    """Divide case by case; `None` when no case has both. There is no ratio to 0."""
    if not pairs.cases:
        return None
    effect = pairs.effect
    bounds = clip_interval(effect.interval())
    return Ratio(
        estimate=exponentiate(effect.estimate),
        interval=(exponentiate(bounds[0]), exponentiate(bounds[1])) if bounds else None,
        tasks=len(pairs.cases),
    )


def _compute_typical(selection: Selection, mode: str, metric: Metric) -> float | None:
    """Compute the geometric mean of a mode over its tasks; 0 is left out, as of the ratios."""
    tasks = group_by_task(selection, Column(mode=mode), metric)
    logs = {
        task: compute_typical(values, relative=True)
        for task, values in tasks.items()
        if min(values) > 0
    }
    weights = _make_cases(selection, logs).list_weights(logs)
    return math.exp(fmean(logs.values(), weights or None)) if logs else None


def subtract(
    pairs: Pairs, margin: float, *, max_value: float = 1.0, count_gains: bool = True
) -> Difference | None:
    """Subtract case by case figures of which none is above `max_value`; `None` when no case has
    both. There is no interval where the rule relies on none: gains are too few, too, with
    `count_gains`."""
    if not pairs.cases:
        return None
    effect = pairs.effect
    few = is_too_few(effect, margin, count_gains=count_gains)
    interval = None if few else clip_interval(effect.interval(), max_value)
    return Difference(estimate=effect.estimate, interval=interval, tasks=effect.cases)


@once
def group_by_task(selection: Selection, side: Column, metric: Metric) -> dict[str, list[float]]:
    """Group the values of the trials in a column by task; without those that have none."""
    grouped: dict[str, list[float]] = defaultdict(list)
    values = read_values(selection, side)[metric.key]
    for task, value in zip(list_tasks(selection, side), values, strict=True):
        if value is not None:
            grouped[task].append(value)
    return dict(grouped)


@once
def list_tasks(selection: Selection, side: Column) -> list[str]:
    """Return the task of each trial that is compared in a column."""
    tasks = read_column(selection, side.mode, TASK)
    return [tasks[row] for row in select_rows(selection, side)]
