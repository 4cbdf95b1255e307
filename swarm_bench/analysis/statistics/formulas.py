"""Formulas for what noise does to a comparison: intervals, and what an experiment can detect.

Everything is in the units of the values; of logarithms when they are logarithms.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cache
from statistics import fmean

POWER = 0.8
ALPHA = 0.05
"""Significance level of the two-sided t test."""
CONFIDENCE = 1 - ALPHA


def compute_pooled_sd(cells: Sequence[Sequence[float]]) -> tuple[float | None, int]:
    """Compute the standard deviation within cells of repeated values, and its degrees of freedom;
    `None` when no cell has two."""
    freedom = sum(len(cell) - 1 for cell in cells if cell)
    if freedom < 1:
        return None, 0
    squares = sum(map(_sum_squares, filter(None, cells)))
    return math.sqrt(squares / freedom), freedom


def _sum_squares(cell: Sequence[float]) -> float:
    """Sum the squares about the mean; exactly 0 for equal values, which the mean's rounding could
    spoil."""
    shifted = [value - cell[0] for value in cell]
    mean = fmean(shifted)
    return sum((value - mean) ** 2 for value in shifted)


def compute_sd_interval(
    sd: float, freedom: int, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Compute the chi-square interval of a standard deviation of normal values."""
    from scipy import special

    tail = (1 - confidence) / 2
    low, high = 2 * special.gammaincinv(freedom / 2, [1 - tail, tail])
    return sd * math.sqrt(freedom / low), sd * math.sqrt(freedom / high)


@cache
def compute_median_variance(number: int) -> float:
    """Compute the variance of the median of so many standard normal values.

    Integrated over the density of the middle value, or of the two middle ones. Medians of normal
    values spread more than means do: by a third with three values, by pi/2 with many.
    """
    import numpy as np
    from scipy import special

    # Beyond eight of its own deviations a median has no density that a float could hold.
    limit = min(8.0, 8 * math.sqrt(math.pi / 2 / number) + 0.5)
    x = np.linspace(-limit, limit, 2001)
    lower_count = (number + 1) // 2 - 1
    log_density = -(x**2) / 2 - math.log(2 * math.pi) / 2
    if number % 2:
        density = np.exp(
            math.lgamma(number + 1)
            - 2 * math.lgamma(lower_count + 1)
            + lower_count * (special.log_ndtr(x) + special.log_ndtr(-x))
            + log_density
        )
        return float(np.trapezoid(x**2 * density, x))
    gap = np.linspace(0, min(2 * limit, 100 / number), 1001)[:, None]
    upper = x + gap
    joint = np.exp(
        math.lgamma(number + 1)
        - 2 * math.lgamma(lower_count + 1)
        + lower_count * (special.log_ndtr(x) + special.log_ndtr(-upper))
        + log_density
        - upper**2 / 2
        - math.log(2 * math.pi) / 2
    )
    inner = np.trapezoid(((x + upper) / 2) ** 2 * joint, x, axis=1)
    return float(np.trapezoid(inner, gap[:, 0]))


def compute_difference_sd(sd: float, runs: int) -> float:
    """Compute the standard deviation of the difference between two arms' medians over runs, when
    the arms differ by the same in every task."""
    return sd * math.sqrt(2 * compute_median_variance(runs))


def load_functions() -> None:
    """Load what all of these are computed with: it takes as long as a summary."""
    from scipy import special  # noqa: F401


def compute_t_limit(share: float, freedom: float) -> float:
    """Compute what so large a share of the t distribution lies below."""
    from scipy import special

    return float(special.stdtrit(freedom, share))


def compute_power(noncentrality: float, freedom: float, alpha: float = ALPHA) -> float:
    """Compute the chance that a two-sided t test sees a difference of so many standard errors, and
    on the side where it is."""
    from scipy import special

    limit = compute_t_limit(1 - alpha / 2, freedom)
    return 1 - float(special.nctdtr(freedom, noncentrality, limit))


@cache
def _solve_noncentrality(freedom: float, alpha: float = ALPHA) -> float:
    """Solve for the standard errors that are seen with the power we ask for."""
    low, high = 0.0, 1.0
    while compute_power(high, freedom, alpha) < POWER:  # ends: the power goes to 1
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:  # ends: there are so many floats
        low, high = (
            (middle, high) if compute_power(middle, freedom, alpha) < POWER else (low, middle)
        )
    return high


def compute_detectable(sd: float, cases: float, alpha: float = ALPHA) -> float | None:
    """Compute the smallest mean of so many differences with that standard deviation that a t test
    at `alpha` sees in 80 of 100 experiments; `None` for fewer than two."""
    return None if cases < 2 else _solve_noncentrality(cases - 1, alpha) * sd / math.sqrt(cases)


def count_fewest_cases(
    mean: float,
    sd: float,
    max_cases: int,
    alpha: float = ALPHA,
    compute_smallest: Callable[[float, float, float], float | None] = compute_detectable,
) -> int | None:
    """Count the fewest differences with which so large a mean is detectable; `None` for more than
    `max_cases`."""

    def is_detectable(cases: int) -> bool:
        smallest = compute_smallest(sd, cases, alpha)
        return smallest is not None and smallest <= mean

    return find_fewest(is_detectable, 2, max_cases)


def find_fewest(holds: Callable[[int], bool], least: int, most: int) -> int | None:
    """Find the smallest number, at least the first of these, with which and with more of which
    something holds; `None` where that is more than the other."""
    number = least + bisect_left(range(least, most), True, key=holds)
    return number if holds(number) else None
