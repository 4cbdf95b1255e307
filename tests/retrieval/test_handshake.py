"""Handshakes with real servers."""

import json
import os
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.core.outcome import Outcome
from swarm_bench.core.ports import ToolSpec
from swarm_bench.core.session.experiment import Mode
from swarm_bench.core.session.records import Treatment
from swarm_bench.core.status import Cause
from swarm_bench.retrieval.canopy.backends import find_program
from swarm_bench.retrieval.handshake import LONGEST_NAME, Handshake, Servers, greet
from swarm_bench.retrieval.witnesses.purposes import find_purposes
from swarm_bench.retrieval.witnesses.treatment import label_trial
from swarm_bench.text import tokens
from tests.builders.golden import Sentences

pytestmark = pytest.mark.anyio

SCRIPT = """
import json, os, sys
log = open("started", "a")
log.write("x")
log.close()
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    if request["method"] == "initialize":
        result = {"protocolVersion": request["params"]["protocolVersion"], "capabilities": {},
                  "serverInfo": json.loads(sys.argv[1]), "instructions": "Ask me."}
    elif not request.get("params", {}).get("cursor"):
        result = {"tools": [TOOL("one")], "nextCursor": "more"}
    else:
        result = {"tools": [TOOL("two")]}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""
TOOL = 'TOOL = lambda name: {"name": name, "description": "Ä", "inputSchema": {"type": "object"}}\n'
ENV = {"PATH": os.environ["PATH"]}


def server(name: str, version: str | None = "1", **more: str) -> dict[str, Any]:
    info = {"name": name, **({"version": version} if version else {}), **more}
    return {"command": sys.executable, "args": ["-c", TOOL + SCRIPT, json.dumps(info)]}


async def greeted(modes: Mapping[str, Servers], cwd: Path) -> dict[str, dict[str, Handshake]]:
    return await greet(modes, templates=modes, cwd=cwd, env=ENV)


async def one(config: dict[str, Any], cwd: Path) -> Handshake:
    return (await greeted({"mode": {"it": config}}, cwd))["mode"]["it"]


async def test_the_version_of_an_sdk_is_not_that_of_the_server(tmp_path: Path) -> None:
    found = await one(server(name="mine", version=version("mcp")), tmp_path)
    assert (found.program.name, found.program.version) == ("mine", None)
    assert found.version == version("mcp"), "as it said"


async def test_what_a_server_says(tmp_path: Path) -> None:
    found = await one(server(name="shelf", title="The shelf", version="1.2.3"), tmp_path)
    assert found.problem is None
    assert (found.server, found.program.label) == ("it", "shelf 1.2.3")
    assert (found.name, found.title, found.version) == ("shelf", "The shelf", "1.2.3")
    assert found.program.path == sys.executable
    assert found.seconds is not None
    assert [tool.name for tool in found.tools] == ["one", "two"]  # of two pages
    assert found.instruction_tokens == tokens.count("Ask me.")
    sent = [
        ToolSpec(name=f"mcp__it__{name}", description="Ä", schema={"type": "object"})
        for name in ("one", "two")
    ]
    assert found.tool_tokens == sum(map(tokens.count_tool, sent))


async def test_equal_servers_are_started_once(tmp_path: Path) -> None:
    equal, other = server(name="a"), server(name="b")
    modes = {"m1": {"x": equal, "y": other}, "m2": {"z": equal}, "none": {}}
    found = await greeted(modes, tmp_path)
    assert {mode: sorted(servers) for mode, servers in found.items()} == {
        "m1": ["x", "y"],
        "m2": ["z"],
        "none": [],
    }
    assert found["m2"]["z"].server == "z"
    assert found["m2"]["z"].tool_tokens == found["m1"]["x"].tool_tokens
    assert (tmp_path / "started").read_text() == "xx"


async def test_one_that_fails_says_why_and_the_others_answer(
    tmp_path: Path, golden: Sentences
) -> None:
    broken = {"command": "sh", "args": ["-c", "echo no KEY >&2"]}
    found = (await greeted({"m": {"a": broken, "b": server(name="b")}}, tmp_path))["m"]
    golden(found["a"].problem or "")
    assert (found["a"].seconds, found["a"].tools, found["a"].program.label) == (None, (), "sh")
    assert found["b"].problem is None
    wrong = await one(server(name="c", version=None), tmp_path)
    golden(wrong.problem or "")


async def test_canopys_label_is_the_title_that_has_its_version(tmp_path: Path) -> None:
    canopy = {"command": str(find_program("canopy-mcp", None)), "args": ["--root", str(tmp_path)]}
    found = await one(canopy, tmp_path)
    assert found.program.label.startswith("swarm-bench embedded ")
    assert found.program.version is None
    assert list(tmp_path.iterdir()) == []  # being asked builds no index
    real = await one(server(name="canopy-mcp", version="0.4.0"), tmp_path)
    assert real.program.label == "canopy-mcp 0.4.0"


async def test_what_is_filled_in_or_said_is_in_no_name(tmp_path: Path) -> None:
    key = "sesame-12345"
    said = server(name=f"shelf\n{key} " + "x" * 500, version=f"1-{key}")
    filled = {
        "said": said,
        "unsaid": {**server(name="", version=""), "command": sys.executable},
        "far": {"url": f"http://me:{key}@127.0.0.1:1/mcp?key={key}"},
    }
    written = {
        "said": said,
        "unsaid": {"command": "${PROGRAM}"},
        "far": {"url": "http://${LOGIN}@127.0.0.1:1/mcp?key=${KEY}"},
    }
    found = await greet(
        {"m": filled}, templates={"m": written}, cwd=tmp_path, env=ENV, secrets=(key,)
    )
    said_of_itself, unsaid, far = (one.program for one in found["m"].values())
    assert said_of_itself.name.startswith("shelf (not stored) xxx")
    assert len(said_of_itself.name) == LONGEST_NAME
    assert said_of_itself.version == "1-(not stored)"
    assert (unsaid.name, unsaid.version, unsaid.path) == ("${PROGRAM}", None, "${PROGRAM}")
    assert (far.name, far.path) == ("http://127.0.0.1:1/mcp", None)
    assert key not in repr([(one.problem, one.program) for one in found["m"].values()])


async def test_no_key_is_in_what_a_tool_is_called_or_asks_for(tmp_path: Path) -> None:
    key = "sesame-12345"
    config = server(name="x")
    script = config["args"][1].replace('"one"', f'"search_{key}"').replace("Ä", f"Ask {key}.")
    schema = json.dumps({"type": "object", "properties": {key: {}, "query": {}}})
    script = script.replace('{"type": "object"}', schema).replace("Ask me.", key)
    config["args"][1] = script
    modes = {"m": {"it": config}}
    found = await greet(modes, templates=modes, cwd=tmp_path, env=ENV, secrets=(key,))
    assert found["m"]["it"].tools[0].name == "search_(not stored)"
    assert [*found["m"]["it"].tools[0].schema["properties"]] == ["(not stored)", "query"]
    assert key not in repr(found)
    mode = Mode(name="m", source="m.json", servers=modes["m"])
    called = Outcome(cause=Cause.FINISHED, tool_calls={"mcp__it__search_(not stored)": 1})
    label, evidence = label_trial(mode.servers, called, find_purposes(mode, found))
    assert (label, evidence.unclear) == (Treatment.USED, ())
