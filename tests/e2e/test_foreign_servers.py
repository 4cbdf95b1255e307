"""Servers that nobody here knows, as modes: what their files say reaches them, and no more."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Bench

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
SERVER = Path(__file__).parents[1] / "programs" / "scout" / "foreign_server.py"
KEY = "open-sesame"


@pytest.fixture
def address(bench: Bench) -> Iterator[str]:
    """Of a server that asks for a key."""
    words = [sys.executable, str(SERVER), "--http", "--root", str(bench.repo)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield process.stdout.readline().strip()
        process.terminate()


def write_mode(bench: Bench, server: dict[str, Any]) -> None:
    content = {"mcpServers": {"library": server}}
    (bench.folder / "library.json").write_text(json.dumps(content), encoding="utf-8")


def compare(bench: Bench, **environment: str) -> Any:
    words = ["compare", "--repo", str(bench.repo), "--output", "out", "--quiet", "--runs", "1"]
    words += ["--agents", "1", "--modes", "baseline", "./library.json"]
    return bench.call(*words, env=environment)


def test_a_server_over_http_gets_the_users_key_and_nobody_else_does(
    bench: Bench, address: str
) -> None:
    headers = {"Authorization": "Bearer ${LIBRARY_KEY}"}
    write_mode(bench, {"type": "streamable-http", "url": "${LIBRARY}", "headers": headers})
    done = compare(bench, LIBRARY=address, LIBRARY_KEY=KEY)
    assert done.code == 0, done.err
    records = {record["mode"]: record for record in bench.records("out")}
    assert records["library"]["retrieval"] == "used"
    assert records["library"]["unusable_tools"] == ["mcp__library__explain"]
    assert records["baseline"]["retrieval"] == "not-given"
    assert records["baseline"]["unusable_tools"] is None
    written = [path for path in (bench.folder / "out").rglob("*") if path.is_file()]
    assert not [path for path in written if KEY.encode() in path.read_bytes()]
    assert bench.experiment("out")["modes"][1]["servers"]["library"]["headers"] == headers


@pytest.mark.parametrize(
    ("server", "words"),
    [
        ({"url": "http://127.0.0.1:1/mcp", "headers": {"K": "${NO_KEY}"}}, "the variable NO_KEY"),
        ({"url": "http://127.0.0.1:1/sse", "type": "sse"}, "'sse', which is not supported"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_runs(
    bench: Bench, server: dict[str, Any], words: str
) -> None:
    write_mode(bench, server)
    done = compare(bench)
    assert done.code == 2
    assert words in " ".join(done.err.split())
    assert not (bench.folder / "out").exists()
