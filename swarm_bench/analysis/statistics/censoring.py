"""Comparisons in which a limit ended some trials, or some were lost, so that what they would have
taken is not known.

A trial that was stopped has the value infinity: it is the worst of all. One that was lost has what
speaks most against what is claimed.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from swarm_bench.analysis.statistics.effects import Effect, take_logarithm
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.pairing import Cases, Figures, pair_figures
from swarm_bench.analysis.statistics.verdict_rule import Change, classify_ratio


@dataclass(frozen=True, kw_only=True)
class Censored:
    """What the cases say where stopped and lost trials count as the worst; at least one case."""

    differences: Mapping[str, float]
    """Differences of logarithms by case; infinite where the typical trial of one arm was stopped or
    lost, and 0 where that of both was."""
    unknown_cases: int
    """Cases in which it was in one of the arms or in both."""
    planned: Cases = Cases(ids=())
    """What was asked, with the weights and the groups of cases."""

    @cached_property
    def ranks(self) -> Effect:
        """The signed ranks of the differences, which need not be finite."""
        import numpy as np

        sizes = np.abs(list(self.differences.values()))
        _, places, counts = np.unique(sizes, return_inverse=True, return_counts=True)
        ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]  # equal ones share theirs
        signed = zip(ranks, self.differences.items(), strict=True)
        return self.planned.make_effect(
            {case: math.copysign(rank, value) if value else 0.0 for rank, (case, value) in signed}
        )

    @property
    def effect(self) -> Effect:
        """The differences as they are, where all of them are known."""
        return self.planned.make_effect(self.differences)

    def agrees(self, change: Change, margin: float, level: float) -> bool:
        """Tell whether what was shown of the primary metric is shown so, too: by the same rule
        where all differences are known, otherwise by their ranks."""
        if change is Change.UNCLEAR:
            return True
        if not self.unknown_cases:
            return classify_ratio(self.effect, margin, level) is change
        if change is Change.SAME:
            return False
        side = -1 if change is Change.LOWER else 1
        return side * self.ranks.estimate > 0 and self.ranks.sign_flip_p <= ALPHA


@dataclass(frozen=True, kw_only=True)
class MeasuredFigures:
    """The figures of an arm, and its trials that have none because they were lost."""

    figures: Figures
    lost_counts: Mapping[str, int]
    """Number of lost trials that could have had any figure, by case."""

    def fill_lost(self, value: float) -> Figures:
        """Return the figures as if all lost trials had had this one."""
        cases = dict.fromkeys([*self.figures, *self.lost_counts])
        return {
            case: [*self.figures.get(case, ()), *[value] * self.lost_counts.get(case, 0)]
            for case in cases
        }


def compare_ratios_at_worst(
    arm: MeasuredFigures, reference: MeasuredFigures, cases: Cases, change: Change
) -> tuple[Censored, ...]:
    """Compare two arms as if the lost trials of each had taken what speaks most against what was
    shown: more than all others, or less. An equality has two sides; nothing for no claim."""
    lower, greater = (math.inf, 0.0), (0.0, math.inf)
    sides = {Change.LOWER: (lower,), Change.HIGHER: (greater,), Change.SAME: (lower, greater)}
    comparisons = (
        compare_censored(arm, reference, cases, lost_values)
        for lost_values in sides.get(change, ())
    )
    return tuple(comparison for comparison in comparisons if comparison)


def compare_scores_at_worst(
    arm: MeasuredFigures, reference: MeasuredFigures, cases: Cases, *, gain: bool
) -> Effect | None:
    """Compare the shares of two arms as if each lost trial had had what speaks most against a gain
    of the first one, or against a loss; `None` where too few cases are paired."""
    low, high = (0.0, 1.0) if gain else (1.0, 0.0)
    pairs = pair_figures(arm.fill_lost(low), reference.fill_lost(high), cases, relative=False)
    return pairs.effect if pairs.suffice else None


def compare_censored(
    arm: MeasuredFigures,
    reference: MeasuredFigures,
    cases: Cases,
    lost_values: tuple[float, float] = (math.inf,) * 2,
) -> Censored | None:
    """Compare two arms case by case; `None` where no case has a figure above 0 in both.
    `lost_values` are what the lost trials of each are taken for: of infinity, or of 0, which is
    less than all others."""
    sides = [
        side.fill_lost(lost_value)
        for side, lost_value in zip((arm, reference), lost_values, strict=True)
    ]
    case_ids = [
        case
        for case in cases.ids
        if all(side.get(case) for side in sides)
        and not any(0 in side.figures.get(case, ()) for side in (arm, reference))
    ]
    pairs = {case: [_compute_median(side[case]) for side in sides] for case in case_ids}
    if not pairs:
        return None
    return Censored(
        differences={
            case: 0.0 if value == reference_value else value - reference_value
            for case, (value, reference_value) in pairs.items()
        },
        unknown_cases=sum(not all(map(math.isfinite, pair)) for pair in pairs.values()),
        planned=cases,
    )


def _compute_median(values: Sequence[float]) -> float:
    """Return the median of the logarithms. Between one that was stopped and one that was lost it
    is as little as the latter took: only there it speaks against what was shown."""
    logs = median(take_logarithm(value) if value else -math.inf for value in values)
    return -math.inf if math.isnan(logs) else logs
