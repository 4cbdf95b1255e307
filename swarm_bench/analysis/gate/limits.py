"""Holds limits against what a session has on them, and what a session of a benchmark of cases
has."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import NamedTuple

from swarm_bench.analysis.cases.caveats import describe_extension
from swarm_bench.analysis.cases.losses import count_missing, explain_doubts
from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.losses import describe_omitted
from swarm_bench.analysis.sentences.verdict_line import explain_too_few_compared
from swarm_bench.analysis.statistics.changes import describe_too_few, format_worth_of
from swarm_bench.analysis.statistics.effects import Effect, clip_interval, exponentiate
from swarm_bench.analysis.statistics.formulas import count_fewest_cases
from swarm_bench.analysis.statistics.pairing import LEAST_PAIRED, Cases, Figures, pair_figures
from swarm_bench.analysis.statistics.verdict_rule import FEWEST, count_cases
from swarm_bench.analysis.wording import lowercase, quantify
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.gate import Bound, Gate, Kind, Limit, State, Verdict


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """A figure over cases, or why there is none."""

    metric: Metric | None = None
    effect: Effect | None = None
    relative: bool = False
    """The effect is of logarithms."""
    absent: str = ""
    """Reason why there is no figure that could be relied on."""
    uncertainty: str = ""
    """Reason why nothing can be concluded from them."""
    reference: str = ""
    """Arm that a ratio is relative to."""
    caveat: str = ""
    """Caveat that must be known beside the figure."""
    worst: tuple["Evidence", ...] = ()
    """Evidence with lost trials at their worst, for a limit and against it; empty where none was
    lost, and where the worst is unknown."""
    judged_evidence: "Evidence | None" = None
    """The figure over the tasks whose answers are judged, where others are in it."""
    noun: str = "task"
    """Noun for a case, or for a group of cases."""
    over_swarms: bool = False
    """Whether cases are swarms, of which more tasks make no more."""

    @property
    def estimate(self) -> float | None:
        """The ratio, or the mean."""
        if self.effect is None:
            return None
        return exponentiate(self.effect.estimate) if self.relative else self.effect.estimate

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval, without what the figure cannot be."""
        bounds = self.effect and self.effect.interval()
        if not bounds:
            return None
        if self.relative:
            return exponentiate(bounds[0]), exponentiate(bounds[1])
        assert self.metric
        assert self.effect
        least = self.metric.least(min(self.effect.differences))
        return max(bounds[0], least), min(bounds[1], self.metric.most(self.effect.units))

    @property
    def is_share(self) -> bool:
        """Whether the figure lies between 0 and 1."""
        return not self.relative and self.metric is not None and self.metric.is_share


def make_ratio_evidence(
    metric: Metric, figures: Figures, reference: Figures, cases: Cases, noun: str = "task"
) -> Evidence:
    """Hold an arm against the reference, case by case, as a verdict does."""
    pairs = pair_figures(figures, reference, cases, relative=True)
    title = lowercase(metric.title)
    if not pairs.cases and pairs.zeros:
        return Evidence(metric=metric, absent=f"There is no ratio to {title} of 0.")
    if not pairs.cases:
        return Evidence(metric=metric, absent=f"No {noun} has {title} on both sides.")
    if not pairs.suffice:
        few = explain_too_few_compared(pairs.total_cases, len(pairs.cases), noun)
        return Evidence(metric=metric, uncertainty=few)
    return Evidence(
        metric=metric, effect=pairs.effect, relative=True, noun=_name_unit(pairs.effect, noun)
    )


def make_mean_evidence(
    metric: Metric, figures: Figures, cases: Cases, noun: str = "task"
) -> Evidence:
    """Take the mean over the cases of an arm, of each its mean over runs."""
    title = lowercase(metric.title)
    measured_cases = [case for case in cases.ids if figures.get(case)]
    if not measured_cases:
        return Evidence(metric=metric, absent=f"Nothing gave {title}.")
    if len(measured_cases) < LEAST_PAIRED * len(cases.ids):
        few = explain_too_few_compared(len(cases.ids), len(measured_cases), noun, "measured")
        return Evidence(metric=metric, uncertainty=few)
    effect = cases.make_effect({case: fmean(figures[case]) for case in measured_cases})
    return Evidence(metric=metric, effect=effect, noun=_name_unit(effect, noun))


def _name_unit(effect: Effect, noun: str) -> str:
    """Name what is counted: cases of one group are no further evidence."""
    return "group" if effect.groups else noun


_UNCOUNTED = (
    "Some trials are not in this figure; with these at their worst, the limit may not be kept."
)
_UNJUDGED = (
    "Over the tasks whose answers are judged, the limit may not be kept, and in the others an "
    "agent could have given up."
)
_LOST_TRIALS = "but stopped or lost trials could change that"
_MAX_CASES = 1000


class _Judgement(NamedTuple):
    """What became of a limit."""

    state: State
    reason: str
    but: str = ""
    needed: int | None = None


def judge_limit(limit: Limit, mode: str, evidence: Evidence, bound: Bound) -> Verdict:
    """Say what became of a limit on a mode."""
    judgement = _judge(limit, evidence, bound)
    checks = {
        (_UNCOUNTED, _LOST_TRIALS): evidence.worst,
        (_UNJUDGED, "but not where answers are checked"): (
            [evidence.judged_evidence] if evidence.judged_evidence else []
        ),
    }
    for (reason, but), alternatives in checks.items():
        decided = judgement.state in (State.HOLDS, State.VIOLATED)
        if decided and any(
            _judge(limit, alternative, bound).state is not judgement.state
            for alternative in alternatives
        ):
            judgement = _Judgement(State.INCONCLUSIVE, reason, but)
    return Verdict(
        limit=limit,
        mode=mode,
        reference=evidence.reference,
        state=judgement.state,
        why=f"{judgement.reason} {evidence.caveat}".strip(),
        but=judgement.but,
        needed=judgement.needed,
        metric=evidence.metric,
        estimate=evidence.estimate,
        interval=clip_interval(evidence.interval),
        cases=evidence.effect.units if evidence.effect else 0,
        noun=evidence.noun,
    )


def _judge(limit: Limit, evidence: Evidence, bound: Bound) -> _Judgement:
    estimate, interval, effect = evidence.estimate, evidence.interval, evidence.effect
    if evidence.absent:
        return _Judgement(State.MISSING, evidence.absent)
    if effect is None or estimate is None or evidence.uncertainty:
        return _Judgement(State.INCONCLUSIVE, evidence.uncertainty, _LOST_TRIALS)
    cases = quantify(effect.units, evidence.noun)
    needed_cases = max(2 * FEWEST, effect.units + FEWEST) if not evidence.over_swarms else None
    if interval is None:
        reason = f"{cases} so far are too few for an interval."
        if effect.units == 1:
            reason = f"A single {evidence.noun} says nothing of others."
        return _Judgement(State.INCONCLUSIVE, reason, f"{cases}, too few for a range", needed_cases)
    few = describe_too_few(effect, f"{evidence.noun}s")
    worth_text = format_worth_of(effect, effect.units) if effect.units >= FEWEST else ""
    only = f"{cases}{worth_text}, too few for a range" if few else ""
    if bound is Bound.INTERVAL and few:
        reason = f"{few[0].upper()}{few[1:]} show nothing."
        return _Judgement(State.INCONCLUSIVE, reason, only, needed_cases)
    if bound is Bound.INTERVAL and (equal := _judge_equal(limit, evidence, effect)):
        return equal
    admitted = [limit.admits(end) for end in interval]
    contains = "The 95 % interval contains the limit"
    if bound is Bound.INTERVAL and any(admitted) != all(admitted):
        needed = _count_needed(limit, evidence, effect)
        return _Judgement(State.INCONCLUSIVE, f"{contains}.", needed=needed)
    state = State.HOLDS if limit.admits(estimate) else State.VIOLATED
    reason = f"Judged by the {bound}"
    if few:
        return _Judgement(state, f"{reason}; {cases} show nothing beyond themselves.", only)
    if any(admitted) != all(admitted):
        return _Judgement(state, f"{reason}. {contains}, so noise may decide it.")
    return _Judgement(state, f"{reason}.")


def _count_needed(limit: Limit, evidence: Evidence, effect: Effect) -> int | None:
    """Return how many cases would show a figure like this on one side of the limit; `None` where it
    takes too many."""
    if evidence.relative and limit.value <= 0:
        return None
    value = math.log(limit.value) if evidence.relative else limit.value
    distance, sd = abs(effect.estimate - value), effect.standard_error or 0.0
    cases = count_fewest_cases(distance, sd * math.sqrt(effect.independent_cases), _MAX_CASES)
    return cases and max(
        math.ceil(cases * effect.units / effect.independent_cases), effect.units + FEWEST
    )


def _judge_equal(limit: Limit, evidence: Evidence, effect: Effect) -> _Judgement | None:
    """Judge shares most of which are equal, and so with hardly a spread to make an interval of;
    `None` where they are enough."""
    usual, number = Counter(effect.of_units).most_common(1)[0]
    other_units, distance = effect.units - number, abs(usual - limit.value)
    if not evidence.is_share or other_units >= min(FEWEST, number):
        return None
    needed = count_cases(other_units, distance, at_every_look=effect.at_every_look)
    if distance >= 1 or (distance and effect.independent_cases >= needed):
        return None
    cases = quantify(effect.units, evidence.noun)
    but = f"the same in {number} of {cases}, too few to tell"
    all_but = f"All {evidence.noun}s but {other_units}" if other_units else f"All {evidence.noun}s"
    opening = f"{all_but} are equal, "
    if not distance:
        never = "and no number of them shows that a limit is kept which is only just met."
        return _Judgement(State.INCONCLUSIVE, f"{opening}{never}", but)
    reason = f"{opening}and it takes {needed} {evidence.noun}s to show that this holds for others."
    return _Judgement(State.INCONCLUSIVE, reason, but, needed)


def make_case_gate(session: CaseSession, limits: Sequence[Limit], bound: Bound) -> Gate:
    """Hold the limits against a session."""
    verdicts = tuple(verdict for limit in limits for verdict in _judge_arms(session, limit, bound))
    ratios = any(limit.kind is Kind.MAX_RATIO for limit in limits)
    limited_arms = [verdict.mode for verdict in verdicts if verdict.mode]
    arms = dict.fromkeys(
        [
            *limited_arms,
            *(session.references.get(arm_name, arm_name) for arm_name in limited_arms if ratios),
        ]
    )
    return Gate(
        session=session.experiment.session,
        bound=bound,
        verdicts=verdicts,
        caveats={
            arm: tuple(caveat for caveat in session.caveats(arm) if not caveat.is_void)
            for arm in arms
        },
        notes=(*session.warnings, *describe_extension(session)),
    )


def _judge_arms(session: CaseSession, limit: Limit, bound: Bound) -> Iterator[Verdict]:
    reference, *other_arms = session.arms
    if limit.kind is Kind.MAX_RATIO:
        other_arms, fallback = (
            [other_arm for other_arm in other_arms if other_arm in session.references],
            [],
        )
    else:
        fallback = [reference]
    arms = [limit.mode] if limit.mode else other_arms or fallback
    for arm in arms:
        verdict = judge_limit(limit, arm, _collect_evidence(session, limit, arm), bound)
        is_open = verdict.state is State.INCONCLUSIVE
        yield replace(verdict, next=session.advise_next_step(verdict.needed) if is_open else None)
    if not arms:
        yield judge_limit(limit, "", Evidence(absent=f"{reference} is the only arm."), bound)


def _collect_evidence(session: CaseSession, limit: Limit, arm: str) -> Evidence:
    metric, is_ratio = session.metrics[limit.metric], limit.kind is Kind.MAX_RATIO
    reference = session.references.get(arm, arm)
    if is_ratio and arm == reference:
        return Evidence(metric=metric, absent=f"{arm} is compared with nothing.")
    sides = [arm, reference] if is_ratio else [arm]
    for side in sides:
        if reason := session.explain_exclusion(side):
            return Evidence(metric=metric, absent=f"There is no evidence on {side}: {reason}.")
    if session.is_by_part(metric):
        absent = "A sum is given by part (results.json has it), and a limit can be on the mean."
        return Evidence(metric=metric, absent=absent)
    cases, noun = session.select_units(metric), session.noun
    figures, *reference_figures = (session.group_unit_figures(side, metric) for side in sides)
    if is_ratio:
        evidence = make_ratio_evidence(metric, figures, reference_figures[0], cases, noun)
        evidence = replace(evidence, reference=reference)
    else:
        evidence = make_mean_evidence(metric, figures, cases, noun)
    if (
        reason := ""
        if evidence.absent
        else explain_doubts({side_name: (session, side_name) for side_name in sides}, metric)
    ):
        return replace(
            evidence, uncertainty=f"{evidence.uncertainty} Not to be relied on: {reason}.".strip()
        )
    clause = describe_omitted({side: count_missing(session, side, metric) for side in sides})
    return replace(evidence, caveat=f"{clause}." if clause else "")
