"""What a model or a tool wrote is never read as the program's own failure, and the program's own
words are, in every adapter."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.core.entry_points import load
from swarm_bench.core.outcome import AgentExit, Outcome
from swarm_bench.core.status import Cause
from tests.agents.command.command_files import agent as command_agent

WORDS = (
    "The login is checked in `shop/auth.py`; /login redirects there.",
    "Not logged in users are sent to `shop/login.py`.",
    "Invalid API key errors come from `shop/keys.py`: authentication failed, 401 Unauthorized.",
    "A 429 rate limit is in `limits.py`: quota exceeded, insufficient_quota, usage limit reached.",
    "The context length exceeded error (context_length_exceeded) is raised in `model.py`.",
    "Safety: recitation is blocked by content_filter in `policy.py`, reason: max_output_tokens.",
    "`billing.py` prints: Credit balance is too low, payment required (402).",
    "Connections: `socket.py` and `stream.py` connect with a timeout; overloaded servers get 503.",
)
Event = dict[str, Any]


def _claude(text: str) -> list[Event]:
    said = {"id": "m", "model": "m", "content": [{"type": "text", "text": text}]}
    return [
        {"type": "assistant", "message": said},
        {"type": "result", "subtype": "success", "is_error": False, "result": text},
    ]


def _codex(text: str) -> list[Event]:
    item = {"id": "i", "type": "agent_message", "text": text}
    return [
        {"type": "thread.started"},
        {"type": "item.completed", "item": item},
        {"type": "turn.completed", "usage": {}},
    ]


def _gemini(text: str) -> list[Event]:
    return [
        {"type": "init"},
        {"type": "message", "role": "assistant", "content": text},
        {"type": "result", "status": "success"},
    ]


def _opencode(text: str) -> list[Event]:
    return [
        {"type": "step_start"},
        {"type": "text", "part": {"text": text}},
        {"type": "step_finish", "part": {"reason": "stop"}},
    ]


ANSWERING: dict[str, Callable[[str], list[Event]]] = {
    "claude": _claude, "qwen": _claude, "codex": _codex, "gemini": _gemini, "opencode": _opencode,
}  # fmt: skip


def read(folder: Path, agent: str, stdout: str, stderr: str = "", code: int = 0) -> Outcome:
    (folder / "out").write_text(stdout)
    (folder / "err").write_text(stderr)
    end = AgentExit(returncode=code, stopped=None, stdout=folder / "out", stderr=folder / "err")
    outcome: Outcome = load("agents", agent)().outcome(end)
    return outcome


def lines(events: Sequence[object]) -> str:
    return "".join(json.dumps(event) + "\n" for event in events)


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("agent", ANSWERING)
def test_an_answer_may_speak_of_anything(agent: str, words: str, tmp_path: Path) -> None:
    log = f"2026-11-25T10:00:00Z ERROR tool said: {words}\n[debug] model: {words}\n"
    outcome = read(tmp_path, agent, lines(ANSWERING[agent](words)), log)
    assert (outcome.cause, outcome.text) == (Cause.FINISHED, words)


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("agent", ANSWERING)
@pytest.mark.parametrize("code", [0, 1])
def test_plain_text_is_no_message_of_the_program(
    agent: str, words: str, code: int, tmp_path: Path
) -> None:
    """Of a wrapper that prints the answer, or a program that logs it."""
    log = f"[debug] the model said: {words}\n    {words}\n"
    cause = read(tmp_path, agent, words + "\n", log, code).cause
    assert cause is (Cause.EXIT_CODE if code else Cause.UNREADABLE_OUTPUT)
    cause = read(tmp_path, agent, "", log, code).cause
    assert cause is Cause.NO_OUTPUT


@pytest.mark.parametrize("words", WORDS)
def test_a_file_of_ones_own_looks_beside_the_answer(words: str, tmp_path: Path) -> None:
    pattern = "(?i)rate limit|quota|log(?:ged )?in|api key|context|safety|billing|connect|timeout"
    rules = [{"cause": "rate-limited", "when": {"pattern": pattern, "stream": "stdout"}}]
    for format, printed in (("json", json.dumps({"answer": words})), ("text", f"> {words}\n")):
        answer = {"pattern": "^> (.*)$"} if format == "text" else "$.answer"
        made = command_agent(tmp_path, output={"format": format, "answer": answer}, failures=rules)
        for extra, cause in (("", Cause.FINISHED), ("\nrate limit\n", Cause.RATE_LIMITED)):
            (tmp_path / "out").write_text(printed + (extra if format == "text" else ""))
            (tmp_path / "err").touch()
            end = AgentExit(
                returncode=0, stopped=None, stdout=tmp_path / "out", stderr=tmp_path / "err"
            )
            if extra == "" or format == "text":
                assert made.outcome(end).cause is cause


def test_what_codex_logs_of_a_tool_is_no_event(tmp_path: Path) -> None:
    quoted = (
        'INFO codex_otel.trace_safe: event.name="codex.api_request" http.response.status_code=200 '
    )
    log = f"2026-11-25T10:00:00Z ERROR codex_core::tools: output={quoted}\n{quoted}\n"
    log += "2026-11-25T10:00:00Z ERROR codex_core::tools: Error loading config: no\n"
    outcome = read(tmp_path, "codex", lines([{"type": "thread.started"}]), log, code=1)
    assert (outcome.cause, outcome.turn_usage) == (Cause.EXIT_CODE, None)
    codex = load("agents", "codex")()
    assert all(codex.activity(line) is None for line in log.encode().split(b"\n"))


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("Credit balance is too low", Cause.NO_CREDIT),
        ("Invalid API key · Please run /login", Cause.NOT_AUTHORIZED),
        ('API Error: 402 {"error": {"message": "Insufficient credits"}}', Cause.NO_CREDIT),
        (
            'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"no"}}',
            Cause.PROVIDER_FAILED,
        ),
        (
            'API Error: 400 {"error":{"type":"invalid_request_error","message":"input length and '
            '`max_tokens` exceed context limit: 190000 + 20000 > 200000"}}',
            Cause.CONTEXT_OVERFLOW,
        ),
        ("API Error: 522 <html>", Cause.PROVIDER_FAILED),
        ("5-hour limit reached ∙ resets 3pm", Cause.NO_CREDIT),
        (
            'API Error: 403 {"error": {"message": "Key limit exceeded (monthly limit)"}}',
            Cause.NO_CREDIT,
        ),
        ("Command failed: not logged in to the registry", Cause.ERROR_RESULT),
    ],
)
def test_claudes_own_words(message: str, cause: Cause, tmp_path: Path) -> None:
    failed = {"type": "result", "subtype": "success", "is_error": True, "result": message}
    assert read(tmp_path, "claude", lines([failed]), code=1).cause is cause
    if cause is not Cause.ERROR_RESULT:
        assert read(tmp_path, "claude", message + "\n", code=1).cause is cause
        assert (
            read(tmp_path, "claude", "", f"warming up\nError: {message}\n", code=1).cause is cause
        )


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("You've hit your usage limit. Upgrade to Pro or try again in 3 days.", Cause.NO_CREDIT),
        (
            'unexpected status 429 Too Many Requests: {"error": {"code": "insufficient_quota"}}',
            Cause.NO_CREDIT,
        ),
        ("unexpected status 402 Payment Required: no", Cause.NO_CREDIT),
        ("exceeded retry limit, last status: 429 Too Many Requests", Cause.RATE_LIMITED),
        (
            "stream disconnected before completion: Rate limit reached. Try again in 11s",
            Cause.RATE_LIMITED,
        ),
        ("unexpected status 418 I'm a teapot", Cause.PROVIDER_FAILED),
        ("The tool `connect` said: timeout, rate limit, flagged", Cause.ERROR_RESULT),
    ],
)
def test_codex_own_words(message: str, cause: Cause, tmp_path: Path) -> None:
    events = [{"type": "thread.started"}, {"type": "turn.failed", "error": {"message": message}}]
    assert read(tmp_path, "codex", lines(events), code=1).cause is cause


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        (
            '[API Error: {"error":{"code":429,"message":"no","status":"RESOURCE_EXHAUSTED"}}]',
            Cause.RATE_LIMITED,
        ),
        ("You have exhausted your daily quota on this model.", Cause.NO_CREDIT),
        (
            "[API Error: You exceeded your current quota, check your plan and billing.]",
            Cause.NO_CREDIT,
        ),
        ("[API Error: 402 Insufficient Balance]", Cause.NO_CREDIT),
        ("[API Error: 500 no]", Cause.PROVIDER_FAILED),
        (
            "Error executing tool read_file: safety.py: rate limit, quota, timeout",
            Cause.ERROR_RESULT,
        ),
    ],
)
@pytest.mark.parametrize("agent", ["gemini", "qwen"])
def test_geminis_and_qwens_own_words(
    agent: str, message: str, cause: Cause, tmp_path: Path
) -> None:
    gemini: Event = {"type": "result", "status": "error", "error": {"message": message}}
    qwen = {
        "type": "result",
        "subtype": "error_during_execution",
        "is_error": True,
        "error": {"message": message},
    }
    failed = {"gemini": gemini, "qwen": qwen}[agent]
    assert read(tmp_path, agent, lines([{"type": "init"}, failed]), code=1).cause is cause


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (
            {"name": "APIError", "data": {"message": "Insufficient credits", "statusCode": 402}},
            Cause.NO_CREDIT,
        ),
        (
            {
                "name": "APIError",
                "data": {"message": "You exceeded your current quota", "statusCode": 429},
            },
            Cause.NO_CREDIT,
        ),
        ({"name": "APIError", "data": {"message": "no idea"}}, Cause.PROVIDER_FAILED),
        (
            {"name": "APIError", "data": {"message": "busy", "statusCode": 598}},
            Cause.PROVIDER_FAILED,
        ),
        (
            {"name": "UnknownError", "data": {"message": "ENOENT: src/stream/connect.ts"}},
            Cause.ERROR_RESULT,
        ),
        ({"name": "ProviderAuthError", "data": {"message": "no"}}, Cause.NOT_AUTHORIZED),
    ],
)
def test_opencodes_own_errors(error: Event, cause: Cause, tmp_path: Path) -> None:
    events = [{"type": "step_start"}, {"type": "error", "error": error}]
    assert read(tmp_path, "opencode", lines(events), code=1).cause is cause


REFUSALS = (
    ("More usage is needed for such contexts · run /buy-usage", Cause.PROVIDER_FAILED),
    ("Prepaid credits are depleted, see the console", Cause.NO_CREDIT),
    ("The usage limit has been reached for today", Cause.NO_CREDIT),
    ("You’ve hit your usage limit", Cause.NO_CREDIT),
    ("Nobody has room for this model", Cause.PROVIDER_FAILED),
    ("The model is overloaded. Please wait.", Cause.PROVIDER_FAILED),
    ("While compacting: too many requests", Cause.RATE_LIMITED),
)


def _failing(agent: str, message: str) -> list[Event]:
    """What a program prints that says that its model did not answer."""
    start: dict[str, list[Event]] = {
        "claude": [{"type": "result", "subtype": "success", "is_error": True, "result": message}],
        "codex": [
            {"type": "thread.started"},
            {"type": "turn.failed", "error": {"message": message}},
        ],
        "gemini": [
            {"type": "init"},
            {"type": "result", "status": "error", "error": {"message": message}},
        ],
        "opencode": [
            {"type": "error", "error": {"name": "UnknownError", "data": {"message": message}}}
        ],
    }
    return start[agent]


@pytest.mark.parametrize(("message", "cause"), REFUSALS)
@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "opencode"])
def test_what_a_program_calls_a_failure_is_its_providers(
    agent: str, message: str, cause: Cause, tmp_path: Path
) -> None:
    outcome = read(tmp_path, agent, lines(_failing(agent, message)), code=1)
    assert (outcome.cause, outcome.text) == (cause, None)


@pytest.mark.parametrize("agent", ANSWERING)
@pytest.mark.parametrize(
    "line",
    [
        "ERROR: Quota exceeded, see your plan",
        'Error: 402 {"error": {"message": "no"}}',
        "litellm.BudgetError: insufficient credits",
        "Error running a remote task: the usage limit has been reached",
        "[API Error: 402 no balance]",
    ],
)
def test_what_failed_before_any_answer_is_judged_by_its_last_errors(
    agent: str, line: str, tmp_path: Path
) -> None:
    for stdout, stderr in (("", f"starting\n{line}\n  at it\n"), (f"{line}\n", "")):
        assert read(tmp_path, agent, stdout, stderr, code=1).cause is Cause.NO_CREDIT
    said = lines(ANSWERING[agent]("It is in `a.py`.")[:-1])
    if agent != "gemini":  # which prints on standard error what its requests came to
        assert read(tmp_path, agent, said, line, code=1).cause is Cause.EXIT_CODE
    assert read(tmp_path, agent, "", "Error: ENOENT: quota exceeded.py\n", code=1).cause is (
        Cause.NO_OUTPUT
    )


@pytest.mark.parametrize("code", [134, -11, 1, None])
@pytest.mark.parametrize("agent", ANSWERING)
def test_what_fails_after_its_answer_has_answered(
    agent: str, code: int | None, tmp_path: Path
) -> None:
    (tmp_path / "out").write_text(lines(ANSWERING[agent]("It is in `a.py`.")))
    (tmp_path / "err").write_text("Segmentation fault: rate limit\n")
    end = AgentExit(returncode=code, stopped=None, stdout=tmp_path / "out", stderr=tmp_path / "err")
    outcome: Outcome = load("agents", agent)().outcome(end)
    assert (outcome.cause, outcome.text) == (Cause.FINISHED, "It is in `a.py`.")
    assert outcome.detail is not None
    empty = ANSWERING[agent](" ")
    assert read(tmp_path, agent, lines(empty), code=3).text is None


@pytest.mark.parametrize("agent", ANSWERING)
def test_a_run_that_began_and_has_no_end_is_lost(agent: str, tmp_path: Path) -> None:
    start = {"claude": {"type": "system", "subtype": "init"}, "codex": {"type": "thread.started"}}
    start |= {
        "gemini": {"type": "message", "role": "assistant"},
        "opencode": {"type": "step_start"},
    }
    start["qwen"] = start["claude"]
    assert read(tmp_path, agent, lines([start[agent]])).cause is Cause.OUTPUT_CUT
    called = {"type": "step_finish", "part": {"reason": "tool-calls"}}
    if agent == "opencode":
        assert read(tmp_path, agent, lines([start[agent], called])).cause is Cause.OUTPUT_CUT


@pytest.mark.parametrize(
    "answer",
    [
        '[API Error: {\n  "code": 429, "message": "slow"\n}]\nRate limiting detected, wait.',
        "It may be in\n[API Error: 429 slow]",
    ],
)
def test_an_answer_that_ends_with_qwens_error_is_none(answer: str, tmp_path: Path) -> None:
    outcome = read(tmp_path, "qwen", lines(_claude(answer)))
    assert (outcome.cause, outcome.text) == (Cause.RATE_LIMITED, None)


def test_a_last_message_of_claudes_own_with_an_error_is_no_answer(tmp_path: Path) -> None:
    said, result = _claude("Cap reached")
    own = {**said, "message": {**said["message"], "model": "<synthetic>"}, "error": "billing_error"}
    for events in ([own, result], [own]):
        outcome = read(tmp_path, "claude", lines(events))
        assert (outcome.cause, outcome.text) == (Cause.NO_CREDIT, None)
    after = read(tmp_path, "claude", lines([own, *_claude("It is in `a.py`.")]))
    assert after.text == "It is in `a.py`."


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("The server `docs`: rate limit", Cause.ERROR_RESULT),
        ("You have exhausted your daily quota", Cause.NO_CREDIT),
    ],
)
def test_what_gemini_complains_of_beside_a_success(
    message: str, cause: Cause, tmp_path: Path
) -> None:
    said, end = _gemini("It is in `a.py`.")[1:]
    events = [{"type": "init"}, said, {"type": "error", "message": message}, end]
    assert read(tmp_path, "gemini", lines(events)).cause is cause


def test_a_close_without_a_text_leaves_the_text_before_it(tmp_path: Path) -> None:
    text = "It is in `a.py`."
    first, last = _codex(text), _codex("")
    assert read(tmp_path, "codex", lines([*first[:-1], *last[1:]])).text == text
    once = _opencode(text)
    again = [{"type": "step_start"}, once[-1]]
    error = {"type": "error", "error": {"name": "UnknownError", "data": {"message": "late"}}}
    for events in ([*once, *again], [*once, error]):
        assert read(tmp_path, "opencode", lines(events)).text == text


class TestLostEnds:
    """An answer beside an empty, missing or cut end."""

    TEXT = "It is in `shop/tax.py`."
    END: dict[str, Event] = {
        "claude": {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "result": "It is " * 80,
        },
        "codex": {
            "type": "turn.completed",
            "usage": {"input_tokens": 10, "output_tokens": 3, "x": "y" * 300},
        },
        "gemini": {"type": "result", "status": "success", "stats": {"x": "y" * 300}},
        "opencode": {"type": "step_finish", "part": {"reason": "stop", "x": "y" * 300}},
    }
    END["qwen"] = END["claude"]

    @pytest.mark.parametrize("agent", ANSWERING)
    def test_a_missing_end_counts_with_the_last_text(self, agent: str, tmp_path: Path) -> None:
        events = lines(ANSWERING[agent](self.TEXT)[:-1])
        outcome = read(tmp_path, agent, events)
        assert (outcome.cause, outcome.text) == (Cause.FINISHED, self.TEXT)
        assert outcome.usage.output is None
        assert outcome.payload is None
        assert outcome.detail is not None
        assert read(tmp_path, agent, events, code=1).text is None

    @pytest.mark.parametrize("agent", ANSWERING)
    def test_a_cut_end_is_said(self, agent: str, tmp_path: Path) -> None:
        cut = json.dumps(self.END[agent])[:150]
        outcome = read(tmp_path, agent, lines(ANSWERING[agent](self.TEXT)[:-1]) + cut)
        assert (outcome.cause, outcome.text) == (Cause.FINISHED, self.TEXT)
        assert "150 bytes" in (outcome.detail or "")

    @pytest.mark.parametrize("agent", ANSWERING)
    def test_what_is_cut_elsewhere_is_lost_and_not_wrong(self, agent: str, tmp_path: Path) -> None:
        said = lines(ANSWERING[agent](self.TEXT)[:-1])
        outcome = read(tmp_path, agent, said + said.splitlines()[-1][:40])
        assert (outcome.cause, outcome.text) == (Cause.OUTPUT_CUT, None)
        assert "40 bytes" in (outcome.detail or "")

    @pytest.mark.parametrize("agent", ["claude", "qwen"])
    @pytest.mark.parametrize("end", ["", " \n", None])
    def test_an_empty_end_is_not_the_answer(
        self, agent: str, end: str | None, tmp_path: Path
    ) -> None:
        said, result = _claude(self.TEXT)
        empty = {**result, "result": end}
        noise = {"type": "rate_limit_event"}
        child = {**_claude("A sub-agent says so.")[0], "parent_tool_use_id": "t"}
        outcome = read(tmp_path, agent, lines([said, child, noise, empty]))
        assert (outcome.cause, outcome.text) == (Cause.FINISHED, self.TEXT)
        call = {
            "id": "n",
            "model": "m",
            "content": [{"type": "tool_use", "id": "t", "name": "Read"}],
        }
        answer = {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]}
        called = [{"type": "assistant", "message": call}, {"type": "user", "message": answer}]
        outcome = read(tmp_path, agent, lines([said, *called, {**result, "result": ""}]))
        assert (outcome.cause, outcome.text) == (Cause.EMPTY_ANSWER, None)

    def test_a_document_that_is_cut_is_lost(self, tmp_path: Path) -> None:
        (tmp_path / "err").touch()
        (tmp_path / "out").write_text('log\n{\n  "answer": "It is in')
        end = AgentExit(
            returncode=0, stopped=None, stdout=tmp_path / "out", stderr=tmp_path / "err"
        )
        outcome = command_agent(tmp_path).outcome(end)
        assert (outcome.cause, outcome.text) == (Cause.OUTPUT_CUT, None)

    def test_figures_before_a_cut_line_are_no_figures(self, tmp_path: Path) -> None:
        output = {
            "format": "json-lines",
            "answer": "$[*].answer",
            "tokens": {"input": {"path": "$[*].in", "take": "sum"}},
        }
        (tmp_path / "err").touch()
        (tmp_path / "out").write_text('{"answer": "a", "in": 5}\n{"in": 7, "more": "')
        end = AgentExit(
            returncode=0, stopped=None, stdout=tmp_path / "out", stderr=tmp_path / "err"
        )
        outcome = command_agent(tmp_path, output=output).outcome(end)
        assert (outcome.cause, outcome.text, outcome.usage.input) == (Cause.FINISHED, "a", None)
