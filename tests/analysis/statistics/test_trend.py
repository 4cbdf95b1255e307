"""Slopes within cells."""

from collections.abc import Iterator
from statistics import fmean

import numpy as np
import pytest
from scipy import stats

from swarm_bench.analysis.statistics.trend import Point, trend


def experiment(number: int, *, slope: float, heavy: bool) -> Iterator[Point]:
    """Draw the logarithms of eight tasks in two arms that take turns, three times."""
    rng = np.random.default_rng(number)
    levels, helps = rng.normal(10, 0.8, 8), rng.normal(0, 0.2, (2, 8))
    for run in range(3):
        order = rng.permutation(2)
        for turn, arm in enumerate(order):
            for task in range(8):
                at = (run * 2 + turn + rng.uniform(0, 0.2)) / 5.2
                noise = rng.standard_t(3) / np.sqrt(3) if heavy else rng.normal()
                value = levels[task] + helps[arm, task] + slope * at + 0.3 * noise
                yield Point((arm, task), at, float(value))


@pytest.mark.parametrize("heavy", [False, True], ids=["normal", "heavy tails"])
def test_noise_alone_is_a_trend_in_five_of_a_hundred(heavy: bool) -> None:
    every = (trend(experiment(n, slope=0, heavy=heavy)) for n in range(1000))
    assert 0.03 <= fmean(found is not None and found.beyond_noise for found in every) <= 0.06


def test_a_trend_is_covered_and_seen() -> None:
    every = [trend(experiment(n, slope=0.5, heavy=False)) for n in range(500)]
    found = [one for one in every if one]
    assert 0.93 <= fmean(one.interval[0] <= 0.5 <= one.interval[1] for one in found) <= 0.97
    assert fmean(one.slope for one in found) == pytest.approx(0.5, abs=0.02)
    assert fmean(one.beyond_noise for one in found) > 0.9


def test_with_one_cell_it_is_the_regression_of_scipy() -> None:
    x, y = [0.0, 0.2, 0.5, 0.9, 1.0], [3.0, 3.4, 3.1, 4.0, 4.2]
    found = trend(Point("a", at, value) for at, value in zip(x, y, strict=True))
    theirs = stats.linregress(x, y)
    assert found
    assert found.slope == pytest.approx(theirs.slope)
    half = stats.t.ppf(0.975, 3) * theirs.stderr
    assert found.interval == pytest.approx((theirs.slope - half, theirs.slope + half))


@pytest.mark.parametrize(
    "points",
    [
        [],
        [Point("a", 0, 1), Point("b", 1, 2), Point("c", 2, 3)],
        [Point("a", 1, 1), Point("a", 1, 2), Point("b", 1, 3), Point("b", 1, 4)],
        [Point("a", 0, 1), Point("a", 1, 2)],
    ],
)
def test_what_the_points_cannot_tell_is_missing(points: list[Point]) -> None:
    assert trend(points) is None


def test_equal_values_are_no_trend() -> None:
    found = trend(Point(at % 2, at, 0.1) for at in range(10))
    assert found
    assert found.interval == (0, 0)
    assert not found.beyond_noise
