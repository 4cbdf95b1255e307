from collections.abc import Callable

from swarm_bench.core.report.report import Figure, Sheet
from swarm_bench.core.session.records import SessionData, TrialRecord
from tests.builders.golden import Sentences
from tests.builders.reports import summarise

Trial = Callable[..., TrialRecord]
Session = Callable[..., SessionData]

BASELINE = {"mode": "baseline", "prompt_tokens": 5000, "mode_instruction_tokens": 0}
CANOPY = {
    "mode": "canopy",
    "server_seconds": {"a": 0.5, "b": 2.5},
    "tools": 6,
    "tool_tokens": 1200,
    "server_instruction_tokens": 90,
    "mode_instruction_tokens": 60,
    "prompt_tokens": 6400,
}


def overhead(trial: Trial, session: Session, *lines: object) -> Sheet:
    found = summarise(session(trial(), trial("canopy"), overhead=lines)).overhead
    assert found is not None
    return found


def test_each_mode_says_what_it_costs_to_have_its_tool(trial: Trial, session: Session) -> None:
    found = overhead(trial, session, BASELINE, CANOPY)
    figures = {line.labels[0]: [one and one.value for one in line.figures] for line in found.lines}
    assert [metric.key for metric in found.metrics] == [
        "tools",
        "tool_tokens",
        "server_instruction_tokens",
        "mode_instruction_tokens",
        "prompt_tokens",
        "prompt_difference",
        "server_seconds",
    ]
    assert [metric.key for metric in found.unknown] == ["prompt_cost"]
    assert figures == {
        "baseline": [None, None, None, 0, 5000, None, None],
        "canopy": [6, 1200, 90, 60, 6400, 1400, 2.5],
    }


def test_what_was_not_measured_is_missing_and_said(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    broken = {"mode": "canopy", "problem": "The server canopy did not answer."}
    found = overhead(trial, session, BASELINE, broken)
    assert [metric.key for metric in found.unknown] == [
        "tools",
        "tool_tokens",
        "server_instruction_tokens",
        "prompt_difference",
        "prompt_cost",
        "server_seconds",
    ]
    assert found.lines[1].figures == (Figure(value=None), Figure(value=None))
    golden(*found.notes)


def test_of_a_continued_session_the_last_measurement_counts(trial: Trial, session: Session) -> None:
    found = overhead(trial, session, CANOPY, CANOPY | {"tools": 7})
    assert found.lines[1].figures[0] == Figure(value=7)


def test_an_older_session_has_no_such_table(trial: Trial, session: Session) -> None:
    assert summarise(session(trial(), trial("canopy"))).overhead is None
