"""Sessions whose blocks run on several nodes, which are workers on this machine."""

import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.builders.repositories import commit
from tests.builders.searching import searching_mode
from tests.e2e.conftest import Bench, Done
from tests.e2e.test_placebo import PAINTS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

NODES = "swarm_bench.testing.worker_nodes:TwoNodes"
BLOCKS = ("compare", "--modes", "bm25", "grep", "--runs", "3", "--block-size", "1")
COMPARE = (*BLOCKS, "--tasks", "./tasks.yaml", "--concurrency", "1")
MEASURED = {
    "session", "started_at", "ended_at", "wall_seconds", "duration_ms", "duration_s", "api_seconds",
    "peak_memory_bytes", "cpu_seconds", "tool_seconds", "sha256", "node",
}  # fmt: skip
"""Keys that differ between any two sessions."""
DYING = """
import threading, time
from pathlib import Path
from swarm_bench.testing.worker_nodes import WorkerNodes


def kill_when(name, process):
    if name in {NAMES}:
        threading.Thread(target=wait, args=(process,), daemon=True).start()


def wait(process):
    while not Path("begun").exists():
        time.sleep(0.02)
    process.kill()


class Dying(WorkerNodes):
    def __init__(self):
        super().__init__(2, kill_when)
"""
SLOW = """
import json, sys, time
from pathlib import Path
with open(sys.argv[1], "a") as file:
    file.write("x")
time.sleep(1.5)
print(json.dumps({"answer": "It is in app/worker.py"}))
"""


@pytest.fixture(autouse=True)
def _set_up(bench: Bench) -> None:
    tasks = [{"id": f"t{n}", "title": f"t{n}", "prompt": "Where is run_worker?"} for n in range(2)]
    (bench.folder / "tasks.yaml").write_text(yaml.safe_dump({"tasks": tasks}))


def run(bench: Bench, output: str, *more: str, command: tuple[str, ...] = COMPARE) -> Done:
    repo = () if "run" in command[:1] else ("--repo", str(bench.repo))
    paths = {"PYTHONPATH": str(bench.folder)}
    return bench.call(*command, *repo, "--output", output, "--quiet", *more, env=paths)


def by_trial(bench: Bench, session: str) -> dict[str, dict[str, Any]]:
    return {
        record["trial"]: {key: value for key, value in record.items() if key not in MEASURED}
        for record in bench.records(session)
    }


def test_two_nodes_give_the_records_of_one_machine(bench: Bench) -> None:
    done = run(bench, "here")
    assert done.code == 0, done.err
    done = run(bench, "there", "--on", NODES)
    assert done.code == 0, done.err
    there, here = by_trial(bench, "there"), by_trial(bench, "here")
    assert there.keys() == here.keys()
    for trial, record in there.items():
        assert record == here[trial]
    records = bench.records("there")
    assert {record["node"] for record in records} == {"node-1", "node-2"}
    nodes_by_task: dict[tuple[int, int], set[str]] = {}
    for record in records:
        nodes_by_task.setdefault((record["run"], record["agent"]), set()).add(record["node"])
    assert all(len(nodes) == 1 for nodes in nodes_by_task.values())  # a block is whole
    assert "ran on 2 nodes: 2 × Linux" in done.out
    assert bench.experiment("there")["nodes"].keys() == {"node-1", "node-2"}
    for name in ("there", "here"):
        assert len([*(bench.folder / name).rglob("*.stream.jsonl")]) == 12
    assert not any("node" in record for record in bench.records("here"))


def slow_agent(bench: Bench) -> None:
    (bench.folder / "slow.py").write_text(SLOW)
    agent = {
        "name": "slow",
        "command": [
            *(sys.executable, "-I", str(bench.folder / "slow.py")),
            *(str(bench.folder / "begun"), "{{ prompt }}"),
        ],
        "turns": {"limit": "none"},
        "mcp": "none",
        "output": {"source": "stdout", "format": "json", "answer": "$.answer"},
    }
    (bench.folder / "slow.yaml").write_text(yaml.safe_dump(agent))


PLAIN = (
    *("compare", "--modes", "baseline", "--runs", "2", "--block-size", "1", "--concurrency", "1"),
    *("--tasks", "./tasks.yaml", "--agent", "slow.yaml"),
)


def test_trials_of_a_node_that_is_lost_run_once_more_on_another(bench: Bench) -> None:
    slow_agent(bench)
    (bench.folder / "dying.py").write_text(DYING.replace("{NAMES}", "('node-1',)"))
    done = run(bench, "out", "--on", "dying:Dying", command=PLAIN)
    assert done.code == 0, done.err
    records = bench.records("out")
    assert len({record["trial"] for record in records}) == len(records) == 4
    assert {record["cause"] for record in records} == {"finished"}
    lost = bench.lines("out", "superseded.jsonl")
    assert {record["cause"] for record in lost} == {"node-lost"}
    assert {record["node"] for record in lost} == {"node-1"}
    assert all("node-1" in record["detail"] for record in lost)
    again = {record["trial"]: record for record in records}
    assert {again[record["trial"]]["node"] for record in lost} == {"node-2"}
    assert {again[record["trial"]]["attempt"] for record in lost} == {2}
    assert (bench.folder / "begun").read_text().count("x") <= 4 + len(lost)
    assert "1 trial was lost with its node, and ran again" in done.out
    assert "do not compare" not in done.out  # it was the only one of its case
    assert len(lost) == 1


def test_without_a_node_the_session_ends_and_can_be_continued(bench: Bench) -> None:
    slow_agent(bench)
    (bench.folder / "dying.py").write_text(DYING.replace("{NAMES}", "('node-1', 'node-2')"))
    done = run(bench, "out", "--on", "dying:Dying", command=PLAIN)
    assert done.code == 3
    assert "Every node was lost" in done.err
    assert "--continue" in done.err
    done = bench.call("compare", "--continue", "out", "--quiet")
    assert done.code == 0, done.err
    records = bench.records("out")
    assert len(records) == 4
    assert {record["cause"] for record in records} == {"finished"}
    assert "nodes" not in done.out  # none of them came to an end there


CLOSING = """
from contextlib import asynccontextmanager
from pathlib import Path
import anyio
from swarm_bench.testing.worker_nodes import WorkerNodes

class Closing(WorkerNodes):
    def __init__(self):
        super().__init__(2)

    @asynccontextmanager
    async def open_session(self, session):
        async with super().open_session(session) as executor:
            yield executor
        Path("closing").touch()
        with anyio.CancelScope(shield=True):
            await anyio.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_cannot_wait_for_nodes_to_close_learns_how_to_continue(
    bench: Bench, number: signal.Signals
) -> None:
    slow_agent(bench)
    (bench.folder / "closing.py").write_text(CLOSING)
    command = (*PLAIN, "--repo", str(bench.repo), "--output", "out", "--trust")
    running = bench.start(*command, "--on", "closing:Closing")
    for name in ("begun", "closing"):
        await_file(bench.folder / name)
        running.send_signal(number)
    _, told = running.communicate(timeout=20)
    assert running.returncode == 130, told
    assert b"Continue with: swarm-bench compare --continue " in told
    assert {record["cause"] for record in bench.records("out")} == {"interrupted"}


def await_file(path: Path) -> None:
    end = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < end
        time.sleep(0.05)


RETRIEVE = ("retrieve", "--modes", "bm25")


@pytest.mark.parametrize(
    ("command", "options", "sentence"),
    [
        (COMPARE, ("--record",), "--record keeps what agents leave here"),
        (COMPARE, ("--keep-workspaces",), "--keep-workspaces keeps what is removed there"),
        *(
            (command, ("--service-url", "http://127.0.0.1:9"), "is a service of this machine")
            for command in (COMPARE, RETRIEVE)
        ),
        *(
            (command, ("--agent-env", "TOKEN=hunter2-hunter2"), "values are not sent to other")
            for command in (COMPARE, RETRIEVE)
        ),
    ],
)
def test_what_only_this_machine_has_is_refused(
    bench: Bench, command: tuple[str, ...], options: tuple[str, ...], sentence: str
) -> None:
    done = run(bench, "out", "--on", NODES, *options, command=command)
    assert (done.code, sentence in done.err) == (2, True), done.err
    assert not (bench.folder / "out" / "metrics.jsonl").exists()


@pytest.mark.parametrize(
    "command",
    [
        ("compare", "--modes", "bm25", "--tasks", "./tasks.yaml"),
        (*RETRIEVE, "--tasks", "./keyed.yaml"),
        ("run", "swarm_bench.testing.toy:Toy"),
        ("doctor",),
    ],
    ids=lambda command: command[0],
)
def test_a_class_in_a_settings_file_is_loaded_once_it_is_trusted(
    bench: Bench, command: tuple[str, ...]
) -> None:
    (bench.folder / "evil.py").write_text("open('loaded', 'w').close()\n")
    (bench.folder / "swarm-bench.toml").write_text('on = "evil:Class"\n')
    task = {"id": "t", "title": "t", "prompt": "Where?", "key": {"files": ["app/worker.py"]}}
    (bench.folder / "keyed.yaml").write_text(yaml.safe_dump({"tasks": [task]}))
    repo = () if command[0] == "run" else ("--repo", str(bench.repo))
    for plan in ((), ("--plan",) if command[0] != "doctor" else ()):
        bench.call(*command, *repo, *plan)
        assert not (bench.folder / "loaded").exists()
    done = bench.call(*command, *repo, "--trust")
    assert "evil:Class" in done.err + done.out
    assert (bench.folder / "loaded").exists()


OLDER = """
from swarm_bench.testing.worker_nodes import WorkerNodes

class Older(WorkerNodes):
    def __init__(self):
        super().__init__(2)

    def collect_facts(self, name, needs):
        facts = super().collect_facts(name, needs)
        return {**facts, "version": "0.0.1"} if name == "node-2" else facts
"""


@pytest.mark.parametrize("design", ["compare", "retrieve"])
def test_no_server_is_started_where_a_node_is_refused(bench: Bench, design: str) -> None:
    (bench.folder / "older.py").write_text(OLDER)
    word = searching_mode(bench.folder, "metered", "open('started', 'w').close()")
    server = bench.folder / "server.py"
    started = bench.folder / "started"
    server.write_text(f"open({str(started)!r}, 'w').close()\n{server.read_text()}")
    task = {"id": "t", "title": "t", "prompt": "Where?", "key": {"files": ["app/worker.py"]}}
    (bench.folder / "keyed.yaml").write_text(yaml.safe_dump({"tasks": [task]}))
    command = (design, "--modes", word, "--tasks", "./keyed.yaml", "--trust")
    done = run(bench, "out", "--on", "older:Older", command=command)
    assert done.code == 3, done.err
    assert "The node node-2 has swarm-bench 0.0.1, and this machine" in done.err
    assert not started.exists()
    assert not (bench.folder / "out").exists()
    done = run(bench, "out", "--on", NODES, command=command)
    assert started.exists(), done.err


def test_placebos_answer_on_nodes(bench: Bench) -> None:
    commit(bench.repo, "more", PAINTS)
    command = ("compare", "--modes", "bm25", "--controls", "placebo", "--runs", "1")
    done = run(bench, "out", "--on", NODES, command=(*command, "--tasks", "./tasks.yaml"))
    assert done.code == 0, done.err
    records = [line for line in bench.records("out") if line["mode"] == "bm25-placebo"]
    assert records
    assert all(line["evidence"]["calls"] for line in records), records[0]["evidence"]


@pytest.mark.parametrize(
    "command",
    [COMPARE, ("run", "humaneval", "--models", "reference", "--generate-only")],
    ids=lambda command: command[0],
)
def test_a_plan_names_the_executor_and_reaches_no_node(
    bench: Bench, command: tuple[str, ...]
) -> None:
    done = run(bench, "out", "--on", NODES, "--plan", command=command)
    assert done.code == 0, done.err
    assert f"those of {NODES}, one block at a time on each" in " ".join(done.out.split())
    assert "Nodes" not in run(bench, "out", "--plan", command=command).out


def test_an_unknown_executor_is_refused(bench: Bench) -> None:
    done = run(bench, "out", "--on", "rey")
    assert done.code == 2
    assert "ray" in done.err
    assert not (bench.folder / "out").exists()


def test_an_agent_file_with_a_key_is_refused(bench: Bench) -> None:
    slow_agent(bench)
    file = bench.folder / "slow.yaml"
    agent = yaml.safe_load(file.read_text())
    agent["command"] += ["--api-key", "sk-ant-api03-abcdefghijklmnopqrstuvwxyz"]
    file.write_text(yaml.safe_dump(agent))
    done = run(bench, "out", "--on", NODES, command=PLAIN)
    assert (done.code, "has what could be a key" in done.err) == (2, True), done.err
    assert "abcdefghij" not in done.err
    assert not (bench.folder / "out" / "metrics.jsonl").exists()


def test_what_runs_on_several_nodes_keeps_within_the_limit(bench: Bench) -> None:
    usage = {"input": 10, "cache_read": 0, "cache_create": 0, "output": 5}
    answer = {"text": "See app/worker.py.\n", "turns": 2, "usage": usage, "cost": 0.5}
    (bench.folder / "script.yaml").write_text(yaml.safe_dump([{"steps": [{"answer": answer}]}]))
    command = (
        *("compare", "--modes", "baseline", "--runs", "6", "--block-size", "1"),
        *("--concurrency", "1", "--tasks", "./tasks.yaml", "--agent"),
        *("swarm_bench.agents.scripted:Scripted", "--model", str(bench.folder / "script.yaml")),
    )
    done = run(bench, "out", "--on", NODES, "--max-cost", "2.2", command=command)
    assert done.code == 4, done.err
    assert len(bench.records("out")) == 4


def test_the_command_that_continues_a_session_says_where(bench: Bench) -> None:
    slow_agent(bench)
    (bench.folder / "dying.py").write_text(DYING.replace("{NAMES}", "('node-1', 'node-2')"))
    done = run(bench, "out", "--on", "dying:Dying", command=PLAIN)
    assert done.code == 3
    assert "--on dying:Dying" in done.err
    assert (bench.folder / "out" / "summary.md").is_file()


def test_a_model_that_only_this_machine_reaches_is_refused(bench: Bench) -> None:
    words = ("run", "humaneval", "--limit", "1", "--generate-only", "--models")
    done = run(bench, "out", "llamacpp:http://127.0.0.1:9", "--on", NODES, command=words)
    assert done.code == 2, done.err
    assert not (bench.folder / "out" / "metrics.jsonl").exists()
