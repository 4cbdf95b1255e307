"""Trials that one mode lost more often than the reference."""

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


def test_a_mode_that_loses_more_to_the_infrastructure_warns(golden: Sentences) -> None:
    found = report(of("baseline", 12, 0), of("canopy", 8, 4))
    some = "4 of 12 trials lost to the infrastructure, and 0 of 12 trials of baseline"
    assert some in qualifications(found)
    golden(*found.warnings)


def test_failures_of_agents_are_told_apart_from_losses() -> None:
    found = report(of("baseline", 8, 4, FAILED), of("canopy", 12, 0))
    some = "0 of 12 trials failed by their agents, and 4 of 12 trials of baseline"
    assert some in qualifications(found)
    assert not any("infrastructure" in one for one in qualifications(found))


@pytest.mark.parametrize(("own", "other"), [(1, 0), (4, 4), (4, 3), (0, 0)])
def test_equal_losses_and_a_single_one_do_not(own: int, other: int) -> None:
    found = report(of("baseline", 12 - other, other), of("canopy", 12 - own, own))
    assert not any("of baseline" in one for one in qualifications(found))


def test_what_somebody_interrupted_is_no_loss(golden: Sentences) -> None:
    stopped = of("canopy", 8, 4, ("interrupted", "cancelled"))
    found = qualifications(report(of("baseline", 12, 0), stopped))
    golden(found[0])
    assert not any("of baseline" in one for one in found)


def test_what_is_left_out_says_why(golden: Sentences) -> None:
    mixed = [*of("canopy", 9, 1), make_failed("canopy", *FAILED, agent=20)]
    golden(qualifications(report(of("baseline", 11, 0), mixed))[0])
