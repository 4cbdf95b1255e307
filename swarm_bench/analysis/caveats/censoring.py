"""Trials that a limit stopped: what they would have spent is not known."""

from collections.abc import Iterator

from swarm_bench.analysis.adherence.treated import Treated
from swarm_bench.analysis.comparison.pairs import stopped
from swarm_bench.analysis.comparison.verdicts import Conclusion, conclusion
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.rule import Change
from swarm_bench.analysis.wording import amount, joined, lowered
from swarm_bench.core.report.standing import Caveat


def stopped_as_worst(treated: Treated) -> Iterator[Caveat]:
    """Say that a verdict stands where stopped trials count as the worst; where it does not, its
    sentence says so."""
    reached = conclusion(treated.selection, treated.mode)
    if reached and reached.censored and not reached.hidden and reached.spends is not Change.UNCLEAR:
        yield Caveat(qualification=f"{_counted(reached)}, which agrees with the verdict")


def hidden(selection: Selection, mode: str) -> str:
    """Say why a verdict is without what the primary metric shows."""
    reached = conclusion(selection, mode)
    assert reached
    sides = [side for side in (mode, selection.modes[0]) if stopped(selection, side)]
    shares = [
        f"{len(stopped(selection, side))} of {len(selection.arm(side).compared)} trials of {side}"
        for side in sides
    ]
    return (
        f"A limit stopped {joined(shares)}, so what they would have taken is not known; "
        f"{_counted(reached)}, so it is not shown {SHOWN[reached.spends]}."
    )


SHOWN = {
    Change.LOWER: "that the mode takes less",
    Change.HIGHER: "that the mode takes more",
    Change.SAME: "that the modes take the same",
}


def _counted(reached: Conclusion) -> str:
    """Say `with stopped trials as the worst, 5 of 12 tasks have lower and 7 higher effective
    tokens`."""
    censored = reached.censored
    assert reached.cost
    assert censored
    lower, _, higher = censored.ranks.signs
    return (
        f"with stopped trials as the worst, {lower} of {amount(censored.ranks.cases, 'task')} have "
        f"lower and {higher} higher {lowered(reached.cost.metric.title)} (signed ranks, p "
        f"{censored.ranks.sign_flip_p:.2g})"
    )
