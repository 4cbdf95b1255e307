"""What tools cost by name: what is not known of one call is not known of its tool."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.agents.codex import stream as _codex_stream
from swarm_bench.agents.gemini import stream as _gemini_stream
from swarm_bench.agents.opencode import stream as _opencode_stream
from swarm_bench.agents.qwen import stream as _qwen_stream
from swarm_bench.agents.reading.tool_calls import (
    MAX_ENTRIES,
    MAX_LENGTH,
    Span,
    Timeline,
    ToolCalls,
    count_tokens,
    make_span,
    make_span_until,
    parse_time,
    sum_seconds,
    tokens_by_tool,
)
from swarm_bench.agents.stream_json import stream as _claude_stream
from swarm_bench.core.outcome import AgentExit, Outcome

CALLS = {"a": "Read", "b": "Read", "c": "Grep"}


def test_calls_made_together_share_their_time() -> None:
    together = {"a": Span(5, 5.5), "b": Span(5, 5.5), "c": Span(5, 6)}
    assert sum_seconds(CALLS, together) == {"Read": 0.5, "Grep": 1.0}


@pytest.mark.parametrize(
    ("first", "second", "seconds"),
    [
        (Span(0, 0.5), Span(2, 2.25), 0.75),
        (Span(0, 0.5), Span(0.5, 1), 1),
        (Span(0, 2), Span(1, 3), 3),
        (Span(1, 3), Span(0, 2), 3),
        (Span(0, 3), Span(1, 2), 3),
        (Span(1, 1), Span(1, 1), 0),
    ],
)
def test_seconds_are_those_in_which_a_call_of_the_tool_was_open(
    first: Span, second: Span, seconds: float
) -> None:
    found = sum_seconds(CALLS, {"a": first, "b": second, "c": Span(0, 1)})
    assert found == {"Read": seconds, "Grep": 1}


def test_a_tool_with_a_call_without_a_time_is_left_out() -> None:
    assert sum_seconds(CALLS, {"a": Span(0, 0.5), "c": Span(0, 1)}) == {"Grep": 1.0}


def test_without_any_time_nothing_is_known() -> None:
    assert sum_seconds(CALLS, {}) is None
    assert sum_seconds(CALLS, {"of something else": Span(0, 1)}) is None
    assert sum_seconds({}, {}) == {}


def test_tokens_are_those_of_the_results_that_came() -> None:
    assert tokens_by_tool(CALLS, {"a": 3, "c": 0}) == {"Read": 3, "Grep": 0}


def test_a_tool_with_a_result_that_cannot_be_counted_is_left_out() -> None:
    assert tokens_by_tool(CALLS, {"a": 3, "b": None, "c": 1}) == {"Grep": 1}


def test_only_text_is_counted() -> None:
    text = {"type": "text", "text": "1234"}
    assert count_tokens("12345") == 2
    assert count_tokens([text, text]) == 2
    assert count_tokens([]) == 0
    assert count_tokens([text, {"type": "image", "source": {"data": "AAAA"}}]) is None
    assert count_tokens([{"type": "text", "text": 5}]) is None
    assert count_tokens(None) is None


def test_times_have_a_zone_and_go_forward() -> None:
    begin = parse_time("2026-11-21T01:51:08.078Z")
    span = make_span(begin, parse_time("2026-11-21T02:51:08.578+01:00"))
    assert span is not None
    assert span.end - span.begin == 0.5
    assert make_span_until(parse_time("2026-11-21T01:51:08.578Z"), 0.5) == span
    assert make_span_until(begin, None) is make_span_until(None, 0.5) is None
    assert make_span(parse_time("2026-11-21T01:51:09Z"), begin) is None
    assert make_span(begin, None) is None
    for value in ("2026-11-21T01:51:08", "yesterday", "", 1795212967559, None):
        assert parse_time(value) is None


LINE, PATH = "canopy-mcp --root .", "/home/me/.canopy/index.db"


def _claude(tool: str, read: str) -> list[dict[str, Any]]:
    calls = [
        {"type": "tool_use", "id": "1", "name": tool, "input": {"command": LINE}},
        {"type": "tool_use", "id": "2", "name": read, "input": {"file_path": PATH}},
        {"type": "tool_use", "id": "3", "name": "Write", "input": {"file_path": "/new"}},
    ]
    return [{"type": "assistant", "message": {"id": "m", "model": "x", "content": calls}}]


def _codex() -> list[dict[str, Any]]:
    item = {"id": "1", "type": "command_execution", "status": "completed", "command": LINE}
    return [{"type": "thread.started"}, {"type": "item.completed", "item": item}]


def _gemini() -> list[dict[str, Any]]:
    shell = {"tool_name": "run_shell_command", "tool_id": "1", "parameters": {"command": LINE}}
    read = {"tool_name": "read_file", "tool_id": "2", "parameters": {"absolute_path": PATH}}
    return [{"type": "init"}, *({"type": "tool_use", **one} for one in (shell, read))]


def _opencode() -> list[dict[str, Any]]:
    given = {"bash": {"command": LINE}, "read": {"filePath": PATH}}
    return [
        {"type": "tool_use", "part": {"tool": tool, "state": {"input": inputs, "output": ""}}}
        for tool, inputs in given.items()
    ]


CASES: dict[str, tuple[Callable[[AgentExit], Outcome], list[dict[str, Any]]]] = {
    "claude": (_claude_stream.read_outcome, _claude("Bash", "Read")),
    "qwen": (_qwen_stream.read_outcome, _claude("run_shell_command", "read_file")),
    "codex": (_codex_stream.read_outcome, _codex()),
    "gemini": (_gemini_stream.read_outcome, _gemini()),
    "opencode": (_opencode_stream.read_outcome, _opencode()),
}


@pytest.mark.parametrize("name", CASES)
def test_commands_and_paths_are_handed_over(name: str, tmp_path: Path) -> None:
    outcome_of, events = CASES[name]
    out, err = tmp_path / "out", tmp_path / "err"
    out.write_text("\n".join(map(json.dumps, events)))
    err.write_text("")
    outcome = outcome_of(AgentExit(returncode=1, stopped=None, stdout=out, stderr=err))
    assert outcome.commands == (LINE,)
    assert outcome.paths == (() if name == "codex" else (PATH,))


def test_what_is_looked_at_is_bounded() -> None:
    calls = ToolCalls()
    for number in range(MAX_ENTRIES + 10):
        calls.add(str(number), "Bash", {"command": f"{number} " + "x" * 2 * MAX_LENGTH})
    calls.add("words", "shell", {"command": ["sh", "-c", "a b"]})
    lines = calls.make_fields(Timeline(), None, None)["commands"]
    assert (len(lines), max(map(len, lines))) == (MAX_ENTRIES, MAX_LENGTH)
    words = ToolCalls()
    words.add("words", "shell", {"command": ["sh", "-c", "a b"]})
    assert words.make_fields(Timeline(), None, None)["commands"] == ("sh -c 'a b'",)
