"""Comparisons of times over swarms: agents that run together share a machine, a service and a
provider, so their times rise and fall together and are no independent values."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.verdict_rule import Change

Swarm = tuple[int, int]
"""A run, and the number of the swarm in it."""
Times = Mapping[tuple[Swarm, str], Sequence[float]]
"""Times by swarm and task."""


def compare_swarms(
    times: Times,
    reference_times: Times,
    weights: Mapping[str, float],
    *,
    at_every_look: bool = False,
) -> Effect | None:
    """Compare a mode with its reference by the logarithms of ratios, whose groups are the swarms.
    `None` where no swarm has a task in both; a time of 0 is omitted."""
    keys = [
        key
        for key in sorted(times.keys() & reference_times.keys())
        if times[key] and reference_times[key] and min(*times[key], *reference_times[key]) > 0
    ]
    if not keys:
        return None
    return Effect(
        differences=tuple(
            _compute_log(times[key]) - _compute_log(reference_times[key]) for key in keys
        ),
        weights=tuple(weights.get(task, 1.0) for _, task in keys),
        groups=tuple(swarm for swarm, _ in keys),
        at_every_look=at_every_look,
    )


def _compute_log(times: Sequence[float]) -> float:
    return fmean(map(math.log, times))


def stands_over_swarms(swarms: Effect | None, change: Change, margin: float, level: float) -> bool:
    """Tell whether what tasks show of times is shown by swarms too."""
    interval = swarms and swarms.interval(1 - level)
    bounds = swarms and swarms.interval(1 - 2 * ALPHA)
    if change is Change.UNCLEAR:
        return True
    if not interval or not bounds:
        return False
    if change is Change.SAME:
        return -math.log1p(margin) < bounds[0] and bounds[1] < math.log1p(margin)
    return interval[1] < 0 if change is Change.LOWER else interval[0] > 0
