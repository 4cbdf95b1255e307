from collections.abc import Callable

import pytest

from swarm_bench.analysis.comparison.controls import NO_VERDICT, OF_A_PLACEBO
from swarm_bench.core.session.records import SessionData, TrialRecord
from tests.builders.golden import Sentences
from tests.builders.reports import has_qualifications, summarise

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
    steps = next(ratios for metric, ratios in split.rows if metric.key == "total_tokens")
    assert [step and step.estimate for step in steps] == pytest.approx([0.8, 0.5, 0.4])


def test_a_tool_mode_without_a_control_is_named(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    report = summarise(session(trial(), trial("canopy"), trial("canopy-service"), trial("told")))
    (controls,) = report.controls
    assert [one.mode for one in controls.splits] == ["canopy"]
    (note,) = controls.notes
    golden(note)


def test_without_a_verdict_nothing_is_split(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    report = summarise(session(trial(), trial("canopy", retrieval="not-connected"), trial("told")))
    (controls,) = report.controls
    assert controls.splits == ()
    golden(*controls.notes)


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
    steps = next(ratios for metric, ratios in split.rows if metric.key == "total_tokens")
    estimates = [one.estimate for one in steps if one]
    assert estimates == pytest.approx([0.5, 0.8, 0.4])
    assert by_kind["placebo"].notes == ()


@pytest.mark.parametrize(("placebo", "as_good"), [(30, True), (40, True), (44, True), (45, False)])
def test_a_mode_is_qualified_where_it_is_not_better_than_its_placebo_by_a_tenth(
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


@pytest.mark.parametrize(
    ("own", "placebo", "said"),
    [
        ((2, 200), (4, 600), ()),
        ((2, 200), (4, 1200), ("its placebo's answers were 3.0 times as long",)),
        ((4, 1200), (2, 200), ()),
        ((2, 0), (2, 200), ("its placebo's answers were longer: its own had no text",)),
        ((0, 0), (2, 200), ()),
    ],
)
def test_a_mode_is_qualified_where_its_placebo_answered_at_more_length(
    trial: Trial,
    session: Session,
    own: tuple[int, int],
    placebo: tuple[int, int],
    said: tuple[str, ...],
) -> None:
    def answered(mode: str, seconds: float, figures: tuple[int, int]) -> TrialRecord:
        answers, size = figures
        tools = {
            "mcp__canopy__find": {"answers": answers, "bytes": size},
            "mcp__other__find": {"answers": 9, "bytes": 9},
        }
        times = {"duration_s": seconds, "wall_seconds": seconds}
        spent = {"total_tokens": int(seconds), "effective_tokens": int(seconds)}
        turns = {"num_turns": int(seconds), "cost": seconds}
        return trial(mode, tool_answers=tools, **times, **spent, **turns)

    headline = summarise(
        session(trial(), answered("canopy", 1.0, own), answered("placebo", 9.0, placebo))
    ).headline
    standings = {one.mode: one for one in headline.standings}
    assert standings["canopy"].qualifications == said


def test_a_placebo_is_no_column_of_the_headline_and_no_tool_of_it(
    trial: Trial, session: Session
) -> None:
    headline = summarise(
        session(trial(), trial("canopy"), trial("placebo", retrieval="unused"))
    ).headline
    assert headline.ratios
    assert [column.mode for column in headline.ratios.columns] == ["canopy"]
    assert headline.all_used
    assert has_qualifications(headline)


def test_a_mode_is_qualified_whose_placebo_has_no_verdict(trial: Trial, session: Session) -> None:
    report = summarise(
        session(trial(), trial("canopy"), trial("placebo", retrieval="not-connected"))
    )
    standings = {one.mode: one for one in report.headline.standings}
    assert standings["placebo"].no_verdict
    assert standings["canopy"].qualifications == (NO_VERDICT,)
    (controls,) = report.controls
    assert (controls.splits, len(controls.notes)) == ((), 1)


def test_a_mode_is_qualified_whose_placebo_died(
    trial: Trial, failed: Trial, session: Session
) -> None:
    died = failed("placebo", "exit-code", "agent-failed")
    report = summarise(session(trial(), trial("canopy"), died))
    standings = {one.mode: one for one in report.headline.standings}
    assert NO_VERDICT in standings["canopy"].qualifications


def test_a_placebo_can_be_what_others_are_compared_with(trial: Trial, session: Session) -> None:
    """As in a replay of some modes only."""
    report = summarise(session(trial("placebo"), trial("canopy")))
    assert report.headline.ratios
    assert [column.mode for column in report.headline.ratios.columns] == ["canopy"]
    assert summarise(session(trial(), trial("placebo"))).controls == ()
