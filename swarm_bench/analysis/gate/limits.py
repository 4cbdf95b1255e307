"""Holds limits against what a session has on them."""

import math
from collections import Counter
from typing import NamedTuple

from swarm_bench.analysis.gate.evidence import Evidence
from swarm_bench.analysis.statistics.changes import describe_too_few, format_worth_of
from swarm_bench.analysis.statistics.effects import Effect, clip_interval
from swarm_bench.analysis.statistics.formulas import count_fewest_cases
from swarm_bench.analysis.statistics.rule import FEWEST, count_cases
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.report.gate import Bound, Limit, State, Verdict

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
