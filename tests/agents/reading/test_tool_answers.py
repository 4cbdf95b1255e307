"""What the adapters say of the answers of MCP tools, from what the programs print."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.agents.codex import stream as _codex_stream
from swarm_bench.agents.gemini import stream as _gemini_stream
from swarm_bench.agents.opencode import stream as _opencode_stream
from swarm_bench.agents.qwen import stream as _qwen_stream
from swarm_bench.agents.reading.tool_answers import digest_answer
from swarm_bench.agents.stream_json import stream as _claude_stream
from swarm_bench.core.outcome import AgentExit, Outcome, ToolAnswer
from swarm_bench.core.treatment.tool_answers import MOST_DIGESTS, ToolAnswers, by_tool
from tests.agents.command.command_files import agent, read

SAMPLES = Path(__file__).parents[1] / "samples"
QUERY = "mcp__canopy__canopy_query"
PACK = "mcp__canopy__canopy_evidence_pack"


def played(adapter: Callable[[AgentExit], Outcome], sample: str) -> Outcome:
    nothing = SAMPLES / "codex" / "sigint.stderr.txt"
    return adapter(AgentExit(returncode=0, stopped=None, stdout=SAMPLES / sample, stderr=nothing))


@pytest.mark.parametrize(
    ("adapter", "sample", "tool", "number"),
    [
        (_claude_stream.read_outcome, "claude-code/mcp_success_stream.jsonl", QUERY, 1),
        (_codex_stream.read_outcome, "codex/mcp_success.jsonl", QUERY, 1),
        (_codex_stream.read_outcome, "codex/log_mcp_success.jsonl", PACK, 2),
        (_gemini_stream.read_outcome, "gemini/mcp_success_stream.jsonl", QUERY, 1),
        (_opencode_stream.read_outcome, "opencode/log_mcp_success.jsonl", PACK, 2),
        (_qwen_stream.read_outcome, "qwen/mcp_toolsearch_stream.jsonl", QUERY, 1),
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


HITS = {"hits": [{"path": "src/oar.py", "line": 9}]}
CODEX = [
    {"type": "thread.started", "thread_id": "t"},
    {
        "type": "item.completed",
        "item": {
            "id": "i", "type": "mcp_tool_call", "server": "canopy", "tool": "canopy_query",
            "arguments": {"query": "oars"}, "status": "completed",
            "result": {"content": [], "structured_content": HITS},
        },
    },
]  # fmt: skip
CALL = {"type": "tool_use", "id": "c", "name": QUERY, "input": {"query": "oars"}}
CLAUDE: list[dict[str, Any]] = [
    {"type": "assistant", "message": {"id": "m", "model": "m", "content": [CALL]}},
    {
        "type": "user",
        "message": {"content": [{"type": "tool_result", "tool_use_id": "c", "content": []}]},
        "tool_use_result": {"content": [], "structuredContent": HITS},
    },
]


@pytest.mark.parametrize(
    ("adapter", "events"),
    [
        (_codex_stream.read_outcome, CODEX),
        (_claude_stream.read_outcome, CLAUDE),
        (_qwen_stream.read_outcome, CLAUDE),
    ],
)
def test_structured_content_is_an_answer_that_is_not_empty(
    adapter: Callable[[AgentExit], Outcome], events: list[dict[str, Any]], tmp_path: Path
) -> None:
    stream = tmp_path / "stream.jsonl"
    stream.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    outcome = played(adapter, str(stream))
    assert outcome.tool_answers is not None
    assert outcome.retrieved is not None
    [answer] = outcome.tool_answers
    assert (answer.bytes, answer.kind) == (len(json.dumps(HITS)), None)
    assert "src/oar.py" in outcome.retrieved[0].mentions


def test_a_command_file_may_lead_to_a_whole_result(tmp_path: Path) -> None:
    step = {"name": "canopy_query", "result": {"content": [], "structuredContent": HITS}}
    tools = {
        "calls": "$.steps[*].name",
        "mcp": "(?P<server>canopy)_(?P<tool>.+)",
        "answers": {"each": "$.steps[*]", "tool": "$.name", "result": "$.result"},
    }
    made = agent(
        tmp_path, output={"format": "json", "answer": "$.answer", "tools": tools}, turns=None
    )
    left = json.dumps({"answer": "a", "steps": [step]})
    [answer] = read(tmp_path, made, left).tool_answers or ()
    assert (answer.bytes, answer.kind) == (len(json.dumps(HITS)), None)


@pytest.mark.parametrize(
    ("adapter", "sample"),
    [
        (_claude_stream.read_outcome, "claude-code/success_json.json"),
        (_gemini_stream.read_outcome, "gemini/success_json.json"),
    ],
)
def test_what_is_not_shown_is_missing(adapter: Callable[[AgentExit], Outcome], sample: str) -> None:
    assert played(adapter, sample).tool_answers is None


def test_a_command_file_says_where_answers_stand(tmp_path: Path) -> None:
    steps = [
        {"kind": "tool", "name": "canopy_query", "input": {"q": "auth"}, "output": "[]"},
        {"kind": "tool", "name": "canopy_query", "input": {"q": "x"}, "output": "", "error": "no"},
        {"kind": "tool", "name": "sh", "input": "ls", "output": "src/a.py"},
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
    outcome = read(tmp_path, made, left)
    answers = outcome.tool_answers
    assert answers is not None
    assert [(one.tool, one.kind, one.question is None) for one in answers] == [
        ("mcp__canopy__query", "empty", False),
        ("mcp__canopy__read", None, True),
    ]
    assert outcome.retrieved is not None
    assert [(one.tool, one.turn) for one in outcome.retrieved] == [
        ("mcp__canopy__query", None),
        ("mcp__canopy__query", None),
        ("sh", None),
        ("mcp__canopy__read", None),
    ]
    assert outcome.retrieved[2].mentions == ("src/a.py",)


PICTURE = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}


@pytest.mark.parametrize(
    ("content", "images"),
    [
        ([PICTURE], True),
        ({"content": [PICTURE, {"type": "text", "text": " "}]}, True),
        ([{"type": "image", "source": {"type": "base64", "media_type": "image/png"}}], True),
        ([{"type": "resource", "resource": {"uri": "a:b", "blob": "", "mimeType": "image/png"}}],)
        + (True,),
        ("[Image: image/png]\n[Image: image/svg+xml]", True),  # as Gemini and Qwen print them
        ("[Image: image/png]\n[Audio: audio/wav]", False),
        ("[Embedded Resource: unknown type]", False),
        ([PICTURE, {"type": "audio", "data": "", "mimeType": "audio/wav"}], False),
        ([PICTURE, {"type": "text", "text": "src/oar.py"}], False),
        ({"content": [PICTURE], "structuredContent": HITS}, False),
    ],
)
def test_images_alone_are_counted_among_what_is_not_shown(content: object, images: bool) -> None:
    counted = by_tool([digest_answer(QUERY, {"query": "oars"}, content)])[QUERY]
    assert (counted.hidden, counted.images, counted.bytes) == (1, images, 0)


@pytest.mark.parametrize(
    ("output", "kind", "images"),
    [("", "image/png", 1), ("src/oar.py", "image/png", 0), ("", "application/pdf", 0)],
)
def test_what_opencode_attaches_is_of_the_result(
    output: str, kind: str, images: int, tmp_path: Path
) -> None:
    state = {"status": "completed", "input": {"query": "oars"}, "output": output}
    part = {"tool": QUERY, "state": {**state, "attachments": [{"type": "file", "mime": kind}]}}
    stream = tmp_path / "stream.jsonl"
    stream.write_text(json.dumps({"type": "tool_use", "part": part}) + "\n", encoding="utf-8")
    outcome = played(_opencode_stream.read_outcome, str(stream))
    counted = by_tool(outcome.tool_answers or ())[QUERY]
    assert (counted.hidden, counted.images) == (1, images)
    assert [each.mentions for each in outcome.retrieved or ()] == [(output,) if output else ()]


def same(first: tuple[Any, str], second: tuple[Any, str]) -> tuple[bool, bool]:
    """Whether two calls asked the same, and whether they got the same."""
    one, other = (digest_answer("mcp__a__b", *each) for each in (first, second))
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


@pytest.mark.parametrize(
    "form",
    [
        "Found 4 results in {ms} ms\nsrc/a.py:1: x",
        "Found 4 results in 0.{ms}s for {q}\n\nsrc/a.py:1: x",
        "Results for {q}:\nsrc/a.py:1",
        "Results for {Q}:\nsrc/a.py:1",
        "Results for {q} in /srv/shop:\nsrc/a.py:1",
        "# Search: {q}\n\n- src/a.py",
        "# {q}\n\nsrc/a.py",
        "Query: {q}\nTime: {ms} ms\nsrc/a.py",
        "Search results\nSearched: '{q}' (2026-11-22T03:55:{ms}Z)\nsrc/a.py",
        "src/a.py:1\n\nFound in {ms} seconds for “{q}”.",
        "The best match of '{q}' is the middleware.",
        '<search query="{q}"><file>src/a.py</file></search>',
        '{{"durationMs": {ms}}}',
        '{{"result": {{"took_ms": {ms}, "files": ["a.py"]}}}}',
        '{{"meta": {{"q": "{q}", "elapsed": "{ms} ms"}}, "files": ["a.py"]}}',
        '{{"request": {{"text": "{q}", "limit": 7}}, "files": ["a.py"]}}',
        '{{"summary": "Results for {q}", "files": ["a.py"]}}',
        '[{{"query": "{q}", "matches": ["a.py"]}}]',
        '{{"query": "{q}", "files": []}}\n{{"query": "{q}", "files": ["a.py"]}}',
        'Found 1 result for "{q}" in {ms} ms\n[{{"file": "a.py", "searchTime": {ms}}}]',
    ],
)
@pytest.mark.parametrize("asked", [("alpha", "beta"), ("where is it", "the a of b"), ("a", "x_1")])
def test_what_repeats_the_question_and_the_time_is_equal(form: str, asked: tuple[str, str]) -> None:
    first, second = (
        ({"query": one}, form.format(q=one, Q=one.title(), ms=ms))
        for one, ms in zip(asked, (12, 45), strict=True)
    )
    assert same(first, second) == (False, True)


@pytest.mark.parametrize(
    "form",
    [
        "Try again later (request {hex})\nThe code search is offline.",
        "src/a.py:3: class A\n(search {hex})",
        "src/a.py:3: class A [{uuid}]",
        "The code search is offline. Reference: {number}",
        "src/a.py:3: class A\nanswered at 2026-11-25T03:55:{second}Z, no. {number}",
        '{{"files": ["a.py"], "request_id": "{number}"}}',
        '{{"files": ["a.py"], "meta": {{"traceId": "{hex}"}}}}',
    ],
)
def test_an_id_makes_no_other_answer(form: str) -> None:
    first, second = (
        ({"query": query}, form.format(hex=of[:12], uuid=uuid, number=number, second=number % 60))
        for query, of, uuid, number in (
            ("a", "3f9a0c11d2e4", "0b5e8a52-36cc-4f6a-9f5d-0d1a2b3c4d5e", 1234),
            ("b", "7777aa00bb12", "7c1de9f0-01aa-4a1b-8c2d-3e4f5a6b7c8d", 56789),
        )
    )
    assert same(first, second) == (False, True)


@pytest.mark.parametrize(
    "form",
    [
        "Not ready (asked at {clock})",
        "Search queued as job {ulid}. Results will follow.",
        "cursor: {base64}",
        "<Result of a search at {address}>",
        "[pid {number}] worker-{number} restarted",
        "Nothing here yet.\nCache key: search-{slug}",
        "Your words are noted.\n\nNext:\n- a broader question than {q}\n- `rg '{q}'`",
        '{{"status": "queued", "job": "{ulid}"}}',
    ],
)
def test_what_is_of_the_call_makes_no_other_answer_of_one_that_names_no_place(form: str) -> None:
    marks = [
        {"clock": "18:46:47.123", "ulid": "01J9XK3M5QWERT7YAB2CDEFG8H", "number": 40123}
        | {"base64": "aB3xYz9QkLmN4pR7", "address": "0x7f3b1c2d9e40", "q": "auth flow"},
        {"clock": "18:47:02.004", "ulid": "01J9XK4Z8NPQRS2TVW6XY3ABCD", "number": 77}
        | {"base64": "Zk29LmQ1xTgY8bVd", "address": "0x7f00aa119e41", "q": "where is the cache"},
    ]
    first, second = (
        ({"query": each["q"]}, form.format(**each, slug=str(each["q"]).replace(" ", "-")))
        for each in marks
    )
    assert same(first, second) == (False, True)


def test_a_word_of_the_question_that_is_in_every_answer_is_no_echo() -> None:
    for text in ("Closed today: code search has a holiday.", "Nobody is there, try the index."):
        assert same(({"q": "search"}, text), ({"q": "where is the code"}, text)) == (False, True)


@pytest.mark.parametrize(
    "form", ["Found: {name}", "{name} is called by Shop", "See {name}, line {n}", "src/{name}"]
)
def test_names_are_no_marks(form: str) -> None:
    first, second = (
        ({"query": query}, form.format(name=name, n=n))
        for query, name, n in (("a", "HttpRequestHandlerFactory", 3), ("b", "parse_utf8_lines", 4))
    )
    assert same(first, second) == (False, False)


@pytest.mark.parametrize(
    "form",
    ["src/a.py:{n}", "src/a.py, line {n}", "src/a.py\n{n}\tclass A", "{n} callers", "step_{n}()"]
    + ["The class A is in lines {n} to {n} of the module", '{{"line": {n}}}', "x = {n}"],
)
def test_lines_and_counts_are_of_an_answer(form: str) -> None:
    first, second = (({"query": query}, form.format(n=n)) for query, n in (("a", 12), ("b", 345)))
    assert same(first, second) == (False, False)


def test_several_questions_of_one_call_are_an_echo_too() -> None:
    first, second = (
        ({"patterns": asked}, f"Patterns: {', '.join(asked)}\nsrc/a.py:1")
        for asked in (["alpha", "beta gamma"], ["delta"])
    )
    assert same(first, second) == (False, True)


@pytest.mark.parametrize(
    "form",
    [
        "src/{q}.py:3",
        "src/{q}/views.py",
        "{q}.py",
        "{q}",
        "Found 1 file:\n{q}.py",
        "Found 2 results:\nsrc/{q}.py:3\nsrc/views.py:9",
        "src/{q}.py:3\nsrc/views.py:9",
        "Results in src/{q}:\nviews.py",
        "Found: {q}.py",
        "def {q}():",
        "settings.py\nvalue = '{q}'",
        "settings.py: value = '{q}'",
        "README.md — Notes for {q}",
        "README.md\nNotes for {q}",
        "1: for {q} in all_of_them",
        "x = find({q})\nreturn x",
        "views.py\n    for {q} in x",
        "views.py:1\nviews.py:2\nfor {q}:\nviews.py:4",
        '{{"files": ["{q}.py"]}}',
        '{{"files": ["{q}"]}}',
        '{{"path": "{q}", "lines": [1, 2]}}',
        '{{"results": [{{"name": "{q}", "file": "a.py"}}]}}',
        '{{"results": [{{"text": "Notes for {q}", "file": "a.md"}}]}}',
        '{{"items": {n}}}',
        '{{"symbols": {n}, "params": {n}}}',
        "{{}}\nsrc/{q}.py",
        "Found {n} results\nsrc/a.py",
    ],
)
@pytest.mark.parametrize("asked", [("auth", "jobs"), ("a", "b"), ("for", "py")])
def test_what_was_found_is_no_echo(form: str, asked: tuple[str, str]) -> None:
    first, second = (
        ({"query": one, "path": "src"}, form.format(q=one, n=number))
        for number, one in enumerate(asked)
    )
    assert same(first, second) == (False, False)


@pytest.mark.parametrize("name", ["src/auth.py src/jobs.py", "auth.py jobs.py"])
def test_a_file_that_was_asked_for_and_found_is_no_echo(name: str) -> None:
    for form in ("{}", "Found: {}", "Found 1 file:\n{}", '{{"results": [{{"path": "{}"}}]}}'):
        first, second = (({"name": one}, form.format(one)) for one in name.split())
        assert same(first, second) == (False, False), form


@pytest.mark.parametrize(
    "text",
    ["[" * 500_000, "{}\n" * 300_000, "for a " * 160_000, "a\n" * 500_000, " " * 1_000_000]
    + ["1" * 1_000_000, "[1]," * 250_000, '{"ms":' * 160_000, "\n[" * 500_000, "," * 1_000_000],
    ids=lambda text: repr(text[:6]),
)
@pytest.mark.timeout(20)
def test_any_text_is_compared_soon(text: str) -> None:
    digest_answer("mcp__a__b", {"q": "a " * 1000, "p": ["a", "for a"], "r": "a" * 100_000}, text)


@pytest.mark.parametrize(
    "asked", [["a", "a a", "a a a"], ["a", "a,a"], ["a " * n for n in range(50)]]
)
@pytest.mark.parametrize("line", ["for " + "a " * 150 + "(", "# " + "a,a, " * 90 + "x", "'a" * 200])
@pytest.mark.timeout(20)
def test_questions_that_are_parts_of_others_are_found_soon(asked: list[str], line: str) -> None:
    digest_answer("mcp__a__b", {"q": asked}, f"{line}\nsrc/a.py")


def test_the_texts_are_not_kept() -> None:
    found = digest_answer("mcp__a__b", {"q": "the secret word"}, "the secret answer")
    assert "secret" not in repr(found)


@pytest.mark.parametrize("content", [None, 7, [{"type": "audio"}], {"text": "x"}])
def test_what_is_not_text_is_counted_and_not_compared(content: object) -> None:
    found = digest_answer("mcp__a__b", {}, content)
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
