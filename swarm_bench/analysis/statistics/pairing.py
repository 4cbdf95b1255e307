"""Cases that two arms have in common, and the difference that each of them shows."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

LEAST_PAIRED = 0.8
"""Of the cases; with fewer, those that are missing could turn the result."""


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """One metric of an arm and of its reference, case by case."""

    relative: bool
    """The differences are of logarithms: ratios are compared."""
    own: Mapping[str, float]
    """By case, over its runs: the median of logarithms where the metric is relative, otherwise the
    mean."""
    reference: Mapping[str, float]
    unpaired: tuple[str, ...]
    """Cases without a figure in one of the two arms, or in both."""
    zeros: tuple[str, ...]
    """Cases that are omitted because a figure is 0, to which there is no ratio."""

    @property
    def cases(self) -> tuple[str, ...]:
        """Those that are compared."""
        return tuple(self.own)

    @property
    def differences(self) -> list[float]:
        """In the order of the cases. Shares are rounded, so that means of equal ones are equal."""
        differences = [self.own[case] - self.reference[case] for case in self.own]
        return differences if self.relative else [round(value, 9) for value in differences]

    @property
    def suffice(self) -> bool:
        """Tell whether enough of the cases are paired for a verdict."""
        there = len(self.own) + len(self.unpaired) + len(self.zeros)
        return bool(self.own) and len(self.own) >= LEAST_PAIRED * there


def paired(
    own: Mapping[str, Sequence[float]],
    reference: Mapping[str, Sequence[float]],
    cases: Collection[str],
    *,
    relative: bool,
) -> Pairs:
    """Pair the figures of two arms for one metric. The figures are those of trials that count, by
    case; `cases` are all that were asked, in their order."""
    both = [case for case in cases if own.get(case) and reference.get(case)]
    zeros = [case for case in both if relative and min(*own[case], *reference[case]) <= 0]
    compared = [case for case in both if case not in zeros]
    return Pairs(
        relative=relative,
        own={case: middle(own[case], relative=relative) for case in compared},
        reference={case: middle(reference[case], relative=relative) for case in compared},
        unpaired=tuple(case for case in cases if case not in both),
        zeros=tuple(zeros),
    )


def middle(values: Sequence[float], *, relative: bool) -> float:
    """Return what stands for the runs of a case. Logarithms have heavy tails, so their median; the
    median of shares would be the vote of a majority."""
    return median(map(math.log, values)) if relative else fmean(values)
