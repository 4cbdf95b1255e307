"""Trials that one mode lost, or that its agents failed, more often than the reference."""

import pytest

from swarm_bench.core.report.report import Report
from swarm_bench.core.session.records import TrialRecord
from tests.builders.golden import Sentences
from tests.builders.reports import summarise
from tests.builders.sessions import make_failed, make_session, make_trial

LIMITED, FAILED = ("rate-limited", "provider-limited"), ("exit-code", "agent-failed")


def of(mode: str, good: int, bad: int, end: tuple[str, str] = LIMITED) -> list[TrialRecord]:
    trials = [make_trial(mode, agent=agent) for agent in range(bad + 1, good + bad + 1)]
    return [*(make_failed(mode, *end, agent=agent) for agent in range(1, bad + 1)), *trials]


def report(*every: list[TrialRecord]) -> Report:
    return summarise(make_session(*(trial for trials in every for trial in trials)))


def qualifications(found: Report) -> tuple[str, ...]:
    return found.headline.standings[-1].qualifications


@pytest.mark.parametrize("end", [LIMITED, ("interrupted", "cancelled")])
def test_what_a_mode_lost_is_one_caveat(end: tuple[str, str], golden: Sentences) -> None:
    """That it lost more than the reference is said by the verdict."""
    found = qualifications(report(of("baseline", 12, 0), of("canopy", 8, 4, end)))
    assert sum("4 of 12 trials" in one for one in found) == 1
    golden(found[0])


def test_failures_of_agents_are_told_apart_from_losses() -> None:
    found = report(of("baseline", 8, 4, FAILED), of("canopy", 12, 0))
    some = "0 of 12 trials failed by their agents, and 4 of 12 trials of baseline"
    assert some in qualifications(found)


@pytest.mark.parametrize(("own", "other"), [(1, 0), (4, 4), (4, 3), (0, 0)])
def test_equal_failures_and_a_single_one_do_not(own: int, other: int) -> None:
    sides = of("baseline", 12 - other, other, FAILED), of("canopy", 12 - own, own, FAILED)
    assert not any("of baseline" in one for one in qualifications(report(*sides)))


def test_what_is_left_out_says_why(golden: Sentences) -> None:
    mixed = [*of("canopy", 9, 1), make_failed("canopy", *FAILED, agent=20)]
    golden(qualifications(report(of("baseline", 11, 0), mixed))[0])


@pytest.mark.parametrize(
    ("own", "other", "number"), [(4, 0, 1), (4, 4, 0), (0, 4, 1), (1, 0, 0), (0, 0, 0)]
)
def test_trials_that_were_lost_and_run_again_qualify(
    own: int, other: int, number: int, golden: Sentences
) -> None:
    """What came through may be the cheaper draws, whatever the counters of a tool say."""
    again = [
        make_trial(mode, agent=agent, attempt=1 + (agent <= lost))
        for mode, lost in (("baseline", other), ("told", own))
        for agent in range(1, 13)
    ]
    found = report(again)
    said = [one for one in found.warnings if "run again" in one]
    assert len(said) == number
    golden(*said)
