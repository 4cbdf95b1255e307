"""Sessions that end when their verdict stands, over many whose truth is known: how often they claim
what is not so, at any look, and how many tasks they take."""

import math
import os

import numpy as np
import pytest
from scipy import special

from swarm_bench.analysis.planning.chances import Bar, Truth, compute_chances
from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.verdict_rule import (
    Change,
    Quality,
    Verdict,
    classify_quality,
    classify_ratio,
)
from tests.simulation.looking import MARGIN, MOST, Floats, ever, heavy, looks, normal

REPETITIONS = int(os.environ.get("REPETITIONS", "1000"))
SHAPE = (REPETITIONS, MOST)
CHANCE = 3 * math.sqrt(ALPHA * (1 - ALPHA) / REPETITIONS) if REPETITIONS < 10_000 else 0.0
"""By how much few sessions may be above what is promised."""
EQUAL_RECALLS: dict[str, tuple[list[float], list[float]]] = {
    "hardly any": ([-1, -0.5, 0, 0.5, 1], [0.02, 0.02, 0.92, 0.02, 0.02]),
    "one in five": ([-1, -0.5, 0, 0.5, 1], [0.05, 0.05, 0.8, 0.05, 0.05]),
    "three in five": ([-1, -0.5, 0, 0.5, 1], [0.15, 0.15, 0.4, 0.15, 0.15]),
}
"""Differences of recalls and their chances, by how many tasks differ."""
WORSE_RECALLS: dict[str, tuple[list[float], list[float]]] = {
    "a task in ten is lost": ([-1, 0], [0.1, 0.9]),
    "a half of one in five": ([-0.5, 0], [0.2, 0.8]),
    "lost and gained": ([-1, 0, 1], [0.15, 0.8, 0.05]),
    "rare losses and small gains": ([-1, 0, 0.25], [0.15, 0.65, 0.2]),
}
"""Worse by just the margin."""
pytestmark = pytest.mark.timeout(max(120, REPETITIONS // 20))


def recalls(values: list[float], chances: list[float]) -> Floats:
    rng = np.random.default_rng(7)
    return np.array(values, float)[rng.choice(len(values), p=chances, size=SHAPE)]


@pytest.mark.parametrize("noise", ["normal", "heavy tails"])
def test_identical_arms_are_rarely_called_different_at_any_look(noise: str) -> None:
    rng = np.random.default_rng(1)
    values = normal(SHAPE, 1.0, 0.45, rng) if noise == "normal" else heavy(SHAPE, 0.45, rng)
    share = ever(look.differs() for look in looks(values))
    print(f"identical arms, {noise}, called different at any look: {share:.3f}")  # noqa: T201
    assert share <= ALPHA + CHANCE


@pytest.mark.parametrize("layout", ["threes", "uneven"])
def test_so_are_those_whose_tasks_share_files(layout: str) -> None:
    rng = np.random.default_rng(2)
    sizes = [3] * (MOST // 3) if layout == "threes" else [8, 6, 4, 3, 2, 2, 1, 1, 1, 1, 1] * 6
    groups = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    shared = rng.normal(0, 0.3, (REPETITIONS, len(sizes)))[:, groups]
    values = normal((REPETITIONS, len(groups)), 1.0, 0.3, rng) + shared
    share = ever(look.differs() for look in looks(values, groups))
    print(f"groups, {layout}, called different at any look: {share:.3f}")  # noqa: T201
    assert share <= ALPHA + CHANCE


@pytest.mark.parametrize("differ", EQUAL_RECALLS)
def test_equal_answers_are_rarely_called_better_or_worse(differ: str) -> None:
    share = ever(look.differs() for look in looks(recalls(*EQUAL_RECALLS[differ])))
    print(f"equal answers, {differ} differ, called different: {share:.3f}")  # noqa: T201
    assert share <= ALPHA + CHANCE


@pytest.mark.parametrize("how", WORSE_RECALLS)
def test_worse_answers_are_rarely_called_not_worse(how: str) -> None:
    share = ever(look.not_worse() for look in looks(recalls(*WORSE_RECALLS[how])))
    print(f"worse by the margin, {how}, called not worse: {share:.3f}")  # noqa: T201
    assert share <= ALPHA + CHANCE


def test_a_cost_that_differs_by_the_margin_is_rarely_called_the_same() -> None:
    values = normal(SHAPE, 1 + MARGIN, 0.1, np.random.default_rng(3))
    share = ever(look.same() for look in looks(values))
    print(f"dearer by the margin, called the same: {share:.3f}")  # noqa: T201
    assert share <= ALPHA + CHANCE


@pytest.mark.parametrize(("noise", "tasks", "least"), [(0.3, 150, 0.3), (0.45, MOST, 0.15)])
def test_a_saving_takes_fewer_tasks_than_a_fixed_design_of_the_same_power(
    noise: float, tasks: int, least: float
) -> None:
    """Answers are equal, so 30 tasks are needed for them alone."""
    every = normal((REPETITIONS, tasks), 0.8, noise, np.random.default_rng(4))
    equal = np.zeros_like(every)
    ended = np.zeros(REPETITIONS)
    for cost, quality in zip(looks(every), looks(equal), strict=True):
        helps = cost.beyond()[0] & quality.not_worse()
        ended = np.where((ended == 0) & helps, cost.tasks, ended)
    power = (ended > 0).mean()
    taken = np.where(ended > 0, ended, tasks).mean()
    fixed = fixed_design(math.sqrt(2 * noise**2 + 0.2**2), min(float(power), 0.999))
    print(f"0.8, noise {noise}: {power:.3f}, {taken:.1f} tasks, fixed {fixed}")  # noqa: T201
    assert power >= 0.9
    assert taken <= (1 - least) * fixed


def fixed_design(deviation: float, power: float) -> int:
    """Count the tasks with which a t test sees the saving with this power."""
    for tasks in range(29, 1000):
        limit = special.stdtrit(tasks - 1, 1 - ALPHA / 2)
        sees = 1 - special.nctdtr(tasks - 1, -math.log(0.8) / deviation * math.sqrt(tasks), limit)
        if sees >= power:
            return tasks
    raise ValueError("more than a thousand tasks")


@pytest.mark.parametrize(("noise", "tasks"), [(0.3, 36), (0.3, 60), (0.45, 120)])
def test_the_chances_in_a_plan_are_those_at_the_last_look(noise: float, tasks: int) -> None:
    rng = np.random.default_rng(8)
    every = normal((REPETITIONS, tasks), 0.8, noise, rng)
    found = rng.binomial(2, 0.8, (2, REPETITIONS, tasks)) / 2 + rng.normal(0, 0.07, every.shape)
    bar = Bar(margin=MARGIN, quality_margin=MARGIN, at_every_look=True)
    for answers in (np.zeros_like(every), found[0] - found[1]):
        differing = float(np.count_nonzero(answers) / answers.size)
        truth = Truth(saving=0.2, spread=noise, quality_spread=math.sqrt(0.08), differing=differing)
        *_, (cost, quality) = zip(looks(every), looks(answers), strict=True)
        share = float((cost.beyond()[0] & quality.not_worse()).mean())
        computed = compute_chances(truth, tasks, 1, bar)[Verdict.HELPS]
        print(f"0.8, noise {noise}, {tasks} tasks: {share:.3f}, computed {computed:.3f}")  # noqa: T201
        assert computed == pytest.approx(share, abs=0.05 + 2 * math.sqrt(0.25 / REPETITIONS))


def test_the_arrays_are_what_the_package_computes() -> None:
    rng = np.random.default_rng(6)
    groups = rng.permutation(np.repeat(np.arange(22), 3))
    costs = normal((20, len(groups)), 0.7, 0.3, rng)
    for seen in looks(costs, groups):
        names = tuple(groups[: seen.tasks].tolist())
        for row, differences in enumerate(costs[:, : seen.tasks].tolist()):
            effect = Effect(differences=tuple(differences), groups=names, at_every_look=True)
            shown = classify_ratio(effect, MARGIN)
            assert bool(seen.beyond()[0][row]) is (shown is Change.LOWER)
            assert bool(seen.same()[row]) is (shown is Change.SAME)
    values = recalls(*EQUAL_RECALLS["one in five"])[:20]
    for seen in looks(values):
        for row, differences in enumerate(values[:, : seen.tasks].tolist()):
            effect = Effect(differences=tuple(differences), at_every_look=True)
            claims = {Quality.NOT_WORSE, Quality.HIGHER, Quality.BETTER}
            claimed = classify_quality(effect, MARGIN) in claims
            assert bool(seen.not_worse()[row]) is claimed
