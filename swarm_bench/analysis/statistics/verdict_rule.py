"""The rule that turns what was measured of a mode and its reference into one verdict."""

import math
import sys
from bisect import bisect_left
from enum import StrEnum

from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.looks import compute_log_rarity

FEWEST = 6
"""Cases with which anything can be shown: with fewer a sign-flip test cannot reach 0.05, and an
interval over cases that happen to agree is no evidence."""
EQUIVALENCE = 1 - 2 * ALPHA
"""Confidence level of the interval that two one-sided tests look at."""


class Quality(StrEnum):
    """What is shown of the quality of a mode, beside that of its reference."""

    WORSE = "worse"
    """Worse by more than the margin: the whole 95 % interval."""
    BETTER = "better"
    LOWER = "lower"
    """Beyond noise, and perhaps by no more than the margin."""
    HIGHER = "higher"
    NOT_WORSE = "not worse"
    """The one-sided 95 % bound is above minus the margin."""
    NOT_SHOWN = "not shown to be equal"


class Change(StrEnum):
    """What is shown of a metric of an arm, beside that of its reference."""

    LOWER = "lower"
    """The adjusted 95 % interval, and the sign-flip test."""
    HIGHER = "higher"
    SAME = "the same"
    """The 90 % interval is within the margin."""
    UNCLEAR = "unclear"


class Verdict(StrEnum):
    HELPS = "helps"
    HURTS = "hurts"
    EQUIVALENT = "equivalent"
    TRADE_OFF = "trade-off"
    CHEAPER = "cheaper, quality not shown to be equal"
    DEARER = "dearer, quality not shown to be equal"
    INCONCLUSIVE = "inconclusive"


OPEN = frozenset({Verdict.INCONCLUSIVE, Verdict.CHEAPER, Verdict.DEARER})
"""Verdicts after which more tasks could say more: they end no session."""


def classify_quality(effect: Effect | None, margin: float) -> Quality:
    """Tell what a difference in quality shows; nothing where it was not measured."""
    interval = effect and effect.interval()
    bounds = effect and effect.interval(EQUIVALENCE)
    if not effect or effect.independent_cases < FEWEST or not interval or not bounds:
        return Quality.NOT_SHOWN
    if interval[1] < -margin:
        return Quality.WORSE
    if interval[0] > margin:
        return Quality.BETTER
    beyond_noise = effect.sign_flip_p <= ALPHA
    if interval[0] > 0 and beyond_noise:
        return Quality.HIGHER
    if bounds[0] > -margin:
        return Quality.NOT_SHOWN if is_too_few(effect, margin) else Quality.NOT_WORSE
    return Quality.LOWER if interval[1] < 0 and beyond_noise else Quality.NOT_SHOWN


def classify_ratio(effect: Effect | None, margin: float, level: float = ALPHA) -> Change:
    """Tell what a ratio shows. `level` is that of its hypothesis among those of all arms."""
    return _classify(effect, math.log1p(margin), level)


def classify_score(effect: Effect | None, margin: float, level: float = ALPHA) -> Change:
    """Tell what a difference of scores shows, of which the margin is one too."""
    if effect and is_too_few(effect, margin, count_gains=True):
        return Change.UNCLEAR
    return _classify(effect, margin, level)


def _classify(effect: Effect | None, limit: float, level: float) -> Change:
    interval = effect and effect.interval(1 - level)
    bounds = effect and effect.interval(EQUIVALENCE)
    if not effect or effect.independent_cases < FEWEST or not interval or not bounds:
        return Change.UNCLEAR
    if -limit < bounds[0] and bounds[1] < limit:
        return Change.SAME
    if interval[1] < 0 and effect.sign_flip_p <= ALPHA:
        return Change.LOWER
    if interval[0] > 0 and effect.sign_flip_p <= ALPHA:
        return Change.HIGHER
    return Change.UNCLEAR


def find_verdict(cost: Change, quality: Quality) -> Verdict:
    """Apply the rule; quality comes first."""
    return _RULE[quality][cost]


_ORDER = (Change.LOWER, Change.SAME, Change.HIGHER, Change.UNCLEAR)
_RULE = {
    quality: dict(zip(_ORDER, verdicts, strict=True))
    for quality, verdicts in {
        Quality.WORSE: (Verdict.TRADE_OFF, Verdict.HURTS, Verdict.HURTS, Verdict.HURTS),
        Quality.LOWER: (
            Verdict.TRADE_OFF,
            Verdict.INCONCLUSIVE,
            Verdict.HURTS,
            Verdict.INCONCLUSIVE,
        ),
        Quality.NOT_SHOWN: (
            Verdict.CHEAPER,
            Verdict.INCONCLUSIVE,
            Verdict.DEARER,
            Verdict.INCONCLUSIVE,
        ),
        Quality.NOT_WORSE: (
            Verdict.HELPS,
            Verdict.EQUIVALENT,
            Verdict.HURTS,
            Verdict.INCONCLUSIVE,
        ),
        Quality.HIGHER: (
            Verdict.HELPS,
            Verdict.EQUIVALENT,
            Verdict.TRADE_OFF,
            Verdict.INCONCLUSIVE,
        ),
        Quality.BETTER: (Verdict.HELPS, Verdict.HELPS, Verdict.TRADE_OFF, Verdict.INCONCLUSIVE),
    }.items()
}


def find_quality_verdict(effect: Effect | None, margin: float, level: float = ALPHA) -> Verdict:
    """Apply the rule where the cost says nothing, since fixed rules decided it: the quality is the
    primary metric then."""
    return _OF_QUALITY[classify_score(effect, margin, level)]


def is_too_few(effect: Effect, margin: float, *, count_gains: bool = False) -> bool:
    """Tell whether the cases that differ are too few to make an interval of, and all of them too
    few to show without one that losses are rare; or, with `count_gains`, gains too."""
    lower, higher = effect.differing
    losses = max(lower, higher) if count_gains else lower
    few = lower + higher < FEWEST
    if effect.at_every_look:  # at some look hardly a loss has come, and its spread is unknown
        few = losses < FEWEST or lower + higher < 2 * FEWEST
    return few and effect.independent_cases < count_cases(
        losses, margin, at_every_look=effect.at_every_look
    )


def count_cases(losses: int, margin: float, *, at_every_look: bool = False) -> int:
    """Return among how many cases so many losses show, at 0.05, that a loss is rarer than the
    margin: Clopper and Pearson (1934), where it is looked at once."""
    if margin <= 0:
        return sys.maxsize
    if at_every_look:
        return _count_cases_at_every_look(losses, margin)
    from scipy import special

    # In how many cases one more loss would have occurred, with a chance of 95 %.
    non_losses = float(special.nbdtrik(1 - ALPHA, losses + 1, min(margin, 1.0)))
    return max(0, math.ceil(non_losses)) + losses + 1


def _count_cases_at_every_look(losses: int, margin: float) -> int:
    if margin >= 1:
        return losses + 1

    def rare(cases: int) -> bool:
        return compute_log_rarity(losses, cases, margin) >= -math.log(ALPHA)

    few = many = losses + 1
    while not rare(many):  # ends: each case without a loss multiplies the evidence
        few, many = many, 2 * many
    return few + bisect_left(range(few, many), True, key=rare)


_OF_QUALITY = {
    Change.HIGHER: Verdict.HELPS,
    Change.SAME: Verdict.EQUIVALENT,
    Change.LOWER: Verdict.HURTS,
    Change.UNCLEAR: Verdict.INCONCLUSIVE,
}
