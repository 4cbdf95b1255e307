"""What stands behind the effects: Hodges-Lehmann, signs, p values, and shares of yes and no."""

import math
from collections.abc import Iterable, Iterator

from swarm_bench.analysis.comparison.compared import list_headline_metrics
from swarm_bench.analysis.comparison.correctness import RIGHT, list_found_metrics
from swarm_bench.analysis.comparison.pairs import (
    SUCCESS,
    group_metric,
    is_at_every_look,
    pair_metric,
    select_planned_tasks,
)
from swarm_bench.analysis.comparison.verdicts import compute_adjusted_p
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.effects import clip_interval, compute_mcnemar, compute_wilson
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.details import Details, EffectDetail, YesOrNo


def compute_details(selection: Selection, modes: Iterable[str]) -> Details | None:
    """Compute them for the modes that are compared; `None` where there is none."""
    modes = tuple(modes)
    metrics = [
        m for m in (*list_found_metrics(selection), *list_headline_metrics(selection)) if m.better
    ]
    effects = tuple(
        effect
        for mode in modes
        for metric in metrics
        if (effect := _make_effect(selection, mode, metric))
    )
    if not effects:
        return None
    return Details(effects=effects, yes_or_no=tuple(_make_yes_or_no(selection, modes)))


def _make_effect(selection: Selection, mode: str, metric: Metric) -> EffectDetail | None:
    pairs = pair_metric(selection, mode, metric).pairs
    if not pairs.cases:
        return None
    effect = pairs.effect
    middle, interval = effect.hodges_lehmann, clip_interval(effect.wilcoxon_interval)
    lower, equal, higher = effect.signs
    scale = math.exp if metric.relative else float
    return EffectDetail(
        mode=mode,
        metric=metric,
        middle=None if middle is None else scale(middle),
        interval=interval and (scale(interval[0]), scale(interval[1])),
        below=lower,
        equal=equal,
        above=higher,
        p=effect.sign_flip_p,
        floor=effect.floor,
        adjusted=compute_adjusted_p(selection, mode, metric),
    )


def _make_yes_or_no(selection: Selection, modes: Iterable[str]) -> Iterator[YesOrNo]:
    metric = selection.metrics[RIGHT if selection.keyed_weights else SUCCESS]
    reference = _read_answers(selection, selection.modes[0], metric)
    for mode in (selection.modes[0], *modes):
        answers = _read_answers(selection, mode, metric)
        if not answers:
            continue
        pairs = [(answers[task], reference[task]) for task in answers if task in reference]
        is_tested = mode != selection.modes[0] and pairs and not is_at_every_look(selection)
        yield YesOrNo(
            mode=mode,
            metric=metric,
            passed=sum(answers.values()),
            tasks=len(answers),
            interval=compute_wilson(sum(answers.values()), len(answers)),
            p=compute_mcnemar(pairs) if is_tested else None,
        )


def _read_answers(selection: Selection, mode: str, metric: Metric) -> dict[str, bool]:
    """Return yes or no of each task; nothing where one was asked several times, or some share a
    group, as these are no further evidence."""
    values = group_metric(selection, mode, metric)
    if any(len(runs) > 1 for runs in values.values()):
        return {}
    if select_planned_tasks(selection, metric).list_groups(values):
        return {}
    return {task: bool(runs[0]) for task, runs in values.items()}
