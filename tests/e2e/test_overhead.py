"""What the one request of an agent with nothing to do may cost a session: its own figures."""

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from swarm_bench.benchmarks.swarm.running.workspace_preparation import compute_timeout
from swarm_bench.core.session.experiment import Limits
from swarm_bench.core.treatment.overhead import Overhead
from tests.e2e.conftest import Bench

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

EAGER = """
import json, os, subprocess, sys
prompt, config = sys.argv[1:]
calls = []
for name, server in json.load(open(config))["mcpServers"].items():
    if "single word" not in prompt:
        break
    process = subprocess.Popen(
        [server["command"], *server["args"]],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **server.get("env", {})},
    )
    query = {"name": "canopy_query", "arguments": {"pattern": "token"}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": query}
    process.stdin.write(json.dumps(request).encode() + b"\\n")
    process.stdin.flush()
    process.stdout.readline()
    process.terminate()
print(json.dumps({"text": "shop/auth.py", "requests": [{"in": 7, "out": 1}]}))
"""
"""Calls the tool at the empty prompt, as a model may."""


def eager(bench: Bench) -> str:
    command = json.dumps([sys.executable, "-I", "-c", EAGER, "{{ prompt }}", "{{ mcp_config }}"])
    tokens = (
        "{each: '$.requests[*]', input: $.in, output: $.out, "
        "cache_read: {constant: 0}, cache_create: {constant: 0}}"
    )
    path = bench.folder / "agent.yaml"
    path.write_text(
        f"name: eager\ncommand: {command}\nturns: {{limit: none}}\n"
        f"output:\n  format: json\n  answer: $.text\n  tokens: {tokens}\n"
    )
    return str(path)


@contextmanager
def making_clones_again(bench: Bench) -> Iterator[set[Path]]:
    """What the real service does to the folder of a repository that it knows, whenever somebody
    asks for its metrics."""
    known, stop = set[Path](), threading.Event()

    def serve() -> None:
        while not stop.wait(0.01):
            with suppress(OSError):
                known.update(bench.folder.glob("tmp/swarm-bench-*/overhead/*/my *"))
            for clone in [clone for clone in known if not clone.exists()]:
                with suppress(OSError):
                    (clone / ".canopy").mkdir(parents=True)
                    (clone / ".canopy" / "feedback.db").touch()

    service = threading.Thread(target=serve)
    service.start()
    try:
        yield known
    finally:
        stop.set()
        service.join()


def test_a_call_at_the_empty_prompt_spoils_nothing_but_its_own_line(bench: Bench) -> None:
    """The service waits two minutes for an index of the clone that nobody has asked for."""
    modes = ["canopy-service", "canopy", "baseline"]
    with making_clones_again(bench) as clones:
        done = bench.call(
            "compare", "--repo", str(bench.repo), "--modes", *modes, "--agents", "1", "--runs", "1",
            "--seed", "1", "--timeout", "10", "--output", "s", "--agent", eager(bench),
        )  # fmt: skip
    assert done.code == 0, done.err
    assert bench.experiment("s")["order"] == [modes]
    assert {record["mode"]: record["cause"] for record in bench.records("s")} == dict.fromkeys(
        modes, "finished"
    )
    assert len(clones) == len(modes)
    text = (bench.folder / "s" / "overhead.jsonl").read_text()
    lines = {line["mode"]: line for line in map(json.loads, text.splitlines())}
    assert {mode: line["prompt_tokens"] for mode, line in lines.items()} == {
        "canopy-service": None, "canopy": 7, "baseline": 7,
    }  # fmt: skip
    assert "10 s" in lines["canopy-service"]["problem"]
    swarms = map(json.loads, (bench.folder / "s" / "retrieval.jsonl").read_text().splitlines())
    assert {swarm["mode"]: swarm["failure"] for swarm in swarms} == dict.fromkeys(modes)


def test_the_empty_prompt_has_little_time() -> None:
    limits = Limits(max_turns=15, timeout=900, index_timeout=300)
    line = Overhead(session="s", mode="canopy")
    slow = line.model_copy(update={"server_seconds": {"quick": 1.0, "slow": 12.0}})
    assert compute_timeout(line, limits) == 30
    assert compute_timeout(slow, limits) == 42
    assert compute_timeout(slow, limits.model_copy(update={"timeout": 9.0})) == 9
