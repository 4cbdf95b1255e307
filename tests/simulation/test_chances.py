"""What a plan says of the chance of each verdict, against the rule over experiments whose truth is
known."""

import math
import os
from functools import cache

import numpy as np
import pytest

from swarm_bench.analysis.planning.chances import Bar, Truth, compute_chances
from swarm_bench.analysis.planning.forecast import assume_quality
from swarm_bench.analysis.statistics.verdict_rule import Verdict
from tests.simulation.noise import Noise, Size
from tests.simulation.power import MARGIN, Answers, reached

REPETITIONS = int(os.environ.get("REPETITIONS", "1000")) // 5
"""A fifth of the others': many signs are flipped for each."""
pytestmark = pytest.mark.timeout(max(120, REPETITIONS // 2))
BAR = Bar(margin=MARGIN, quality_margin=MARGIN)
EQUAL, VARIED = Answers(), Answers(rate=0.8, helps=0.1)
DEFAULT = Size(tasks=36, runs=1)
SIZES = [
    *(Size(tasks=tasks, runs=3) for tasks in (8, 12, 20)),
    *(Size(tasks=tasks, runs=1) for tasks in (30, 36)),
]


@cache
def shares(size: Size, run: float, answers: Answers) -> dict[Verdict, float]:
    return reached(size, Noise(run=run, heavy=False), 0.8, answers, REPETITIONS)


def truth(size: Size, run: float, answers: Answers) -> Truth:
    """Return what somebody knows who knows the noise."""
    if answers == EQUAL:
        return Truth(saving=0.2, spread=run)
    many = answers.differences(Size(tasks=20_000, runs=size.runs), 0)
    spread = math.sqrt(answers.rate * (1 - answers.rate) / 2)
    return Truth(
        saving=0.2,
        spread=run,
        quality_spread=spread,
        differing=float(np.count_nonzero(many) / len(many)),
    )


@pytest.mark.parametrize("answers", [EQUAL, VARIED], ids=["equal", "varied"])
@pytest.mark.parametrize("run", [0.3, 0.45])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_chances_are_those_of_the_rule(size: Size, run: float, answers: Answers) -> None:
    true = shares(size, run, answers)
    computed = compute_chances(truth(size, run, answers), size.tasks, size.runs, BAR)
    print(size, run, answers, {name.name: (true[name], computed[name]) for name in true})  # noqa: T201  # with -s
    for name, share in true.items():
        drawn = 2 * math.sqrt(max(share, 0.01) * (1 - share) / REPETITIONS)
        assert computed[name] == pytest.approx(share, abs=0.05 + drawn)


def test_the_default_has_power() -> None:
    equal, varied = (shares(DEFAULT, 0.3, answers) for answers in (EQUAL, VARIED))
    print(equal, varied)  # noqa: T201  # with -s
    assert equal[Verdict.HELPS] >= 0.6
    assert varied[Verdict.HELPS] >= 0.25
    less = (Verdict.HELPS, Verdict.CHEAPER, Verdict.TRADE_OFF)
    assert sum(varied[name] for name in less) >= 0.75


def test_what_is_assumed_of_answers_are_two_files_each_found_in_four_of_five_runs() -> None:
    for size in (DEFAULT, Size(tasks=36, runs=3)):
        known = truth(size, 0.3, Answers(rate=0.8))
        assumed = assume_quality(size.runs)
        assert assumed.spread == pytest.approx(known.quality_spread)
        assert assumed.differing == pytest.approx(known.differing, abs=0.02)
