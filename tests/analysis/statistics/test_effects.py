"""Effects and tests of paired differences, against other people's libraries."""

import math
import sys

import numpy as np
import paired_eval
import pytest
from scipy import stats

from swarm_bench.analysis.statistics.effects import (
    Effect,
    adjust_holm,
    compute_change,
    compute_holm_levels,
    compute_mcnemar,
    compute_wilson,
    exponentiate,
    take_logarithm,
)

DIFFERENCES = (-0.31, -0.12, 0.04, -0.27, -0.44, -0.02, -0.19, 0.11)


def drawn(seed: int, cases: int) -> Effect:
    values = np.random.default_rng(seed).normal(-0.2, 0.4, cases)
    return Effect(differences=tuple(values.tolist()))


@pytest.mark.parametrize("cases", [2, 5, 8, 30])
def test_the_interval_and_its_p_are_those_of_scipy(cases: int) -> None:
    effect = drawn(cases, cases)
    theirs = stats.ttest_1samp(effect.differences, 0)
    assert effect.interval() == pytest.approx(tuple(theirs.confidence_interval()))
    assert effect.interval(0.9) == pytest.approx(tuple(theirs.confidence_interval(0.9)))
    assert effect.t_p == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize("cases", [6, 8, 12, 25])
def test_the_sign_flip_test_agrees_with_another_one(cases: int) -> None:
    """Theirs is drawn, as ours is for many cases: both have an error of their own."""
    effect = drawn(cases, cases)
    theirs = paired_eval.paired_compare(effect.differences, [0.0] * cases)
    assert effect.sign_flip_p == pytest.approx(theirs["p_value"], abs=0.015)
    assert effect.estimate == pytest.approx(theirs["mean_diff"])
    assert effect.signs == (theirs["losses"], theirs["ties"], theirs["wins"])


def test_the_sign_flip_test_is_exact_for_few_cases() -> None:
    signs = np.array(np.meshgrid(*[[-1, 1]] * 8)).reshape(8, -1).T
    means = signs @ np.array(DIFFERENCES) / 8
    extreme = np.mean(np.abs(means) >= abs(np.mean(DIFFERENCES)) - 1e-12)
    assert Effect(differences=DIFFERENCES).sign_flip_p == pytest.approx(extreme)


@pytest.mark.parametrize("cases", [1, 2, 5, 6, 13])
def test_the_floor_is_reached_and_agrees_with_another_one(cases: int) -> None:
    effect = Effect(differences=tuple(-0.1 - 0.01 * n for n in range(cases)))
    assert effect.sign_flip_p == pytest.approx(effect.floor)
    assert effect.floor == pytest.approx(paired_eval.p_floor(cases))
    assert (effect.floor <= 0.05) == (cases >= 6)


def test_cases_without_a_difference_lower_no_floor() -> None:
    effect = Effect(differences=(0.5, *[0.0] * 5))
    assert (effect.floor, effect.sign_flip_p) == (1.0, 1.0)


@pytest.mark.parametrize("cases", [6, 9, 20])
def test_the_wilcoxon_interval_has_what_its_test_does_not_reject(cases: int) -> None:
    effect = drawn(cases, cases)
    interval = effect.wilcoxon_interval
    assert interval is not None
    for end in interval:
        for shift, is_inside in ((1e-9, end == interval[0]), (-1e-9, end == interval[1])):
            shifted = np.array(effect.differences) - end - shift
            p = float(stats.wilcoxon(shifted, method="exact").pvalue)
            assert (p > 0.05) is is_inside
    assert interval[0] <= (effect.hodges_lehmann or 9) <= interval[1]


def test_few_cases_have_no_wilcoxon_interval() -> None:
    assert drawn(1, 5).wilcoxon_interval is None
    assert drawn(1, 501).hodges_lehmann is None


def test_equal_differences_are_no_noise(recwarn: pytest.WarningsRecorder) -> None:
    effect = Effect(differences=(0.1, 0.1, 0.1))
    assert effect.interval() == pytest.approx((0.1, 0.1))
    assert effect.t_p == 0
    still = Effect(differences=(0.0, 0.0))
    assert (still.interval(), still.t_p, still.sign_flip_p) == ((0, 0), 1, 1)
    assert not recwarn.list


def test_one_case_has_no_interval() -> None:
    effect = Effect(differences=(0.3,))
    assert (effect.interval(), effect.t_p, effect.floor) == (None, None, 1)


def test_holm_agrees_with_another_one() -> None:
    tests = {"a": 0.011, "b": 0.04, "c": 0.02, "d": 0.7}
    assert [*adjust_holm(tests).values()] != [*tests.values()]
    assert {name: adjust_holm(tests)[name] for name in tests} == pytest.approx(
        dict(zip(tests, paired_eval.holm_adjust([*tests.values()]), strict=True))
    )


@pytest.mark.parametrize(
    "tests",
    [{"a": 0.011, "b": 0.04, "c": 0.02}, {"a": 0.03, "b": 0.026}, {"a": 0.012, "b": 0.9}, {}],
)
def test_levels_reject_what_holm_rejects(tests: dict[str, float]) -> None:
    levels, adjusted = compute_holm_levels(tests), adjust_holm(tests)
    assert {name: p <= levels[name] for name, p in tests.items()} == {
        name: adjusted[name] <= 0.05 for name in tests
    }


def test_shares_and_yes_or_no_agree_with_another_one() -> None:
    assert compute_wilson(7, 9) == pytest.approx(paired_eval.wilson_ci(7, 9), abs=1e-4)
    pairs = [(True, False)] * 9 + [(False, True)] * 2 + [(True, True)] * 5
    half = stats.binom(11, 0.5).pmf(2)
    assert compute_mcnemar(pairs) == pytest.approx(paired_eval.mcnemar_exact(9, 2) - half)
    assert compute_mcnemar([(True, True)]) == 1


def test_a_ratio_that_no_float_holds_is_a_large_one() -> None:
    assert exponentiate(1e6) == pytest.approx(math.sqrt(sys.float_info.max))
    assert exponentiate(-1e6) == 0
    assert exponentiate(0) == 1
    assert math.isfinite(compute_change(1e6))
    assert exponentiate(take_logarithm(2.0**53) - take_logarithm(5e-324)) < 1e32
