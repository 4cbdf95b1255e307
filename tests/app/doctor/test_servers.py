"""What doctor says of modes and of the service: real servers, and the embedded canopy."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from swarm_bench.app.doctor.servers import check_tools
from swarm_bench.config.layers import load
from swarm_bench.core.listing import Check, State
from swarm_bench.core.session.experiment import Mode
from swarm_bench.retrieval.modes.mode import find_modes
from tests.builders.golden import Sentences

SERVER = """
from mcp.server import MCPServer
server = MCPServer("tiny")
if {tools}:
    @server.tool()
    def find(query: str) -> str:
        return query
server.run()
"""


async def checks(*modes: str | Path, **given: object) -> dict[str, Check]:
    def find(name: str) -> tuple[Mode, ...]:
        return find_modes([name])

    resolved = load({"modes": [str(mode) for mode in modes], **given})
    checked = check_tools(resolved, resolved.settings, find, lambda step: None)
    return {check.about: check async for check in checked}


def mode(folder: Path, name: str, code: str, **more: object) -> Path:
    server = {"command": sys.executable, "args": ["-c", code], **more}
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"mcpServers": {"tiny": server}}), encoding="utf-8")
    return path


@pytest.mark.anyio
async def test_the_shipped_modes_work() -> None:
    found = await checks("baseline", "canopy-service")
    assert [one.state for one in found.values()] == [State.OK] * 4
    assert " exist, in " in found["search canopy-service"].finding
    assert "7 tools" in found["mode canopy-service"].finding
    assert "counters moved" in found["service"].finding


@pytest.mark.anyio
async def test_each_broken_mode_says_what_is_wrong_and_hides_no_other(
    tmp_path: Path, golden: Sentences
) -> None:
    dies = mode(tmp_path, "dies", "import sys; sys.exit('no licence')")
    empty = mode(tmp_path, "empty", SERVER.format(tools=False))
    fine = mode(tmp_path, "fine", SERVER.format(tools=True))
    found = await checks("nosuch", dies, empty, fine)
    assert found["mode nosuch"].state is State.PROBLEM
    assert found["mode dies"].state is State.PROBLEM
    assert "no licence" in found["mode dies"].finding
    assert found["mode empty"].state is State.PROBLEM
    golden(found["mode empty"].advice or "")
    assert found["mode fine"].state is State.OK


@pytest.mark.anyio
async def test_a_service_that_is_not_there_is_a_problem() -> None:
    found = await checks("canopy-service", service_url="http://127.0.0.1:9")
    assert found["service"].state is State.PROBLEM


TELLTALE = """
import json, os, sys
words = json.dumps({"key": os.environ["KEY"], "given": sys.argv[1]})
print(words, file=sys.stderr, flush=True)
if sys.argv[2] == "dies":
    sys.exit(3)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {},
                  "serverInfo": {"name": words, "version": words}}
    else:
        result = {"tools": [{"name": "find", "inputSchema": {"type": "object"}}]}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


@pytest.mark.anyio
@pytest.mark.parametrize(("ending", "state"), [("dies", State.PROBLEM), ("lives", State.OK)])
async def test_what_a_server_says_is_said_without_secrets(
    tmp_path: Path, ending: str, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIVEN", 'sesame-"of-mine"')
    more = {"args": ["-c", TELLTALE, "${GIVEN}", ending], "env": {"KEY": "sesame-literal"}}
    found = await checks(mode(tmp_path, "telltale", TELLTALE, **more))
    assert found["mode telltale"].state is state
    assert "(not stored)" in found["mode telltale"].finding
    assert "sesame" not in repr(found)


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A checkout without the content of its only file."""
    root = tmp_path / "damaged"
    root.mkdir()
    (root / "a.py").write_text("x = 1\n")
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    for words in (("init", "-q"), ("add", "."), (*identity, "commit", "-qm", "first")):
        subprocess.run(["git", "-C", root, *words], check=True)
    named = subprocess.run(
        ["git", "-C", root, "rev-parse", ":a.py"], check=True, capture_output=True, text=True
    ).stdout.strip()
    (root / ".git" / "objects" / named[:2] / named[2:]).unlink()
    return root


@pytest.mark.anyio
async def test_a_repository_that_cannot_be_copied_is_the_reason_for_every_tool(
    tmp_path: Path, damaged: Path
) -> None:
    more = {"args": ["-c", TELLTALE, "x", "lives"], "env": {"KEY": "x"}}
    one, other = (mode(tmp_path, name, TELLTALE, **more) for name in ("one", "other"))
    found = await checks(one, other, repo=str(damaged))
    assert found["search one"].finding == found["search other"].finding
    assert "git fetch failed" in found["search one"].finding


@pytest.fixture
def holding_server(tmp_path: Path) -> Path:
    """A repository that holds an MCP server."""
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "server.py").write_text(SERVER.format(tools=True))
    words = "git init -q && git add -A && git -c user.name=me -c user.email=a@b commit -qm one"
    subprocess.run(["sh", "-c", words], cwd=repo, check=True)
    return repo


@pytest.mark.anyio
async def test_a_server_that_lies_in_the_repository_is_greeted_in_a_clone(
    tmp_path: Path, holding_server: Path, golden: Sentences
) -> None:
    own = mode(tmp_path, "own", "", args=["{{ workspace }}/server.py"])
    found = await checks(own, repo=str(holding_server))
    assert "with 1 tool;" in found["mode own"].finding
    lost = (await checks(own, repo=str(tmp_path / "absent")))["mode own"]
    assert lost.state is State.WARNING
    golden(lost.finding)
