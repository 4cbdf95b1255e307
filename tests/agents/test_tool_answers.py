"""What the adapters say of the answers of MCP tools, from what the programs print."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.agents import (
    _claude_stream,
    _codex_stream,
    _gemini_stream,
    _opencode_stream,
    _qwen_stream,
)
from swarm_bench.agents._tool_answers import answer_to
from swarm_bench.core.answers import MOST_DIGESTS, ToolAnswers, by_tool
from swarm_bench.core.outcome import AgentExit, Outcome, ToolAnswer
from tests.agents.command_files import agent, read

SAMPLES = Path(__file__).parent / "samples"
QUERY = "mcp__canopy__canopy_query"
PACK = "mcp__canopy__canopy_evidence_pack"


def played(adapter: Callable[[AgentExit], Outcome], sample: str) -> Outcome:
    nothing = SAMPLES / "codex" / "sigint.stderr.txt"
    return adapter(AgentExit(returncode=0, stopped=None, stdout=SAMPLES / sample, stderr=nothing))


@pytest.mark.parametrize(
    ("adapter", "sample", "tool", "number"),
    [
        (_claude_stream.outcome_of, "claude-code/mcp_success_stream.jsonl", QUERY, 1),
        (_codex_stream.outcome_of, "codex/mcp_success.jsonl", QUERY, 1),
        (_codex_stream.outcome_of, "codex/log_mcp_success.jsonl", PACK, 2),
        (_gemini_stream.outcome_of, "gemini/mcp_success_stream.jsonl", QUERY, 1),
        (_opencode_stream.outcome_of, "opencode/log_mcp_success.jsonl", PACK, 2),
        (_qwen_stream.outcome_of, "qwen/mcp_toolsearch_stream.jsonl", QUERY, 1),
    ],
)
def test_each_program_shows_what_was_asked_and_answered(
    adapter: Callable[[AgentExit], Outcome], sample: str, tool: str, number: int
) -> None:
    answers = played(adapter, sample).tool_answers
    assert answers is not None
    assert [one.tool for one in answers] == [tool] * number
    assert all(one.question and one.answer and one.bytes for one in answers)
    assert {one.kind for one in answers} == {None}


@pytest.mark.parametrize(
    ("adapter", "sample"),
    [
        (_claude_stream.outcome_of, "claude-code/success_json.json"),
        (_gemini_stream.outcome_of, "gemini/success_json.json"),
    ],
)
def test_what_is_not_shown_is_missing(adapter: Callable[[AgentExit], Outcome], sample: str) -> None:
    assert played(adapter, sample).tool_answers is None


def test_a_command_file_says_where_answers_stand(tmp_path: Path) -> None:
    steps = [
        {"kind": "tool", "name": "canopy_query", "input": {"q": "auth"}, "output": "[]"},
        {"kind": "tool", "name": "canopy_query", "input": {"q": "x"}, "output": "", "error": "no"},
        {"kind": "tool", "name": "sh", "input": "ls", "output": "a"},
        {"kind": "tool", "name": "canopy_read", "output": [{"type": "text", "text": "def a()"}]},
        {"kind": "words"},
    ]
    tools = {
        "calls": "$.steps[*].name",
        "mcp": "(?P<server>canopy)_(?P<tool>.+)",
        "answers": {
            "each": "$.steps[?@.kind == 'tool']",
            "tool": "$.name",
            "arguments": "$.input",
            "result": "$.output",
            "failed": "$.error",
        },
    }
    made = agent(
        tmp_path, output={"format": "json", "answer": "$.answer", "tools": tools}, turns=None
    )
    left = json.dumps({"answer": "a", "steps": steps})
    answers = read(tmp_path, made, left).tool_answers
    assert answers is not None
    assert [(one.tool, one.kind, one.question is None) for one in answers] == [
        ("mcp__canopy__query", "empty", False),
        ("mcp__canopy__read", None, True),
    ]


def same(first: tuple[Any, str], second: tuple[Any, str]) -> tuple[bool, bool]:
    """Whether two calls asked the same, and whether they got the same."""
    one, other = (answer_to("mcp__a__b", *each) for each in (first, second))
    return one.question == other.question, one.answer == other.answer


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (({"q": "a b"}, "x"), ({"q": "c"}, "x"), (False, True)),
        (({"q": "a b"}, "x"), ({"q": " A  b", "limit": 7}, "y"), (True, False)),
        (
            ({"q": "a b"}, '{"query": "a b", "files": ["x"], "took_ms": 3}'),
            ({"q": "c"}, '{"query": "c", "files": ["x"], "took_ms": 9}'),
            (False, True),
        ),
        (
            ({"q": "a"}, '{"query": "a", "files": ["x"]}'),
            ({"q": "c"}, '{"query": "c", "files": ["y"]}'),
            (False, False),
        ),
        (({"q": "a"}, "Found for 'a':\nx.py"), ({"q": "c"}, "Found for 'c':\nx.py"), (False, True)),
        (({"q": "a"}, "x.py:1: a = 1"), ({"q": "b"}, "x.py:1: b = 1"), (False, False)),
    ],
)
def test_equal_answers_are_told_from_different_ones(
    first: tuple[Any, str], second: tuple[Any, str], expected: tuple[bool, bool]
) -> None:
    assert same(first, second) == expected


def test_the_texts_are_not_kept() -> None:
    found = answer_to("mcp__a__b", {"q": "the secret word"}, "the secret answer")
    assert "secret" not in repr(found)


@pytest.mark.parametrize("content", [None, 7, [{"type": "image"}], {"text": "x"}])
def test_what_is_not_text_is_counted_and_not_compared(content: object) -> None:
    found = answer_to("mcp__a__b", {}, content)
    assert (found.answer, found.bytes, found.kind, found.question) == (None, None, None, None)
    assert by_tool([found]) == {"mcp__a__b": ToolAnswers(answers=1, hidden=1)}


def test_the_summary_of_a_tool_is_bounded() -> None:
    many = [
        ToolAnswer(tool="mcp__a__b", question=f"q{at}", answer=f"a{at}", bytes=2)
        for at in range(100)
    ]
    none = ToolAnswer(tool="mcp__a__b", question="q", answer="e", bytes=2, kind="empty")
    (found,) = by_tool([*many, none]).values()
    assert (found.answers, found.empty, found.bytes) == (101, 1, 202)
    assert (len(found.questions), len(found.different)) == (MOST_DIGESTS, MOST_DIGESTS)
