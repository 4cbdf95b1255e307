"""Cases of two arms, paired."""

import math

import pytest

from swarm_bench.analysis.statistics.pairing import Cases, Pairs, pair_figures

CASES = ("one", "two", "three", "four", "five")


def pair(
    own: dict[str, list[float]], other: dict[str, list[float]], *, relative: bool = True
) -> Pairs:
    return pair_figures(own, other, Cases(ids=tuple(own)), relative=relative)


def test_a_case_is_the_median_of_logarithms_over_its_runs_or_the_mean() -> None:
    own, other = {"one": [1.0, 9, 4], "two": [2.0, 8]}, {"one": [2.0], "two": [4.0]}
    ratios, differences = (pair(own, other, relative=it).differences for it in (True, False))
    assert list(ratios.values()) == pytest.approx([math.log(4 / 2), math.log(4 / 4)])
    assert list(differences.values()) == pytest.approx([14 / 3 - 2, 1])


@pytest.mark.parametrize(("missing", "suffice"), [(1, True), (2, False), (5, False)])
def test_a_case_that_one_arm_lacks_is_named(missing: int, suffice: bool) -> None:
    there = dict.fromkeys(CASES[missing:], [1.0])
    pairs = pair(dict.fromkeys(CASES, [1.0]), there)
    assert (pairs.cases, pairs.unpaired) == (CASES[missing:], CASES[:missing])
    assert pairs.suffice is suffice


def test_there_is_no_ratio_to_nothing() -> None:
    own, other = {"one": [0.0], "two": [1.0]}, {"one": [1.0], "two": [1.0]}
    pairs = pair(own, other)
    assert (pairs.cases, pairs.zeros, pairs.suffice) == (("two",), ("one",), False)
    assert pair(own, other, relative=False).cases == ("one", "two")
