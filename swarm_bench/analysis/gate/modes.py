"""What a session of the swarm benchmark has on limits."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from swarm_bench.analysis.caveats.censoring import may_continue
from swarm_bench.analysis.caveats.declaration import describe_changed_tasks, describe_extension
from swarm_bench.analysis.caveats.kinds import list_caveats
from swarm_bench.analysis.caveats.no_verdict import explain_no_evidence, explain_no_verdict
from swarm_bench.analysis.caveats.omitted_trials import find_uneven_failures
from swarm_bench.analysis.comparison.controls import is_matched_by_placebo
from swarm_bench.analysis.comparison.headline_metrics import TIMES
from swarm_bench.analysis.comparison.pairs import (
    SUCCESS,
    compare_over_swarms,
    compare_stopped_as_worst,
    count_missing,
    group_metric,
    list_stopped,
    list_unmeasured,
    measure,
    pair_metric,
    select_planned_tasks,
)
from swarm_bench.analysis.comparison.quality import (
    NO_KEYS,
    explain_unscored,
    find_less,
    find_quality_metric,
    has_judged,
)
from swarm_bench.analysis.comparison.verdicts import conclude, select_judged_tasks
from swarm_bench.analysis.gate.limits import (
    Evidence,
    judge_limit,
    make_mean_evidence,
    make_ratio_evidence,
)
from swarm_bench.analysis.losses import explain_doubt
from swarm_bench.analysis.mode_trials import get_mode_trials
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.sentences.next_steps import (
    AGENTS,
    DOCTOR,
    advise_again,
    advise_keys,
    advise_tasks,
    name_session,
)
from swarm_bench.analysis.statistics.censoring import compare_censored
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.metric import Better, Metric
from swarm_bench.core.report.document import Step
from swarm_bench.core.report.gate import Bound, Gate, Kind, Limit, State, Verdict
from swarm_bench.core.report.standing import Caveat

QUALITY = "recall"
"""Stands for the metric by which the answers of a session are judged."""
_BY_RULES = (
    "Fixed rules and no language model decided what it spends, so that says nothing of the tool."
)


def make_gate(selection: Selection, limits: Sequence[Limit], bound: Bound) -> Gate:
    """Hold the limits against a session."""
    verdicts = tuple(
        verdict for limit in limits for verdict in _judge_modes(selection, limit, bound)
    )
    ratios = any(limit.kind is Kind.MAX_RATIO for limit in limits)
    modes = [*(verdict.mode for verdict in verdicts), *(selection.modes[:1] if ratios else ())]
    return Gate(
        session=selection.data.experiment.session,
        bound=bound,
        verdicts=verdicts,
        caveats={mode: _list_caveats(selection, mode) for mode in modes if mode},
        notes=tuple(_list_notes(selection, limits)),
    )


def _list_caveats(selection: Selection, mode: str) -> tuple[Caveat, ...]:
    """Collect what must be known beside the figures of a mode; what leaves none is said there."""
    if explain_no_verdict(selection, mode):
        return ()
    return tuple(caveat for caveat in list_caveats(selection, mode) if not caveat.is_void)


def _judge_modes(selection: Selection, limit: Limit, bound: Bound) -> Iterator[Verdict]:
    modes = [limit.mode] if limit.mode else _list_compared(selection, limit)
    for mode in modes:
        verdict = judge_limit(limit, mode, _collect_evidence(selection, limit, mode), bound)
        yield replace(verdict, next=_advise_next(selection, verdict))
    if not modes:
        absent = f"No mode is compared with {selection.modes[0]}."
        yield judge_limit(limit, "", Evidence(absent=absent), bound)


def _advise_next(selection: Selection, verdict: Verdict) -> Step | None:
    """Advise what gives what is missing; `None` where nothing is, or nothing does."""
    experiment = selection.data.experiment
    if verdict.state is State.MISSING:
        if verdict.metric is None and not selection.keyed_weights:
            return advise_keys(experiment)
        if verdict.metric and verdict.metric.spent and selection.fixed_rules:
            return AGENTS
        return DOCTOR if explain_unreliable(selection, verdict.mode) else None
    if verdict.state is not State.INCONCLUSIVE:
        return None
    if verdict.needed:
        return advise_tasks(verdict.needed, experiment)
    can_continue = may_continue(selection, verdict.mode)
    return advise_again(experiment.design.name, name_session(experiment)) if can_continue else None


def _list_compared(selection: Selection, limit: Limit) -> list[str]:
    """Name the modes that a limit without a name is on: no control, and the reference only where it
    is alone and no ratio is asked for."""
    real = [mode.name for mode in selection.data.experiment.modes if not mode.control_of]
    return real[1:] or (real if limit.kind is not Kind.MAX_RATIO else [])


def _collect_evidence(selection: Selection, limit: Limit, mode: str) -> Evidence:
    metric = _find_metric(selection, limit)
    absent = _explain_no_evidence(selection, mode, metric)
    if metric is None or absent:
        return Evidence(metric=metric, absent=absent or _explain_no_recall(selection))
    if limit.kind is Kind.MAX_RATIO:
        evidence = _make_ratio(selection, mode, metric)
    else:
        evidence = _make_mean(selection, mode, metric)
    reasons = filter(None, [evidence.uncertainty, *_list_doubts(selection, limit, metric, mode)])
    return replace(
        evidence, uncertainty=" ".join(reasons), caveat=_describe_placebo(selection, metric, mode)
    )


def _explain_no_evidence(selection: Selection, mode: str, metric: Metric | None) -> str:
    """Say why no figure of a mode can be relied on, also where that is for the reference, as in
    the headline; empty where one can."""
    if selection.data.experiment.mode(mode).control_of:
        return "It is a control, and no limit holds on one."
    sides = dict.fromkeys([mode, selection.modes[0]])
    absent = next((reason for side in sides if (reason := explain_unreliable(selection, side))), "")
    return absent or (_explain_no_saving(selection, mode) if metric and metric.spent else "")


def explain_unreliable(selection: Selection, mode: str) -> str:
    """Say why no figure of a mode can be relied on; empty where one can."""
    if explanation := explain_no_verdict(selection, mode):
        return f"There is no verdict on {mode}: {explanation}"
    reason = explain_no_evidence(selection, mode)
    return f"There is no evidence on {mode}: {reason}." if reason else ""


def _make_mean(selection: Selection, mode: str, metric: Metric) -> Evidence:
    """Return the mean over tasks; of shares also with lost trials at their worst."""
    tasks = select_planned_tasks(selection, metric)
    evidence = make_mean_evidence(metric, group_metric(selection, mode, metric), tasks)
    if not evidence.is_share or not list_unmeasured(selection, mode, metric):
        return evidence
    measured_figures = measure((selection, mode), metric)
    worst = (
        make_mean_evidence(metric, measured_figures.fill_lost(share), tasks) for share in (0.0, 1.0)
    )
    return replace(evidence, worst=tuple(worst))


def _make_ratio(selection: Selection, mode: str, metric: Metric) -> Evidence:
    """Divide task by task; times of agents that ran at once swarm by swarm, as they share their
    delays. A trial that a limit stopped counts as the worst of its task."""
    figures, reference = (
        group_metric(selection, side, metric) for side in (mode, selection.modes[0])
    )
    evidence = make_ratio_evidence(
        metric, figures, reference, select_planned_tasks(selection, metric)
    )
    evidence = replace(evidence, reference=selection.modes[0])
    if evidence.effect is None:
        return evidence
    evidence = replace(
        evidence,
        worst=tuple(_divide_with_lost(selection, mode, metric)),
        judged_evidence=_divide_over_judged(selection, mode, metric),
    )
    if metric.key in TIMES and selection.data.experiment.at_once > 1:
        effect = compare_over_swarms(selection, mode, metric)
        return replace(evidence, effect=effect or evidence.effect, noun="swarm", over_swarms=True)
    stopped = compare_stopped_as_worst(selection, mode, metric)
    if stopped is None or metric.better is not Better.LOWER:
        return evidence
    if stopped.unknown_cases:
        tasks = quantify(stopped.unknown_cases, "task")
        reason = f"A limit stopped the typical trial of {tasks}, so what they take is not known."
        return replace(evidence, uncertainty=reason)
    return replace(evidence, effect=stopped.effect)


def _divide_over_judged(selection: Selection, mode: str, metric: Metric) -> Evidence | None:
    """Divide what is spent over the tasks whose answers are judged; `None` where all are."""
    conclusion = conclude(selection, mode)
    if conclusion is None or not metric.spent or not conclusion.quality.pairs.cases:
        return None
    tasks = select_judged_tasks(selection, pair_metric(selection, mode, metric), conclusion.quality)
    if tasks is None:
        return None
    sides = (mode, selection.modes[0])
    figures, reference = (group_metric(selection, side, metric) for side in sides)
    return make_ratio_evidence(metric, figures, reference, tasks)


def _divide_with_lost(selection: Selection, mode: str, metric: Metric) -> Iterator[Evidence]:
    """Yield what the ratio is at most and at least, by what lost trials took; without a figure
    where the typical trial of a task was lost."""
    sides = (selection, mode), (selection, selection.modes[0])
    if not any(list_unmeasured(*side, metric) for side in sides):
        return
    figures, reference = (measure(side, metric) for side in sides)
    for lost_values in ((math.inf, 0.0), (0.0, math.inf)):
        comparison = compare_censored(
            figures, reference, select_planned_tasks(selection, metric), lost_values
        )
        effect = comparison.effect if comparison and not comparison.unknown_cases else None
        yield Evidence(metric=metric, effect=effect, relative=True)


def _explain_no_saving(selection: Selection, mode: str) -> str:
    """Say why little spending is no gain; empty where it may be one."""
    if selection.fixed_rules:
        return _BY_RULES
    if find_less(selection, [mode]):
        reference = selection.modes[0]
        return f"It found less than {reference} by more than --quality-margin: that is no saving."
    conclusion = conclude(selection, mode)
    if conclusion and (conclusion.shows_nothing or conclusion.partly_judged):
        return (
            "What was found does not show that it is not worse (the verdict says why), so spending "
            "less is no gain."
        )
    return ""


def _list_doubts(selection: Selection, limit: Limit, metric: Metric, mode: str) -> Iterator[str]:
    """Say what the figure omits that could turn it."""
    for caveat in find_uneven_failures(get_mode_trials(selection, mode)):
        yield f"Not to be relied on: {caveat.qualification}."
    sides = [mode, selection.modes[0]] if limit.kind is Kind.MAX_RATIO else [mode]
    if reason := explain_doubt({side: count_missing(selection, side, metric) for side in sides}):
        yield f"Not to be relied on: {reason}."
    hides = not (metric.keyed or metric.of_failed or metric.key == SUCCESS)
    if limit.kind is Kind.MAX and hides and list_stopped(selection, mode):
        yield "What a limit stopped would have taken more, so no upper limit holds."


def _describe_placebo(selection: Selection, metric: Metric, mode: str) -> str:
    """Say that low figures of a mode are no gain of its tool; empty where they may be."""
    experiment = selection.data.experiment
    if metric.key == experiment.primary and is_matched_by_placebo(selection, mode):
        return "Its placebo, whose answers are irrelevant, saves as much: not the tool's saving."
    return ""


def _find_metric(selection: Selection, limit: Limit) -> Metric | None:
    """Return the metric of a limit; `None` for the quality of answers that nothing judges."""
    return selection.metrics.get(limit.metric) or find_quality_metric(selection)


def _explain_no_recall(selection: Selection) -> str:
    """Say why nothing stands for recall."""
    if metric_key := selection.data.experiment.quality:
        return (
            f"The quality of this session is {metric_key}, and no recall; name the metric of the "
            f"limit."
        )
    no_keys = "The tasks have no answer keys, so nothing shows what was found."
    return explain_unscored(selection) if selection.keyed_weights else no_keys


def _list_notes(selection: Selection, limits: Sequence[Limit]) -> Iterator[str]:
    keys = [limit.metric for limit in limits if limit.metric in selection.metrics]
    if not selection.keyed_weights and any(selection.metrics[key].spent for key in keys):
        yield NO_KEYS
    elif (
        keys
        and selection.keyed_weights
        and find_quality_metric(selection) is None
        and has_judged(selection)
    ):
        yield explain_unscored(selection)
    yield from selection.data.warnings
    yield from describe_extension(selection.data.experiment)
    yield from describe_changed_tasks(selection.data.experiment)
    planned = sum(selection.data.planned.values())
    if planned > len(selection.trials):
        yield (
            f"The session is not complete: {planned - len(selection.trials)} of {planned} planned "
            "trials have no record; --continue runs them."
        )
