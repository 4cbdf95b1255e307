import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

from swarm_bench.agents.scout.adapter import Scout
from swarm_bench.benchmarks.swarm.artefacts import Artefacts
from swarm_bench.benchmarks.swarm.running.kit import Kit
from swarm_bench.core.errors import ConfigError, IndexFailed, UsageError
from swarm_bench.core.session.designs import COMPARE
from swarm_bench.core.session.experiment import (
    Experiment,
    Limits,
    Mode,
    Preparation,
    Program,
    Repository,
    Task,
)
from swarm_bench.retrieval.preparing import check_warm, prepare
from swarm_bench.retrieval.tools import Site, Tools
from swarm_bench.runtime.workspaces.workspace import Snapshot
from tests.processes import tagged

MCP = str(Path(sys.executable).with_name("swarm-bench-canopy-mcp"))
CANOPY = {"command": MCP, "args": ["--root", "{{ workspace }}"]}


def playing(fault: str) -> dict[str, Any]:
    program = "swarm_bench.testing.misbehaving_mcp"
    return {"command": sys.executable, "args": ["-I", "-m", program, fault]}


def mode(
    *servers: Mapping[str, Any], tool: str = "canopy_index", glob: str = "**/*", **more: Any
) -> Mode:
    return Mode(
        name="tool",
        source="/modes/tool.json",
        servers={f"s{number}": dict(server) for number, server in enumerate(servers)},
        prepare=Preparation(tool=tool, arguments={"glob": glob}),
        **more,
    )


def kit(work: Path, one: Mode, timeout: float = 10) -> Kit:
    repository = Repository(path="/r/shop", kind="folder", tree="t", files=1, bytes=1)
    experiment = Experiment(
        session="s", created_at=datetime.now(UTC), benchmark="swarm", design=COMPARE,
        repository=repository,
        modes=(one,), suite="x", agents=1, concurrency=1,
        tasks=(Task(id="t", title="t", prompt="t"),), agent=Program(name="scout"),
        index="warm", runs=1, seed=0, order=(("tool",),),
        limits=Limits(max_turns=1, timeout=1, index_timeout=timeout),
    )  # fmt: skip
    kit = Kit(
        experiment=experiment,
        agent=Scout(),
        agent_spec="scout",
        snapshot=Snapshot(path=work, repository=repository, files=frozenset()),
        artefacts=Artefacts(work / "session", runs=1),
        tools=Tools(
            work=work,
            programs={"canopy-mcp": Path(MCP)},
            user_environment={"PATH": "/usr/bin:/bin", "HOME": str(work)},
            index_timeout=timeout,
        ),
        emit=lambda _: None,
    )
    (kit.workspace / "shop").mkdir(parents=True)
    (kit.workspace / "shop" / "auth.py").write_text("def authenticate(token): ...\n")
    return kit


def build(one: Kit, tag: str) -> float:
    (tool,) = one.experiment.modes
    site = Site(tools=one.tools, mode=tool, workspace=one.workspace, secrets=one.secrets, tag=tag)
    return anyio.run(prepare, site)


def test_the_server_that_has_the_tool_builds_the_index_and_ends(tmp_path: Path) -> None:
    one = kit(tmp_path, mode(playing("fine"), CANOPY))
    assert 0 < build(one, f"{tmp_path}/1") < 10
    assert (one.workspace / ".canopy" / "index.db").stat().st_size > 0
    assert tagged(f"{tmp_path}/1") == []


@pytest.mark.parametrize(
    ("servers", "index", "words"),
    [
        ([CANOPY], {"tool": "canopy_build"}, "no server has that tool .s0."),
        ([CANOPY], {"glob": "["}, "s0 could not prepare the workspace: The glob"),
        ([playing("every-call-fails")], {"tool": "canopy_expand"}, "the index is broken"),
        ([playing("dies-after:0")], {"tool": "canopy_expand"}, "The MCP server s0 could not"),
        ([{"command": "/no/such/server"}], {}, "The MCP server s0 could not"),
    ],
)
def test_what_is_not_indexed_fails(
    tmp_path: Path, servers: list[dict[str, Any]], index: dict[str, Any], words: str
) -> None:
    with pytest.raises(IndexFailed, match=words):
        build(kit(tmp_path, mode(*servers, **index)), f"{tmp_path}/2")


def test_an_index_has_its_time(tmp_path: Path) -> None:
    one = kit(tmp_path, mode(playing("never-answers")), timeout=0.5)
    with pytest.raises(IndexFailed, match=r"after 0\.5 s; give it more with --index-timeout"):
        build(one, f"{tmp_path}/3")
    assert tagged(f"{tmp_path}/3") == []


def test_arguments_are_filled_in_and_checked_early() -> None:
    check_warm([mode(CANOPY, glob="{{ workspace }}/${KIND:-*}")], {})
    with pytest.raises(ConfigError, match="has the placeholder {{ place }}"):
        check_warm([mode(CANOPY, glob="{{ place }}")], {})
    with pytest.raises(ConfigError, match="needs the variable KIND"):
        check_warm([mode(CANOPY, glob="${KIND}")], {})


@pytest.mark.parametrize(
    "one",
    [
        Mode(name="baseline", source=""),
        Mode(name="tool", source="", servers={"s": {"command": "s"}}),
        mode(CANOPY, services=("canopy-service",)),
        mode(),
    ],
)
def test_without_anything_to_warm_it_is_refused(one: Mode) -> None:
    with pytest.raises(UsageError, match="no mode says how"):
        check_warm([one], {})


def test_no_part_of_a_secret_is_in_what_the_server_said(tmp_path: Path) -> None:
    """Wherever its words are cut."""
    secret = "sesame-" + "0123456789" * 5
    script = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    result = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {},
                       "serverInfo": {"name": "s", "version": "1"}},
        "tools/list": {"tools": [{"name": "build", "inputSchema": {"type": "object"}}]},
        "tools/call": {"isError": True, "content": [
            {"type": "text", "text": "x" * 270 + json.dumps(asked.get("params"))}]},
    }.get(asked["method"])
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
    server = {"command": sys.executable, "args": ["-c", script]}
    one = kit(tmp_path, mode(server, tool="build", glob="${KEY}"))
    environment = {**one.tools.user_environment, "KEY": secret}
    one = replace(one, tools=replace(one.tools, user_environment=environment))
    with pytest.raises(IndexFailed) as failed:
        build(one, f"{tmp_path}/4")
    assert "x" * 270 in str(failed.value)
    assert "sesame" not in str(failed.value)
