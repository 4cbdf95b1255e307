from collections.abc import Callable

import pytest

from swarm_bench.analysis.placebos import OF_A_PLACEBO
from swarm_bench.analysis.summary import summarise
from swarm_bench.core.records import SessionData, TrialRecord
from swarm_bench.core.report import Ratio

Trial = Callable[..., TrialRecord]
Session = Callable[..., SessionData]


def test_the_difference_is_split_in_two_steps(trial: Trial, session: Session) -> None:
    report = summarise(
        session(
            trial(total_tokens=100),
            trial("canopy", total_tokens=40),
            trial("told", total_tokens=80),
        )
    )
    (controls,) = report.controls
    (split,) = controls.splits
    assert (split.mode, split.control) == ("canopy", "told")
    row = next(row for row in split.rows if row.metric.key == "total_tokens")
    assert row.control == Ratio(median=0.8, low=0.8, high=0.8, tasks=1)
    assert row.tool == Ratio(median=0.5, low=0.5, high=0.5, tasks=1)
    assert row.together == Ratio(median=0.4, low=0.4, high=0.4, tasks=1)


def test_a_tool_mode_without_a_control_is_named(trial: Trial, session: Session) -> None:
    report = summarise(session(trial(), trial("canopy"), trial("canopy-service"), trial("told")))
    (controls,) = report.controls
    assert [one.mode for one in controls.splits] == ["canopy"]
    (note,) = controls.notes
    assert note.startswith("canopy-service gives its agents no instructions")


def test_without_a_verdict_nothing_is_split(trial: Trial, session: Session) -> None:
    report = summarise(session(trial(), trial("canopy", retrieval="not-connected"), trial("told")))
    (controls,) = report.controls
    assert controls.splits == ()
    assert controls.notes == ("canopy is not split: there is no verdict on it or on its control.",)


def test_without_controls_there_is_no_section(trial: Trial, session: Session) -> None:
    assert summarise(session(trial(), trial("canopy"))).controls == ()


def test_the_difference_is_split_by_a_placebo_too(trial: Trial, session: Session) -> None:
    report = summarise(
        session(
            trial(total_tokens=100),
            trial("canopy", total_tokens=40),
            trial("told", total_tokens=80),
            trial("placebo", total_tokens=50),
        )
    )
    by_kind = {controls.kind: controls for controls in report.controls}
    assert list(by_kind) == ["instructions", "placebo"]
    (split,) = by_kind["placebo"].splits
    assert (split.mode, split.control) == ("canopy", "placebo")
    row = next(row for row in split.rows if row.metric.key == "total_tokens")
    medians = [one.median for one in (row.control, row.tool, row.together) if one]
    assert medians == [0.5, 0.8, 0.4]
    assert by_kind["placebo"].notes == ()


@pytest.mark.parametrize(("placebo", "as_good"), [(30, True), (40, True), (41, False)])
def test_a_mode_is_qualified_where_its_placebo_did_as_well(
    trial: Trial, session: Session, placebo: int, *, as_good: bool
) -> None:
    slow = {"wall_seconds": 99.0, "duration_s": 99.0, "num_turns": 99, "cost": 9.0}
    headline = summarise(
        session(
            trial(total_tokens=100, effective_tokens=None),
            trial("canopy", total_tokens=40, effective_tokens=None),
            trial("placebo", total_tokens=placebo, effective_tokens=None, **slow),
        )
    ).headline
    standings = {one.mode: one for one in headline.standings}
    assert standings["placebo"].qualifications == (OF_A_PLACEBO,)
    expected = (f"Reported tokens {placebo / 100:.2f}× against 0.40×",) if as_good else ()
    assert tuple(one.partition(": ")[2] for one in standings["canopy"].qualifications) == expected


def test_a_placebo_is_no_column_of_the_headline_and_no_tool_of_it(
    trial: Trial, session: Session
) -> None:
    headline = summarise(
        session(trial(), trial("canopy"), trial("placebo", retrieval="unused"))
    ).headline
    assert headline.ratios
    assert [column.mode for column in headline.ratios.columns] == ["canopy"]
    assert headline.all_used
    assert (headline.agreeing, headline.uncounted) == (("canopy",), ())
    assert headline.qualified


def test_a_placebo_that_was_not_connected_is_compared_with_nothing(
    trial: Trial, session: Session
) -> None:
    report = summarise(
        session(trial(), trial("canopy"), trial("placebo", retrieval="not-connected"))
    )
    standings = {one.mode: one for one in report.headline.standings}
    assert standings["placebo"].no_verdict
    assert standings["canopy"].qualifications == ()
    (controls,) = report.controls
    assert (controls.splits, len(controls.notes)) == ((), 1)


def test_a_placebo_can_be_what_others_are_compared_with(trial: Trial, session: Session) -> None:
    """As in a replay of some modes only."""
    report = summarise(session(trial("placebo"), trial("canopy")))
    assert report.headline.ratios
    assert [column.mode for column in report.headline.ratios.columns] == ["canopy"]
    assert summarise(session(trial(), trial("placebo"))).controls == ()
