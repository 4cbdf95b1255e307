"""Failures that no sample shows: what is told by fields, by names and by words alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.agents.claude.adapter import Claude
from swarm_bench.core.outcome import AgentExit, Outcome, StopReason
from swarm_bench.core.status import Cause
from tests.builders.golden import Sentences

FAILED = {"type": "result", "subtype": "success", "is_error": True, "result": "It went wrong"}
RETRY = {
    "type": "system",
    "subtype": "api_retry",
    "attempt": 1,
    "error_status": 429,
    "error": "rate_limit",
}


def read(
    folder: Path, *events: Any, stderr: str = "", stopped: StopReason | None = None
) -> Outcome:
    (folder / "out").write_text("".join(json.dumps(event) + "\n" for event in events))
    (folder / "err").write_text(stderr)
    return Claude().outcome(
        AgentExit(returncode=1, stopped=stopped, stdout=folder / "out", stderr=folder / "err")
    )


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        ({}, Cause.PROVIDER_FAILED),
        ({"stop_reason": "refusal", "api_error_status": 500}, Cause.REFUSED),
        ({"stop_reason": "model_context_window_exceeded"}, Cause.CONTEXT_OVERFLOW),
        ({"terminal_reason": "rapid_refill_breaker"}, Cause.CONTEXT_OVERFLOW),
        ({"api_error": "connection_failed"}, Cause.PROVIDER_FAILED),
        ({"api_error_status": 402}, Cause.NO_CREDIT),
        ({"api_error_status": 413}, Cause.CONTEXT_OVERFLOW),
        ({"api_error_status": 503}, Cause.PROVIDER_FAILED),
        ({"api_error_status": 418}, Cause.PROVIDER_FAILED),
        ({"api_error_status": "429"}, Cause.PROVIDER_FAILED),
        ({"api_error_status": 400, "result": "Credit balance is too low"}, Cause.NO_CREDIT),
        ({"result": "Claude AI usage limit reached|1795212423"}, Cause.NO_CREDIT),
        ({"result": "You've hit your limit · resets 3am"}, Cause.NO_CREDIT),
        ({"result": "OAuth token has expired"}, Cause.NOT_AUTHORIZED),
        ({"result": "API Error: Request timed out."}, Cause.PROVIDER_FAILED),
        ({"result": "The rate was limited by overloaded connections"}, Cause.PROVIDER_FAILED),
        ({"subtype": "error_max_structured_output_retries"}, Cause.ERROR_RESULT),
    ],
)
def test_a_failed_result(tmp_path: Path, fields: dict[str, Any], cause: Cause) -> None:
    outcome = read(tmp_path, {**FAILED, **fields})
    assert outcome.cause is cause
    assert outcome.text is None


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ("account_on_hold", Cause.NOT_AUTHORIZED),
        ("rate_limit", Cause.RATE_LIMITED),
        ("model_not_found", Cause.UNKNOWN_MODEL),
        ("invalid_request", Cause.PROVIDER_FAILED),
        (["rate_limit"], Cause.PROVIDER_FAILED),
    ],
)
def test_the_programs_own_name_of_the_error(tmp_path: Path, error: Any, cause: Cause) -> None:
    message = {"model": "<synthetic>", "content": [{"type": "text", "text": "It went wrong"}]}
    shown = {"type": "assistant", "message": message, "error": error}
    assert read(tmp_path, shown, FAILED).cause is cause
    of_a_sub_agent = {**shown, "parent_tool_use_id": "t1"}
    assert read(tmp_path, of_a_sub_agent, FAILED).cause is Cause.PROVIDER_FAILED


def test_words_on_standard_error_when_nothing_else_was_printed(
    tmp_path: Path, golden: Sentences
) -> None:
    outcome = read(tmp_path, stderr="Invalid API key · Please run /login\n")
    assert outcome.cause is Cause.NOT_AUTHORIZED
    golden(outcome.detail or "")
    outcome = read(tmp_path, stderr="error: unknown option '--odd'\n")
    assert outcome.cause is Cause.NO_OUTPUT
    golden(outcome.detail or "")


@pytest.mark.parametrize("before", ["\x1b]0;claude\x07", "\ufeff", "\x1b[31m", "\x1b[2K\r"])
def test_words_are_read_behind_what_is_for_a_terminal(tmp_path: Path, before: str) -> None:
    (tmp_path / "out").write_text(f"{before}Not logged in · Please run /login\x1b[0m\n")
    (tmp_path / "err").touch()
    exit = AgentExit(returncode=1, stopped=None, stdout=tmp_path / "out", stderr=tmp_path / "err")
    outcome = Claude().outcome(exit)
    assert outcome.cause is Cause.NOT_AUTHORIZED
    assert outcome.detail == "Not logged in · Please run /login"


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("401 lines of `shop/login.py` check it", Cause.EXIT_CODE),
        ("http 404 is answered by `app.py`", Cause.EXIT_CODE),
        ("API Error: 401 Unauthorized", Cause.NOT_AUTHORIZED),
    ],
)
def test_a_line_that_begins_with_a_number_is_no_message(
    tmp_path: Path, line: str, cause: Cause
) -> None:
    (tmp_path / "out").write_text(f"{line}\n")
    (tmp_path / "err").touch()
    exit = AgentExit(returncode=1, stopped=None, stdout=tmp_path / "out", stderr=tmp_path / "err")
    assert Claude().outcome(exit).cause is cause


def test_words_in_the_conversation_are_no_message_of_the_program(tmp_path: Path) -> None:
    block = {"type": "text", "text": "The code handles: API Error: overloaded, not logged in"}
    said = {"type": "assistant", "message": {"id": "m1", "model": "m", "content": [block]}}
    assert read(tmp_path, said).cause is Cause.EXIT_CODE


def test_a_time_out_while_the_provider_kept_it_waiting_says_so(tmp_path: Path) -> None:
    waiting = read(tmp_path, {"type": "system", "subtype": "init"}, RETRY, stopped="timeout")
    assert waiting.cause is Cause.RATE_LIMITED
    assert waiting.retries == 1
    assert waiting.detail is not None
    assert "429 rate_limit" in waiting.detail
    working = read(tmp_path, RETRY, {"type": "user", "message": {}}, stopped="timeout")
    assert working.detail is None
