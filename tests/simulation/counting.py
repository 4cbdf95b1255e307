"""How often the method is right, over many experiments whose truth is known."""

import math
from collections.abc import Iterable, Iterator
from statistics import fmean

from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.pairing import Cases, pair_figures
from swarm_bench.analysis.statistics.verdict_rule import Change, classify_ratio
from tests.simulation.noise import ARMS, Noise, Size, experiments, group_by_case, names

MARGIN = 0.1


def effects(size: Size, noise: Noise, ratio: float, repetitions: int) -> Iterator[Effect]:
    """Analyse so many experiments."""
    draw = experiments(size, noise, ratio)
    for number in range(repetitions):
        rows = draw(number)
        own, other = (group_by_case([row for row in rows if row.arm == arm]) for arm in ARMS)
        pairs = pair_figures(own, other, Cases(ids=names(size)), relative=True)
        yield pairs.effect


def coverage(every: Iterable[Effect], ratio: float) -> float:
    """Compute in which share of the experiments the 95 % interval has the true ratio."""
    intervals = [effect.interval() or (math.inf, math.inf) for effect in every]
    return fmean(low <= math.log(ratio) <= high for low, high in intervals)


def flipped(every: Iterable[Effect]) -> float:
    """Compute in which share the p of the sign-flip test is at most 0.05."""
    return fmean(effect.sign_flip_p <= ALPHA for effect in every)


def called_different(every: Iterable[Effect]) -> float:
    """Compute in which share the rule calls the cost lower or higher."""
    return fmean(
        classify_ratio(effect, MARGIN) in (Change.LOWER, Change.HIGHER) for effect in every
    )
