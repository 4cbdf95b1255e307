"""A mode of the swarm benchmark against its reference, as a limit on a ratio takes it."""

from dataclasses import replace

from swarm_bench.analysis.comparison.compared import TIMES
from swarm_bench.analysis.comparison.pairs import (
    compared_over_swarms,
    cost_at_worst,
    planned_tasks,
    unmeasured,
    values_by_task,
    with_stopped_as_worst,
)
from swarm_bench.analysis.gate.evidence import Evidence, ratio_evidence
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.rule import ratio_shown
from swarm_bench.analysis.wording import amount
from swarm_bench.core.metric import Better, Metric


def ratio_to_reference(selection: Selection, mode: str, metric: Metric) -> Evidence:
    """Divide task by task; times of agents that ran at once swarm by swarm, as they share their
    delays. A trial that a limit stopped counts as the worst of its task."""
    own, reference = (
        values_by_task(selection, side, metric) for side in (mode, selection.modes[0])
    )
    evidence = ratio_evidence(metric, own, reference, planned_tasks(selection, metric))
    experiment = selection.data.experiment
    if evidence.effect is None:
        return evidence
    if metric.key in TIMES and experiment and experiment.at_once > 1:
        effect = compared_over_swarms(selection, mode, metric)
        return replace(evidence, effect=effect or evidence.effect, noun="swarm")
    stopped = with_stopped_as_worst(selection, mode, metric)
    if stopped is None or metric.better is not Better.LOWER:
        return _with_lost(selection, mode, evidence)
    if stopped.hidden:
        tasks = amount(stopped.hidden, "task")
        doubt = f"A limit stopped the typical trial of {tasks}, so what they take is not known."
        return replace(evidence, doubt=doubt)
    return _with_lost(selection, mode, replace(evidence, effect=stopped.effect))


def _with_lost(selection: Selection, mode: str, evidence: Evidence) -> Evidence:
    """Doubt a ratio that is not shown with lost trials at their worst, as a verdict does. Where one
    side lost more, that is said of the limit as a whole."""
    experiment, metric = selection.data.experiment, evidence.metric
    sides = (selection, mode), (selection, selection.modes[0])
    if experiment is None or metric is None or not any(unmeasured(*side) for side in sides):
        return evidence
    shown = ratio_shown(evidence.effect, experiment.margin)
    worst = cost_at_worst(*sides, metric, shown)
    if all(each.agrees(shown, experiment.margin, ALPHA) for each in worst):
        return evidence
    doubt = "Trials were lost, and with these at their worst it is not shown."
    return replace(evidence, doubt=doubt)
