"""The method where cases share groups, have weights, and are right or wrong."""

import math
import os
from collections.abc import Callable
from statistics import fmean

import numpy as np
import pytest

from swarm_bench.analysis.statistics.effects import Effect, compute_holm_levels
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.pairing import Cases
from swarm_bench.analysis.statistics.verdict_rule import (
    FEWEST,
    Change,
    Quality,
    classify_quality,
    classify_ratio,
)
from swarm_bench.core.session.tasks import AnswerKey, Task, group_tasks

REPETITIONS = int(os.environ.get("REPETITIONS", "1000"))
pytestmark = pytest.mark.timeout(max(120, REPETITIONS // 4))
TRUE = math.log(0.8)
Draw = Callable[[np.random.Generator], Effect]


def grouped(rng: np.random.Generator) -> Effect:
    """Draw cases in 20 groups of different size, whose members have something in common."""
    sizes = rng.integers(1, 9, 20)
    groups = np.repeat(np.arange(20), sizes)
    common = rng.normal(TRUE, 0.3, 20)[groups]
    values = common + rng.normal(0, 0.2, len(groups))
    return Effect(differences=tuple(values.tolist()), groups=tuple(groups.tolist()))


def weighted(rng: np.random.Generator) -> Effect:
    """Draw cases whose weights differ by a factor of ten."""
    values = rng.normal(TRUE, 0.3, 20)
    weights = np.exp(rng.uniform(0, math.log(10), 20))
    return Effect(differences=tuple(values.tolist()), weights=tuple(weights.tolist()))


def covers(effect: Effect) -> bool:
    low, high = _interval(effect)
    return low <= TRUE <= high


@pytest.mark.parametrize("draw", [grouped, weighted])
def test_the_interval_covers(draw: Draw) -> None:
    every = [draw(np.random.default_rng(number)) for number in range(REPETITIONS)]
    covered = fmean(map(covers, every))
    print(draw.__name__, "coverage:", covered)  # noqa: T201  # with -s
    assert 0.93 <= covered <= 0.97
    naive = fmean(covers(Effect(differences=each.differences)) for each in every)
    print(draw.__name__, "coverage without them:", naive)  # noqa: T201  # with -s
    if draw is grouped:
        assert naive < 0.9


CLUSTERS = [
    ((3,) * 10, 0.2),
    ((8, 6, 4, 3, 2, 2, 1, 1, 1, 1, 1), 0.2),
    ((8, 6, 4, 3, 2, 2, 1, 1, 1, 1, 1), 0.4),
    ((4,) * 4, 0.3),
]
"""Tasks by the file that they are on, and by how much a tool helps with one and harms with
another."""


def on_files(number: int, sizes: tuple[int, ...], spread: float) -> tuple[Effect, Effect]:
    """Compare a tool that does nothing on the whole in three runs of each task; also as if the
    tasks were independent."""
    rng = np.random.default_rng([number, len(sizes), round(10 * spread)])
    files = np.repeat(np.arange(len(sizes)), sizes)
    helps = rng.normal(0, spread, len(sizes))
    medians = np.median(rng.normal(0, 0.3, (2, len(files), 3)), axis=2)
    tasks = [
        Task(id=f"t{n}", title="t", prompt=f"{n}?", key=AnswerKey(files=(f"{file}.py",)))
        for n, file in enumerate(files)
    ]
    ids = [task.id for task in tasks]
    differences = dict(zip(ids, (medians[0] + helps[files] - medians[1]).tolist(), strict=True))
    cases = Cases(ids=ids, groups=group_tasks(tasks, None))
    return cases.make_effect(differences), Cases(ids=ids).make_effect(differences)


@pytest.mark.parametrize(("sizes", "spread"), CLUSTERS)
def test_tasks_on_the_same_files_are_not_counted_apart(
    sizes: tuple[int, ...], spread: float
) -> None:
    every = [on_files(number, sizes, spread) for number in range(REPETITIONS)]
    grouped, apart = zip(*every, strict=True)
    sides = {"in groups": grouped, "apart": apart[: REPETITIONS // 4]}
    for side, effects in sides.items():
        shown = [classify_ratio(effect, 0.1) for effect in effects]
        different = fmean(change in (Change.LOWER, Change.HIGHER) for change in shown)
        covered = fmean(low <= 0 <= high for low, high in map(_interval, effects))
        print(f"{sizes} sd {spread:g} {side}: {covered:.1%}, {different:.1%}")  # noqa: T201
        if side == "in groups":
            assert covered >= 0.93
            assert different <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / REPETITIONS)
            assert effects[0].independent_cases >= FEWEST or set(shown) == {Change.UNCLEAR}
        else:
            assert different > 0.1  # else there is nothing that groups are needed for


def _interval(effect: Effect) -> tuple[float, float]:
    return effect.interval() or (math.inf, math.inf)


def answers(rng: np.random.Generator, tasks: int, lost: float) -> Effect:
    """Draw right and wrong answers of two modes in three runs, of which one loses some."""
    chances = rng.beta(2, 1, tasks)
    reference = rng.binomial(3, chances) / 3
    own = rng.binomial(3, np.clip(chances - lost, 0, 1)) / 3
    return Effect(differences=tuple(np.round(own - reference, 9).tolist()))


@pytest.mark.parametrize("tasks", [8, 12, 30])
def test_a_mode_that_loses_answers_is_rarely_called_not_worse(tasks: int) -> None:
    """It loses just as many as the margin of 0.10 does not allow."""
    claims = {Quality.NOT_WORSE, Quality.HIGHER, Quality.BETTER}
    shown = [
        classify_quality(answers(np.random.default_rng([tasks, number]), tasks, 0.102), 0.1)
        for number in range(REPETITIONS)
    ]
    share = fmean(each in claims for each in shown)
    print(tasks, "tasks, called not worse:", share)  # noqa: T201  # with -s
    assert share <= 0.06


@pytest.mark.parametrize("tasks", [12, 30, 60])
def test_a_mode_that_loses_one_answer_in_ten_is_rarely_called_not_worse(tasks: int) -> None:
    """In all other tasks it finds the same."""
    wrong = 0
    for number in range(REPETITIONS):
        lost = np.random.default_rng([tasks, number]).random(tasks) < 0.102
        effect = Effect(differences=tuple(np.where(lost, -1.0, 0.0).tolist()))
        wrong += classify_quality(effect, 0.1) is Quality.NOT_WORSE
    print(tasks, "tasks, one lost in ten, called not worse:", wrong / REPETITIONS)  # noqa: T201
    assert wrong / REPETITIONS <= 0.06


@pytest.mark.parametrize("modes", [2, 4])
def test_several_identical_modes_are_rarely_called_different(modes: int) -> None:
    """They are compared with one reference, so their differences have its noise in common."""
    wrong = 0
    for number in range(REPETITIONS):
        rng = np.random.default_rng([modes, number])
        reference = rng.normal(0, 0.3, 12)
        effects = {
            mode: Effect(differences=tuple((rng.normal(0, 0.3, 12) - reference).tolist()))
            for mode in range(modes)
        }
        levels = compute_holm_levels({mode: effect.t_p or 1.0 for mode, effect in effects.items()})
        shown = {classify_ratio(effect, 0.1, levels[mode]) for mode, effect in effects.items()}
        wrong += bool(shown & {Change.LOWER, Change.HIGHER})
    print(modes, "modes, called different:", wrong / REPETITIONS)  # noqa: T201  # with -s
    assert wrong / REPETITIONS <= ALPHA + 0.015
