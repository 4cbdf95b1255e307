"""How values change along something else, within cells that are otherwise alike."""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from swarm_bench.analysis.statistics.formulas import CONFIDENCE, t_limit

_ROUNDING = 1e-12
"""Squares of steps that are none."""


class Point(NamedTuple):
    """A value, and where it stands."""

    cell: Hashable
    """Values of different cells are not compared."""
    at: float
    value: float


@dataclass(frozen=True, kw_only=True)
class Trend:
    """A straight line through the points, with a level of its own for each cell."""

    slope: float
    """Change of the value for a step of 1."""
    interval: tuple[float, float]
    """The t interval, as if points were independent."""

    @property
    def beyond_noise(self) -> bool:
        """Whether the interval is on one side of 0."""
        return self.interval[0] > 0 or self.interval[1] < 0


def trend(points: Iterable[Point], confidence: float = CONFIDENCE, levels: int = 0) -> Trend | None:
    """Fit the slope by least squares; `None` where the points cannot tell it: each cell has points
    at one place only, or there are too few. `levels` is how many were taken from the points besides
    those of the cells."""
    cells: dict[Hashable, list[Point]] = defaultdict(list)
    for point in points:
        cells[point.cell].append(point)
    repeated = [cell for cell in cells.values() if len(cell) > 1]
    freedom = sum(len(cell) - 1 for cell in repeated) - 1 - levels
    steps, changes = _centred(repeated)
    squares = math.fsum(step * step for step in steps)
    if freedom < 1 or squares < _ROUNDING:
        return None
    slope = math.fsum(map(math.prod, zip(steps, changes, strict=True))) / squares
    rest = math.fsum(
        (change - slope * step) ** 2 for step, change in zip(steps, changes, strict=True)
    )
    half = t_limit((1 + confidence) / 2, freedom) * math.sqrt(rest / freedom / squares)
    return Trend(slope=slope, interval=(slope - half, slope + half))


def _centred(cells: Iterable[list[Point]]) -> tuple[list[float], list[float]]:
    """Return places and values about the means of their cells; exactly 0 for equal ones."""
    steps: list[float] = []
    changes: list[float] = []
    for cell in cells:
        first = cell[0]
        at = fmean(point.at - first.at for point in cell)
        value = fmean(point.value - first.value for point in cell)
        steps += [point.at - first.at - at for point in cell]
        changes += [point.value - first.value - value for point in cell]
    return steps, changes
