"""Cases of two arms, paired."""

import math
from collections.abc import Sequence

import pytest

from swarm_bench.analysis.frame import Observation
from swarm_bench.analysis.statistics.pairing import paired

CASES = ("one", "two", "three", "four", "five")


def rows(arm: str, **values: Sequence[float | None]) -> list[Observation]:
    return [
        Observation(arm, case, run, "cost", value, 1)
        for case, runs in values.items()
        for run, value in enumerate(runs, start=1)
    ]


def test_a_case_is_the_median_over_its_runs() -> None:
    both = rows("a", one=[1, 9, 4], two=[2, 8]) + rows("b", one=[2], two=[4, None])
    pairs = paired(both, "a", "b", ("one", "two"), relative=True)
    assert pairs.differences == pytest.approx([math.log(4 / 2), math.log(math.sqrt(16) / 4)])
    pairs = paired(both, "a", "b", ("one", "two"), relative=False)
    assert pairs.differences == [2, 1]


@pytest.mark.parametrize(("missing", "suffice"), [(1, True), (2, False), (5, False)])
def test_a_case_that_one_arm_lacks_is_named(missing: int, suffice: bool) -> None:
    there = dict.fromkeys(CASES[missing:], [1.0])
    both = rows("a", **dict.fromkeys(CASES, [1.0])) + rows("b", **there)
    pairs = paired(both, "a", "b", CASES, relative=True)
    assert (pairs.cases, pairs.unpaired) == (CASES[missing:], CASES[:missing])
    assert pairs.suffice is suffice


def test_there_is_no_ratio_to_nothing() -> None:
    both = rows("a", one=[0], two=[1]) + rows("b", one=[1], two=[1])
    pairs = paired(both, "a", "b", ("one", "two"), relative=True)
    assert (pairs.cases, pairs.zeros, pairs.suffice) == (("two",), ("one",), False)
    assert paired(both, "a", "b", ("one", "two"), relative=False).cases == ("one", "two")
