from collections.abc import Callable

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
    assert report.controls is not None
    (split,) = report.controls.splits
    assert (split.mode, split.control, report.controls.reference) == ("canopy", "told", "baseline")
    row = next(row for row in split.rows if row.metric.key == "total_tokens")
    assert row.instructions == Ratio(median=0.8, low=0.8, high=0.8, tasks=1)
    assert row.tool == Ratio(median=0.5, low=0.5, high=0.5, tasks=1)
    assert row.together == Ratio(median=0.4, low=0.4, high=0.4, tasks=1)


def test_a_tool_mode_without_a_control_is_named(trial: Trial, session: Session) -> None:
    report = summarise(session(trial(), trial("canopy"), trial("canopy-service"), trial("told")))
    assert report.controls is not None
    assert [one.mode for one in report.controls.splits] == ["canopy"]
    (note,) = report.controls.notes
    assert note.startswith("canopy-service gives its agents no instructions")


def test_without_a_verdict_nothing_is_split(trial: Trial, session: Session) -> None:
    report = summarise(session(trial(), trial("canopy", retrieval="not-connected"), trial("told")))
    assert report.controls is not None
    assert report.controls.splits == ()
    assert report.controls.notes == (
        "canopy is not split: there is no verdict on it or on its control.",
    )


def test_without_controls_there_is_no_section(trial: Trial, session: Session) -> None:
    assert summarise(session(trial(), trial("canopy"))).controls is None
