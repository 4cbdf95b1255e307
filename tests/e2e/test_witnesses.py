"""Each label, and each way in which witnesses disagree, with real processes."""

import json
import re
import sys
from typing import Any

import pytest
import yaml

from tests.builders.answers import answer_lines
from tests.builders.golden import Sentences
from tests.e2e.conftest import COMMAND, Bench, Done

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

SCRIPTED = "swarm_bench.agents.scripted:Scripted"
PATIENCE = "MCP_TIMEOUT=4000"
"""What scout waits for a server; a slow one takes a second."""
PACK, EXPAND = "mcp__tool__canopy_evidence_pack", "mcp__tool__canopy_expand"
GOOD = {"answer": {"text": "See shop/auth.py.\n", "turns": 2, "usage": {"input": 1, "output": 2}}}


def write_mode(bench: Bench, name: str, fault: str) -> str:
    """A mode whose server plays a fault."""
    module = ["-I", "-m", "swarm_bench.testing.misbehaving_mcp"]
    server = {"command": sys.executable, "args": [*module, fault]}
    path = bench.folder / f"{name}.json"
    path.write_text(json.dumps({"mcpServers": {"tool": server}}))
    return str(path)


def compare(bench: Bench, *arguments: str) -> Done:
    """One agent for each mode, once."""
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--agents", "1", "--runs", "1",
        "--output", "out", *arguments,
    )  # fmt: skip
    assert done.code == 0, done.err
    return done


def play(bench: Bench, plays: object, *modes: str) -> Done:
    """Compare with an agent that plays a script."""
    script = bench.folder / "script.yaml"
    script.write_text(yaml.safe_dump(plays), encoding="utf-8")
    return compare(bench, "--agent", SCRIPTED, "--model", str(script), "--modes", *modes)


def trials(bench: Bench) -> dict[str, dict[str, Any]]:
    """The record of the one trial of each mode."""
    return {record["mode"]: record for record in bench.records("out")}


def swarms(bench: Bench) -> dict[str, dict[str, Any]]:
    lines = (bench.folder / "out" / "retrieval.jsonl").read_text().splitlines()
    return {swarm["mode"]: swarm for swarm in map(json.loads, lines)}


def headline(done: Done) -> dict[str, str]:
    """What the summary says first of each mode."""
    part = done.out.partition("## Headline")[2].partition("\n## ")[0]
    names = re.findall(r"^- \*\*([\w-]+)", part, re.M)
    return {name: answer_lines(part + "\n", name) for name in names}


def qualified(line: str) -> bool:
    """Whether more is said than that modes of a single block never changed places, and that there
    are no keys."""
    alone = re.search(r"Caveat: it ran [^;]* told apart", line)
    barred = ": no verdict.**" in line and not re.search(
        "nobody checked|measured on both sides", line
    )
    return not alone and ("Caveat" in line or barred)


def test_servers_that_fail_their_agents_in_every_way(bench: Bench) -> None:
    faults = {
        "silent": "never-answers",
        "late": "slow-start:1",
        "dying": "dies-after:2",
        "broken": "every-call-fails",
    }
    modes = [write_mode(bench, name, fault) for name, fault in faults.items()]
    done = compare(bench, "--modes", "baseline", *modes, "--agent-env", PATIENCE)
    found = trials(bench)
    evidence = {mode: record["evidence"] for mode, record in found.items()}
    assert {mode: record["retrieval"] for mode, record in found.items()} == {
        "baseline": "not-given",
        "silent": "not-connected",
        "late": "used",
        "dying": "used",
        "broken": "unused",
    }
    assert all(record["cause"] == "finished" for record in found.values())
    assert (evidence["silent"]["connected"], evidence["silent"]["offered"]) == ([], 0)
    assert (evidence["late"]["connected"], evidence["late"]["offered"]) == (["tool"], 3)
    assert found["dying"]["tool_failures"] == {EXPAND: 1}
    assert (evidence["dying"]["calls"], evidence["dying"]["failed"]) == (3, 1)
    assert found["broken"]["tool_calls"][PACK] == found["broken"]["tool_failures"][PACK]
    said = headline(done)
    assert {mode for mode in faults if qualified(said[mode])} == set(faults) - {"late"}


def test_a_server_that_greets_and_never_answers_a_call(bench: Bench, golden: Sentences) -> None:
    """In a session of its own, whose agents are stopped soon."""
    mode = write_mode(bench, "mute", "never-answers-calls")
    done = compare(bench, "--modes", "baseline", mode, "--timeout", "6")
    mute = trials(bench)["mute"]
    evidence = mute["evidence"]
    assert (mute["cause"], mute["retrieval"]) == ("timeout", "unused")
    assert (mute["tool_calls"], mute["tool_failures"]) == ({PACK: 1}, {})
    assert mute["tool_unanswered"] == {PACK: 1}
    assert (evidence["connected"], evidence["start"]) == (["tool"], None)
    assert (evidence["calls"], evidence["failed"], evidence["unanswered"]) == (1, 0, 1)
    golden(headline(done)["mute"])


def test_agents_and_counters_that_do_not_say_the_same(bench: Bench) -> None:
    """All in one session: each mode has the same server, and its own words for the agent."""
    claims = {"call": {"tool": PACK, "result": "{}"}}
    ready = {"init": {"tools": ["Read", PACK]}}
    steps: dict[str, list[object]] = {
        "ignoring": [ready, GOOD],
        "claiming": [ready, claims, claims, GOOD],
        "doubtful": [ready, asks_canopy(), claims, claims, GOOD],
        "blind": [asks_canopy(), GOOD],
        "late-joining": [{"init": {"tools": [], "servers": {"tool": "failed"}}}, claims, GOOD],
    }
    plays: list[dict[str, Any]] = [
        {"when": {"prompt": f"Be {name}."}, "steps": one} for name, one in steps.items()
    ]
    quiet = {"steps": [{"init": {"tools": ["Read"]}}, GOOD]}
    modes = [canopy_mode(bench, name) for name in steps]
    done = play(bench, [*plays, quiet], "baseline", *modes)
    found, counted = trials(bench), swarms(bench)
    assert {mode: record["retrieval"] for mode, record in found.items()} == {
        "baseline": "not-given",
        "ignoring": "unused",
        "claiming": "unknown",
        "doubtful": "used",
        "blind": "used",
        "late-joining": "unknown",
    }
    assert {mode: swarm["counters"] for mode, swarm in counted.items()} == {
        "baseline": "agree",
        "ignoring": "agree",
        "claiming": "contradict",
        "doubtful": "contradict",
        "blind": "explained",
        "late-joining": "contradict",
    }
    for mode, record in found.items():
        assert record["evidence"]["counters"] == counted[mode]["counters"]
        assert set(counted[mode]["counters_why"]) <= set(record["evidence"]["why"])
    assert "has 0 query events" in found["claiming"]["evidence"]["why"][0]
    assert "has 1 query event" in found["doubtful"]["evidence"]["why"][0]
    assert found["late-joining"]["evidence"]["start"] == "contradict"
    assert not (bench.folder / "out" / "baseline" / "local-feedback-metrics.json").exists()
    said = headline(done)
    assert {mode for mode in steps if qualified(said[mode])} == set(steps)
    assert "what its tools answered cannot be told" in said["blind"]


@pytest.mark.parametrize(
    "steps",
    [
        [{"init": {"tools": [PACK], "servers": {"tool": "connected"}}}],
        [{"init": {"tools": ["Read"]}}, "asks canopy"],
    ],
    ids=["a server that leaked in", "a server that the agent started"],
)
def test_a_baseline_that_had_a_tool_after_all(
    bench: Bench, steps: list[Any], golden: Sentences
) -> None:
    does = [asks_canopy() if step == "asks canopy" else step for step in steps]
    plays: list[dict[str, Any]] = [
        {"when": {"servers": []}, "steps": [*does, GOOD]},
        {"steps": [{"init": {"tools": [PACK]}}, asks_canopy(), {"call": {"tool": PACK}}, GOOD]},
    ]
    done = play(bench, plays, "baseline", canopy_mode(bench, "mine"))
    found = trials(bench)
    labels = {mode: record["retrieval"] for mode, record in found.items()}
    assert labels == {"baseline": "contaminated", "mine": "used"}
    evidence = found["baseline"]["evidence"]
    if evidence["foreign"]:
        assert (evidence["foreign"], evidence["counters"]) == (["tool"], "agree")
    else:
        assert evidence["counters"] == "contradict"
        golden(evidence["why"][0])
    part = done.out.partition("## Headline")[2].partition("\n## ")[0]
    golden(part)
    assert "|" not in part


def canopy_mode(bench: Bench, name: str) -> str:
    """A mode with the embedded canopy, whose agents are told to be what its name says."""
    server = {"command": "{{ canopy_mcp }}", "args": ["--root", "{{ workspace }}"]}
    own = {"probes": ["feedback"], "instructions": f"Be {name}."}
    path = bench.folder / f"{name}.json"
    path.write_text(json.dumps({"mcpServers": {"tool": server}, "swarmBench": own}))
    return str(path)


def asks_canopy() -> dict[str, list[str]]:
    """A step in which the agent has a canopy of its own answer one query in the workspace."""
    arguments = {"name": "canopy_query", "arguments": {"pattern": "token"}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": arguments}
    program = COMMAND.with_name("swarm-bench-canopy-mcp")
    return {"run": ["sh", "-c", f"echo '{json.dumps(request)}' | '{program}' --root ."]}
