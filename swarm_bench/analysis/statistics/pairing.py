"""Cases that two arms have in common, and the difference that each of them shows."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from swarm_bench.analysis.frame import Observation

LEAST_PAIRED = 0.8
"""Of the cases; with fewer, those that are missing could turn the result."""


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """One metric of an arm and of its reference, case by case."""

    relative: bool
    """The differences are of logarithms: ratios are compared."""
    own: Mapping[str, float]
    """By case, the median over its runs; a logarithm where the metric is relative."""
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
        return [self.own[case] - self.reference[case] for case in self.own]

    @property
    def suffice(self) -> bool:
        """Tell whether enough of the cases are paired for a verdict."""
        there = len(self.own) + len(self.unpaired) + len(self.zeros)
        return bool(self.own) and len(self.own) >= LEAST_PAIRED * there


def paired(
    rows: Iterable[Observation], arm: str, reference: str, cases: Collection[str], *, relative: bool
) -> Pairs:
    """Pair the figures of two arms for one metric. `rows` are those of trials that count; `cases`
    are all that were asked, in their order."""
    cells = _cells(rows, (arm, reference))
    sides = [
        {case: cells[side, case] for case in cases if (side, case) in cells}
        for side in (arm, reference)
    ]
    both = [case for case in cases if all(case in side for side in sides)]
    zeros = [case for case in both if relative and any(min(side[case]) <= 0 for side in sides)]
    own, other = (
        {case: _middle(side[case], relative) for case in both if case not in zeros}
        for side in sides
    )
    return Pairs(
        relative=relative,
        own=own,
        reference=other,
        unpaired=tuple(case for case in cases if case not in both),
        zeros=tuple(zeros),
    )


def _cells(
    rows: Iterable[Observation], arms: Collection[str]
) -> dict[tuple[str, str], list[float]]:
    cells: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        if row.value is not None and row.arm in arms:
            cells[row.arm, row.case].append(float(row.value))
    return cells


def _middle(values: Iterable[float], relative: bool) -> float:
    return median(map(math.log, values) if relative else values)
