"""Cases that share a group, and cases of different weight."""

import math

import pytest
from scipy import stats

from swarm_bench.analysis.statistics.changes import describe_too_few
from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.pairing import Cases, pair_figures
from swarm_bench.analysis.statistics.verdict_rule import (
    Change,
    Quality,
    classify_quality,
    classify_score,
)
from tests.builders.golden import Sentences

VALUES = (0.3, -0.1, 0.25, 0.4, 0.05, -0.2, 0.35, 0.15)


def test_groups_of_one_size_are_what_their_means_are() -> None:
    groups = (1, 1, 2, 2, 3, 3, 4, 4)
    means = [sum(VALUES[at : at + 2]) / 2 for at in range(0, 8, 2)]
    effect, of_means = Effect(differences=VALUES, groups=groups), Effect(differences=tuple(means))
    theirs = stats.ttest_1samp(means, 0)
    assert effect.interval() == pytest.approx(tuple(theirs.confidence_interval()))
    assert effect.t_p == pytest.approx(theirs.pvalue)
    assert effect.sign_flip_p == pytest.approx(of_means.sign_flip_p)
    assert (effect.cases, effect.units, effect.independent_cases) == (8, 4, 4)


def test_equal_weights_are_none() -> None:
    plain, weighted = Effect(differences=VALUES), Effect(differences=VALUES, weights=(3.0,) * 8)
    assert weighted.interval() == pytest.approx(plain.interval())
    assert weighted.sign_flip_p == plain.sign_flip_p
    assert weighted.independent_cases == pytest.approx(8)


def test_a_weight_moves_the_mean_and_a_case_that_outweighs_all_others_shows_nothing() -> None:
    twice = Effect(differences=VALUES, weights=(2.0, *[1.0] * 7))
    assert twice.estimate == pytest.approx((sum(VALUES) + VALUES[0]) / 9)
    alone = Effect(differences=(0.5, *[0.4] * 9), weights=(1e6, *[1.0] * 9))
    assert alone.independent_cases == pytest.approx(1, abs=1e-3)
    assert classify_score(alone, 0.1) is Change.UNCLEAR
    assert classify_quality(Effect(differences=(0.0,) * 40, weights=(1e6, *[1.0] * 39)), 0.1) is (
        Quality.NOT_SHOWN
    )


def test_a_single_group_shows_nothing_however_many_cases_it_has() -> None:
    effect = Effect(differences=VALUES * 5, groups=("a",) * 40)
    assert (effect.interval(), effect.t_p, effect.sign_flip_p) == (None, None, 1.0)
    assert classify_score(effect, 0.1) is Change.UNCLEAR


def test_equal_groups_are_too_few_as_equal_cases_are() -> None:
    five = Effect(differences=(0.0,) * 50, groups=tuple(n // 10 for n in range(50)))
    assert classify_quality(five, 0.1) is Quality.NOT_SHOWN
    assert five.standard_error == 0.0


def test_what_is_too_few_by_its_worth_is_said_so(golden: Sentences) -> None:
    uneven = Effect(differences=(0.0,) * 30, weights=(5.0,) * 5 + (1.0,) * 25)
    assert 6 < uneven.independent_cases < 29 < uneven.units
    one_outweighs = Effect(differences=(0.0,) * 9, weights=(9.0,) + (1.0,) * 8)
    golden(describe_too_few(one_outweighs, "tasks"))


def test_means_of_groups_that_are_equal_are_equal_in_spite_of_rounding() -> None:
    thirds = Effect(differences=(0.1, 0.2, -0.3), groups=(1, 1, 1))
    assert thirds.floor == 1.0  # a group that adds 0 has no sign
    both = Effect(differences=(0.1, 0.2, 0.3, 0.3, 0.2, 0.1), groups=(1, 1, 1, 2, 2, 2))
    assert both.standard_error == 0.0


def test_pairs_have_the_weights_and_groups_of_the_cases_that_are_compared() -> None:
    own = {"a": [4.0], "b": [2.0], "c": [1.0]}
    reference = {"a": [2.0], "b": [1.0], "c": [0.0], "d": [1.0]}
    cases = Cases(ids="abcd", weights={"a": 3.0}, groups={"a": "g", "b": "g", "c": "a"})
    pairs = pair_figures(own, reference, cases, relative=True)
    effect = pairs.effect
    assert (pairs.cases, effect.weights, effect.groups) == (
        ("a", "b"), (3.0, 1.0), (("g",), ("g",))
    )  # fmt: skip
    assert pairs.arm_mean == pytest.approx((3 * math.log(4) + math.log(2)) / 4)
    assert pairs.effect.estimate == pytest.approx(pairs.arm_mean - pairs.reference_mean)
    apart = Cases(ids="abc", groups={"a": "b"})  # a group that is called as another case is
    assert pair_figures(own, own, apart, relative=False).effect.groups == ()
