"""Scout with MCP servers, over real protocols."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.programs.scout.conftest import SERVER, Done, citations, config

Scout = Callable[..., Done]
PACK = "mcp__canopy__canopy_evidence_pack"
EXPAND = "mcp__canopy__canopy_expand"


def test_it_follows_the_pack(scout: Scout) -> None:
    done = scout(config())
    assert done.code == 0
    assert done.events[0]["mcp_servers"] == [{"name": "canopy", "status": "connected"}]
    assert done.events[0]["tools"] == ["Glob", "Grep", "Read", PACK, EXPAND]
    assert done.calls == [[PACK], [EXPAND], []]
    answer = done.result["result"]
    places = {"shop/auth.py": (2, 3, 4), "shop/jobs.py": (1, 2)}
    assert citations(answer) == {(path, line) for path in places for line in places[path]}


def test_instructions_of_the_mode_are_no_task(scout: Scout) -> None:
    def terms(done: Done) -> list[str]:
        call = done.events[1]["message"]["content"][0]["input"]
        return list(call["patterns"])

    task = "Find the authentication middleware."
    told = f"Use the token store tools, canopy_evidence_pack first.\n\n{task}\n\nAnswer in prose."
    assert terms(scout(config(), prompt=told)) == terms(scout(config(), prompt=task))


def test_empty_packs_lead_to_the_own_tools(scout: Scout) -> None:
    done = scout(config("--empty"))
    assert done.calls[:2] == [[PACK], [PACK]]
    assert done.calls[2][0] == "Grep"
    assert ("shop/auth.py", 2) in citations(done.result["result"])


@pytest.mark.parametrize(
    ("broken", "calls"),
    [("canopy_evidence_pack", [[PACK]]), ("canopy_expand", [[PACK], [EXPAND]])],
)
def test_a_tool_that_fails_leads_to_the_own_tools(
    scout: Scout, broken: str, calls: list[list[str]]
) -> None:
    done = scout(config("--fail", broken))
    assert done.calls[: len(calls)] == calls
    assert done.calls[len(calls)][0] == "Grep"
    results = [e["message"]["content"][0] for e in done.events if e["type"] == "user"]
    failed = results[len(calls) - 1]
    assert failed["is_error"] is True
    assert "the index is broken" in failed["content"]
    assert ("shop/auth.py", 2) in citations(done.result["result"])


def test_a_server_that_does_not_start_is_failed(scout: Scout) -> None:
    done = scout(
        config(
            gone={"command": "/nowhere/at-all"},
            dies={"command": sys.executable, "args": ["-c", "print('no JSON')"]},
            odd={"port": 1},
            refused={"url": "http://127.0.0.1:1/mcp"},
        )
    )
    assert done.code == 0
    status = {entry["name"]: entry["status"] for entry in done.events[0]["mcp_servers"]}
    failed = dict.fromkeys(("gone", "dies", "odd", "refused"), "failed")
    assert status == {"canopy": "connected", **failed}
    assert len(done.err.splitlines()) == 4
    assert "Traceback" not in done.err


def test_servers_get_the_environment_and_go_with_the_agent(workspace: Path) -> None:
    script = workspace / "server.sh"
    script.write_text(
        f'#!/bin/sh\necho "$SWARM_BENCH_TRIAL $$" > seen\nexec {sys.executable} {SERVER}\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    servers = {"canopy": {"command": str(script), "env": {"A": "b"}}}
    command = [sys.executable, "-I", "-m", "swarm_bench.programs.scout", "-p"]
    subprocess.run(
        [*command, "--mcp-config", json.dumps({"mcpServers": servers}), "--", "Find auth."],
        cwd=workspace,
        env={"SWARM_BENCH_TRIAL": "t1", "PATH": "/usr/bin:/bin"},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    tag, pid = (workspace / "seen").read_text(encoding="utf-8").split()
    assert tag == "t1"
    assert not Path(f"/proc/{pid}").exists()


@pytest.fixture
def url() -> Iterator[str]:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = (
        "import runpy, sys\n"
        f"server = runpy.run_path({str(SERVER)!r})['server']\n"
        f"server.run('streamable-http', port={port})\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with closing(socket.socket()) as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


def test_streamable_http(scout: Scout, url: str) -> None:
    servers = {"canopy": {"type": "http", "url": url, "headers": {"X-Api-Key": "k"}}}
    done = scout("--mcp-config=" + json.dumps({"mcpServers": servers}))
    assert done.events[0]["mcp_servers"] == [{"name": "canopy", "status": "connected"}]
    assert done.calls == [[PACK], [EXPAND], []]
