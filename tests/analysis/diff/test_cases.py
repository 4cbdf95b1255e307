"""Two sessions of a benchmark of cases, of which one lost trials."""

from pathlib import Path

import pytest

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.diff.cases import make_case_diff
from swarm_bench.core.report.diff import Diff
from swarm_bench.core.status import Cause
from tests.builders.answers import text_of
from tests.builders.cases import FAILED, HIGH, LOST, LOW, case_session
from tests.builders.golden import Sentences


def side(name: str, trials: int = 0, end: Cause | None = LOST, runs: int = 1) -> CaseSession:
    """`x` is better in B."""
    figures = {"x": HIGH if name == "B" else LOW, "y": LOW}
    return case_session(figures, {"x": [end] * trials}, session=name, runs=runs)


def compared(a: CaseSession, b: CaseSession) -> Diff:
    return make_case_diff(a, b, (Path("a"), Path("b")))


def conclusion(a: CaseSession, b: CaseSession, arm: str = "x") -> str:
    return next(text_of(mode.answer) for mode in compared(a, b).modes if mode.mode == arm)


def test_an_arm_with_all_its_trials_is_better_and_nothing_is_omitted() -> None:
    assert conclusion(side("A"), side("B")).startswith("in B is better than in A: ")


def test_trials_that_are_missing_on_a_side_are_counted(golden: Sentences) -> None:
    some = "1 of 20 trials of A and 0 of 20 of B are not in these figures."
    assert conclusion(side("A", 1), side("B")).endswith(some)
    more = conclusion(side("A", 3), side("B", 2, None, runs=3))
    golden(more)
    few = conclusion(side("A"), side("B", 5))
    golden(few)


@pytest.mark.parametrize("end", [LOST, Cause.INTERRUPTED, None])
def test_nothing_can_be_told_where_one_side_lost_ten_points_more(
    end: Cause | None, golden: Sentences
) -> None:
    golden(conclusion(side("A"), side("B", 4, end)))
    assert conclusion(side("A"), side("B", 4, end), "y").startswith("cannot tell yet: ")
    assert "not in these figures" not in conclusion(side("A"), side("B", 4, end), "y")
    golden(conclusion(side("A", 4, end), side("B", 4, end)))


def caveat(b: CaseSession) -> str:
    return " ".join(it for it in compared(side("A"), b).caveats if it.startswith("B is not"))


def test_trials_that_did_not_run_to_their_own_end_make_a_session_incomplete(
    golden: Sentences,
) -> None:
    assert caveat(side("B")) == ""
    assert caveat(side("B", 2, FAILED)) == ""
    golden(caveat(side("B", 2, None)))
    golden(caveat(side("B", 2)))
    both = case_session({"x": HIGH, "y": LOW}, {"x": [None, None, LOST]}, session="B")
    golden(caveat(both))


def test_trials_that_failed_are_counted_on_both_sides(golden: Sentences) -> None:
    caveats = compared(side("A", 1, FAILED), side("B", 3, FAILED)).caveats
    golden(*caveats)
    assert not any("failed" in it for it in compared(side("A", 1), side("B")).caveats)
