"""What the headline says of answers that are often empty, and of those that nobody sees."""

from typing import Any

import pytest

from swarm_bench.analysis.caveats.empty_answers import find_hollow_answers
from swarm_bench.analysis.mode_trials import get_mode_trials
from swarm_bench.analysis.selection import Selection
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from tests.builders.golden import Sentences
from tests.builders.reports import summarise
from tests.builders.sessions import make_session, make_trial

FIND, READ = "mcp__canopy__find", "mcp__canopy__read"
GOOD = {"answers": 2, "questions": ["q", "r"], "different": ["a", "b"]}
UNTOLD = "what its tools answered cannot be told"


def said(*answers: dict[str, Any] | None, **changes: Any) -> list[str]:
    trials = [
        make_trial("canopy", agent=at, tool_answers=one, **changes)
        for at, one in enumerate(answers, 1)
    ]
    (standing,) = summarise(make_session(make_trial(), *trials)).headline.standings
    return list(standing.qualifications)


@pytest.mark.parametrize(
    ("answers", "number"),
    [
        ({FIND: {"answers": 20, "empty": 19}}, 1),
        ({FIND: {"answers": 2, "empty": 1}}, 1),
        ({FIND: {"answers": 20, "empty": 9}}, 0),
        ({FIND: {"answers": 20, "empty": 20}}, 1),
        ({FIND: {"answers": 4, "empty": 3}, READ: {"answers": 20}}, 1),
        ({FIND: {"answers": 4, "empty": 4}, READ: {"answers": 2, "empty": 1}}, 2),
        ({FIND: {"answers": 1, "empty": 1}, READ: {"answers": 3}}, 0),
        ({FIND: {"answers": 2, "empty": 1, "errors": 1}}, 2),
        ({FIND: {"answers": 4, "empty": 2, "questions": ["q", "r"], "different": ["a"]}}, 2),
    ],
)
def test_answers_that_are_often_empty_qualify(
    answers: dict[str, Any], number: int, golden: Sentences
) -> None:
    assert len(said(answers)) == number
    golden(*said(answers))


def test_error_texts_are_counted_and_one_can_be_looked_into(golden: Sentences) -> None:
    good, bad = {FIND: {**GOOD, "answers": 4}}, {FIND: {**GOOD, "errors": 1}}
    for answers, runs in (([good, bad, good], 1), ([bad, bad, {READ: GOOD}], 2)):
        trials = [
            make_trial("canopy", agent=at, tool_answers=one, run=runs)
            for at, one in enumerate(answers, 1)
        ]
        data = make_session(make_trial(), *trials, runs=runs)
        (caveat,) = find_hollow_answers(get_mode_trials(Selection(data, METRICS), "canopy"))
        golden(caveat.qualification, caveat.warning or "")
        at = "canopy/agent-2." if runs == 1 else "run-2/canopy/agent-1."
        assert f" {at}stream.jsonl." in (caveat.warning or "")


@pytest.mark.parametrize(
    "hidden", [None, {FIND: {"answers": 2, "hidden": 2}, READ: {"answers": 1, "hidden": 1}}]
)
def test_answers_that_nobody_sees_qualify(hidden: dict[str, Any] | None, golden: Sentences) -> None:
    assert said(hidden) == [UNTOLD]
    golden(*said(hidden, {FIND: GOOD}))
    assert said(hidden, retrieval="unused") == ["not used in 1 of 1 trial"]
    shown = make_trial("canopy", tool_answers={FIND: GOOD})
    found = summarise(
        make_session(make_trial(), shown, make_trial("canopy", agent=2, tool_answers=hidden))
    )
    golden(*[one for one in found.warnings if UNTOLD in one])


def test_answers_that_are_images_qualify_as_such(golden: Sentences) -> None:
    images = {FIND: {"answers": 3, "hidden": 3, "images": 3}}
    golden(*said(images), *said(images, {FIND: GOOD}), *said(images, None))
    assert said({FIND: {"answers": 3, "hidden": 3, "images": 2}}) == [UNTOLD]
    assert said(images, retrieval="unused") == ["not used in 1 of 1 trial"]


def test_an_answer_that_is_shown_tells() -> None:
    assert said({FIND: {**GOOD, "answers": 3, "hidden": 1}}) == []


def test_answered_calls_of_which_no_answer_is_found_qualify() -> None:
    """As with a command file whose `answers` look at the wrong place."""
    assert said({}, evidence={"calls": 2, "retrieved": 2}) == [UNTOLD]
    assert said({"mcp__other__find": GOOD}, evidence={"calls": 2, "retrieved": 2}) == [UNTOLD]
    # Its use was proved by the counters alone.
    assert said({}, evidence={"calls": 0, "retrieved": 0}) == []


KEYS = tuple(
    {"id": f"t{n}", "title": "T", "prompt": f"{n}?", "key": {"files": [f"{n}.py"]}}
    for n in range(10)
)


@pytest.mark.parametrize(("asked", "empty", "number"), [(2, 1, 0), (4, 1, 0), (5, 1, 1), (2, 2, 1)])
def test_a_tool_that_few_tasks_asked_gave_nothing_often_only_where_it_never_answered(
    asked: int, empty: int, number: int
) -> None:
    rare = {FIND: {**GOOD, "empty": empty}}
    trials = [
        make_trial(
            "canopy", agent=at, task_id=f"t{at}", task=f"t{at}",
            tool_answers={READ: {**GOOD, "answers": 3}, **(rare if at < asked else {})},
        )
        for at in range(10)
    ]  # fmt: skip
    data = make_session(make_trial(task_id="t0"), *trials, tasks=KEYS)
    assert (
        len(list(find_hollow_answers(get_mode_trials(Selection(data, METRICS), "canopy"))))
        == number
    )


@pytest.mark.parametrize(
    ("answers", "asked", "number"),
    [
        ("aaaaaaaaab", "0123456789", 1),
        ("aaaaaaaabb", "0123456789", 1),
        ("aaaaaaabbb", "0123456789", 0),
        ("aaaaaaaaab", "0000000001", 0),  # the overview of a repository
        ("abcdefghij", "0123456789", 0),
    ],
)
def test_one_answer_to_most_questions_qualifies(
    answers: str, asked: str, number: int, golden: Sentences
) -> None:
    """It is evidence all the same: some questions got another one."""
    trials = [
        make_trial(
            "canopy", agent=at, task_id=f"t{at}", task=f"t{at}",
            tool_answers={FIND: {"answers": 1, "questions": [question], "different": [answer]}},
        )
        for at, (question, answer) in enumerate(zip(asked, answers, strict=True))
    ]  # fmt: skip
    data = make_session(make_trial(task_id="t0"), *trials, tasks=KEYS)
    found = tuple(find_hollow_answers(get_mode_trials(Selection(data, METRICS), "canopy")))
    assert [it.is_void for it in found] == [False] * number
    golden(*[it.warning or "" for it in found])
