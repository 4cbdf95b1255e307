"""The formulas against simulations with a fixed seed, and against known figures."""

import math

import numpy as np
import pytest

from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.formulas import (
    compute_detectable,
    compute_difference_sd,
    compute_median_variance,
    compute_pooled_sd,
    compute_power,
    compute_sd_interval,
)

EXPERIMENTS = 4000


def differences(sd: float, tasks: int, runs: int, shift: float = 0.0) -> "np.ndarray":
    """Of simulated experiments: per task, median over the runs of one arm less that of the
    other."""
    draw = np.random.default_rng(20)
    one = np.median(draw.normal(0, sd, (EXPERIMENTS, tasks, runs)), axis=2)
    other = np.median(draw.normal(shift, sd, (EXPERIMENTS, tasks, runs)), axis=2)
    return np.asarray(other - one)


@pytest.mark.parametrize(
    ("number", "variance"),
    # Variances of medians of normal samples, from tables of order statistics.
    [(1, 1.0), (2, 0.5), (3, 0.4487), (4, 0.2982), (5, 0.2868), (9, 0.1661), (10, 0.1383)],
)
def test_the_variance_of_a_median(number: int, variance: float) -> None:
    assert compute_median_variance(number) == pytest.approx(variance, abs=1e-4)


@pytest.mark.parametrize("number", [1000, 1001])
def test_of_many_values_it_is_the_limit(number: int) -> None:
    assert number * compute_median_variance(number) == pytest.approx(math.pi / 2, rel=2e-3)


@pytest.mark.parametrize(("tasks", "runs"), [(4, 3), (8, 5)])
def test_the_interval_covers_what_it_says(tasks: int, runs: int) -> None:
    """Within three standard errors of a share of that many experiments."""
    found = [
        Effect(differences=tuple(row)).interval() for row in differences(0.3, tasks, runs)[:1000]
    ]
    covered = np.mean([low <= 0 <= high for low, high in filter(None, found)])
    assert covered == pytest.approx(0.95, abs=3 * math.sqrt(0.95 * 0.05 / 1000))


@pytest.mark.parametrize(("tasks", "runs"), [(4, 3), (8, 2), (8, 3), (12, 10), (3, 5)])
def test_what_is_called_detectable_is_found_in_80_of_100_experiments(tasks: int, runs: int) -> None:
    sd = 0.25
    shift = compute_detectable(compute_difference_sd(sd, runs), tasks)
    assert shift is not None
    found = differences(sd, tasks, runs, shift)
    t = found.mean(axis=1) / (found.std(axis=1, ddof=1) / math.sqrt(tasks))
    limit = {3: 4.3027, 4: 3.1824, 8: 2.3646, 12: 2.2010}[tasks]  # t, 97.5 %, tasks - 1
    assert np.mean(t > limit) == pytest.approx(0.8, abs=0.03)


def test_the_standard_error_is_that_of_the_simulation() -> None:
    found = differences(0.4, 6, 3).mean(axis=1).std()
    assert compute_difference_sd(0.4, 3) / math.sqrt(6) == pytest.approx(found, rel=0.04)


def test_power_grows_from_half_of_alpha_to_one() -> None:
    assert compute_power(0, 7) == pytest.approx(0.025, abs=1e-6)
    assert compute_power(12, 7) == pytest.approx(1, abs=1e-6)


def test_one_task_or_one_value_says_nothing() -> None:
    assert compute_detectable(0.3, 1) is None
    assert Effect(differences=(0.1,)).interval() is None
    assert compute_pooled_sd([[1.0], [2.0], []]) == (None, 0)


def test_the_spread_is_taken_within_cells() -> None:
    sd, freedom = compute_pooled_sd([[1.0, 3.0], [101.0, 103.0], [7.0]])
    assert sd == pytest.approx(math.sqrt(2))
    assert freedom == 2


def test_equal_values_have_no_spread_at_all() -> None:
    assert compute_pooled_sd([[math.log(7.1)] * 7, [math.log(3.3)] * 3]) == (0.0, 8)
    assert compute_detectable(0.0, 4) == 0.0


def test_the_interval_of_a_spread() -> None:
    low, high = compute_sd_interval(1.0, 10)
    assert low == pytest.approx(0.6987, abs=1e-4)
    assert high == pytest.approx(1.7549, abs=1e-4)
