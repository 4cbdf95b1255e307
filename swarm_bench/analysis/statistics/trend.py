"""How values change along something else, within cells that are otherwise alike."""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from swarm_bench.analysis.statistics.formulas import CONFIDENCE, compute_t_limit

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
    """A t interval."""

    @property
    def beyond_noise(self) -> bool:
        """Whether the interval is on one side of 0."""
        return self.interval[0] > 0 or self.interval[1] < 0


def fit_trend(points: Iterable[Point], confidence: float = CONFIDENCE) -> Trend | None:
    """Fit the slope by least squares, as if points were independent; `None` where they cannot tell
    it: each cell has points at one place only, or there are too few."""
    cells: dict[Hashable, list[Point]] = defaultdict(list)
    for point in points:
        cells[point.cell].append(point)
    repeated = [cell for cell in cells.values() if len(cell) > 1]
    freedom = sum(len(cell) - 1 for cell in repeated) - 1
    steps, changes = _centre(repeated)
    squares = math.fsum(step * step for step in steps)
    if freedom < 1 or squares < _ROUNDING:
        return None
    slope = math.fsum(map(math.prod, zip(steps, changes, strict=True))) / squares
    residuals = math.fsum(
        (change - slope * step) ** 2 for step, change in zip(steps, changes, strict=True)
    )
    width = compute_t_limit((1 + confidence) / 2, freedom) * math.sqrt(
        residuals / freedom / squares
    )
    return Trend(slope=slope, interval=(slope - width, slope + width))


def fit_block_trend(
    blocks: Sequence[Sequence[tuple[float, float]]], confidence: float = CONFIDENCE
) -> Trend | None:
    """Fit the slope where each block has a place and a value of each column, and blocks and columns
    have levels of their own; `None` where that cannot be told. Values of a block may be alike, so
    the interval counts blocks: the slope is fitted once without each (a jackknife)."""
    freedom = len(blocks) - 2
    if freedom < 1:
        return None
    slope = _fit_slope(blocks)
    without = [
        _fit_slope([*blocks[:number], *blocks[number + 1 :]]) for number in range(len(blocks))
    ]
    fitted = [block_slope for block_slope in without if block_slope is not None]
    if slope is None or len(fitted) < len(blocks):
        return None
    squares = math.fsum((block_slope - slope) ** 2 for block_slope in fitted)
    error = math.sqrt(squares * (len(blocks) - 1) / len(blocks))
    width = compute_t_limit((1 + confidence) / 2, freedom) * error
    return Trend(slope=slope, interval=(slope - width, slope + width))


def _fit_slope(blocks: Sequence[Sequence[tuple[float, float]]]) -> float | None:
    """Return the slope about the levels of blocks and columns; `None` where no place changes."""
    steps, changes = (
        _remove_levels([[point[part] for point in block] for block in blocks]) for part in (0, 1)
    )
    squares = math.fsum(step * step for step in steps)
    if squares < _ROUNDING:
        return None
    return math.fsum(map(math.prod, zip(steps, changes, strict=True))) / squares


def _remove_levels(table: Sequence[Sequence[float]]) -> list[float]:
    """Return the values less the means of their rows, and then of their columns."""
    rows = [[value - fmean(row) for value in row] for row in table]
    means = [fmean(column) for column in zip(*rows, strict=True)]
    return [value - mean for row in rows for value, mean in zip(row, means, strict=True)]


def _centre(cells: Iterable[list[Point]]) -> tuple[list[float], list[float]]:
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
