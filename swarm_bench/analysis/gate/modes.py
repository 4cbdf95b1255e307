"""What a session of the swarm benchmark has on limits."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from swarm_bench.analysis.adherence.treated import treated_in
from swarm_bench.analysis.caveats.afterwards import extended, other_tasks
from swarm_bench.analysis.caveats.barred import barred_by
from swarm_bench.analysis.caveats.censoring import may_continue
from swarm_bench.analysis.caveats.kinds import caveats
from swarm_bench.analysis.caveats.left_out import uneven_failures
from swarm_bench.analysis.caveats.void import no_evidence
from swarm_bench.analysis.comparison.compared import TIMES
from swarm_bench.analysis.comparison.pairs import (
    SUCCESS,
    compared,
    compared_over_swarms,
    measured,
    missing,
    planned_tasks,
    stopped,
    unmeasured,
    values_by_task,
    with_stopped_as_worst,
)
from swarm_bench.analysis.comparison.placebos import matches
from swarm_bench.analysis.comparison.quality import (
    NO_KEYS,
    any_judged,
    found_less,
    judged_by,
    unscored,
)
from swarm_bench.analysis.comparison.verdicts import conclusion, over_judged
from swarm_bench.analysis.gate.evidence import Evidence, mean_evidence, ratio_evidence
from swarm_bench.analysis.gate.limits import judge_limit
from swarm_bench.analysis.losses import doubt
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.sentences.next_steps import (
    AGENTS,
    DOCTOR,
    once_more,
    session_of,
    to_check,
    with_tasks,
)
from swarm_bench.analysis.statistics.censoring import censored
from swarm_bench.analysis.wording import amount
from swarm_bench.core.metric import Better, Metric
from swarm_bench.core.report.document import Step
from swarm_bench.core.report.gate import Bound, Gate, Kind, Limit, State, Verdict
from swarm_bench.core.report.standing import Caveat

QUALITY = "recall"
"""Stands for the metric by which the answers of a session are judged."""
_BY_RULES = (
    "Fixed rules and no language model decided what it spends, so that says nothing of the tool."
)


def gate(selection: Selection, limits: Sequence[Limit], bound: Bound) -> Gate:
    """Hold the limits against a session."""
    verdicts = tuple(verdict for limit in limits for verdict in _verdicts(selection, limit, bound))
    ratios = any(limit.kind is Kind.MAX_RATIO for limit in limits)
    modes = [*(verdict.mode for verdict in verdicts), *(selection.modes[:1] if ratios else ())]
    return Gate(
        session=selection.data.experiment.session,
        bound=bound,
        verdicts=verdicts,
        caveats={mode: _beside(selection, mode) for mode in modes if mode},
        notes=tuple(_notes(selection, limits)),
    )


def _beside(selection: Selection, mode: str) -> tuple[Caveat, ...]:
    """Collect what must be known beside the figures of a mode; what leaves none is said there."""
    if barred_by(selection, mode):
        return ()
    return tuple(caveat for caveat in caveats(selection, mode) if not caveat.is_void)


def _verdicts(selection: Selection, limit: Limit, bound: Bound) -> Iterator[Verdict]:
    modes = [limit.mode] if limit.mode else _compared(selection, limit)
    for mode in modes:
        verdict = judge_limit(limit, mode, _evidence(selection, limit, mode), bound)
        yield replace(verdict, next=_next(selection, verdict))
    if not modes:
        absent = f"No mode is compared with {selection.modes[0]}."
        yield judge_limit(limit, "", Evidence(absent=absent), bound)


def _next(selection: Selection, verdict: Verdict) -> Step | None:
    """Advise what gives what is missing; `None` where nothing is, or nothing does."""
    experiment = selection.data.experiment
    if verdict.state is State.MISSING:
        if verdict.metric is None and not selection.keyed:
            return to_check(experiment)
        if verdict.metric and verdict.metric.spent and selection.fixed_rules:
            return AGENTS
        return DOCTOR if unreliable(selection, verdict.mode) else None
    if verdict.state is not State.INCONCLUSIVE:
        return None
    if verdict.needed:
        return with_tasks(verdict.needed, experiment)
    again = may_continue(selection, verdict.mode)
    return once_more(experiment.design.name, session_of(experiment)) if again else None


def _compared(selection: Selection, limit: Limit) -> list[str]:
    """Name the modes that a limit without a name is on: no control, and the reference only where it
    is alone and no ratio is asked for."""
    real = [mode.name for mode in selection.data.experiment.modes if not mode.control_of]
    return real[1:] or (real if limit.kind is not Kind.MAX_RATIO else [])


def _evidence(selection: Selection, limit: Limit, mode: str) -> Evidence:
    metric = _metric(selection, limit)
    absent = _no_evidence(selection, mode, metric)
    if metric is None or absent:
        return Evidence(metric=metric, absent=absent or _no_recall(selection))
    if limit.kind is Kind.MAX_RATIO:
        evidence = _ratio(selection, mode, metric)
    else:
        evidence = _mean(selection, mode, metric)
    doubts = filter(None, [evidence.doubt, *_doubts(selection, limit, metric, mode)])
    return replace(evidence, doubt=" ".join(doubts), caveat=_of_placebo(selection, metric, mode))


def _no_evidence(selection: Selection, mode: str, metric: Metric | None) -> str:
    """Say why no figure of a mode can be relied on, also where that is for the reference, as in
    the headline; empty where one can."""
    if _is_control(selection, mode):
        return "It is a control, and no limit holds on one."
    sides = dict.fromkeys([mode, selection.modes[0]])
    absent = next((why for side in sides if (why := unreliable(selection, side))), "")
    return absent or (_no_saving(selection, mode) if metric and metric.spent else "")


def unreliable(selection: Selection, mode: str) -> str:
    """Say why no figure of a mode can be relied on; empty where one can."""
    if barred := barred_by(selection, mode):
        return f"There is no verdict on {mode}: {barred}"
    why = no_evidence(selection, mode)
    return f"There is no evidence on {mode}: {why}." if why else ""


def _mean(selection: Selection, mode: str, metric: Metric) -> Evidence:
    """Return the mean over tasks; of shares also with lost trials at their worst."""
    tasks = planned_tasks(selection, metric)
    evidence = mean_evidence(metric, values_by_task(selection, mode, metric), tasks)
    if not evidence.is_share or not unmeasured(selection, mode, metric):
        return evidence
    own = measured((selection, mode), metric)
    worst = (mean_evidence(metric, own.with_lost(share), tasks) for share in (0.0, 1.0))
    return replace(evidence, worst=tuple(worst))


def _ratio(selection: Selection, mode: str, metric: Metric) -> Evidence:
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


def _no_saving(selection: Selection, mode: str) -> str:
    """Say why little spending is no gain; empty where it may be one."""
    if selection.fixed_rules:
        return _BY_RULES
    if found_less(selection, [mode]):
        reference = selection.modes[0]
        return f"It found less than {reference} by more than --quality-margin: that is no saving."
    reached = conclusion(selection, mode)
    if reached and (reached.idle or reached.partly_judged):
        return (
            "What was found does not show that it is not worse (the verdict says why), so spending "
            "less is no gain."
        )
    return ""


def _doubts(selection: Selection, limit: Limit, metric: Metric, mode: str) -> Iterator[str]:
    """Say what the figure omits that could turn it."""
    for caveat in uneven_failures(treated_in(selection, mode)):
        yield f"Not to be relied on: {caveat.qualification}."
    sides = [mode, selection.modes[0]] if limit.kind is Kind.MAX_RATIO else [mode]
    if why := doubt({side: missing(selection, side, metric) for side in sides}):
        yield f"Not to be relied on: {why}."
    hides = not (metric.keyed or metric.of_failed or metric.key == SUCCESS)
    if limit.kind is Kind.MAX and hides and stopped(selection, mode):
        yield "What a limit stopped would have taken more, so no upper limit holds."


def _of_placebo(selection: Selection, metric: Metric, mode: str) -> str:
    """Say that low figures of a mode are no gain of its tool; empty where they may be."""
    experiment = selection.data.experiment
    if metric.key == experiment.primary and matches(selection, mode):
        return "Its placebo, whose answers are irrelevant, saves as much: not the tool's saving."
    return ""


def _metric(selection: Selection, limit: Limit) -> Metric | None:
    """Return the metric of a limit; `None` for the quality of answers that nothing judges."""
    if limit.metric in selection.metrics:
        return selection.metrics[limit.metric]
    return judged_by(selection)


def _no_recall(selection: Selection) -> str:
    """Say why nothing stands for recall."""
    if named := selection.data.experiment.quality:
        return (
            f"The quality of this session is {named}, and no recall; name the metric of the limit."
        )
    no_keys = "The tasks have no answer keys, so nothing shows what was found."
    return unscored(selection) if selection.keyed else no_keys


def _is_control(selection: Selection, mode: str) -> bool:
    return bool(selection.data.experiment.mode(mode).control_of)


def _notes(selection: Selection, limits: Sequence[Limit]) -> Iterator[str]:
    keys = [limit.metric for limit in limits if limit.metric in selection.metrics]
    if not selection.keyed and any(selection.metrics[key].spent for key in keys):
        yield NO_KEYS
    elif keys and selection.keyed and judged_by(selection) is None and any_judged(selection):
        yield unscored(selection)
    yield from selection.data.warnings
    yield from extended(selection.data.experiment)
    yield from other_tasks(selection.data.experiment)
    planned = sum(selection.data.planned.values())
    if planned > len(selection.trials):
        yield (
            f"The session is not complete: {planned - len(selection.trials)} of {planned} planned "
            "trials have no record; --continue runs them."
        )
