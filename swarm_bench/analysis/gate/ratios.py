"""A mode of the swarm benchmark against its reference, as a limit on a ratio takes it."""

import math
from collections.abc import Iterator
from dataclasses import replace

from swarm_bench.analysis.comparison.compared import TIMES
from swarm_bench.analysis.comparison.pairs import (
    compared,
    compared_over_swarms,
    measured,
    planned_tasks,
    unmeasured,
    values_by_task,
    with_stopped_as_worst,
)
from swarm_bench.analysis.comparison.verdicts import conclusion, over_judged
from swarm_bench.analysis.gate.evidence import Evidence, ratio_evidence
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.censoring import censored
from swarm_bench.analysis.wording import amount
from swarm_bench.core.metric import Better, Metric


def ratio_to_reference(selection: Selection, mode: str, metric: Metric) -> Evidence:
    """Divide task by task; times of agents that ran at once swarm by swarm, as they share their
    delays. A trial that a limit stopped counts as the worst of its task."""
    own, reference = (
        values_by_task(selection, side, metric) for side in (mode, selection.modes[0])
    )
    evidence = ratio_evidence(metric, own, reference, planned_tasks(selection, metric))
    evidence = replace(evidence, reference=selection.modes[0])
    if evidence.effect is None:
        return evidence
    evidence = replace(
        evidence,
        worst=tuple(_with_lost(selection, mode, metric)),
        judged=_over_judged(selection, mode, metric),
    )
    if metric.key in TIMES and selection.data.experiment.at_once > 1:
        effect = compared_over_swarms(selection, mode, metric)
        return replace(evidence, effect=effect or evidence.effect, noun="swarm", over_swarms=True)
    stopped = with_stopped_as_worst(selection, mode, metric)
    if stopped is None or metric.better is not Better.LOWER:
        return evidence
    if stopped.hidden:
        tasks = amount(stopped.hidden, "task")
        doubt = f"A limit stopped the typical trial of {tasks}, so what they take is not known."
        return replace(evidence, doubt=doubt)
    return replace(evidence, effect=stopped.effect)


def _over_judged(selection: Selection, mode: str, metric: Metric) -> Evidence | None:
    """Divide what is spent over the tasks whose answers are judged; `None` where all are."""
    reached = conclusion(selection, mode)
    if reached is None or not metric.spent or not reached.quality.pairs.cases:
        return None
    tasks = over_judged(selection, compared(selection, mode, metric), reached.quality)
    if tasks is None:
        return None
    sides = (mode, selection.modes[0])
    own, reference = (values_by_task(selection, side, metric) for side in sides)
    return ratio_evidence(metric, own, reference, tasks)


def _with_lost(selection: Selection, mode: str, metric: Metric) -> Iterator[Evidence]:
    """Yield what the ratio is at most and at least, by what lost trials took; without a figure
    where the typical trial of a task was lost."""
    sides = (selection, mode), (selection, selection.modes[0])
    if not any(unmeasured(*side, metric) for side in sides):
        return
    own, reference = (measured(side, metric) for side in sides)
    for lost in ((math.inf, 0.0), (0.0, math.inf)):
        each = censored(own, reference, planned_tasks(selection, metric), lost)
        effect = each.effect if each and not each.hidden else None
        yield Evidence(metric=metric, effect=effect, relative=True)
