"""What docs/statistics.md says an experiment can detect, by the formula and over experiments whose
truth is known."""

import math
import os
import re
from pathlib import Path

import pytest

from tests.simulation.noise import Noise, Size
from tests.simulation.power import detected, smallest_saving

REPETITIONS = int(os.environ.get("REPETITIONS", "1000"))
DOCS = Path(__file__).parents[2] / "docs" / "statistics.md"
RUNS = (1, 3, 5, 10)
ROW = re.compile(r"^\| (0\.\d+) \| (\d+) \| (\d+) % \| (\d+) % \| (\d+) % \| (\d+) % \|$", re.M)
CELLS = [
    (Noise(run=float(run), heavy=False), Size(tasks=int(tasks), runs=runs), int(percent))
    for run, tasks, *percents in ROW.findall(DOCS.read_text("utf-8"))
    for runs, percent in zip(RUNS, percents, strict=True)
]
CHANCE = re.compile(r"^\| (\d+) × (\d+) \| (\d+) % \| (\d+) % \|$", re.M)
CHANCES = [
    (Size(tasks=int(tasks), runs=int(runs)), heavy, int(percent))
    for tasks, runs, *percents in CHANCE.findall(DOCS.read_text("utf-8"))
    for heavy, percent in zip((False, True), percents, strict=True)
]


def error(share: float) -> float:
    """Four standard errors of a share of so many experiments."""
    return 4 * math.sqrt(share * (1 - share) / REPETITIONS)


def test_the_documentation_has_the_tables() -> None:
    assert (len(CELLS), len(CHANCES)) == (36, 14)


@pytest.mark.parametrize(("noise", "size", "percent"), CELLS)
def test_the_smallest_saving(noise: Noise, size: Size, percent: int) -> None:
    saving = smallest_saving(size, noise)
    power = detected(size, noise, 1 - saving, REPETITIONS)
    print(f"{noise.run:g} {size}: {saving:.1%}, detected in {power:.1%}")  # noqa: T201  # with -s
    assert round(100 * saving) == percent
    assert power == pytest.approx(0.8, abs=error(0.8))


@pytest.mark.parametrize(("size", "heavy", "percent"), CHANCES)
def test_the_chance_to_see_a_saving_of_a_fifth(size: Size, heavy: bool, percent: int) -> None:
    power = detected(size, Noise(heavy=heavy), 0.8, REPETITIONS)
    print(f"{size}{' heavy' * heavy}: 0.8 detected in {power:.1%}")  # noqa: T201  # with -s
    assert power == pytest.approx(percent / 100, abs=error(power) + 0.005)
