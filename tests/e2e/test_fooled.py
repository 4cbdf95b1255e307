"""Attacks on the headline, with real processes: none of them may end unqualified."""

import json
import re
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.builders.golden import Sentences
from tests.e2e.conftest import COMMAND, Bench
from tests.e2e.test_failures import free_port, wait_for_port
from tests.e2e.test_witnesses import GOOD, headline, play, qualified, write_mode

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
STATE = r"(?m)^- \*\*(\w+): --\S+ \S+ ([\w ]+)\.\*\*"
IN_ONE_BLOCK = re.compile(r"Caveat: it ran \w+ baseline in the only block[^.;]*\.\n")
PACK, STATUS, PEEK = (
    f"mcp__tool__{name}" for name in ("canopy_evidence_pack", "canopy_status", "peek")
)


def test_answers_that_say_nothing(bench: Bench) -> None:
    """Each repeats its question and says how long it took, as answers of real servers do."""
    faults = {"empty": "empty-answers", "same": "same-answer", "broken": "errors-as-text"}
    modes = [write_mode(bench, name, fault) for name, fault in {**faults, "fine": "fine"}.items()]
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--agents", "2", "--runs", "1", "--output", "out",
        "--modes", "baseline", *modes,
    )  # fmt: skip
    assert done.code == 0, done.err
    packs: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in bench.records("out"):
        if record["mode"] != "baseline":
            assert record["retrieval"] == "used"
            assert record["evidence"]["retrieved"] == record["evidence"]["calls"] > 0
            packs[record["mode"]].append(record["tool_answers"][PACK])
    assert all(one["empty"] == one["answers"] > 0 for one in packs["empty"])
    assert all(one["errors"] == one["answers"] > 0 for one in packs["broken"])
    assert len({answer for one in packs["same"] for answer in one["different"]}) == 1
    assert len({question for one in packs["same"] for question in one["questions"]}) > 1
    said = headline(done)
    assert {mode for mode in said if qualified(said[mode])} == set(faults)
    assert "all results were empty" in said["empty"]
    assert "got the same answer" in said["same"]
    assert "are error texts" in said["broken"]
    held = bench.call("gate", "out", "--max", "wall_seconds=999")
    states = dict(re.findall(STATE, held.out))
    assert held.code == 4
    assert states == {**dict.fromkeys(faults, "is not measured"), "fine": "holds"}


def test_calls_that_retrieve_nothing(bench: Bench) -> None:
    """Each agent answers as if it had used the tool."""
    ready = {"init": {"tools": ["Read", PACK, STATUS, PEEK]}}
    pack = {"tool": PACK, "input": {"patterns": ["token"]}, "result": "{}"}
    steps: dict[str, list[dict[str, Any]]] = {
        "status-only": [{"call": {"tool": STATUS, "result": '{"files_indexed": 3}'}}],
        "peeking": [{"call": {"tool": PEEK, "result": "shop/auth.py"}}],
        "in-vain": [{"call": {**pack, "error": True}}],
        "idle": [],
        "using": [{"call": {**pack, "result": '{"handles": [{"id": "h1"}]}'}}],
    }
    plays = [
        {"when": {"prompt": f"Be {name}."}, "steps": [ready, *one, GOOD]}
        for name, one in steps.items()
    ]
    modes = [told_mode(bench, name) for name in steps]
    done = play(
        bench, [*plays, {"steps": [ready | {"init": {"tools": []}}, GOOD]}], "baseline", *modes
    )
    found = {record["mode"]: record for record in bench.records("out")}
    assert {mode: record["retrieval"] for mode, record in found.items()} == {
        "baseline": "not-given",
        "status-only": "unused",
        "peeking": "used",
        "in-vain": "unused",
        "idle": "unused",
        "using": "used",
    }
    assert found["status-only"]["evidence"]["others"] == [STATUS]
    assert found["peeking"]["evidence"]["unclear"] == [PEEK]
    said = headline(done)
    once = {mode: IN_ONE_BLOCK.sub("", line) for mode, line in said.items()}
    assert {mode for mode in once if qualified(once[mode])} == set(steps) - {"using"}
    purposes = bench.experiment("out")["tool_purposes"]["status-only"]
    assert purposes == {PACK: "search", "mcp__tool__canopy_expand": "read", STATUS: "other"}
    # Again from what is stored: the same labels, and the same words.
    assert headline(bench.call("report", "out")) == said


def test_a_service_that_somebody_else_asks_too(bench: Bench, golden: Sentences) -> None:
    with running_service() as address, asking(address, bench.repo):
        done = bench.call(
            "compare", "--repo", str(bench.repo), "--agents", "1", "--runs", "1", "--output", "out",
            "--modes", "baseline", "canopy-service", "--service-url", address,
        )  # fmt: skip
    assert done.code == 0, done.err
    lines = (bench.folder / "out" / "retrieval.jsonl").read_text().splitlines()
    (swarm,) = [one for one in map(json.loads, lines) if one["mode"] == "canopy-service"]
    (record,) = [one for one in bench.records("out") if one["mode"] == "canopy-service"]
    assert (
        swarm["difference"]["service"]["queries"]
        > record["tool_calls"]["mcp__canopy__canopy_evidence_pack"]
    )
    assert (record["retrieval"], swarm["counters"]) == ("used", "explained")
    assert any("nobody knows whose calls" in one for one in swarm["counters_why"])
    said = headline(done)["canopy-service"]
    golden(said)
    assert "here are no caveats" not in done.out


def told_mode(bench: Bench, name: str) -> str:
    """A mode with a server that works, whose agents are told to be what its name says."""
    words = ["-I", "-m", "swarm_bench.testing.misbehaving_mcp", "fine"]
    server = {"command": sys.executable, "args": words}
    path = bench.folder / f"{name}.json"
    own = {"instructions": f"Be {name}."}
    path.write_text(json.dumps({"mcpServers": {"tool": server}, "swarmBench": own}))
    return str(path)


@contextmanager
def running_service() -> Iterator[str]:
    port = free_port()
    program = str(COMMAND.with_name("swarm-bench-canopy-service"))
    service = subprocess.Popen([program, "--port", str(port)], stderr=subprocess.DEVNULL)
    try:
        wait_for_port(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        service.kill()
        service.wait()


@contextmanager
def asking(address: str, repo: Path) -> Iterator[None]:
    """Another client of the service, that asks about a repository of its own all the time."""
    over = threading.Event()
    with httpx2.Client(base_url=address, timeout=30, trust_env=False) as client:
        added = client.post("/repos/add", json={"path": str(repo)}).raise_for_status().json()
        client.post("/reindex", json={"repo": added["repo_id"], "glob": "**/*"}).raise_for_status()
        body = {"repo": added["repo_id"], "pattern": "token"}

        def ask() -> None:
            while not over.wait(0.05):
                client.post("/query", json=body)

        asker = threading.Thread(target=ask)
        asker.start()
        try:
            yield
        finally:
            over.set()
            asker.join()
