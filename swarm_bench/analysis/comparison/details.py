"""What stands behind the effects: Hodges-Lehmann, signs, p values, and shares of yes and no."""

import math
from collections.abc import Iterable, Iterator

from swarm_bench.analysis.comparison.compared import of_headline
from swarm_bench.analysis.comparison.correctness import RIGHT, found_metrics
from swarm_bench.analysis.comparison.pairs import (
    SUCCESS,
    at_every_look,
    compared,
    planned_tasks,
    values_by_task,
)
from swarm_bench.analysis.comparison.verdicts import adjusted
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.effects import mcnemar, wilson, within
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.details import Details, EffectDetail, YesOrNo


def details(selection: Selection, modes: Iterable[str]) -> Details | None:
    """Compute them for the modes that are compared; `None` where there is none."""
    modes = tuple(modes)
    metrics = [m for m in (*found_metrics(selection), *of_headline(selection)) if m.better]
    effects = tuple(
        effect
        for mode in modes
        for metric in metrics
        if (effect := _effect(selection, mode, metric))
    )
    if not effects:
        return None
    return Details(effects=effects, yes_or_no=tuple(_yes_or_no(selection, modes)))


def _effect(selection: Selection, mode: str, metric: Metric) -> EffectDetail | None:
    pairs = compared(selection, mode, metric).pairs
    if not pairs.cases:
        return None
    effect = pairs.effect
    middle, interval = effect.hodges_lehmann, within(effect.wilcoxon_interval)
    below, equal, above = effect.signs
    scale = math.exp if metric.relative else float
    return EffectDetail(
        mode=mode,
        metric=metric,
        middle=None if middle is None else scale(middle),
        interval=interval and (scale(interval[0]), scale(interval[1])),
        below=below,
        equal=equal,
        above=above,
        p=effect.sign_flip_p,
        floor=effect.floor,
        adjusted=adjusted(selection, mode, metric),
    )


def _yes_or_no(selection: Selection, modes: Iterable[str]) -> Iterator[YesOrNo]:
    metric = selection.metrics[RIGHT if selection.keyed else SUCCESS]
    reference = _answers(selection, selection.modes[0], metric)
    for mode in (selection.modes[0], *modes):
        own = _answers(selection, mode, metric)
        if not own:
            continue
        both = [(own[task], reference[task]) for task in own if task in reference]
        tested = mode != selection.modes[0] and both and not at_every_look(selection)
        yield YesOrNo(
            mode=mode,
            metric=metric,
            passed=sum(own.values()),
            tasks=len(own),
            interval=wilson(sum(own.values()), len(own)),
            p=mcnemar(both) if tested else None,
        )


def _answers(selection: Selection, mode: str, metric: Metric) -> dict[str, bool]:
    """Return yes or no of each task; nothing where one was asked several times, or some share a
    group, as these are no further evidence."""
    values = values_by_task(selection, mode, metric)
    if any(len(runs) > 1 for runs in values.values()):
        return {}
    if planned_tasks(selection, metric).groups_of(values):
        return {}
    return {task: bool(runs[0]) for task, runs in values.items()}
