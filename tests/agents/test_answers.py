"""Where an answer stands among what programs print last, and what beside it is none."""

import os
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.core.entry_points import load
from swarm_bench.core.outcome import AgentExit, Outcome
from swarm_bench.core.status import Cause
from tests.agents.test_own_words import lines, read

ANSWER = "It is in `shop/tax.py`."
Event = dict[str, Any]


def says(text: str, message: str = "m1", model: str = "claude-sonnet-5", **more: Any) -> Event:
    content = [{"type": "text", "text": text}]
    usage = {"input_tokens": 10, "output_tokens": 2}
    said = {"id": message, "model": model, "content": content, "usage": usage}
    return {"type": "assistant", "message": said, **more}


def result(text: str, **more: Any) -> Event:
    return {"type": "result", "subtype": "success", "is_error": False, "result": text, **more}


def item(kind: str, done: bool = True, **fields: Any) -> Event:
    event = "item.completed" if done else "item.started"
    return {"type": event, "item": {"type": kind, **fields}}


def killed(folder: Path, agent: str, events: list[Event], stderr: str, *, later: bool) -> Outcome:
    """Read a run that the time limit ended; its log was written `later` than its events, or not."""
    (out := folder / "out").write_text(lines(events))
    (err := folder / "err").write_text(stderr)
    os.utime(out, (1_000, 1_000))
    os.utime(err, (1_001 if later else 999,) * 2)
    end = AgentExit(returncode=-15, stopped="timeout", stdout=out, stderr=err)
    outcome: Outcome = load("agents", agent)().outcome(end)
    return outcome


@pytest.mark.parametrize("status", ["completed", "failed", "in_progress"])
def test_a_command_that_codex_closes_at_the_end_of_its_turn_takes_no_answer_away(
    status: str, tmp_path: Path
) -> None:
    events = [
        {"type": "thread.started"},
        item("command_execution", done=False, id="i0", command="make serve"),
        item("agent_message", id="i1", text=ANSWER),
        item("command_execution", id="i0", command="make serve", status=status),
        {"type": "turn.completed", "usage": {}},
    ]
    outcome = read(tmp_path, "codex", lines(events))
    assert (outcome.cause, outcome.text) == (Cause.FINISHED, ANSWER)


def test_a_call_of_codex_that_is_only_printed_when_it_is_done_takes_the_remark_before_it(
    tmp_path: Path,
) -> None:
    events = [
        {"type": "thread.started"},
        item("agent_message", id="i1", text="I look into `shop/cart.py`."),
        item("file_change", id="i2", changes=[]),
        {"type": "turn.completed", "usage": {}},
    ]
    assert read(tmp_path, "codex", lines(events)).text is None


@pytest.mark.parametrize("agent", ["claude", "qwen"])
@pytest.mark.parametrize(
    "part", ["It is in", " `shop/tax.py`.", "It is in `shop/tax.py`.", "", "  \n"]
)
def test_the_whole_last_message_is_the_answer_where_the_result_has_a_part_of_it(
    agent: str, part: str, tmp_path: Path
) -> None:
    events = [says("It is in"), says(" `shop/tax.py`."), result(part)]
    outcome = read(tmp_path, agent, lines(events))
    assert (outcome.cause, outcome.text) == (Cause.FINISHED, ANSWER)


@pytest.mark.parametrize("agent", ["claude", "qwen"])
def test_the_result_counts_where_it_is_no_part_of_the_last_message(
    agent: str, tmp_path: Path
) -> None:
    events = [says("I think about it."), result(ANSWER)]
    assert read(tmp_path, agent, lines(events)).text == ANSWER


def test_a_text_is_not_joined_with_that_of_the_request_before(tmp_path: Path) -> None:
    thought: Event = says("", message="m2")
    thought["message"]["content"] = [{"type": "thinking", "thinking": "hm"}]
    events = [says("It may be"), thought, says(ANSWER, message="m2"), result("")]
    assert read(tmp_path, "claude", lines(events)).text == ANSWER


@pytest.mark.parametrize(
    ("words", "mark", "cause"),
    [
        ("Spending cap reached resets 9pm", {}, Cause.NO_CREDIT),
        ("API Error: 529 Overloaded", {}, Cause.PROVIDER_FAILED),
        ("Something new went wrong", {"isApiErrorMessage": True}, Cause.PROVIDER_FAILED),
        ("Something new went wrong", {"is_api_error_message": True}, Cause.PROVIDER_FAILED),
        ("No response requested.", {}, Cause.EMPTY_ANSWER),
        ("(no content)", {}, Cause.EMPTY_ANSWER),
    ],
)
def test_what_claude_says_in_the_place_of_its_model_is_no_answer(
    words: str, mark: Event, cause: Cause, tmp_path: Path
) -> None:
    events = [says(words, model="<synthetic>", **mark), result(words)]
    outcome = read(tmp_path, "claude", lines(events))
    assert (outcome.cause, outcome.text) == (cause, None)


def test_the_answer_before_what_claude_says_in_the_place_of_its_model_counts(
    tmp_path: Path,
) -> None:
    events = [says(ANSWER), says("No response requested.", "m2", "<synthetic>"), result("")]
    outcome = read(tmp_path, "claude", lines(events))
    assert (outcome.cause, outcome.text) == (Cause.FINISHED, ANSWER)


NOTHING_ASKED = {"subtype": "error_during_execution", "is_error": True, "num_turns": 0}


@pytest.mark.parametrize("agent", ["claude", "qwen"])
@pytest.mark.parametrize("code", [0, 1])
def test_an_error_behind_an_answer_for_which_nothing_was_asked_is_no_result(
    agent: str, code: int, tmp_path: Path
) -> None:
    late = {**result(""), **NOTHING_ASKED, "errors": ["only prompt commands are supported"]}
    outcome = read(
        tmp_path, agent, lines([says(ANSWER), result(ANSWER, num_turns=1), late]), code=code
    )
    assert (outcome.cause, outcome.text) == (Cause.FINISHED, ANSWER)
    assert read(tmp_path, agent, lines([late]), code=code).cause is not Cause.FINISHED
    asked = {**late, "num_turns": 2}
    outcome = read(tmp_path, agent, lines([says(ANSWER), result(ANSWER), asked]), code=code)
    assert outcome.cause is not Cause.FINISHED


@pytest.mark.parametrize("code", [1, 41, 52])
def test_gemini_without_a_login_failed_to_authenticate(code: int, tmp_path: Path) -> None:
    words = "Please set an Auth method in your settings.json or specify one of: GEMINI_API_KEY\n"
    outcome = read(tmp_path, "gemini", "", f"Warning: x\n{words}", code=code)
    assert outcome.cause is Cause.NOT_AUTHORIZED


@pytest.mark.parametrize("severity", ["warning", "error"])
def test_a_complaint_of_gemini_counts_only_while_its_model_says_nothing(
    severity: str, tmp_path: Path
) -> None:
    complaint = {"type": "error", "severity": severity, "message": "MCP server x: rate limit"}
    answer = {"type": "message", "role": "assistant", "content": ANSWER}
    end = {"type": "result", "status": "success"}
    outcome = read(tmp_path, "gemini", lines([{"type": "init"}, complaint, answer, end]))
    assert (outcome.cause, outcome.text) == (Cause.FINISHED, ANSWER)
    outcome = read(tmp_path, "gemini", lines([{"type": "init"}, answer, complaint, end]))
    assert outcome.cause is not Cause.FINISHED


ATTEMPT = "Attempt 3 failed with status 429. Retrying with backoff...\n"
WORKING: list[Event] = [
    {"type": "init"},
    {"type": "tool_use", "tool_id": "t", "tool_name": "read_file"},
    {"type": "tool_result", "tool_id": "t", "status": "success", "output": "x"},
]


@pytest.mark.parametrize(
    ("events", "stderr", "later", "cause"),
    [
        (WORKING, ATTEMPT, True, Cause.RATE_LIMITED),
        (WORKING, ATTEMPT, False, Cause.TIMEOUT),  # it was answered since
        (WORKING, "", True, Cause.TIMEOUT),
        ([{"type": "init"}], ATTEMPT, False, Cause.RATE_LIMITED),
    ],
)
def test_gemini_that_waits_for_its_provider_at_the_time_limit_has_no_result(
    events: list[Event], stderr: str, later: bool, cause: Cause, tmp_path: Path
) -> None:
    assert killed(tmp_path, "gemini", events, stderr, later=later).cause is cause


def test_opencode_that_stays_after_an_error_has_no_result(tmp_path: Path) -> None:
    error = {"name": "APIError", "data": {"message": "Insufficient balance", "statusCode": 402}}
    events: list[Event] = [{"type": "step_start"}, {"type": "error", "error": error}]
    assert killed(tmp_path, "opencode", events, "", later=False).cause is Cause.NO_CREDIT
    assert killed(tmp_path, "opencode", events[:1], "", later=False).cause is Cause.TIMEOUT


@pytest.mark.parametrize(
    ("asked", "answered", "recorded"),
    [
        ("claude-opus-5[1m]", "claude-opus-5", "claude-opus-5[1m]"),
        ("claude-sonnet-5", "claude-sonnet-5-20260929", "claude-sonnet-5"),
        (
            "us.anthropic.claude-sonnet-5-v1:0",
            "claude-sonnet-5",
            "us.anthropic.claude-sonnet-5-v1:0",
        ),
        ("claude-opus-5", "claude-haiku-5", "claude-haiku-5"),
        (None, "claude-haiku-5", "claude-haiku-5"),
    ],
)
def test_the_model_of_claude_is_the_one_that_answered(
    asked: str | None, answered: str, recorded: str, tmp_path: Path
) -> None:
    init = {"type": "system", "subtype": "init", "model": asked}
    events = [init, says(ANSWER, model=answered), result(ANSWER)]
    assert read(tmp_path, "claude", lines(events)).model == recorded


@pytest.mark.parametrize(
    ("asked", "models", "recorded"),
    [
        ("gemini-3-pro", {"gemini-3-pro": 120, "gemini-3-lite": 9}, "gemini-3-pro"),
        ("gemini-3-pro", {"gemini-3-pro": 0, "gemini-3-flash": 120}, "gemini-3-flash"),
        ("gemini-3-pro", {"gemini-3-flash": 120, "gemini-3-lite": 9}, "gemini-3-pro"),
        ("auto", {"gemini-3-flash": 120}, "gemini-3-flash"),
        ("gemini-3-pro", {"gemini-3-pro": 0}, "gemini-3-pro"),
        ("gemini-3-pro", {}, "gemini-3-pro"),
    ],
)
def test_the_model_of_gemini_is_the_one_that_answered(
    asked: str, models: dict[str, int], recorded: str, tmp_path: Path
) -> None:
    by_model = {name: {"total_tokens": tokens} for name, tokens in models.items()}
    events = [
        {"type": "init", "model": asked},
        {"type": "message", "role": "assistant", "content": ANSWER},
        {"type": "result", "status": "success", "stats": {"models": by_model}},
    ]
    assert read(tmp_path, "gemini", lines(events)).model == recorded


@pytest.mark.parametrize(("stated", "turns"), [(0, None), (1, 1), (3, 3)])
def test_an_answer_takes_a_turn(stated: int, turns: int | None, tmp_path: Path) -> None:
    events = [says(ANSWER), result(ANSWER, num_turns=stated)]
    assert read(tmp_path, "claude", lines(events)).turns == turns
