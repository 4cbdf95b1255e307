"""The rule, case by case: what is shown of the cost and of the quality, and the verdict."""

import math

import pytest

from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.verdict_rule import (
    Change,
    Quality,
    Verdict,
    classify_quality,
    classify_ratio,
    find_quality_verdict,
    find_verdict,
)

STEPS = (-1.5, -1.0, -0.5, -0.2, 0.2, 0.5, 1.0, 1.5)


def effect(mean: float, spread: float, cases: int = 8) -> Effect:
    steps = (STEPS * cases)[:cases]
    return Effect(differences=tuple(mean + spread * step for step in steps))


def ratio(mean: float, spread: float, cases: int = 8) -> Effect:
    return effect(math.log(mean), spread, cases)


LOWER, HIGHER = ratio(0.7, 0.1), ratio(1.4, 0.1)
SAME, UNCLEAR = ratio(1.01, 0.02), ratio(0.9, 0.5)
LESS, MORE = effect(-0.12, 0.05), effect(0.1, 0.05)
"""Beyond noise, and by perhaps no more than the margin."""
EQUAL, BETTER, WORSE, VAGUE = effect(0, 0.02), effect(0.3, 0.05), effect(-0.3, 0.05), effect(0, 0.4)


@pytest.mark.parametrize(
    ("cost", "quality", "expected"),
    [
        (LOWER, EQUAL, Verdict.HELPS),
        (LOWER, BETTER, Verdict.HELPS),
        (SAME, BETTER, Verdict.HELPS),
        (SAME, EQUAL, Verdict.EQUIVALENT),
        (ratio(0.95, 0.01), EQUAL, Verdict.EQUIVALENT),
        (HIGHER, EQUAL, Verdict.HURTS),
        (HIGHER, WORSE, Verdict.HURTS),
        (SAME, WORSE, Verdict.HURTS),
        (UNCLEAR, WORSE, Verdict.HURTS),
        (None, WORSE, Verdict.HURTS),
        (LOWER, WORSE, Verdict.TRADE_OFF),
        (HIGHER, BETTER, Verdict.TRADE_OFF),
        (LOWER, VAGUE, Verdict.CHEAPER),
        (LOWER, None, Verdict.CHEAPER),
        (HIGHER, VAGUE, Verdict.DEARER),
        (SAME, VAGUE, Verdict.INCONCLUSIVE),
        (UNCLEAR, EQUAL, Verdict.INCONCLUSIVE),
        (UNCLEAR, BETTER, Verdict.INCONCLUSIVE),
        (UNCLEAR, VAGUE, Verdict.INCONCLUSIVE),
        (None, None, Verdict.INCONCLUSIVE),
        (ratio(0.7, 0.01, cases=5), EQUAL, Verdict.INCONCLUSIVE),
        (ratio(0.7, 0.01, cases=1), EQUAL, Verdict.INCONCLUSIVE),
        (ratio(1, 0, cases=5), effect(0, 0, cases=5), Verdict.INCONCLUSIVE),
        (ratio(1, 0, cases=6), effect(0, 0, cases=6), Verdict.INCONCLUSIVE),
        (ratio(1, 0, cases=29), effect(0, 0, cases=29), Verdict.EQUIVALENT),
        (LOWER, LESS, Verdict.TRADE_OFF),
        (SAME, LESS, Verdict.INCONCLUSIVE),
        (HIGHER, LESS, Verdict.HURTS),
        (UNCLEAR, LESS, Verdict.INCONCLUSIVE),
        (LOWER, MORE, Verdict.HELPS),
        (SAME, MORE, Verdict.EQUIVALENT),
        (HIGHER, MORE, Verdict.TRADE_OFF),
        (UNCLEAR, MORE, Verdict.INCONCLUSIVE),
        (SAME, effect(-0.5, 0, cases=5), Verdict.INCONCLUSIVE),
    ],
)
def test_the_rule(cost: Effect | None, quality: Effect | None, expected: Verdict) -> None:
    assert find_verdict(classify_ratio(cost, 0.1), classify_quality(quality, 0.1)) is expected


@pytest.mark.parametrize(
    ("quality", "shown"),
    [
        (WORSE, Quality.WORSE),
        (BETTER, Quality.BETTER),
        (EQUAL, Quality.NOT_WORSE),
        (effect(-0.05, 0.02), Quality.NOT_WORSE),
        (LESS, Quality.LOWER),
        (MORE, Quality.HIGHER),
        (effect(0, 0, cases=28), Quality.NOT_SHOWN),
        (effect(0, 0, cases=29), Quality.NOT_WORSE),
        (VAGUE, Quality.NOT_SHOWN),
        (effect(0.5, 0, cases=1), Quality.NOT_SHOWN),
    ],
)
def test_quality(quality: Effect, shown: Quality) -> None:
    assert classify_quality(quality, 0.1) is shown


def test_one_of_several_modes_needs_more() -> None:
    """Its interval is wider, at the level that Holm's procedure leaves it."""
    some = ratio(0.83, 0.17)
    assert classify_ratio(some, 0.1) is Change.LOWER
    assert classify_ratio(some, 0.1, level=0.05 / 4) is Change.UNCLEAR


@pytest.mark.parametrize(
    ("quality", "expected"),
    [
        (BETTER, Verdict.HELPS),
        (WORSE, Verdict.HURTS),
        (EQUAL, Verdict.EQUIVALENT),
        (effect(0.08, 0.04), Verdict.HELPS),
        (effect(0.08, 0.15), Verdict.INCONCLUSIVE),
        (effect(0.5, 0.01, cases=5), Verdict.INCONCLUSIVE),
        (VAGUE, Verdict.INCONCLUSIVE),
        (None, Verdict.INCONCLUSIVE),
    ],
)
def test_where_rules_decide_the_cost_only_quality_counts(
    quality: Effect | None, expected: Verdict
) -> None:
    assert find_quality_verdict(quality, 0.1) is expected


def test_cases_that_are_all_equal_show_something_only_together() -> None:
    for cases, expected in ((28, Verdict.INCONCLUSIVE), (29, Verdict.EQUIVALENT)):
        equal = Effect(differences=(0.0,) * cases)
        assert find_quality_verdict(equal, 0.1) is expected
    assert 0.9**29 < 0.05 < 0.9**28
