"""Comparisons of times over swarms: agents that run together share a machine, a service and a
provider, so their times rise and fall together and are no independent values."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.rule import Cost

Swarm = tuple[int, int]
"""A run, and the number of the swarm in it."""
Times = Mapping[tuple[Swarm, str], Sequence[float]]
"""By swarm and task."""


def over_swarms(own: Times, reference: Times) -> Effect | None:
    """Compare a mode with its reference by a single value for each swarm: the mean over its tasks
    of the logarithm of their ratio. `None` where no swarm has a task in both; a time of 0 is
    omitted."""
    swarms: dict[Swarm, list[float]] = defaultdict(list)
    for key in own.keys() & reference.keys():
        if own[key] and reference[key] and min(*own[key], *reference[key]) > 0:
            sides = (fmean(map(math.log, times)) for times in (own[key], reference[key]))
            swarms[key[0]].append(next(sides) - next(sides))
    return Effect(differences=tuple(map(fmean, swarms.values()))) if swarms else None


def stands_over_swarms(swarms: Effect | None, shown: Cost, margin: float, level: float) -> bool:
    """Tell whether what tasks show of times is shown by swarms too."""
    interval = swarms and swarms.interval(1 - level)
    bounds = swarms and swarms.interval(1 - 2 * ALPHA)
    if shown is Cost.UNCLEAR:
        return True
    if not interval or not bounds:
        return False
    if shown is Cost.SAME:
        return -math.log1p(margin) < bounds[0] and bounds[1] < math.log1p(margin)
    return interval[1] < 0 if shown is Cost.LOWER else interval[0] > 0
