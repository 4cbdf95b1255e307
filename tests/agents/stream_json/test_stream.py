"""What Claude Code prints, in all its forms and with all that can go wrong, becomes an outcome."""

import json
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.agents.reading.tool_answers import digest_answer
from swarm_bench.agents.stream_json.stream import read_activity, read_outcome
from swarm_bench.core.outcome import AgentExit, Outcome, Retrieved, StopReason, Usage
from swarm_bench.core.status import Cause

USAGE = {
    "input_tokens": 10,
    "cache_creation_input_tokens": 20,
    "cache_read_input_tokens": 30,
    "output_tokens": 5,
}
INIT = {
    "type": "system",
    "subtype": "init",
    "tools": ["Read", "mcp__canopy__canopy_query"],
    "mcp_servers": [{"name": "canopy", "status": "connected"}],
    "model": "claude-opus-4-8",
    "claude_code_version": "2.1.197",
}
RESULT = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "duration_ms": 302,
    "duration_api_ms": 159,
    "num_turns": 4,
    "result": "See `a.py:1`.",
    "total_cost_usd": 0.0125,
    "usage": USAGE,
}
CUT = {
    **{key: value for key, value in RESULT.items() if key != "result"},
    "subtype": "error_max_turns",
    "is_error": True,
    "errors": ["Reached maximum number of turns (5)"],
}


def assistant(message: str, block: dict[str, Any], **event: Any) -> dict[str, Any]:
    inner = {"id": message, "model": "claude-opus-4-8", "content": [block], "usage": USAGE}
    return {"type": "assistant", "message": inner, **event}


def tool_use(id: str, name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def tool_result(id: str, *, is_error: bool) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": id, "content": "x", "is_error": is_error}
    return {"type": "user", "message": {"role": "user", "content": [block]}}


STREAM = [
    INIT,
    assistant("m1", {"type": "text", "text": "looking"}),
    assistant("m1", tool_use("t1", "Read", file_path="a.py")),
    assistant("m1", tool_use("t2", "Read", file_path="b.py")),
    tool_result("t1", is_error=False),
    tool_result("t2", is_error=True),
    assistant("m2", tool_use("t3", "mcp__canopy__canopy_query", query="auth")),
    tool_result("t3", is_error=False),
]


def lines(*events: Any) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def read(
    folder: Path,
    stdout: bytes,
    code: int | None = 0,
    *,
    stderr: bytes = b"",
    stopped: StopReason | None = None,
    counted: bool = False,
) -> Outcome:
    (folder / "out").write_bytes(stdout)
    (folder / "err").write_bytes(stderr)
    end = AgentExit(returncode=code, stopped=stopped, stdout=folder / "out", stderr=folder / "err")
    return read_outcome(end, output_is_counted=counted)


RETRIEVED = tuple(
    Retrieved(tool=tool, turn=turn, seconds=None, tokens=None, mentions=mentions)
    for tool, turn, mentions in (
        ("Read", 1, ("a.py",)),
        ("Read", 1, ()),
        ("mcp__canopy__canopy_query", 2, ()),
    )
)


def test_a_stream_with_a_result(tmp_path: Path) -> None:
    outcome = read(tmp_path, lines(*STREAM, RESULT))
    assert outcome == Outcome(
        cause=Cause.FINISHED,
        text="See `a.py:1`.",
        usage=Usage(input=10, cache_read=30, cache_create=20, output=5),
        turn_usage=(Usage(input=10, cache_read=30, cache_create=20, output=None),) * 2,
        turns=4,
        duration_ms=302,
        api_ms=159,
        cost=0.0125,
        model="claude-opus-4-8",
        program_version="2.1.197",
        tool_calls={"Read": 2, "mcp__canopy__canopy_query": 1},
        tool_failures={"Read": 1},
        tool_unanswered={},
        tool_result_tokens={"Read": 2, "mcp__canopy__canopy_query": 1},
        tool_answers=(digest_answer("mcp__canopy__canopy_query", {"query": "auth"}, "x"),),
        retrieved=RETRIEVED,
        commands=(),
        paths=("a.py", "b.py"),
        retries=0,
        compactions=0,
        subagents=0,
        servers={"canopy": "connected"},
        tools_offered=("Read", "mcp__canopy__canopy_query"),
        payload=json.dumps(RESULT).encode(),
    )


CHARGED = {
    "inputTokens": 20,
    "cacheCreationInputTokens": 40,
    "cacheReadInputTokens": 60,
    "outputTokens": 10,
}
"""What two such requests use."""
MODELS = {"one": CHARGED, "two": CHARGED}
OF_TWO = {name: 2 * tokens for name, tokens in USAGE.items()}
SUBAGENT = [
    assistant("m3", tool_use("t4", "Agent", prompt="look")),
    assistant("m4", {"type": "text", "text": "it is in a.py"}, parent_tool_use_id="t4"),
    tool_result("t4", is_error=False),
]
LIMITED = {**CUT, "subtype": "error_max_budget_usd", "usage": OF_TWO, "modelUsage": MODELS}
BROKEN = {"type": "system", "subtype": "api_retry", "attempt": 1, "error_status": None}
OF_THREE = {name: 3 * tokens for name, tokens in USAGE.items()}


@pytest.mark.parametrize(
    ("events", "reported"),
    [
        # Two requests of its own in events that show three, or four with nothing of a sub-agent's.
        ([*STREAM, *SUBAGENT, LIMITED], None),
        ([*STREAM, assistant("m3", tool_use("t4", "Read")), LIMITED], 140),
        ([*STREAM, *SUBAGENT, {**RESULT, "usage": OF_THREE, "modelUsage": MODELS}], 105),
        ([*STREAM, BROKEN, *SUBAGENT, {**RESULT, "usage": OF_THREE, "modelUsage": MODELS}], None),
        # A result that claims more than was charged.
        ([*STREAM, {**RESULT, "usage": OF_THREE, "modelUsage": {"m": CHARGED}}], 70),
    ],
)
def test_tokens_are_of_the_requests_that_were_charged(
    events: list[dict[str, Any]], reported: int | None, tmp_path: Path
) -> None:
    outcome = read(tmp_path, lines(*events), 1)
    assert outcome.usage.reported == reported
    assert outcome.cost == RESULT["total_cost_usd"]
    assert outcome.all_in.reported in (140, 70)


def test_a_call_without_a_result_is_no_failure(tmp_path: Path) -> None:
    outcome = read(tmp_path, lines(*STREAM[:-1]), -15, stopped="timeout")
    assert outcome.tool_calls == {"Read": 2, "mcp__canopy__canopy_query": 1}
    assert outcome.tool_failures == {"Read": 1}
    assert outcome.tool_unanswered == {"mcp__canopy__canopy_query": 1}


def test_a_single_result_says_nothing_about_tools(tmp_path: Path) -> None:
    outcome = read(tmp_path, lines(RESULT))
    assert outcome.cause is Cause.FINISHED
    assert outcome.tool_calls is None
    assert outcome.servers is None
    assert outcome.tools_offered is None


@pytest.mark.parametrize(
    "printed",
    [
        json.dumps([*STREAM, RESULT]).encode(),
        json.dumps([*STREAM, RESULT], indent=2).encode(),
        json.dumps(RESULT, indent=2).encode(),
        b"warning: something\n{broken\n" + lines(*STREAM, RESULT) + b"\xff\xfe bye {\n",
        lines(*STREAM, RESULT, {"type": "system", "subtype": "task_updated"}),
        lines(*STREAM, RESULT) + b'{"type":"system","sub',
        lines(*STREAM, {**RESULT, "result": "an earlier one"}, RESULT),
        lines(RESULT).strip() + lines(RESULT),
        b"Loading [1/2]\n" + json.dumps(RESULT, indent=1).encode(),
    ],
    ids=[
        "array",
        "array over lines",
        "object over lines",
        "garbage around",
        "result not last",
        "cut line behind",
        "two results",
        "two on one line",
        "text, then an object over lines",
    ],
)
def test_the_answer_is_found(tmp_path: Path, printed: bytes) -> None:
    outcome = read(tmp_path, printed)
    assert outcome.cause is Cause.FINISHED
    assert outcome.text == "See `a.py:1`."
    assert outcome.payload is not None
    assert json.loads(outcome.payload) == RESULT
    assert outcome.payload in printed


@pytest.mark.parametrize("answer", ["", " \n"])
def test_an_empty_answer(tmp_path: Path, answer: str) -> None:
    outcome = read(tmp_path, lines({**RESULT, "result": answer}))
    assert (outcome.cause, outcome.text) == (Cause.EMPTY_ANSWER, None)


@pytest.mark.parametrize(
    ("stdout", "code", "stopped", "cause", "detail"),
    [
        (lines(CUT), 1, None, Cause.MAX_TURNS, "Reached maximum number of turns (5)"),
        (lines(RESULT), 0, "timeout", Cause.TIMEOUT, None),
        (lines(INIT), None, "output-limit", Cause.OUTPUT_LIMIT, None),
        (b" \n", 0, None, Cause.NO_OUTPUT, "Exit code 0: it broke"),
        (b"", None, None, Cause.NO_OUTPUT, "Exit code unknown: it broke"),
        (b"Error: no key\n", 1, None, Cause.EXIT_CODE, "Exit code 1: it broke"),
        (lines(INIT), -9, None, Cause.EXIT_CODE, "Exit code -9: it broke"),
        (lines(INIT), 0, None, Cause.OUTPUT_CUT, "There is no result event in the output"),
        (b"done, all fine\n", 0, None, Cause.UNREADABLE_OUTPUT, None),
        (
            lines({**RESULT, "is_error": True, "result": "API Error:\nno"}),
            1,
            None,
            Cause.PROVIDER_FAILED,
            "API Error: no",
        ),
        (lines({**CUT, "subtype": "odd", "errors": []}), 0, None, Cause.ERROR_RESULT, "odd"),
        (
            lines(RESULT),
            3,
            None,
            Cause.FINISHED,
            "It failed after its answer. Exit code 3: it broke",
        ),
        (lines({**RESULT, "result": 7}), 0, None, Cause.UNREADABLE_OUTPUT, None),
    ],
)
def test_causes(
    tmp_path: Path,
    stdout: bytes,
    code: int | None,
    stopped: StopReason | None,
    cause: Cause,
    detail: str | None,
) -> None:
    outcome = read(tmp_path, stdout, code, stopped=stopped, stderr=b"first\nit broke\n\n")
    assert outcome.cause is cause
    assert detail is None or outcome.detail == detail


def test_the_message_of_an_error_is_no_answer(tmp_path: Path) -> None:
    assert read(tmp_path, lines({**RESULT, "is_error": True}), 1).text is None


def test_figures_before_a_cut_are_kept(tmp_path: Path) -> None:
    sub_agent = assistant("s1", tool_use("t9", "Read"), parent_tool_use_id="t1")
    outcome = read(tmp_path, lines(*STREAM, sub_agent), 143)
    # Two requests, one of them in three events; output is a placeholder in Claude's events.
    assert outcome.usage == Usage(input=20, cache_read=60, cache_create=40, output=None)
    assert outcome.tool_calls == {"Read": 3, "mcp__canopy__canopy_query": 1}
    assert outcome.turns is None
    assert outcome.cost is None
    counted = read(tmp_path, lines(*STREAM), 143, counted=True)
    assert counted.usage.output == 10


def test_our_own_agents_name_counter_and_prices(tmp_path: Path) -> None:
    ours = {"token_counter": "utf8-bytes/4", "price_table": "p", "cost_estimated": True}
    for printed in (lines({**INIT, "swarm_bench": ours}), lines({**RESULT, "swarm_bench": ours})):
        outcome = read(tmp_path, printed)
        assert outcome.token_counter == "utf8-bytes/4"
        assert outcome.price_table == "p"
        assert outcome.cost_estimated is True


@pytest.mark.parametrize(
    "figure",
    ["12", True, None, -1, 1.5, [], {}, float("nan"), float("inf"), 10**400, "x" * 100],
)
def test_a_figure_that_is_none_is_missing(tmp_path: Path, figure: Any) -> None:
    usage = dict.fromkeys(USAGE, figure)
    result = {**RESULT, "usage": usage, "num_turns": figure}
    outcome = read(tmp_path, lines({**result, "total_cost_usd": [figure]}))
    assert outcome.cause is Cause.FINISHED
    assert outcome.usage == Usage()
    assert outcome.turns is None
    assert outcome.cost is None


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"type":"result","num_turns":' + b"9" * 5000 + b"}",
        b'{"type":["result"]}',
        b'{"type":"assistant","message":[1]}',
        b'{"type":"assistant","message":{"content":{"type":"tool_use"}}}',
        b'{"type":"assistant","message":{"model":"m","content":[null,7,{"type":"tool_use","name":3}]}}',
        b'{"type":"user","message":{"content":[{"type":"tool_result","is_error":true,"tool_use_id":{}}]}}',
        b'{"type":"system","subtype":"init","mcp_servers":{"a":1},"tools":"Read"}',
        b'{"type":"system","subtype":"init","mcp_servers":[3,{"name":null}],"tools":[1,null]}',
        b'"text"',
        b"[1,2,[3]]",
        b"\xff\xfe\x00",
        b"{}",
    ],
)
def test_hostile_lines_are_passed_over(tmp_path: Path, line: bytes) -> None:
    assert read(tmp_path, line + b"\n" + lines(RESULT)).text == "See `a.py:1`."
    read(tmp_path, line)
    read_activity(line)


def test_texts_can_be_written_as_utf_8(tmp_path: Path) -> None:
    printed = lines(RESULT).replace(b"See", b"\\ud800 \xff")
    outcome = read(tmp_path, printed)
    assert outcome.text is not None
    assert outcome.text.encode("utf-8").startswith("\ufffd \ufffd".encode())
    assert outcome.payload == printed.strip()


def test_activity() -> None:
    line = lines(assistant("m1", tool_use("t1", "Read", file_path="src/a\nb.py")))
    activity = read_activity(line)
    assert activity is not None
    assert activity.doing == "Read src/a b.py"
    assert activity.request == "m1"
    assert activity.usage == Usage(input=10, cache_read=30, cache_create=20, output=5)
    text = read_activity(lines(assistant("m2", {"type": "text", "text": "so"})))
    assert text is not None
    assert text.doing == "writing"
    assert read_activity(lines(INIT)) is None
    assert read_activity(b"garbage") is None
