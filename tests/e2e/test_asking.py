"""The tools are asked before a session, and what having them costs is measured once per mode."""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from swarm_bench.runtime.ownership import TAG
from tests.builders.golden import Sentences
from tests.e2e.conftest import Bench

pytestmark = pytest.mark.timeout(120)


def mode(bench: Bench, name: str, **server: Any) -> str:
    content = {"mcpServers": {"shelf": server}, "swarmBench": {}}
    (bench.folder / f"{name}.json").write_text(json.dumps(content))
    return f"{name}.json"


def lines(bench: Bench, session: str) -> dict[str, dict[str, Any]]:
    text = (bench.folder / session / "overhead.jsonl").read_text()
    found = [json.loads(line) for line in text.splitlines()]
    assert len({line["mode"] for line in found}) == len(found)
    return {line["mode"]: line for line in found}


def asked() -> list[int]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(TAG, "").startswith("greeting"):
                found.append(process.ppid())
        except psutil.Error:
            pass
    return found


def test_a_server_that_does_not_start_is_refused_before_anything_ran(
    bench: Bench, golden: Sentences
) -> None:
    # A child that held the pipe would keep the end of the output from being seen.
    script = "sleep 60 >/dev/null & echo the key $KEY is wrong >&2; exit 3"
    env = {"KEY": "sesame-open-12345"}
    broken = mode(bench, "broken", command="sh", args=["-c", script], env=env)
    other = mode(bench, "other", url="http://me:sesame@127.0.0.1:9/mcp")
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "baseline", broken, other, "--runs", "1"
    )
    assert done.code == 2
    assert "broken, other" in done.err
    golden(done.err)
    assert not (bench.folder / "results").exists()
    assert os.getpid() not in asked()


NO_TOOLS = "from mcp.server import MCPServer; MCPServer('bare').run()"


def test_a_mode_without_any_tool_to_offer_is_refused(bench: Bench, golden: Sentences) -> None:
    bare = mode(bench, "bare", command=sys.executable, args=["-c", NO_TOOLS])
    done = bench.call("compare", "--repo", str(bench.repo), "--modes", "baseline", bare)
    assert done.code == 2
    golden(done.err)


def test_a_service_that_does_not_start_is_refused(bench: Bench, golden: Sentences) -> None:
    service = bench.folder / "service"
    service.write_text("#!/bin/sh\necho no room >&2\nexit 4\n")
    service.chmod(0o755)
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "canopy-service", "canopy",
        env={"SWARM_BENCH_CANOPY_SERVICE": str(service), "SWARM_BENCH_CANOPY_MCP": str(service)},
    )  # fmt: skip
    assert done.code == 2
    golden(done.err)
    assert not (bench.folder / "results").exists()


def test_a_plan_starts_no_server(bench: Bench, golden: Sentences) -> None:
    broken = mode(bench, "broken", command="sh", args=["-c", "touch started; exit 3"])
    done = bench.call("compare", "--repo", str(bench.repo), "--modes", broken, "--plan")
    assert done.code == 0
    (overhead,) = (line for line in done.out.splitlines() if line.startswith("Overhead:"))
    golden(overhead)


def test_the_overhead_of_each_mode_is_measured_once(bench: Bench) -> None:
    session = ["--agents", "1", "--output", "s", "--record"]
    call = ("compare", "--repo", str(bench.repo), "--modes", "baseline", "canopy", *session)
    assert bench.call(*call, "--runs", "1").code == 0
    first = lines(bench, "s")
    baseline, canopy = first["baseline"], first["canopy"]
    assert (baseline["tools"], baseline["tool_tokens"], baseline["server_seconds"]) == (0, 0, {})
    assert canopy["tools"] == 7
    assert canopy["server_seconds"]["canopy"] > 0
    more = canopy["tool_tokens"] + canopy["mode_instruction_tokens"]
    # Scout sends what was counted, and a line between the instructions and the task.
    assert canopy["prompt_tokens"] - baseline["prompt_tokens"] == pytest.approx(more, abs=2)
    assert canopy["prompt_cost"] > baseline["prompt_cost"] > 0
    [swarm] = [
        json.loads(line)
        for line in (bench.folder / "s" / "retrieval.jsonl").read_text().splitlines()
        if '"mode":"canopy"' in line
    ]
    assert swarm["before"]["feedback"] is None  # the empty prompt was not asked in its workspace
    assert swarm["index_seconds"] is not None

    assert bench.call("compare", "--agent", "replay:s", "--output", "r").code == 0
    replayed = lines(bench, "r")
    ids = {line.pop("session") for line in replayed.values()}
    assert all(line.pop("sha256") for line in replayed.values())  # the session is in it
    assert ids == {bench.experiment("r")["session"]}
    assert replayed == {
        name: {key: value for key, value in line.items() if key not in ("session", "sha256")}
        for name, line in first.items()
    }

    assert bench.call("compare", "--continue", "s", "--runs", "2").code == 0
    assert lines(bench, "s") == first


def test_an_agent_that_fails_at_the_empty_prompt_says_so(bench: Bench) -> None:
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "baseline", "--agents", "1",
        "--runs", "1", "--output", "s", "--agent", str(_failing(bench)),
    )  # fmt: skip
    line = lines(bench, "s")["baseline"]
    assert done.code == 0, done.err
    assert line["prompt_tokens"] is None
    assert line["problem"].startswith("the empty prompt gave no figures: ")


def _failing(bench: Bench) -> Path:
    """An agent that answers every task but the empty one."""
    path = bench.folder / "agent.yaml"
    script = (
        "import json, sys; sys.exit('nothing to do') if 'single word' in sys.argv[1] else "
        "print(json.dumps({'text': 'shop/auth.py', 'in': 5, 'out': 1}))"
    )
    command = json.dumps([sys.executable, "-c", script, "{{ prompt }}"])
    path.write_text(
        f"name: picky\ncommand: {command}\nmcp: none\nturns: {{limit: none}}\n"
        "output:\n  format: json\n  answer: $.text\n  tokens: {input: $.in, output: $.out}\n"
    )
    return path


TELLTALE = """
import json, os, sys
words = " ".join([*sys.argv[1:], os.environ["KEY"], os.environ["LITERAL"]])
print(words, file=sys.stderr, flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    said = json.dumps(json.dumps([words, asked.get("params")]))
    result = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {}, "instructions": said,
                       "serverInfo": {"name": said, "version": said}},
        "tools/list": {"tools": [{"name": "search_code", "description": said,
                                  "inputSchema": {"type": "object"}}]},
        "tools/call": {"isError": True, "content": [{"type": "text", "text": said}]},
    }.get(asked["method"])
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def test_what_servers_are_given_reaches_neither_a_file_nor_the_terminal(bench: Bench) -> None:
    """By its own name, by its words when its index fails, and by the way to it."""
    (bench.folder / "canary-command").symlink_to(sys.executable)
    script = bench.folder / "telltale.py"
    script.write_text(TELLTALE)
    server = {
        "command": "${COMMAND}",
        "args": [str(script), "--key=${ARGUMENT}"],
        "env": {"KEY": "pre-${VARIABLE}", "LITERAL": 'canary-"literal"'},
    }
    index = {"tool": "search_code", "arguments": {"key": "${INDEX}"}}
    content = {"mcpServers": {"shelf": server}, "swarmBench": {"index": index}}
    (bench.folder / "tells.json").write_text(json.dumps(content))
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "baseline", "tells.json", "--agents", "1",
        "--runs", "1", "--index", "warm", "--output", "s",
        env={
            "COMMAND": str(bench.folder / "canary-command"), "ARGUMENT": 'canary "\\ä argument',
            "VARIABLE": "canary-variable", "INDEX": "canary/index",
        },
    )  # fmt: skip
    (failed,) = (one for one in bench.records("s") if one["mode"] == "tells")
    assert failed["cause"] == "index-failed"
    assert "(not stored)" in failed["detail"]
    assert "(not stored)" in bench.experiment("s")["retrieval"]["tells"]["name"]
    assert bench.experiment("s")["retrieval"]["tells"]["path"] == "${COMMAND}"
    files = [path for path in (bench.folder / "s").rglob("*") if path.is_file()]
    telling = [path for path in files if b"canary" in path.read_bytes()]
    assert telling == []
    assert "canary" not in done.out + done.err


def test_an_interruption_while_servers_are_asked_says_that_nothing_was_recorded(
    bench: Bench,
) -> None:
    slow = mode(bench, "slow", command="sleep", args=["60"])
    running = bench.start(
        "compare", "--repo", str(bench.repo), "--modes", "baseline", slow, "--runs", "1"
    )
    assert running.stderr is not None
    while b"asking the servers" not in running.stderr.readline():
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (
        130,
        b"Interrupted before the first trial; nothing was recorded.\n",
    )
