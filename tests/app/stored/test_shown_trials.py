"""What the page of a session of pairs shows."""

from collections.abc import Mapping
from typing import Any

import pytest

from swarm_bench.analysis.documents.shown_trials import mark_named
from swarm_bench.app.stored.session import open_session
from swarm_bench.app.stored.transcripts import show_trial
from swarm_bench.core.outcome import Usage
from swarm_bench.core.report.exported import ExportedTrial
from swarm_bench.core.report.page import SessionPage, ShownTrial
from swarm_bench.core.treatment.conversation import Conversation
from tests.builders.golden import GOLDEN
from tests.builders.pages import make_calls
from tests.builders.pages import make_trial as make_shown


def build(name: str) -> SessionPage:
    session = open_session(GOLDEN / "sessions" / name)
    return session.build_page(session.reanalyse({}).document)


def read(name: str) -> dict[str, ShownTrial]:
    """The trials of the first case of a session."""
    return {trial.name: trial for trial in next(iter(build(name).tasks)).trials}


@pytest.mark.parametrize(
    ("name", "title", "case"),
    [("apps", "Cases × arms", "Case"), ("retrieve", "Questions × modes", "Question")],
)
def test_the_matrix_has_the_nouns_of_its_session(name: str, title: str, case: str) -> None:
    matrix = build(name).matrix
    assert matrix is not None
    assert (matrix.title, matrix.case) == (title, case)
    assert all(row.cells[0][0].name.startswith(matrix.arms[0]) for row in matrix.rows)


@pytest.mark.parametrize(
    ("name", "expected"), [("apps", False), ("unified-diff", True), ("retrieve", False)]
)
def test_only_answers_of_chats_are_markdown(name: str, *, expected: bool) -> None:
    assert {trial.is_markdown for trial in read(name).values()} == {expected}


def figures(trial: ShownTrial) -> Mapping[str, Any]:
    return dict(trial.figures)


def test_a_trial_of_a_model_has_what_its_tests_came_to() -> None:
    trials = read("apps")
    right, wrong = trials["reference, run 1"], trials["copy, run 1"]
    assert figures(right)["passed"] == "yes"
    assert figures(right)["end"] == "passed"
    assert figures(wrong)["passed"] == "no"
    assert set(figures(wrong)["tests"].split(", ")) <= {"0", "-1", "-2"}
    # An estimate from several answers says nothing of one, and a check that fails is not news.
    assert not {"pass@1", "pass@10", "pass@100", "Passed", "Timed out"} & {*figures(right)}
    assert (wrong.arm, wrong.run) == ("copy", 1)


def test_a_trial_of_a_search_has_the_rank_of_the_first_right_file() -> None:
    trials = read("retrieve")
    assert {figures(trial)["rank of the first right file"] for trial in trials.values()} == {"1"}
    assert all(trial.answer for trial in trials.values())


def test_a_trial_of_a_search_has_the_files_of_its_key() -> None:
    keys = [trial.key for task in build("retrieve").tasks for trial in task.trials]
    assert keys[0] == (("shop/auth.py", True),)
    assert all(is_named for key in keys for _, is_named in key)
    assert all(keys)
    assert not any(trial.key for trial in read("apps").values())


@pytest.mark.parametrize(
    ("recall", "answer", "marks"),
    [
        (0.5, "- `shop/auth.py:1-60`\n- `shop/jobs.py:3`", (True, False)),
        (0.0, "the call failed: shop/auth.py", ()),
        (0.0, "the call failed", (False, False)),
        (1.0, "shop/models.py:1, shop/auth.py:3", (True, True)),
        (1.0, "what only its mode file reads", ()),
        (0.5, "what only its mode file reads", ()),
        (None, "shop/auth.py", ()),
    ],
)
def test_files_of_a_key_are_marked_where_that_agrees_with_the_figures(
    recall: float | None, answer: str, marks: tuple[bool, ...]
) -> None:
    files = ("shop/auth.py", "shop/models.py")
    assert tuple(is_named for _, is_named in mark_named(files, recall, answer)) == marks


@pytest.mark.parametrize(
    ("answer", "texts", "last"),
    [
        (None, {1: "first", 3: "I give up.", 4: "Truly."}, "I give up.\n\nTruly."),
        (None, {1: "first", 2: "with the last call"}, None),
        ("an answer", {3: "Done."}, None),
    ],
)
def test_what_was_said_after_the_last_call_is_shown_without_an_answer(
    answer: str | None, texts: dict[int, str], last: str | None
) -> None:
    conversation = Conversation(calls=make_calls("one", "two"), texts=texts)
    trial = ExportedTrial(row={}, answer=answer, conversation=conversation)
    assert show_trial(trial, make_shown("baseline, run 1", ())).last == last


def test_a_trial_has_as_many_calls_as_a_browser_can_draw() -> None:
    calls = make_calls(*map(str, range(1_500)))
    texts = dict.fromkeys(range(1, 1_500), "\u200b" * 5_000)
    trial = ExportedTrial(
        row={},
        conversation=Conversation(calls=calls, texts=texts),
        turns=[Usage(input=1)] * 150_000,
    )
    shown = show_trial(trial, make_shown("baseline, run 1", ()))
    assert shown.conversation is not None
    assert len(shown.conversation.calls) == len(shown.turns) == 1_000
    assert sum(map(len, shown.conversation.texts.values())) < 1_000_000
    assert shown.remarks[-1] == "This page has no room for the last 500 calls."
