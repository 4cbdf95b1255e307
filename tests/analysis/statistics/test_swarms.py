"""Times of agents that ran together."""

import math
from collections.abc import Mapping
from statistics import fmean

import numpy as np
import pytest

from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.pairing import Cases, pair_figures
from swarm_bench.analysis.statistics.swarms import Swarm, compare_swarms, stands_over_swarms
from swarm_bench.analysis.statistics.verdict_rule import Change

TASKS, RUNS = 8, 5
Of = dict[tuple[Swarm, str], list[float]]


def arm(rng: np.random.Generator, tasks: np.ndarray, ratio: float) -> Of:
    """Draw the times of an arm, each of whose swarms has a noise that its agents share."""
    return {
        ((run, 0), f"t{task}"): [float(np.exp(tasks[task] + shared + 0.3 * rng.normal())) * ratio]
        for run, shared in enumerate(rng.normal(0, 0.2, RUNS))
        for task in range(TASKS)
    }


def by_task(times: Of) -> Mapping[str, list[float]]:
    return {
        task: [value for (_, other), values in times.items() if other == task for value in values]
        for _, task in times
    }


def covers(effect: Effect) -> bool:
    low, high = effect.interval() or (math.inf, math.inf)
    return low <= math.log(0.8) <= high


def test_over_swarms_the_interval_covers_and_over_tasks_it_is_too_narrow() -> None:
    covered: list[tuple[bool, bool]] = []
    for number in range(500):
        rng = np.random.default_rng(number)
        tasks = rng.normal(4, 0.8, TASKS)
        own, reference = arm(rng, tasks, 0.8), arm(rng, tasks, 1.0)
        swarms = compare_swarms(own, reference, {})
        cases = Cases(ids=[f"t{task}" for task in range(TASKS)])
        naive = pair_figures(by_task(own), by_task(reference), cases, relative=True)
        assert swarms
        effects = (swarms, naive.effect)
        covered.append((covers(effects[0]), covers(effects[1])))
    assert 0.93 <= fmean(first for first, _ in covered) <= 0.97
    assert fmean(second for _, second in covered) < 0.8


def test_a_swarm_is_a_group_of_the_tasks_that_both_have() -> None:
    one, two, three = (1, 0), (1, 1), (2, 0)
    own = {
        (one, "a"): [2.0],
        (one, "b"): [8.0],
        (two, "a"): [3.0],
        (two, "b"): [0.0],
        (three, "c"): [1.0],
    }
    reference = {(one, "a"): [1.0], (one, "b"): [1.0], (two, "a"): [3.0], (two, "b"): [1.0]}
    effect = compare_swarms(own, reference, {})
    assert effect
    assert effect.differences == pytest.approx([math.log(2), math.log(8), 0.0])
    assert (effect.groups, effect.units) == ((one, one, two), 2)
    assert effect.estimate == pytest.approx(math.log(16) / 3)
    assert compare_swarms({}, reference, {}) is None


@pytest.mark.parametrize(
    ("differences", "stands"),
    [
        ((-0.5, -0.4, -0.45), {Change.LOWER}),
        ((0.5, 0.4, 0.45), {Change.HIGHER}),
        ((0.01, -0.01, 0.0), {Change.SAME}),
        ((-0.5, 0.1, -0.2), set()),
        ((-0.5,), set()),
    ],
)
def test_what_stands(differences: tuple[float, ...], stands: set[Change]) -> None:
    effect = Effect(differences=differences)
    shown = {cost for cost in Change if stands_over_swarms(effect, cost, 0.1, ALPHA)}
    assert shown == {*stands, Change.UNCLEAR}
