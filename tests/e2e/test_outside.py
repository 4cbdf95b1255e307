"""Baselines that reach the tool another way, with real processes: each is qualified."""

import json
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.builders.golden import Sentences, parts
from tests.e2e.conftest import COMMAND, Bench

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

CANOPY = COMMAND.with_name("swarm-bench-canopy-mcp")
WAYS = {
    "a": "copies the clone and starts the tool",
    "b": "asks a service",
    "c": "reads an index",
    "d": "calls a bare name",
    "e": "does none of it",
}
AGENT = """
import json, os, subprocess, sys
prompt, config, canopy, port = sys.argv[1:]
index = open(os.path.join(os.path.dirname(sys.argv[0]), "index.txt")).read()
baseline = not json.load(open(config))["mcpServers"]
way = prompt.strip()[-1] if baseline else "e"
calls, commands = [], []
def child(*words):
    subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=60)
if way == "a":
    script = 'cp -r . "$TMPDIR/copy"; (sleep 1.5) | "$0" --root "$TMPDIR/copy"'
    child("sh", "-c", script, canopy)
elif way == "b":
    commands.append(f"curl -s http://127.0.0.1:{port}/repos/add -d '{{}}'")
    child("sh", "-c", commands[-1])
elif way == "c":
    reads = "import sqlite3, sys, time; open(sys.argv[1], 'rb').read(); time.sleep(1.5)"
    child(sys.executable, "-c", reads, index)
elif way == "d":
    calls.append("canopy_query")
else:
    commands.append("rg --glob '!.canopy/**' token; git status; cat docs/canopy.md")
print(json.dumps({"text": "See `shop/auth.py`.", "calls": calls, "commands": commands}))
"""


class _Service(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    """Of a service that is not the session's."""
    with HTTPServer(("127.0.0.1", 0), _Service) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def agent(bench: Bench, port: int, index: Path) -> str:
    program = bench.folder / "agent.py"
    program.write_text(AGENT)
    # Not in its arguments, which are seen in the process tree too.
    program.with_name("index.txt").write_text(str(index))
    words = ["{{ prompt }}", "{{ mcp_config }}", str(CANOPY), str(port)]
    path = bench.folder / "agent.yaml"
    path.write_text(
        f"name: sly\ncommand: {json.dumps([sys.executable, '-I', str(program), *words])}\n"
        "turns: {limit: none}\noutput:\n  format: json\n  answer: $.text\n"
        "  tools: {calls: '$.calls[*]', commands: '$.commands[*]'}\n"
    )
    return str(path)


def test_every_other_way_to_the_tool_is_seen(bench: Bench, port: int, golden: Sentences) -> None:
    index = bench.folder / "elsewhere" / ".canopy" / "index.db"
    index.parent.mkdir(parents=True)
    index.write_bytes(b"an index of the user's")
    tasks = "\n".join(f"  - {{id: {way}, title: {way}, prompt: Be {way}}}" for way in WAYS)
    (bench.folder / "ways.yaml").write_text(f"description: Ways.\ntasks:\n{tasks}\n")
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "baseline", "canopy", "canopy-service",
        "--tasks", "ways.yaml", "--all-tasks", "--runs", "1", "--output", "out",
        "--agent", agent(bench, port, index),
    )  # fmt: skip
    assert done.code == 0, done.err
    records = bench.records("out")
    outside = {
        record["task_id"]: record["evidence"]["outside"]
        for record in records
        if record["mode"] == "baseline"
    }
    signs = {
        "a": "started swarm-bench-canopy-mcp",
        "b": f"asked 127.0.0.1:{port}",
        "c": "read .canopy",
        "d": "called canopy_query",
    }
    for way, sign in signs.items():
        assert sign in " ".join(outside[way]), (way, outside)
    assert outside["e"] == []
    assert all("process tree" in outside[way][0] for way in ("a", "c"))
    assert [r["evidence"]["outside"] for r in records if r["mode"] != "baseline"] == [[]] * 10
    assert {r["retrieval"] for r in records} <= {"unknown", "not-given", "unused"}
    headline = done.out.partition("## Headline")[2].partition("## Warnings")
    assert "here are no caveats" not in headline[0]
    golden(parts(done.out, "Headline"))
    assert "baseline: 4 of 5 trials" in headline[2]
    assert str(index) not in (bench.folder / "out" / "metrics.jsonl").read_text()
