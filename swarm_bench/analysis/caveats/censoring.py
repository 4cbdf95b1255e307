"""Trials that a limit stopped, or that were lost: what they would have spent is not known."""

from collections.abc import Iterator

from swarm_bench.analysis.adherence.treated import Treated
from swarm_bench.analysis.comparison.pairs import lost, planned_trials, stopped, unmeasured
from swarm_bench.analysis.comparison.verdicts import Conclusion, conclusion, hypotheses
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.rule import Change, Verdict, verdict
from swarm_bench.analysis.wording import amount, joined, lowered
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.standing import Caveat

CONTINUE = "--continue runs lost trials again"


def stopped_as_worst(treated: Treated) -> Iterator[Caveat]:
    """Say that a verdict stands where stopped trials count as the worst; where it does not, its
    sentence says so."""
    selection, mode = treated.selection, treated.mode
    reached = conclusion(selection, mode)
    if reached is None or reached.hidden or reached.too_narrow or reached.doubt:
        return
    if reached.censored and _stopped(selection, mode):
        counted = _counted(selection, reached, mode)
        yield Caveat(qualification=f"{counted}, which agrees with the verdict")


def hidden(selection: Selection, mode: str) -> str:
    """Say why a verdict is without what the primary metric shows."""
    reached = conclusion(selection, mode)
    assert reached
    assert reached.cost
    limited, lacking = _stopped(selection, mode), _lacking(selection, mode, reached.cost.metric)
    clauses = [f"a limit stopped {joined(limited)}"] if limited else []
    clauses += [lacking] if lacking else []
    why = " and ".join(clauses)
    return (
        f"{why[:1].upper()}{why[1:]}, so what they would have taken is not known; "
        f"{_counted(selection, reached, mode)}, so it is not shown {SHOWN[reached.spends]}"
        f"{f'; {CONTINUE}' if may_continue(selection, mode) else ''}."
    )


def unproved(selection: Selection, mode: str) -> str:
    """Say why a verdict is without what was found."""
    reached = conclusion(selection, mode)
    assert reached
    lacking = _lacking(selection, mode, reached.quality.metric)
    return (
        f"{lacking[:1].upper()}{lacking[1:]}: with these at their worst, the quality of the "
        f"answers does not show the same{f'; {CONTINUE}' if may_continue(selection, mode) else ''}."
    )


def may_continue(selection: Selection, mode: str) -> bool:
    """Tell whether trials of the two modes were lost, or never run, and can be run again."""
    sides = (mode, selection.modes[0])
    return any(
        lost(selection, side) or planned_trials(selection, side) > len(selection.of(side))
        for side in sides
    )


def ended_later(selection: Selection) -> Iterator[str]:
    """Say that losses end a verdict which they did not end when the session began."""
    named = selection.data.experiment.beforehand
    if named is not None and named.verdict_version is not None:
        return
    if modes := [mode for mode in hypotheses(selection) if _is_ended(selection, mode)]:
        yield (
            f"The verdict on {joined(modes)} is by today's rule, under which lost trials can end "
            "one. When this session began they could not, so its summary may have had another."
        )


def _is_ended(selection: Selection, mode: str) -> bool:
    reached = conclusion(selection, mode)
    if reached is None:
        return False
    claims = (
        reached.cost is None or verdict(reached.spends, reached.shown) is not Verdict.INCONCLUSIVE
    )
    lost_some = any(lost(selection, side) for side in (mode, selection.modes[0]))
    return (bool(reached.doubt) and claims) or reached.unproved or (reached.hidden and lost_some)


def _stopped(selection: Selection, mode: str) -> list[str]:
    """Write how many trials of both modes a limit stopped."""
    return [
        f"{len(some)} of {len(selection.arm(side).compared)} trials of {side}"
        for side in (mode, selection.modes[0])
        if (some := stopped(selection, side))
    ]


def _lacking(selection: Selection, mode: str, metric: Metric) -> str:
    """Say how many trials of both modes are not in a figure, and why; empty where all are."""
    sides = (mode, selection.modes[0])
    without = {side: unmeasured(selection, side, metric) for side in sides}
    parts = [
        f"{len(some)} of {len(selection.of(side))} trials of {side}"
        for side, some in without.items()
        if some
    ]
    if not parts:
        return ""
    if all(set(map(id, some)) <= set(map(id, lost(selection, it))) for it, some in without.items()):
        return f"the session lost {joined(parts)}"
    title = lowered(metric.title)
    return f"{joined(parts)} were lost, are contaminated or do not tell {title}"


SHOWN = {
    Change.LOWER: "that the mode takes less",
    Change.HIGHER: "that the mode takes more",
    Change.SAME: "that the modes take the same",
}


def _counted(selection: Selection, reached: Conclusion, mode: str) -> str:
    """Say `with stopped trials as the worst, 5 of 12 tasks have lower and 7 higher effective
    tokens`."""
    censored = reached.censored
    assert reached.cost
    assert censored
    lower, _, higher = censored.ranks.signs
    kinds = ["stopped"] if _stopped(selection, mode) else []
    kinds += ["lost"] if _lacking(selection, mode, reached.cost.metric) else []
    return (
        f"with {joined(kinds)} trials as the worst, {lower} of "
        f"{amount(censored.ranks.cases, 'task')} have lower and {higher} higher "
        f"{lowered(reached.cost.metric.title)} (signed ranks, p {censored.ranks.sign_flip_p:.2g})"
    )
