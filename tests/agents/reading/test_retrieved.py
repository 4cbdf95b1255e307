"""What the adapters say that tool calls put before the agent."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from swarm_bench.agents.codex import stream as _codex
from swarm_bench.agents.gemini import stream as _gemini
from swarm_bench.agents.opencode import stream as _opencode
from swarm_bench.agents.qwen import stream as _qwen
from swarm_bench.agents.reading.tool_calls import (
    MAX_ALL_MENTIONS,
    MAX_MENTIONS,
    Timeline,
    ToolCalls,
    mentions_in,
)
from swarm_bench.agents.stream_json import stream as _claude
from swarm_bench.core.outcome import AgentExit, Outcome, Retrieved, Usage
from swarm_bench.source.references.snapshot import snapshot_of

SAMPLES = Path(__file__).parents[1] / "samples"
Adapter = Callable[[AgentExit], Outcome]


def played(adapter: Adapter, sample: str, **values: object) -> Outcome:
    """Read a sample, with the log that was printed beside it if there is one."""
    stderr = SAMPLES / sample.replace(".jsonl", ".stderr.txt")
    if not stderr.exists():
        stderr = SAMPLES / "codex" / "sigint.stderr.txt"
    exit = AgentExit(returncode=0, stopped=None, stdout=SAMPLES / sample, stderr=stderr)
    return adapter(AgentExit(**(vars(exit) | values)))


def retrieved(adapter: Adapter, sample: str, **values: object) -> tuple[Retrieved, ...]:
    all_of_it = played(adapter, sample, **values).retrieved
    assert all_of_it is not None
    return all_of_it


@pytest.mark.parametrize(
    ("adapter", "sample", "mention"),
    [
        (_claude.read_outcome, "claude-code/mcp_success_stream.jsonl", "src/a.py"),
        (_codex.read_outcome, "codex/log_mcp_success.jsonl", "src/a.py"),
        (_gemini.read_outcome, "gemini/mcp_success_stream.jsonl", "src/a.py"),
        (_opencode.read_outcome, "opencode/log_mcp_success.jsonl", "src/a.py"),
        (_qwen.read_outcome, "qwen/mcp_toolsearch_stream.jsonl", "src/a.py"),
    ],
)
def test_each_program_shows_what_a_call_named(adapter: Adapter, sample: str, mention: str) -> None:
    outcome = played(adapter, sample)
    assert outcome.retrieved is not None
    assert outcome.tool_calls is not None
    assert {one.tool for one in outcome.retrieved} <= outcome.tool_calls.keys()
    assert any(mention in one.mentions for one in outcome.retrieved)


@pytest.mark.parametrize(
    ("adapter", "sample"),
    [
        (_claude.read_outcome, "claude-code/success_json.json"),
        (_gemini.read_outcome, "gemini/success_json.json"),
    ],
)
def test_what_is_not_shown_is_missing(adapter: Adapter, sample: str) -> None:
    assert played(adapter, sample).retrieved is None


@pytest.mark.parametrize(
    ("adapter", "sample", "started", "turns"),
    [
        (
            _claude.read_outcome,
            "claude-code/v329_max_turns3_parallel_stream.jsonl",
            "2026-11-21T02:15:30+00:00",
            [1, 1, 2, 2, 3, 3],
        ),
        (_codex.read_outcome, "codex/log_mcp_success.jsonl", "2026-11-21T02:12:09+00:00", [1, 2]),
        (_gemini.read_outcome, "gemini/tools_stream.jsonl", "2026-11-20T22:12:29+00:00", [1, 2]),
        (_opencode.read_outcome, "opencode/tools.jsonl", "2026-11-20T22:16:07+00:00", [1, 2]),
    ],
)
def test_turns_and_seconds(adapter: Adapter, sample: str, started: str, turns: list[int]) -> None:
    calls = retrieved(adapter, sample, started=datetime.fromisoformat(started))
    assert [one.turn for one in calls][: len(turns)] == turns
    seconds = [one.seconds for one in calls]
    known = [second for second in seconds if second is not None]
    assert len(known) == len(seconds)
    assert known == sorted(known)
    assert 0.5 < known[0] < 5


def test_turns_of_a_program_whose_texts_are_events_of_their_own() -> None:
    calls = retrieved(_qwen.read_outcome, "qwen/tools_stream.jsonl")
    assert [(one.turn, one.tokens, one.seconds) for one in calls][:2] == [
        (1, 35, None),
        (2, 100, None),
    ]


def test_the_tokens_are_those_of_the_requests_until_then() -> None:
    codex = retrieved(_codex.read_outcome, "codex/log_mcp_success.jsonl")
    assert [one.tokens for one in codex] == [150, 300]
    opencode = retrieved(_opencode.read_outcome, "opencode/tools.jsonl")
    assert opencode[0].tokens == 35


def test_tokens_are_missing_where_one_request_has_a_placeholder() -> None:
    calls = retrieved(_claude.read_outcome, "claude-code/mcp_success_stream.jsonl")
    assert [(one.turn, one.tokens) for one in calls] == [(1, None)]


def test_without_the_start_there_are_no_seconds() -> None:
    calls = retrieved(_gemini.read_outcome, "gemini/tools_stream.jsonl")
    assert {one.seconds for one in calls} == {None}


def test_calls_of_sub_agents_have_no_turn() -> None:
    calls = retrieved(_claude.read_outcome, "claude-code/v329_subagent_in_foreground_stream.jsonl")
    assert None in {one.turn for one in calls}


def test_a_timeline_from_before_the_start_has_no_seconds() -> None:
    now = datetime.now(UTC)
    later = Timeline(end_times={"a": now.timestamp()}, started=now + timedelta(seconds=5))
    assert later.seconds("a") is None


def test_the_model_s_text_replaces_the_one_for_a_person() -> None:
    made = ToolCalls()
    made.add("1", "read_file", {"path": "src/a.py"})
    made.add_result("1", "Read 2 lines of src/short.py")
    calls = made.list_retrieved(Timeline(), {"1": "import src/b.py", "2": "src/c.py"})
    assert [one.mentions for one in calls] == [("src/a.py", "src/b.py")]


def test_what_a_failed_call_asked_for_was_not_shown() -> None:
    made = ToolCalls()
    made.add("1", "Read", {"file_path": "src/a.py"})
    made.add_result("1", "No such file; did you mean src/b.py?", failed=True)
    assert [one.mentions for one in made.list_retrieved(Timeline())] == [("src/b.py",)]


def test_a_call_without_a_result_put_nothing_before_the_agent() -> None:
    made = ToolCalls()
    made.add("1", "Read", {"file_path": "src/a.py"})
    made.add_result("2", "src/b.py")
    assert made.list_retrieved(Timeline()) == ()


@pytest.mark.parametrize(
    ("content", "mentions"),
    [
        ("src/app.py:12:    return app", ("src/app.py",)),
        ("src/app.py-13-    pass", ("src/app.py",)),
        ("see `src/app.py#L12-L20`, and (lib/x.ts).", ("src/app.py", "lib/x.ts")),
        ('{"path": "src/a.py", "lines": "1\\nsrc/b.py"}', ("src/a.py", "src/b.py")),
        ([{"type": "text", "text": '[{"file": "a.go"}]'}], ("a.go",)),
        ("src\\win\\a.py", ("src\\win\\a.py",)),
        ("https://example.com/a.py and file:///repo/b.py", ("file:///repo/b.py",)),
        ("nothing here 3.14 etc.", ()),
        ("a.py a.py b.py", ("a.py", "b.py")),
        (None, ()),
    ],
)
def test_mentions(content: object, mentions: tuple[str, ...]) -> None:
    assert mentions_in(content) == mentions


def test_mentions_are_capped() -> None:
    many = " ".join(f"src/{number}.py" for number in range(MAX_MENTIONS + 5))
    assert len(mentions_in(many)) == MAX_MENTIONS
    assert mentions_in("a/" + "b" * 1000) == ()
    assert mentions_in("\udcff/a.py") == ("\ufffd/a.py",)
    assert mentions_in("\x1b[35msrc/a.py\x1b[0m:\x1b[32m3\x1b[0m:x") == ("src/a.py",)
    made = ToolCalls()
    for number in range(40):
        made.add(str(number), "Grep", None)
        made.add_result(str(number), many)
    calls = made.list_retrieved(Timeline())
    assert sum(len(one.mentions) for one in calls) == MAX_ALL_MENTIONS


def test_content_that_is_very_deep_is_read() -> None:
    deep = "[" * 100_000
    assert mentions_in(deep) == ()
    value: object = "src/a.py"
    for _ in range(5_000):
        value = [value]
    assert mentions_in(value) == ("src/a.py",)
    assert mentions_in(json.dumps({"a": [[["src/a.py"]]]})) == ("src/a.py",)


def test_usage_up_to_a_turn() -> None:
    request = Usage(input=1, cache_read=2, cache_create=3, output=4)
    timeline = Timeline(turns={"a": 2, "b": 3}, usage=(request, request))
    assert (timeline.tokens("a"), timeline.tokens("b")) == (20, None)


@pytest.mark.parametrize(
    ("adapter", "sample"),
    [
        (_claude.read_outcome, "claude-code/mcp_success_stream.jsonl"),
        (_codex.read_outcome, "codex/log_mcp_success.jsonl"),
        (_gemini.read_outcome, "gemini/mcp_success_stream.jsonl"),
        (_opencode.read_outcome, "opencode/log_mcp_success.jsonl"),
        (_qwen.read_outcome, "qwen/mcp_toolsearch_stream.jsonl"),
    ],
)
def test_each_program_knows_the_names_of_files(
    adapter: Adapter, sample: str, tmp_path: Path
) -> None:
    stdout = tmp_path / "stdout"
    text = (SAMPLES / sample).read_text(encoding="utf-8").replace("src/a.py", "src/[my] a.py")
    stdout.write_text(text, encoding="utf-8")
    name = "src/[my] a.py"
    calls = retrieved(adapter, sample, stdout=stdout, files=frozenset({name}))
    assert any(name in one.mentions for one in calls)


@pytest.mark.parametrize(
    ("content", "mentions"),
    [
        ("/w/app/[id]/page.tsx\n/w/src/my tool.py", ("/w/app/[id]/page.tsx", "/w/src/my tool.py")),
        ("app/[id]/page.tsx:12:  x\nsrc/my tool.py-13-y", ("app/[id]/page.tsx", "src/my tool.py")),
        ({"file_path": "/w/src/my tool.py"}, ("/w/src/my tool.py",)),
        ("file:///w/app/%5Bid%5D/page.tsx", ("file:///w/app/[id]/page.tsx",)),
        ("src/fru\u0308h.py", ("src/früh.py",)),
        ('"src/fr\\303\\274h.py"', ("src/früh.py",)),
        ("cat src/my\\ tool.py && cat 'src/my tool.py'", ("src/my tool.py",)),
        ("├── my tool.py\n└── page.tsx", ("src/my tool.py", "page.tsx")),
        (
            '[{"type": "text", "text": "{\\"uri\\": \\"app/[id]/page.tsx\\"}"}]',
            ("app/[id]/page.tsx",),
        ),
        ("src/" + "long/" * 70 + "a b.py", ("src/" + "long/" * 70 + "a b.py",)),
    ],
)
def test_mentions_of_names_that_are_no_words(content: object, mentions: tuple[str, ...]) -> None:
    names = {"app/[id]/page.tsx", "src/my tool.py", "src/früh.py", "src/" + "long/" * 70 + "a b.py"}
    assert mentions_in(content, snapshot_of(frozenset(names), "")) == mentions
