"""MCP servers that nobody here wrote, from the package registries, as modes of whole sessions."""

import json
import os
import shutil
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Bench, processes_of
from tests.e2e.programs.conftest import (
    MakeProgram,
    NotInstalled,
    install_from_npm,
    install_python_program,
    namespace,
)

pytestmark = [pytest.mark.programs, pytest.mark.timeout(900)]
EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
MODES = ("baseline", "./filesystem.json", "./git.json")
KEY = "key-of-mine-1234"
SEARCH = "mcp__filesystem__search_files"


@pytest.fixture
def servers() -> str:
    """Folders with the servers, as the front of a PATH."""
    try:
        folders = [
            install_from_npm(name, f"@modelcontextprotocol/server-{kind}", "2026.8.31")
            for name, kind in (
                ("mcp-server-filesystem", "filesystem"),
                ("mcp-server-everything", "everything"),
            )
        ]
        folders.append(
            install_python_program("mcp-server-git-2026.10.19", "mcp-server-git==2026.10.19")
        )
        folders.append(install_python_program("mcp-proxy-0.13.0", "mcp-proxy==0.13.0"))
    except NotInstalled as error:
        pytest.skip(f"!!! THE FOREIGN SERVERS WERE NOT TESTED: {error}")
    return os.pathsep.join(map(str, folders))


@pytest.fixture
def examples(bench: Bench) -> None:
    for name in ("filesystem.json", "git.json"):
        shutil.copy(EXAMPLES / name, bench.folder / name)


def by_mode(records: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        found.setdefault(record["mode"], []).append(record)
    return found


@pytest.mark.usefixtures("examples")
def test_scout_uses_a_file_system_and_a_git_server(bench: Bench, servers: str) -> None:
    words = ["compare", "--repo", str(bench.repo), "--output", "out", "--quiet", "--modes", *MODES]
    environment = {"PATH": f"{servers}:{os.environ['PATH']}"}
    done = bench.call(*words, "--runs", "1", "--agents", "4", env=environment, inside=namespace())

    assert done.code == 0, done.err
    found = by_mode(bench.records("out"))
    assert {name: len(records) for name, records in found.items()} == {
        "baseline": 4,
        "filesystem": 4,
        "git": 4,
    }
    labels = {
        (record["mode"], record["retrieval"]) for records in found.values() for record in records
    }
    assert labels == {("baseline", "not-given"), ("filesystem", "used"), ("git", "used")}
    for record in found["filesystem"]:
        assert record["tool_calls"][SEARCH] == 1
        assert record["mcp_servers"] == {"filesystem": "connected"}
        assert "mcp__filesystem__read_media_file" in record["unusable_tools"]
        assert not [tool for tool in record["unusable_tools"] if "write" in tool or "edit" in tool]
    first = next(record for record in found["filesystem"] if record["agent"] == 1)
    assert {SEARCH} <= set(first["tool_calls"])
    answer = (bench.folder / "out" / "filesystem" / "agent-1.md").read_text("utf-8")
    assert "`shop/auth.py:1` defines class `AuthMiddleware`" in answer
    for record in found["git"]:
        assert record["tool_calls"]["mcp__git__git_log"] == 1
        assert record["tool_failures"] == {}
        assert "mcp__git__git_show" in record["unusable_tools"]
        assert "mcp__git__git_checkout" not in record["unusable_tools"]
    assert processes_of(bench.experiment("out")["session"]) == []


@pytest.mark.usefixtures("examples")
def test_claude_code_uses_them_in_a_rehearsal(real_program: MakeProgram, servers: str) -> None:
    claude = real_program("claude")
    path = f"{claude.executables}:{servers}:{os.environ['PATH']}"
    words = ["compare", "--repo", str(claude.bench.repo), "--output", "out", "--quiet"]
    words += ["--agent", "claude", "--model", "rehearsal", "--modes", *MODES]
    environment = {"HOME": str(claude.home), "PATH": path}
    done = claude.bench.call(
        *words, "--runs", "1", "--agents", "2", env=environment, inside=namespace()
    )

    assert done.code == 0, done.err
    found = by_mode(claude.records())
    assert {record["retrieval"] for record in found["baseline"]} == {"not-given"}
    for name, tool in (("filesystem", SEARCH), ("git", "mcp__git__git_log")):
        for record in found[name]:
            assert record["retrieval"] == "used"
            assert record["mcp_servers"] == {name: "connected"}
            assert record["tool_calls"][tool] == 1


def test_servers_over_streamable_http(bench: Bench, servers: str) -> None:
    ports = [free_port(), free_port()]
    headers = {"Authorization": "Bearer ${MY_KEY}"}
    everything = {"url": f"http://127.0.0.1:{ports[0]}/mcp", "headers": headers, "type": "http"}
    files = {"type": "streamable-http", "url": "http://127.0.0.1:${MY_PORT:-1}/mcp"}
    write_mode(bench, "everything", everything)
    write_mode(bench, "files", {**files, "headers": headers})
    temporary = bench.environment()["TMPDIR"]
    start = (
        f"PORT={ports[0]} mcp-server-everything streamableHttp >&2 & one=$!; "
        f"mcp-proxy --port {ports[1]} -- mcp-server-filesystem '{temporary}' >&2 & two=$!; "
        f"for port in {ports[0]} {ports[1]}; do "
        "until (echo >/dev/tcp/127.0.0.1/$port); do sleep 0.2; done; done 2>/dev/null; "
        '"$@"; code=$?; kill $one $two; wait; exit $code'
    )
    words = ["compare", "--repo", str(bench.repo), "--output", "out", "--quiet", "--runs", "1"]
    words += ["--modes", "baseline", "./everything.json", "./files.json", "--agents", "2"]
    environment = {
        "PATH": f"{servers}:{os.environ['PATH']}",
        "MY_KEY": KEY,
        "MY_PORT": str(ports[1]),
    }
    inside = [*namespace(), "timeout", "200", "bash", "-c", start, "bash"]
    done = bench.call(*words, env=environment, inside=inside)

    assert bench.records("out"), done.err
    found = by_mode(bench.records("out"))
    for record in found["files"]:
        assert record["retrieval"] == "used"
        assert record["tool_calls"]["mcp__files__search_files"] == 1
    for record in found["everything"]:  # nothing in it searches or reads, and the record says so
        assert record["retrieval"] == "unused"
        assert record["mcp_servers"] == {"everything": "connected"}
        assert "mcp__everything__echo" in record["unusable_tools"]
    written = [path for path in (bench.folder / "out").rglob("*") if path.is_file()]
    assert not [path for path in written if KEY.encode() in path.read_bytes()]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def write_mode(bench: Bench, name: str, server: dict[str, Any]) -> None:
    content = {"mcpServers": {name: server}}
    (bench.folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
