"""Two sessions of a benchmark of cases, of which one lost trials."""

from pathlib import Path

import pytest

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.diff.cases import case_diff
from swarm_bench.core.report.diff import Diff
from swarm_bench.core.status import Cause
from tests.builders.cases import FAILED, HIGH, LOST, LOW, case_session


def side(name: str, trials: int = 0, end: Cause | None = LOST, runs: int = 1) -> CaseSession:
    """`x` is better in B."""
    figures = {"x": HIGH if name == "B" else LOW, "y": LOW}
    return case_session(figures, {"x": [end] * trials}, session=name, runs=runs)


def compared(a: CaseSession, b: CaseSession) -> Diff:
    return case_diff(a, b, (Path("a"), Path("b")))


def conclusion(a: CaseSession, b: CaseSession, arm: str = "x") -> str:
    return next(mode.conclusion for mode in compared(a, b).modes if mode.mode == arm)


def test_an_arm_with_all_its_trials_is_better_and_nothing_is_omitted() -> None:
    assert conclusion(side("A"), side("B")) == "accuracy: better in B."


def test_trials_that_are_missing_on_a_side_are_counted() -> None:
    some = "1 of 20 trials of A and 0 of 20 of B are not in it."
    assert conclusion(side("A", 1), side("B")) == f"accuracy: better in B. {some}"
    more = conclusion(side("A", 3), side("B", 2, None, runs=3))
    assert more.endswith("3 of 20 trials of A and 2 of 60 of B are not in it, so one of the two "
                         "may have been compared on its easier trials.")  # fmt: skip
    few = conclusion(side("A"), side("B", 5))
    assert few.startswith("accuracy not compared, since 15 of 20 cases have it in both sessions")
    assert few.endswith("80 %. 0 of 20 trials of A and 5 of 20 of B are not in it.")


@pytest.mark.parametrize("end", [LOST, Cause.INTERRUPTED, None])
def test_nothing_can_be_told_where_one_side_lost_ten_points_more(end: Cause | None) -> None:
    assert conclusion(side("A"), side("B", 4, end)) == (
        "accuracy: nothing can be told, as 0 of 20 trials of A and 4 of 20 of B are not in it, so "
        "one of the two may have been compared on its easier trials."
    )
    assert conclusion(side("A"), side("B", 4, end), "y").startswith("accuracy: ")
    assert "not in it" not in conclusion(side("A"), side("B", 4, end), "y")
    assert conclusion(side("A", 4, end), side("B", 4, end)) == (
        "accuracy: better in B. 4 of 20 trials of A and 4 of 20 of B are not in it."
    )


def caveat(b: CaseSession) -> str:
    return " ".join(it for it in compared(side("A"), b).caveats if it.startswith("B is not"))


def test_trials_that_did_not_run_to_their_own_end_make_a_session_incomplete() -> None:
    assert caveat(side("B")) == ""
    assert caveat(side("B", 2, FAILED)) == ""
    assert caveat(side("B", 2, None)) == (
        "B is not complete: 2 of 40 planned trials have no record; --continue runs them."
    )
    assert caveat(side("B", 2)) == (
        "B is not complete: 2 of 40 planned trials did not run to their own end; --continue runs "
        "them."
    )
    both = case_session({"x": HIGH, "y": LOW}, {"x": [None, None, LOST]}, session="B")
    assert caveat(both) == (
        "B is not complete: 2 of 40 planned trials have no record, and 1 did not run to its own "
        "end; --continue runs them."
    )


def test_trials_that_failed_are_counted_on_both_sides() -> None:
    caveats = compared(side("A", 1, FAILED), side("B", 3, FAILED)).caveats
    assert "1 trial of A and 3 of B failed, and are in no ratio." in caveats
    assert not any("failed" in it for it in compared(side("A", 1), side("B")).caveats)
