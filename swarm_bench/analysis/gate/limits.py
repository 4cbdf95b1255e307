"""Holds limits against what a session has on them."""

from collections import Counter

from swarm_bench.analysis.gate.evidence import Evidence
from swarm_bench.analysis.statistics.changes import too_few
from swarm_bench.analysis.statistics.effects import Effect, within
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


def judge_limit(limit: Limit, mode: str, evidence: Evidence, bound: Bound) -> Verdict:
    """Say what became of a limit on a mode."""
    state, why = _state(limit, evidence, bound)
    checks = {
        _UNCOUNTED: evidence.worst,
        _UNJUDGED: [evidence.judged] if evidence.judged else [],
    }
    for unshown, others in checks.items():
        decided = state in (State.HOLDS, State.VIOLATED)
        if decided and any(_state(limit, it, bound)[0] is not state for it in others):
            state, why = State.INCONCLUSIVE, unshown
    return Verdict(
        limit=limit,
        mode=mode,
        state=state,
        why=f"{why} {evidence.caveat}".strip(),
        metric=evidence.metric,
        estimate=evidence.estimate,
        interval=within(evidence.interval),
        cases=evidence.effect.units if evidence.effect else 0,
        noun=evidence.noun,
    )


def _state(limit: Limit, evidence: Evidence, bound: Bound) -> tuple[State, str]:
    estimate, interval, effect = evidence.estimate, evidence.interval, evidence.effect
    if evidence.absent:
        return State.MISSING, evidence.absent
    if effect is None or estimate is None or evidence.doubt:
        return State.INCONCLUSIVE, evidence.doubt
    if interval is None:
        few = amount(effect.units, evidence.noun)
        return State.INCONCLUSIVE, (
            f"{few} so far are too few for an interval."
            if effect.units > 1
            else f"A single {evidence.noun} says nothing of others."
        )
    if bound is Bound.INTERVAL and (few := too_few(effect, f"{evidence.noun}s")):
        return State.INCONCLUSIVE, f"{few[0].upper()}{few[1:]} show nothing."
    if bound is Bound.INTERVAL and (equal := _equal(limit, evidence, effect)):
        return State.INCONCLUSIVE, equal
    admitted = [limit.admits(end) for end in interval]
    if bound is Bound.INTERVAL and any(admitted) != all(admitted):
        return State.INCONCLUSIVE, "The 95 % interval contains the limit."
    state = State.HOLDS if limit.admits(estimate) else State.VIOLATED
    return state, _beside(state, admitted, evidence, bound)


def _equal(limit: Limit, evidence: Evidence, effect: Effect) -> str:
    """Say that shares most of which are equal, and so with hardly a spread to make an interval of,
    are too few; empty where they are not."""
    usual, number = Counter(effect.of_units).most_common(1)[0]
    others, distance = effect.units - number, abs(usual - limit.value)
    if not evidence.is_share or others >= min(FEWEST, number):
        return ""
    needed = cases_for(others, distance, at_every_look=effect.at_every_look)
    if distance >= 1 or (distance and effect.independent >= needed):
        return ""
    all_but = f"All {evidence.noun}s but {others}" if others else f"All {evidence.noun}s"
    begins = f"{all_but} are equal, "
    if not distance:
        return f"{begins}and no number of them shows that a limit is kept which is only just met."
    return f"{begins}and it takes {needed} {evidence.noun}s to show that this holds for others."


def _beside(state: State, admitted: list[bool], evidence: Evidence, bound: Bound) -> str:
    """Say what the interval makes of an estimate."""
    if evidence.effect and evidence.effect.independent < FEWEST:
        cases = amount(evidence.effect.units, evidence.noun)
        return f"By the estimate; {cases} show nothing beyond themselves."
    if any(admitted) != all(admitted):
        return "By the estimate; the 95 % interval contains the limit, so noise may decide it."
    side = "within" if state is State.HOLDS else "beyond"
    begins = "T" if bound is Bound.INTERVAL else "By the estimate, and t"
    return f"{begins}he whole 95 % interval is {side} the limit."
