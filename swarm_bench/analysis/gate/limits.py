"""Holds limits against what a session has on them."""

import math
from collections import Counter
from typing import NamedTuple

from swarm_bench.analysis.gate.evidence import Evidence
from swarm_bench.analysis.statistics.changes import too_few, worth_of
from swarm_bench.analysis.statistics.effects import Effect, within
from swarm_bench.analysis.statistics.formulas import fewest_cases
from swarm_bench.analysis.statistics.rule import FEWEST, cases_for
from swarm_bench.analysis.wording import amount
from swarm_bench.core.report.gate import Bound, Limit, State, Verdict

_UNCOUNTED = (
    "Some trials are not in this figure; with these at their worst, the limit may not be kept."
)
_UNJUDGED = (
    "Over the tasks whose answers are judged, the limit may not be kept, and in the others an "
    "agent could have given up."
)
_LOST = "but stopped or lost trials could change that"
_MOST_CASES = 1000


class _Judged(NamedTuple):
    """What became of a limit."""

    state: State
    why: str
    but: str = ""
    needed: int | None = None


def judge_limit(limit: Limit, mode: str, evidence: Evidence, bound: Bound) -> Verdict:
    """Say what became of a limit on a mode."""
    judged = _judged(limit, evidence, bound)
    checks = {
        (_UNCOUNTED, _LOST): evidence.worst,
        (_UNJUDGED, "but not where answers are checked"): (
            [evidence.judged] if evidence.judged else []
        ),
    }
    for (why, but), others in checks.items():
        decided = judged.state in (State.HOLDS, State.VIOLATED)
        if decided and any(_judged(limit, it, bound).state is not judged.state for it in others):
            judged = _Judged(State.INCONCLUSIVE, why, but)
    return Verdict(
        limit=limit,
        mode=mode,
        reference=evidence.reference,
        state=judged.state,
        why=f"{judged.why} {evidence.caveat}".strip(),
        but=judged.but,
        needed=judged.needed,
        metric=evidence.metric,
        estimate=evidence.estimate,
        interval=within(evidence.interval),
        cases=evidence.effect.units if evidence.effect else 0,
        noun=evidence.noun,
    )


def _judged(limit: Limit, evidence: Evidence, bound: Bound) -> _Judged:
    estimate, interval, effect = evidence.estimate, evidence.interval, evidence.effect
    if evidence.absent:
        return _Judged(State.MISSING, evidence.absent)
    if effect is None or estimate is None or evidence.doubt:
        return _Judged(State.INCONCLUSIVE, evidence.doubt, _LOST)
    cases = amount(effect.units, evidence.noun)
    more = max(2 * FEWEST, effect.units + FEWEST) if not evidence.over_swarms else None
    if interval is None:
        why = f"{cases} so far are too few for an interval."
        if effect.units == 1:
            why = f"A single {evidence.noun} says nothing of others."
        return _Judged(State.INCONCLUSIVE, why, f"{cases}, too few for a range", more)
    few = too_few(effect, f"{evidence.noun}s")
    worth = worth_of(effect, effect.units) if effect.units >= FEWEST else ""
    only = f"{cases}{worth}, too few for a range" if few else ""
    if bound is Bound.INTERVAL and few:
        why = f"{few[0].upper()}{few[1:]} show nothing."
        return _Judged(State.INCONCLUSIVE, why, only, more)
    if bound is Bound.INTERVAL and (equal := _equal(limit, evidence, effect)):
        return equal
    admitted = [limit.admits(end) for end in interval]
    contains = "The 95 % interval contains the limit"
    if bound is Bound.INTERVAL and any(admitted) != all(admitted):
        needed = _needed(limit, evidence, effect)
        return _Judged(State.INCONCLUSIVE, f"{contains}.", needed=needed)
    state = State.HOLDS if limit.admits(estimate) else State.VIOLATED
    why = f"Judged by the {bound}"
    if few:
        return _Judged(state, f"{why}; {cases} show nothing beyond themselves.", only)
    if any(admitted) != all(admitted):
        return _Judged(state, f"{why}. {contains}, so noise may decide it.")
    return _Judged(state, f"{why}.")


def _needed(limit: Limit, evidence: Evidence, effect: Effect) -> int | None:
    """Return how many cases would show a figure like this on one side of the limit; `None` where it
    takes too many."""
    if evidence.relative and limit.value <= 0:
        return None
    value = math.log(limit.value) if evidence.relative else limit.value
    distance, sd = abs(effect.estimate - value), effect.standard_error or 0.0
    cases = fewest_cases(distance, sd * math.sqrt(effect.independent), _MOST_CASES)
    return cases and max(
        math.ceil(cases * effect.units / effect.independent), effect.units + FEWEST
    )


def _equal(limit: Limit, evidence: Evidence, effect: Effect) -> _Judged | None:
    """Judge shares most of which are equal, and so with hardly a spread to make an interval of;
    `None` where they are enough."""
    usual, number = Counter(effect.of_units).most_common(1)[0]
    others, distance = effect.units - number, abs(usual - limit.value)
    if not evidence.is_share or others >= min(FEWEST, number):
        return None
    needed = cases_for(others, distance, at_every_look=effect.at_every_look)
    if distance >= 1 or (distance and effect.independent >= needed):
        return None
    cases = amount(effect.units, evidence.noun)
    but = f"the same in {number} of {cases}, too few to tell"
    all_but = f"All {evidence.noun}s but {others}" if others else f"All {evidence.noun}s"
    begins = f"{all_but} are equal, "
    if not distance:
        never = "and no number of them shows that a limit is kept which is only just met."
        return _Judged(State.INCONCLUSIVE, f"{begins}{never}", but)
    why = f"{begins}and it takes {needed} {evidence.noun}s to show that this holds for others."
    return _Judged(State.INCONCLUSIVE, why, but, needed)
