"""Slopes within cells."""

from collections.abc import Iterator
from statistics import fmean

import numpy as np
import pytest
from scipy import stats

from swarm_bench.analysis.statistics.trend import Point, fit_block_trend, fit_trend


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
    every = (fit_trend(experiment(n, slope=0, heavy=heavy)) for n in range(1000))
    assert 0.03 <= fmean(found is not None and found.beyond_noise for found in every) <= 0.06


def test_a_trend_is_covered_and_seen() -> None:
    every = [fit_trend(experiment(n, slope=0.5, heavy=False)) for n in range(500)]
    found = [one for one in every if one]
    assert 0.93 <= fmean(one.interval[0] <= 0.5 <= one.interval[1] for one in found) <= 0.97
    assert fmean(one.slope for one in found) == pytest.approx(0.5, abs=0.02)
    assert fmean(one.beyond_noise for one in found) > 0.9


def test_with_one_cell_it_is_the_regression_of_scipy() -> None:
    x, y = [0.0, 0.2, 0.5, 0.9, 1.0], [3.0, 3.4, 3.1, 4.0, 4.2]
    found = fit_trend(Point("a", at, value) for at, value in zip(x, y, strict=True))
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
    assert fit_trend(points) is None


def test_equal_values_are_no_trend() -> None:
    found = fit_trend(Point(at % 2, at, 0.1) for at in range(10))
    assert found
    assert found.interval == (0, 0)
    assert not found.beyond_noise


def blocks_of(
    number: int, *, blocks: int, arms: int, slope: float
) -> list[list[tuple[float, float]]]:
    """Draw the means of arms that take turns in blocks, in an order that the next block mirrors.
    What the first arm differs by in a block is its own; the others differ less."""
    rng = np.random.default_rng(number)
    helps = rng.normal(0, [[0.3], *[[0.1]] * (arms - 1)], (arms, blocks))
    drawn: list[list[tuple[float, float]]] = []
    order = rng.permutation(arms)
    for block in range(blocks):
        order = order[::-1] if block % 2 else rng.permutation(arms)
        at = (block * arms + np.argsort(order)) / (blocks * arms)
        values = slope * at + helps[:, block] + rng.normal(0, 0.5)
        drawn.append([*zip(at.tolist(), values.tolist(), strict=True)])
    return drawn


@pytest.mark.parametrize("blocks", [4, 6, 10])
@pytest.mark.parametrize("arms", [2, 3, 4])
def test_what_arms_differ_by_in_blocks_is_a_trend_in_five_of_a_hundred(
    blocks: int, arms: int
) -> None:
    every = (fit_block_trend(blocks_of(n, blocks=blocks, arms=arms, slope=0)) for n in range(1000))
    assert fmean(found is not None and found.beyond_noise for found in every) <= 0.06


def test_a_trend_over_blocks_is_covered_and_found() -> None:
    every = [fit_block_trend(blocks_of(n, blocks=20, arms=3, slope=10)) for n in range(500)]
    fitted = [one for one in every if one]
    assert len(fitted) == len(every)
    assert fmean(one.interval[0] <= 10 <= one.interval[1] for one in fitted) >= 0.93
    assert fmean(one.slope for one in fitted) == pytest.approx(10, abs=0.5)
    assert fmean(one.beyond_noise for one in fitted) > 0.9


def test_blocks_that_cannot_tell_have_no_trend() -> None:
    turned = [[(0.0, 1.0), (0.1, 2.0)], [(0.3, 2.0), (0.2, 1.0)]]
    assert fit_block_trend(turned) is None, "two blocks, and two levels"
    alike = [[(n + 0.0, 1.0), (n + 0.1, 2.0 + n)] for n in range(6)]
    assert fit_block_trend(alike) is None, "what is the order's?"
    assert fit_block_trend([*alike, [(7.1, 1.0), (7.0, 2.0)]]) is None, "one block tells it all"
