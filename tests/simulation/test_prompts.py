"""What `prompt-optimisation` concludes, over sessions whose truth is known."""

import os
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from tests.simulation.prompting import Chances, Optimising, verdicts

SESSIONS = max(200, int(os.environ.get("REPETITIONS", "0")) // 50)
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300 + SESSIONS)]
Draw = Callable[[np.random.Generator, int], Chances]
ONLY_THERE = "the others do not show"
TOO_FEW = "there are too few to tell"


def uniform(rng: np.random.Generator, cases: int) -> Chances:
    """Draw easy and hard cases, of which none is solved in more than three of four tries."""
    return 0.75 * rng.random(cases)


def repeatable(rng: np.random.Generator, cases: int) -> Chances:
    """Draw cases that are mostly solved, or mostly not, as a model does at temperature 0."""
    return 0.75 * rng.beta(0.3, 0.3, cases)


def coins(_rng: np.random.Generator, cases: int) -> Chances:
    """All cases are alike, which is the most that chance can do."""
    return np.full(cases, 0.375)


@pytest.mark.anyio
@pytest.mark.parametrize(("cases", "base"), [(18, uniform), (60, repeatable), (180, uniform)])
async def test_prompts_that_change_nothing_are_rarely_called_better(cases: int, base: Draw) -> None:
    design = Optimising(cases=cases, rounds=5, base=base, better=lambda chances, _: chances)
    better, arms, every = 0, Counter[int](), Counter[str]()
    for seed in range(SESSIONS):
        own = verdicts(await design.run(seed))
        arms[len(own)] += 1
        every.update(begins for begins, _ in own)
        better += any(begins == "better" for begins, _ in own)
    print(base.__name__, cases, "cases:", better / SESSIONS, dict(arms), dict(every))  # noqa: T201
    assert max(arms) >= 2
    assert better / SESSIONS <= 0.05


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("base", "rounds", "runs"),
    [(uniform, 1, 1), (uniform, 3, 1), (repeatable, 3, 1), (coins, 1, 2)],
)
async def test_a_prompt_that_gains_25_points_is_called_better(
    base: Draw, rounds: int, runs: int
) -> None:
    """Of 60 cases that are held out. Where every answer is like the flip of a coin, it takes two
    runs."""
    design = Optimising(
        cases=180, rounds=rounds, runs=runs, base=base, better=lambda chances, _: chances + 0.25
    )
    every = [verdicts(await design.run(seed)) for seed in range(SESSIONS)]
    share = np.mean([any(begins == "better" for begins, _ in own) for own in every])
    first = np.mean([own[0][0] == "better" for own in every])
    print(base.__name__, rounds, "rounds", runs, "runs:", share, "the first one:", first)  # noqa: T201
    assert share >= 0.8


@pytest.mark.anyio
async def test_a_gain_in_training_alone_is_unmasked() -> None:
    design = Optimising(
        cases=60,
        rounds=2,
        base=uniform,
        better=lambda chances, held_out: np.where(held_out, chances, 0.95),
    )
    better = named = doubted = rounds = 0
    for seed in range(SESSIONS):
        for begins, sentence in verdicts(await design.run(seed)):
            rounds += 1
            better += begins == "better"
            named += ONLY_THERE in sentence
            doubted += TOO_FEW in sentence  # the others are better by chance
    print(f"only in training: better {better / rounds}, said {named / rounds}, {doubted / rounds}")  # noqa: T201
    assert better / rounds <= 0.05
    assert named / rounds >= 0.75
    assert (named + doubted) / rounds >= 0.9
