"""Stopped trials as the worst."""

import math

import pytest

from swarm_bench.analysis.statistics.censoring import Censored, MeasuredFigures, compare_censored
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.pairing import Cases, Figures
from swarm_bench.analysis.statistics.verdict_rule import Change

STOPPED = math.inf
CASES = [f"t{n}" for n in range(8)]


def known(figures: Figures) -> MeasuredFigures:
    return MeasuredFigures(figures=figures, lost_counts={})


def against(own: list[list[float]], reference: list[list[float]]) -> Censored:
    mine, other = (dict(zip(CASES, side, strict=True)) for side in (own, reference))
    answer = compare_censored(known(mine), known(other), Cases(ids=CASES))
    assert answer
    return answer


def test_a_stopped_trial_that_is_not_the_typical_one_leaves_the_rule_as_it_is() -> None:
    found = against([[50, 60, STOPPED]] * 8, [[100, 110, 120]] * 8)
    assert found.unknown_cases == 0
    assert found.agrees(Change.LOWER, 0.1, ALPHA)


def test_a_typical_trial_that_was_stopped_is_the_worst() -> None:
    half = [[50.0, 60.0, 55.0]] * 4 + [[50.0, STOPPED, STOPPED]] * 4
    found = against(half, [[100, 110, 120]] * 8)
    assert found.unknown_cases == 4
    assert found.ranks.signs == (4, 0, 4)
    assert found.ranks.estimate > 0  # what was stopped has the highest ranks
    assert not found.agrees(Change.LOWER, 0.1, ALPHA)


def test_where_the_other_arm_was_stopped_a_saving_stands() -> None:
    found = against([[50, 60]] * 8, [[100, STOPPED]] * 2 + [[100, 110]] * 6)
    assert found.ranks.signs == (8, 0, 0)
    assert found.agrees(Change.LOWER, 0.1, ALPHA)
    assert not found.agrees(Change.HIGHER, 0.1, ALPHA)


def test_what_was_stopped_in_both_is_a_tie_and_no_equality() -> None:
    found = against([[STOPPED]] * 8, [[STOPPED]] * 8)
    assert found.ranks.signs == (0, 8, 0)
    assert not found.agrees(Change.SAME, 0.1, ALPHA)
    assert found.agrees(Change.UNCLEAR, 0.1, ALPHA)


@pytest.mark.parametrize("own", [{}, {"t0": [0.0]}])
def test_nothing_to_compare(own: dict[str, list[float]]) -> None:
    assert compare_censored(known(own), known({"t0": [1.0]}), Cases(ids=["t0"])) is None
