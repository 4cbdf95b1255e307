"""A test that may be looked at after each case, for sessions that end when their verdict stands.

The mean is tested by a mixture of t tests over effects, in units of the standard deviation, that
are normal about 0 (Robbins 1970, Lai 1976; Wang and Ramdas 2025). Where the values are normal with
mean 0, the chance that its evidence ever reaches 1 / alpha is at most alpha, whatever the deviation
is. That holds at every look, so a session may end at any of them.
"""

import math
from statistics import NormalDist

from swarm_bench.analysis.statistics.formulas import POWER, find_fewest

_SPREAD = 2.0
"""Effects of the mixture have a standard deviation of 1 / 2. In simulations of a saving of 20 %
this takes the fewest cases, and 1.5 or 3 hardly more."""
_ON_ZERO = 0.8
"""Part of the mixture over shares of losses that is put on no losses at all."""


def compute_log_evidence(mean: float, deviation: float, number: float) -> float:
    """Compute the logarithm of the evidence against a mean of 0. `deviation` is that of the values
    about their mean, with their number below the sum of squares."""
    prior, square = number + _SPREAD**2, mean**2 + deviation**2
    explained = number / prior * mean**2 / square if square else 0.0
    return (math.log(_SPREAD**2 / prior) - number * math.log1p(-explained)) / 2


def compute_half_width(deviation: float, number: float, alpha: float) -> float:
    """Compute half the width of the interval: the means of which the evidence is below
    1 / alpha. Infinite where so few cases exclude nothing."""
    prior = number + _SPREAD**2
    ratio = math.exp((math.log(prior / _SPREAD**2) - 2 * math.log(alpha)) / number)
    remainder = 1 - ratio * _SPREAD**2 / prior
    return deviation * math.sqrt((ratio - 1) / remainder) if remainder > 0 else math.inf


def compute_detectable_at_last(sd: float, cases: float, alpha: float) -> float | None:
    """Compute the smallest mean of so many differences that the interval of all of them keeps apart
    from 0 in 80 of 100 sessions; `None` where they exclude nothing."""
    if cases < 2:
        return None
    wide = compute_half_width(sd * math.sqrt(1 - 1 / cases), cases, alpha)
    beyond = NormalDist().inv_cdf(POWER) * sd / math.sqrt(cases)
    return wide + beyond if math.isfinite(wide) else None


def count_fewest_at_every_look(
    size: float, deviation: float, max_cases: int, alpha: float
) -> int | None:
    """Count the fewest cases with which the interval reaches no further than `size`; `None` for
    more than `max_cases`."""
    return find_fewest(
        lambda cases: compute_half_width(deviation, cases, alpha) <= size, 1, max_cases
    )


def compute_log_rarity(losses: int, number: float, share: float) -> float:
    """Compute the logarithm of the evidence that losses are rarer than a share below 1: a mixture
    of likelihood ratios, of no loss at all and of every rarer share alike."""
    from scipy import special

    non_losses = number - losses
    at_share = losses * math.log(share) + non_losses * math.log1p(-share)  # at the share itself
    tail = float(special.betainc(losses + 1, non_losses + 1, share))
    rarer = math.log(tail) + float(special.betaln(losses + 1, non_losses + 1)) - math.log(share)
    parts = [math.log(1 - _ON_ZERO) + rarer, *([] if losses else [math.log(_ON_ZERO)])]
    return max(parts) + math.log(sum(math.exp(part - max(parts)) for part in parts)) - at_share
