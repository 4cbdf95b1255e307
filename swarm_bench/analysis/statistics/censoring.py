"""Comparisons in which a limit ended some trials, so that what they would have taken is not known.

A trial that was stopped has the value infinity: it is the worst of all.
"""

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property

from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.pairing import Cases, Figures, middle
from swarm_bench.analysis.statistics.rule import Change, ratio_shown


@dataclass(frozen=True, kw_only=True)
class Censored:
    """What the cases say where stopped trials count as the worst; at least one case."""

    differences: tuple[float, ...]
    """One for each case, of logarithms; infinite where the typical trial of one arm was stopped,
    and 0 where that of both was."""
    hidden: int
    """Cases in which it was stopped in one of the arms or in both."""
    weights: tuple[float, ...] = ()
    """Those of the cases; empty where all have the same."""
    groups: tuple[Hashable, ...] = ()
    """Those of the cases; empty where each case is one by itself."""

    @cached_property
    def ranks(self) -> Effect:
        """The signed ranks of the differences, which need not be finite."""
        from scipy import stats

        ranks = stats.rankdata([abs(difference) for difference in self.differences])
        signed = zip(ranks, self.differences, strict=True)
        return self._effect(math.copysign(rank, value) if value else 0.0 for rank, value in signed)

    def _effect(self, differences: Iterable[float]) -> Effect:
        return Effect(differences=tuple(differences), weights=self.weights, groups=self.groups)

    @property
    def effect(self) -> Effect:
        """The differences as they are, where all of them are known."""
        return self._effect(self.differences)

    def agrees(self, shown: Change, margin: float, level: float) -> bool:
        """Tell whether what was shown of the primary metric is shown so, too: by the same rule
        where all differences are known, otherwise by their ranks."""
        if shown is Change.UNCLEAR:
            return True
        if not self.hidden:
            return ratio_shown(self.effect, margin, level) is shown
        if shown is Change.SAME:
            return False
        side = -1 if shown is Change.LOWER else 1
        return side * self.ranks.estimate > 0 and self.ranks.sign_flip_p <= ALPHA


def censored(own: Figures, reference: Figures, cases: Cases) -> Censored | None:
    """Compare two arms case by case; `None` where no case has a figure above 0 in both."""
    both = [case for case in cases.ids if own.get(case) and reference.get(case)]
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
        weights=cases.weights_of(compared),
        groups=cases.groups_of(compared),
    )
