"""Comparisons in which a limit ended some trials, so that what they would have taken is not known.

A trial that was stopped has the value infinity: it is the worst of all.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.pairing import middle
from swarm_bench.analysis.statistics.rule import Cost, cost_shown

Figures = Mapping[str, Sequence[float]]


@dataclass(frozen=True, kw_only=True)
class Censored:
    """What the cases say where stopped trials count as the worst; at least one case."""

    differences: tuple[float, ...]
    """One for each case, of logarithms; infinite where the typical trial of one arm was stopped,
    and 0 where that of both was."""
    hidden: int
    """Cases in which it was stopped in one of the arms or in both."""

    @cached_property
    def ranks(self) -> Effect:
        """The signed ranks of the differences, which need not be finite."""
        from scipy import stats

        ranks = stats.rankdata([abs(difference) for difference in self.differences])
        signed = zip(ranks, self.differences, strict=True)
        return Effect(differences=tuple(math.copysign(r, d) if d else 0.0 for r, d in signed))

    def agrees(self, shown: Cost, margin: float, level: float) -> bool:
        """Tell whether what was shown of the primary metric is shown so, too: by the same rule
        where all differences are known, otherwise by their ranks."""
        if shown is Cost.UNCLEAR:
            return True
        if not self.hidden:
            return cost_shown(Effect(differences=self.differences), margin, level) is shown
        if shown is Cost.SAME:
            return False
        side = -1 if shown is Cost.LOWER else 1
        return side * self.ranks.estimate > 0 and self.ranks.sign_flip_p <= ALPHA


def censored(own: Figures, reference: Figures, cases: Collection[str]) -> Censored | None:
    """Compare two arms case by case; `None` where no case has a figure above 0 in both."""
    both = [case for case in cases if own.get(case) and reference.get(case)]
    compared = [case for case in both if min(*own[case], *reference[case]) > 0]
    pairs = [
        (middle(own[case], relative=True), middle(reference[case], relative=True))
        for case in compared
    ]
    if not pairs:
        return None
    return Censored(
        differences=tuple(0.0 if mine == theirs else mine - theirs for mine, theirs in pairs),
        hidden=sum(math.inf in pair for pair in pairs),
    )
