"""What retrieval tools and their services answer, count and are asked, and what agents write."""

import json
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from swarm_bench.agents.reading.tool_answers import digest_answer
from swarm_bench.agents.reading.tool_calls import limit_texts
from swarm_bench.core.session.experiment import SearchTool
from swarm_bench.programs.canopy.errors import ToolError
from swarm_bench.programs.canopy.local import LocalTools
from swarm_bench.programs.canopy.mcp.server import Server
from swarm_bench.programs.canopy.search.dsl import parse_dsl
from swarm_bench.programs.globs import compile_glob
from swarm_bench.reports.text import cut, encodable, escape, format_code_block, plain
from swarm_bench.retrieval.locations import MAX_LOCATIONS, Unreadable, read_locations
from swarm_bench.retrieval.probes.feedback import (
    FEEDBACK_DB,
    compute_feedback_difference,
    read_feedback,
)
from swarm_bench.retrieval.probes.service_metrics import compute_service_difference
from swarm_bench.retrieval.reach.command_lines import MOST_LAYERS, find_commands
from swarm_bench.runtime.mcp.lines import StrayOutput, read_messages
from swarm_bench.runtime.ownership import temporary
from swarm_bench.source.references.extraction import references
from swarm_bench.source.references.symbols import names
from swarm_bench.text import tool_results
from tests.fuzz.parts import BETWEEN, joined, parts
from tests.retrieval.probes.test_feedback import EVENTS, SCHEMA

METRICS = joined(
    b'{"performance": {"queries": 1, "avg_query_ms": 2.5}}',
    b'{"performance": {"queries": 4, "query_cache_hits": 1, "query_cache_misses": 2}}',
)
MESSAGES = [
    json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    for method, params in (
        ("initialize", {"protocolVersion": "2024-11-05", "capabilities": {}}),
        ("tools/list", {}),
        ("tools/call", {"name": "canopy_query", "arguments": {"pattern": "add", "limit": 3}}),
        ("tools/call", {"name": "canopy_query", "arguments": {"query": '(code "add")'}}),
        ("tools/call", {"name": "canopy_evidence_pack", "arguments": {"query": "add"}}),
        ("tools/call", {"name": "canopy_expand", "arguments": {"handle_ids": ["h0a1b2c3d4e5f"]}}),
        ("tools/call", {"name": "canopy_invalidate", "arguments": {"glob": "**/{a,b}*.py"}}),
    )
]
LINES = [
    b'{"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "x"}]}}\nINFO sesame\n',
    b'\xef\xbb\xbf\x1b[?2004h[{"jsonrpc": "2.0", "id": "1", '
    b'"error": {"code": 1, "message": "\\ud800"}}]',
    b'{\n "jsonrpc": "2.0",\n "id": 1,\n "result": {}\n}\nContent-Length: 12\r\n\r\n\0',
    b'log {"jsonrpc": "2.0", "id": 1, "method": "m"}'
    b'{"jsonrpc": "2.0", "method": "notifications/message"}',
    b'{"id": 1, "result": {}}\n{"id": 1.0, "error": {}}\n'
    b"{'jsonrpc': '2.0', 'id': 1, 'result': {}}",
]
RESULTS = [
    b'{"results": [{"path": "src/app.py", "start_line": 3, "end_line": 9, "text": "def a():"}]}',
    b"src/app.py:12: def add(a, b):\n  13\treturn a\n",
    b'<file path="src/app.py">\n1: import os\n2: x\n</file>\nNo results found for "y".',
    b"results[0]{path,line}:\n\x1b[31mError:\x1b[0m x\nrg: src/app.py: Permission denied\n",
    b"| File | Line |\n|---|---|\nNothing found. Files searched:\n- src/app.py\n",
    b"## Results\n- `src/app.py:3-9`\n```python\n3 | def a():\n```\n",
]
TEXTS = [
    b"# A\n- see [a](b) @name #12 `x`\n\n| a | b |\n",
    b"www.a.b <http://c.d> **b** _c_ ~~d~~ $e$ &amp; \xe2\x80\xae\x1b[31m\n```\n",
]
COMMANDS = [
    b"cd /w && PATH=$HOME/bin:$PATH canopy-mcp --root . | head -3; cat .canopy/index.db",
    b'bash -lc \'for f in $(ls); do python3 -c "import os; os.system(\\"a\\")"; done\' <<E\nx\nE',
    b"curl -s http://127.0.0.1:3000/query -d '{\"repo\": 1}' && rg -n --glob '!.canopy' add src/",
]
_BY_PATTERN = SearchTool(
    tool="s", arguments={}, pattern=r"(?<![\w/.])(?P<path>[\w/.]++):(?P<line>\d+)"
)
_BY_JSON_PATH = SearchTool(tool="s", arguments={}, json_path="$..path")
_FILES = frozenset({"src/app.py"})
_COMMONMARK = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def databases() -> list[bytes]:
    """Of canopy's events: empty and filled ones."""
    found = []
    for script in (SCHEMA, SCHEMA + EVENTS):
        with temporary() as folder:
            with closing(sqlite3.connect(folder / "made.db")) as made:
                made.executescript(script)
            found.append((folder / "made.db").read_bytes())
    return found


def feedback(data: bytes, folder: Path) -> None:
    """Every count is one, or missing; so is what is computed of them."""
    (folder / FEEDBACK_DB).parent.mkdir()
    (folder / FEEDBACK_DB).write_bytes(data)
    found = read_feedback(folder)
    assert found is not None
    assert all(count is None or 0 <= count <= 2**53 for count in found.values())
    json.dumps(compute_feedback_difference(None, found), allow_nan=False)


def metrics(data: bytes, _folder: Path) -> None:
    """What happened between two answers of a service."""
    before, after = (_json_object(part) for part in parts(data, 2))
    json.dumps(compute_service_difference(before, after), allow_nan=False)


def _json_object(data: bytes) -> dict[str, Any] | None:
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def message(data: bytes, folder: Path) -> None:
    """A line for the embedded server has one reply or none, with the id of the question."""
    (folder / "a.py").write_text("def add(a, b):\n    return a\n", encoding="utf-8")
    server = Server(folder, LocalTools)
    try:
        for line in data.split(b"\n")[:3]:
            reply = server.reply(line)
            assert reply is None or ("result" in reply) != ("error" in reply)
            json.dumps(reply)
    finally:
        server.close()


def lines(data: bytes, _folder: Path) -> None:
    """What a server prints is messages, or is quoted in a clause that can be shown."""
    stray = StrayOutput(("sesame",))
    for line in data.split(b"\n"):
        messages, problem = read_messages(line)
        for message in messages:
            json.dumps(message.model_dump(by_alias=True)).encode()
        if problem is not None:
            stray.add(line, problem)
            assert stray.find_request({"1"}) in (None, "1")
    clause = stray.clause()
    assert clause is None or (clause.isprintable() and "sesame" not in clause)


def result(data: bytes, _folder: Path) -> None:
    """The text of a tool's result, in all the ways it is read."""
    text = data.decode("utf-8", "surrogateescape")
    for place in tool_results.locations(text, "/w"):
        assert not place.path.startswith("/")
    for reference in references(text, _FILES, "/w"):
        assert reference.path is None or reference.path in _FILES
        assert 0 <= reference.position <= len(text)
    assert all(names(text))
    for search in (None, _BY_PATTERN, _BY_JSON_PATH):
        with suppress(Unreadable):
            assert len(read_locations(text, search, "/w", _FILES)) <= MAX_LOCATIONS
    content: Any = text
    with suppress(ValueError, RecursionError):
        content = json.loads(text)
    for shown in (text, content, [content], {"content": content, "structuredContent": content}):
        answer = digest_answer("mcp__s__t", {"query": "y"}, shown)
        assert (answer.answer is None) == (answer.bytes is None)
        assert answer == digest_answer("mcp__s__t", {"query": "y"}, shown)


def expression(data: bytes, _folder: Path) -> None:
    """An expression or a glob of an agent for the embedded canopy."""
    text = data.decode("utf-8", "replace")
    with suppress(ToolError):
        parse_dsl(text)
    for glob in text.split('"')[1::2] or [text]:
        with suppress(ToolError):
            compile_glob(glob).match("src/" + "a" * 100 + ".py")


def markdown(data: bytes, _folder: Path) -> None:
    """Markdown shows a text as it is: what is read of the page is what was written."""
    text = data.decode("utf-8", "surrogateescape")
    _one_line(text)
    page = _COMMONMARK.parse(format_code_block(text))
    assert [token.type for token in page] == ["fence"]
    assert len(cut(text, 40)) <= 43


def _one_line(text: str) -> None:
    shown = escape(text)
    assert "\n" not in shown
    assert shown == encodable(shown)
    if not shown:
        return
    tokens = _COMMONMARK.parse(f"x {shown} x")
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    inner = tokens[1].children or []
    assert {token.type for token in inner} <= {"text", "code_inline", "text_special"}
    read = "".join(token.content for token in inner)
    assert read.split() == f"x {plain(text)} x".split()


def command_line(data: bytes, _folder: Path) -> None:
    """A line for a shell, as the fourth witness takes it apart."""
    for line in limit_texts(data.decode("utf-8", "replace").split(BETWEEN.decode())):
        words = sum(len(word) for command in find_commands(line) for word in command.argv)
        assert words <= 20 * MOST_LAYERS * (len(line) + 20)
