"""The method, over experiments whose truth is known; `make simulate` takes ten times as many."""

import os

import pytest

from tests.simulation.counting import called_different, coverage, effects, flipped
from tests.simulation.noise import Noise, Size

REPETITIONS = int(os.environ.get("REPETITIONS", "1000"))
SIZES = [Size(tasks=8, runs=3), Size(tasks=12, runs=3), Size(tasks=20, runs=5)]
pytestmark = pytest.mark.timeout(max(120, REPETITIONS // 4))


@pytest.mark.parametrize("heavy", [False, True], ids=["normal", "heavy tails"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_identical_arms_are_rarely_called_different(size: Size, heavy: bool) -> None:
    every = [*effects(size, Noise(heavy=heavy), 1.0, REPETITIONS)]
    shares = coverage(every, 1.0), flipped(every), called_different(every)
    print(size, "coverage, sign flips, called different:", shares)  # noqa: T201  # with -s
    assert 0.93 <= shares[0] <= 0.97
    assert max(shares[1:]) <= 0.06


@pytest.mark.parametrize("heavy", [False, True], ids=["normal", "heavy tails"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_interval_covers_a_true_difference(size: Size, heavy: bool) -> None:
    covered = coverage(effects(size, Noise(heavy=heavy), 0.8, REPETITIONS), 0.8)
    print(size, "coverage:", covered)  # noqa: T201  # with -s
    assert 0.93 <= covered <= 0.97
