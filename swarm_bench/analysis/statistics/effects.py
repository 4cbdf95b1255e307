"""What the differences of the cases say about two arms: an effect, its intervals and tests.

The method and its sources are in docs/statistics.md. numpy and scipy's functions are imported where
they are used; `scipy.stats` never is, since that alone takes longer than a whole summary.
"""

import math
import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median
from typing import TYPE_CHECKING, TypeVar

from swarm_bench.analysis.statistics.formulas import ALPHA, CONFIDENCE, compute_t_limit
from swarm_bench.analysis.statistics.looks import compute_half_width, compute_log_evidence
from swarm_bench.core.figures import LARGEST

if TYPE_CHECKING:
    from numpy import int8
    from numpy.typing import NDArray

Name = TypeVar("Name", bound=Hashable)

_LARGEST_LOGARITHM = math.log(sys.float_info.max) / 2
_FLIPS = 9_999
"""Sign flips that are drawn; where there are no more, all of them are taken."""
_AT_ONCE = 1_000
_ROUNDING = 100
"""Smallest steps of a float by which two means of the same values may differ."""
_DIGITS = 12
"""Digits to which a mean of a group is rounded, so that means of equal values are equal."""
_MAX_AVERAGED = 500
"""Cases of which all pairs are averaged; of more, a Hodges-Lehmann estimate takes too long."""


@dataclass(frozen=True, kw_only=True)
class Effect:
    """A paired comparison, in the units of the differences: logarithms where ratios are
    compared. It assumes that the groups of cases are drawn independently; the t interval that their
    mean is nearly normal, the test that flips signs that the differences are symmetric."""

    differences: tuple[float, ...]
    """One for each case; at least one."""
    weights: tuple[float, ...] = ()
    """Weights of the cases in the mean; empty where all have the same."""
    groups: tuple[Hashable, ...] = ()
    """The groups of the cases; empty where each case is one by itself. Cases of one group are not
    independent of each other."""
    at_every_look: bool = False
    """Whether its intervals and p hold however often it is looked at while cases are added."""

    @cached_property
    def estimate(self) -> float:
        return fmean(self.differences, self.weights or None)

    @property
    def cases(self) -> int:
        return len(self.differences)

    @cached_property
    def _units(self) -> list[tuple[float, float]]:
        """The mean difference of each group, and its weight."""
        if not self.weights and not self.groups:
            return [(value, 1.0) for value in self.differences]
        weights = self.weights or (1.0,) * self.cases
        sums: dict[Hashable, tuple[float, float]] = {}
        cases = zip(self.groups or range(self.cases), self.differences, weights, strict=True)
        for group, value, weight in cases:
            total, total_weight = sums.get(group, (0.0, 0.0))
            sums[group] = total + value * weight, total_weight + weight
        return [
            (round(total / total_weight, _DIGITS), total_weight)
            for total, total_weight in sums.values()
        ]

    @property
    def units(self) -> int:
        """How many groups there are, or cases where each is one by itself."""
        return len(self._units)

    @property
    def of_units(self) -> list[float]:
        """The mean difference of each group, or case."""
        return [value for value, _ in self._units]

    @cached_property
    def independent_cases(self) -> float:
        """How many independent cases of the same weight it is worth: Kish (1965). Without weights
        and groups all of them."""
        weights = [weight for _, weight in self._units]
        return sum(weights) ** 2 / sum(weight**2 for weight in weights)

    @cached_property
    def standard_error(self) -> float | None:
        """Return the standard error of the mean, by a jackknife that omits a group at a time:
        without weights and groups s / sqrt(n). Exactly 0 if all groups are equal; `None` for a
        single one."""
        number = self.units
        if number < 2:
            return None
        first, _ = self._units[0]  # the rounding of a mean would keep equal values apart
        shifted = [(value - first, weight) for value, weight in self._units]
        total_weight = sum(weight for _, weight in shifted)
        mean = sum(value * weight for value, weight in shifted) / total_weight
        moves = [weight * (mean - value) / (total_weight - weight) for value, weight in shifted]
        return math.sqrt((number - 1) / number * sum(move**2 for move in moves))

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float] | None:
        """Compute the t interval over groups, or the one that holds at every look; `None` for a
        single one, and where they exclude nothing."""
        error = self.standard_error
        if error is None:
            return None
        if self.at_every_look:
            deviation = compute_half_width(self._deviation, self.independent_cases, 1 - confidence)
        else:
            deviation = compute_t_limit((1 + confidence) / 2, self.independent_cases - 1) * error
        return (
            (self.estimate - deviation, self.estimate + deviation)
            if math.isfinite(deviation)
            else None
        )

    @property
    def _deviation(self) -> float:
        """Return the standard deviation about the mean of as many independent cases of the same
        weight."""
        return (self.standard_error or 0.0) * math.sqrt(max(self.independent_cases - 1, 0.0))

    @cached_property
    def _look_p(self) -> float:
        """The reciprocal of the evidence, which may be looked at as often as one likes."""
        if self.units < 2:
            return 1.0
        return min(
            1.0,
            math.exp(-compute_log_evidence(self.estimate, self._deviation, self.independent_cases)),
        )

    @cached_property
    def t_p(self) -> float | None:
        """The two-sided p of the paired t test, or of the one that holds at every look; `None` for
        a single group."""
        error = self.standard_error
        if error is None:
            return None
        if self.at_every_look:
            return self._look_p
        if error == 0:
            return float(self.estimate == 0)
        from scipy import special

        return float(2 * special.stdtr(self.independent_cases - 1, -abs(self.estimate) / error))

    @cached_property
    def sign_flip_p(self) -> float:
        """The two-sided p of the permutation test that flips signs: all flips where there are few,
        otherwise a fixed draw, whose p is never 0. At every look it is the p of the test that
        holds there."""
        if self.at_every_look:
            return self._look_p
        if len(self._nonzero) < 2:  # a single sign says nothing
            return 1.0
        import numpy as np

        values = np.array(self._nonzero)
        mean = values.mean()
        means = np.concatenate(
            [np.mean(signs * values[:, None], axis=0) for signs in _draw_flips(len(values))]
        )
        same = abs(mean) * np.finfo(float).eps * _ROUNDING
        is_added = int(2 ** len(values) > _FLIPS)  # a draw need not have what was measured
        few = min(np.count_nonzero(means <= mean + same), np.count_nonzero(means >= mean - same))
        return min(1.0, float((few + is_added) / (len(means) + is_added) * 2))

    @property
    def floor(self) -> float:
        """The smallest p that the sign-flip test can give with so many differences, or the test
        that holds at every look."""
        if self.at_every_look:
            return min(1.0, math.exp(-compute_log_evidence(1.0, 0.0, self.independent_cases)))
        return min(1.0, max(2.0 ** (1 - len(self._nonzero)), 2 / (_FLIPS + 1)))

    @property
    def differing(self) -> tuple[int, int]:
        """How many groups are below 0, and how many above; or cases where each is one by itself."""
        lower = sum(value < 0 for value in self._nonzero)
        return lower, len(self._nonzero) - lower

    @cached_property
    def _nonzero(self) -> list[float]:
        """What groups add to the mean, without those that add 0: to flip its sign changes
        nothing."""
        return [value * weight for value, weight in self._units if value]

    @cached_property
    def hodges_lehmann(self) -> float | None:
        """The median of the averages of all pairs of differences, or of those of groups, without
        weights; `None` for too many."""
        averages = self._averages
        return None if averages is None else median(averages)

    @cached_property
    def wilcoxon_interval(self) -> tuple[float, float] | None:
        """The interval of at least 95 % that belongs to it; `None` where no such interval exists:
        for fewer than six cases, or too many of them, and at every look."""
        averages = self._averages
        if self.at_every_look or averages is None or (rank := _find_rank(self.units)) is None:
            return None
        return averages[rank], averages[-1 - rank]

    @cached_property
    def _averages(self) -> list[float] | None:
        if self.units > _MAX_AVERAGED:
            return None
        import numpy as np

        values = np.array(self.of_units)
        rows, columns = np.triu_indices(len(values))
        averages: list[float] = np.sort((values[rows] + values[columns]) / 2).tolist()
        return averages

    @property
    def signs(self) -> tuple[int, int, int]:
        """How many cases are below 0, at 0, and above."""
        lower = sum(value < 0 for value in self.differences)
        higher = sum(value > 0 for value in self.differences)
        return lower, self.cases - lower - higher, higher


def take_logarithm(value: float) -> float:
    """Return the logarithm of a positive figure. None is smaller than what the largest one that is
    stored makes of 1, so that ratios of stored figures stay finite."""
    return math.log(max(value, 1 / LARGEST))


def compute_change(logarithm: float) -> float:
    """Return the change that the logarithm of a ratio means, 0.5 of half as much again."""
    return math.expm1(min(logarithm, _LARGEST_LOGARITHM))


def exponentiate(logarithm: float) -> float:
    """Return the ratio of a logarithm, at most one that a figure can be multiplied by."""
    return math.exp(min(logarithm, _LARGEST_LOGARITHM))


def clip_interval(
    bounds: tuple[float, float] | None, max_value: float = math.inf
) -> tuple[float, float] | None:
    """Return of an interval of differences what they can be: none is larger than `max_value`.
    `None` where all cases are equal, as that they are says nothing of others."""
    if not bounds or bounds[0] == bounds[1]:
        return None
    return max(bounds[0], -max_value), min(bounds[1], max_value)


def _draw_flips(values: int) -> Iterator["NDArray[int8]"]:
    """Yield arrays of signs, with a row for each value and a column for each flip."""
    import numpy as np

    if 2**values <= _FLIPS:
        yield (1 - 2 * (np.arange(2**values) >> np.arange(values)[:, None] & 1)).astype(np.int8)
        return
    generator = np.random.default_rng(0)
    signs = np.tile(np.array([1, -1], np.int8), (_AT_ONCE, values, 1))
    for number in range(0, _FLIPS, _AT_ONCE):
        yield np.ascontiguousarray(generator.permuted(signs, axis=2)[: _FLIPS - number, :, 0].T)


def _find_rank(cases: int) -> int | None:
    """Return how many averages lie outside at each end; `None` where even the widest interval
    covers less than 95 %."""
    import numpy as np

    # The null distribution of the signed ranks: each rank counts or does not.
    probabilities = np.ones(1)
    for rank in range(1, cases + 1):
        shifted = np.concatenate([np.zeros(rank), probabilities])
        probabilities = (np.concatenate([probabilities, np.zeros(rank)]) + shifted) / 2
    outside = int(np.searchsorted(np.cumsum(probabilities), ALPHA / 2, side="right"))
    return outside - 1 if outside else None


def compute_holm_levels(tests: Mapping[Name, float]) -> dict[Name, float]:
    """Return the level at which each of several hypotheses is tested, by its p: Holm (1979).
    Intervals at these levels exclude the null where Holm's procedure rejects it."""
    levels: dict[Name, float] = {}
    level, rejecting = ALPHA, True
    for number, (name, p) in enumerate(sorted(tests.items(), key=lambda test: test[1])):
        if rejecting:
            level = ALPHA / (len(tests) - number)
            rejecting = p <= level
        levels[name] = level
    return levels


def adjust_holm(tests: Mapping[Name, float]) -> dict[Name, float]:
    """Return the p of several hypotheses adjusted by Holm's procedure."""
    adjusted: dict[Name, float] = {}
    largest = 0.0
    for number, (name, p) in enumerate(sorted(tests.items(), key=lambda test: test[1])):
        largest = max(largest, min(1.0, p * (len(tests) - number)))
        adjusted[name] = largest
    return adjusted


def compute_wilson(passed: float, trials: float) -> tuple[float, float]:
    """Compute the 95 % Wilson interval of a share of at least one trial."""
    from scipy import special

    share, z = passed / trials, float(special.ndtri((1 + CONFIDENCE) / 2))
    denominator = 2 * (trials + z**2)
    centre = (2 * trials * share + z**2) / denominator
    width = z / denominator * math.sqrt(4 * trials * share * (1 - share) + z**2)
    return centre - width if passed else 0.0, centre + width if passed < trials else 1.0


def compute_mcnemar(pairs: Sequence[tuple[bool, bool]]) -> float:
    """Compute the mid-p of McNemar's test of yes and no in two arms, one pair for each case:
    Fagerland, Lydersen and Laake (2013)."""
    from scipy import special

    gains = sum(first and not second for first, second in pairs)
    losses = sum(second and not first for first, second in pairs)
    if gains + losses == 0:
        return 1.0
    few, many = sorted((gains, losses))
    fewer, as_few = special.betaincc([few, few + 1], [many + 1, many], 0.5)
    return min(1.0, float(fewer + as_few))
