"""Agents that would spoil it for the others of their swarm, which show the same figures as ever."""

import json
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from swarm_bench.runtime.ownership import sweep
from tests.builders.golden import Sentences
from tests.e2e.conftest import Bench, Done, processes_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

LIMIT = 24
"""Seconds. Three quarters of the honest agents' time are left to start them on a busy machine."""
LINE = "- shop/auth.py:1 and shop/models.py\n"
BIG = 50_000_000 // len(LINE)
SLEEP = 6
INIT: dict[str, Any] = {"init": {"tools": ["Read"]}}
HONEST = [INIT, {"sleep": SLEEP}, {"answer": {"text": LINE * 5, "turns": 2, "cost": 0.5}}]
ESCAPED = "97.531"
KINDS = ("deep", "endless", "special", "chain", "push", "meddle", "names")
TERMINAL = "\x1b]0;mine\x07\x1b[2J\0 @everyone #12 <script> ![x](http://127.0.0.1:9/x)"
WORDS = (*KINDS, "huge", "terminal", "honest", "upright")


def plays(bench: Bench) -> list[dict[str, Any]]:
    program = str(Path(__file__).with_name("hostile_agent.py"))
    out = bench.folder / "out"
    attacks = []
    for number, kind in enumerate(KINDS, start=1):
        stream = out / "baseline" / f"agent-{number}.stream.jsonl"
        words = [kind, str(out), str(stream), str(bench.folder / "victim")]
        run = {"run": [sys.executable, "-I", "-S", program, *words]}
        attacks.append({"when": {"prompt": kind}, "steps": [INIT, run, {"answer": {"text": LINE}}]})
    call = {"call": {"tool": TERMINAL, "input": {TERMINAL: TERMINAL}, "result": TERMINAL}}
    return [
        *attacks,
        {"when": {"prompt": "huge"}, "steps": [{"answer": {"text": LINE, "repeat": BIG}}]},
        {
            "when": {"prompt": "terminal"},
            "steps": [INIT, call, {"stderr": TERMINAL}, {"answer": {"text": TERMINAL}}],
        },
        {"steps": HONEST},
    ]


def test_hostile_agents_of_every_kind_change_nothing_for_the_others(
    bench: Bench, golden: Sentences
) -> None:
    tasks = {"tasks": [{"id": word, "title": word, "prompt": f"{word} it"} for word in WORDS]}
    (bench.folder / "tasks.yaml").write_text(yaml.safe_dump(tasks))
    (bench.folder / "script.yaml").write_text(yaml.safe_dump(plays(bench)))
    (bench.folder / "victim").write_text("mine")
    before = {path: path.read_bytes() for path in bench.repo.rglob("*") if path.is_file()}

    done = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "baseline", "--runs", "1",
        "--agents", str(len(WORDS)), "--agent", "swarm_bench.agents.scripted:Scripted",
        "--model", "script.yaml", "--tasks", "tasks.yaml", "--timeout", str(LIMIT),
        "--output", "out", inside=("prlimit", "--nofile=64:"),
    )  # fmt: skip

    assert done.code == 0, done.err
    assert {path.stem for path in bench.folder.glob("*.done")} == set(KINDS)
    by_task = {record["task_id"]: record for record in whole_records(bench)}
    assert {task: record["cause"] for task, record in by_task.items()} == {
        **dict.fromkeys(WORDS, "finished"),
        "special": "unreadable-output",
    }
    for task in ("honest", "upright"):
        honest = by_task[task]
        assert SLEEP <= honest["wall_seconds"] < LIMIT
        assert (honest["num_turns"], honest["cost"], honest["result_lines"]) == (2, 0.5, 5)
        assert (honest["bullets"], honest["unscored_characters"]) == (5, None)
    huge = by_task["huge"]
    assert huge["result_lines"] == BIG
    assert huge["unscored_characters"] == BIG * len(LINE) - 2**20
    assert huge["bullets"] == 2**20 // len(LINE) + 1
    (cut,) = (line for line in done.out.splitlines() if "a million characters" in line)
    golden(cut)
    check_what_is_left(bench, done)
    assert {path: path.read_bytes() for path in before} == before


def whole_records(bench: Bench) -> list[dict[str, Any]]:
    """The lines of `metrics.jsonl` that are ours. One of the agents wrote into it, too."""
    lines = (bench.folder / "out" / "metrics.jsonl").read_bytes().splitlines()
    assert max(map(len, lines)) < 10_000
    return [json.loads(line) for line in lines if line.startswith(b'{"mode"')]


def check_what_is_left(bench: Bench, done: Done) -> None:
    """No process, no folder of ours, nothing that a terminal would obey, and no link followed."""
    assert (bench.folder / "victim").read_text() == "mine"
    pages = [path.read_text() for path in (bench.folder / "out").rglob("*.md")]
    assert len(pages) == 2 + len(WORDS)  # summary.md, details.md
    for text in (*pages, done.out, done.err):
        assert not {"\x1b", "\0", "\x07"} & set(text)
    assert processes_of(bench.experiment("out")["session"]) == []
    assert not [process for process in psutil.process_iter() if ESCAPED in _words(process)]
    temporary = bench.folder / "tmp"
    theirs = {"swarm-bench-pipe", "swarm-bench-victim", "swarm-bench-zero"}
    assert {path.name for path in temporary.iterdir()} == theirs
    assert sweep(temporary).folders == 0  # and it waits for none of them


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []
