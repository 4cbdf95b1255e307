"""Seconds from the records on disk to a finished `summary.md`, in a fresh process.

    python perf/summary.py

Synthetic sessions of 60 agents x 3 modes, with 1 and 3 runs; and a folder as canopy's own script
writes it, where the answers are scored as well. Goal: 1 s, imports and interpreter included.
"""

import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from swarm_bench.core.ports import ScoreContext
from swarm_bench.scoring.form import Length, Structure
from swarm_bench.scoring.references import References

REPEATS = 5
AGENTS = 60
MODES = ("baseline", "canopy", "canopy-service")
TASKS = [
    "Find everything that has to do with authentication and explain how it works",
    "List the data models and how they relate",
    "Trace a request from the router to the response",
    "Find the background jobs — and the queue they wait in",
    "Explain how plugins are found and loaded",
]

SESSION = """
import sys
from pathlib import Path
from swarm_bench.analysis.documents.comparison import make_document
from swarm_bench.analysis.summary import summarise
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.reports.markdown import render
folder = Path(sys.argv[1])
report = summarise(SessionFolder(folder).read(), METRICS)
(folder / "summary.md").write_text(render(make_document(report)), "utf-8")
"""
SCRIPT = """
import sys
from pathlib import Path
from swarm_bench.importers.canopy_script.folder import read_script_folder
from swarm_bench.analysis.documents.comparison import make_document
from swarm_bench.analysis.summary import summarise
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.reports.markdown import render
folder = Path(sys.argv[1])
report = summarise(read_script_folder(folder), METRICS)
(folder / "summary.md").write_text(render(make_document(report)), "utf-8")
"""


def main() -> None:
    print(f"{AGENTS} agents x {len(MODES)} modes, median of {REPEATS} fresh processes (min, max):")
    bare = _seconds("pass", Path())
    print(f"  {'an empty Python program':34} {bare}")
    for name, make, program in (
        ("a session of 1 run", lambda path: _make_session(path, runs=1), SESSION),
        ("a session of 3 runs", lambda path: _make_session(path, runs=3), SESSION),
        ("a folder of canopy's script", _make_script_folder, SCRIPT),
    ):
        with tempfile.TemporaryDirectory() as folder:
            make_folder: Callable[[Path], None] = make
            make_folder(Path(folder))
            print(f"  {name:34} {_seconds(program, Path(folder))}")


def _seconds(program: str, folder: Path) -> str:
    taken = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", program, str(folder)], check=True)
        taken.append(time.perf_counter() - started)
    return f"{statistics.median(taken):.2f} s ({min(taken):.2f}, {max(taken):.2f})"


def _answer(draw: random.Random) -> str:
    """About 6 kB that look like what agents write."""
    parts = ["# Analysis", ""]
    for number in range(12):
        path = f"src/{draw.choice('abcdef')}/module_{draw.randrange(40)}.py"
        parts += [f"## Part {number}", "", f"The work is done in `{path}`, line {number * 7}.", ""]
        parts += [f"- {path}: step {step} of the whole" for step in range(6)]
        parts += ["", "```python", f"def step_{number}():", "    # a comment", "    ...", "```", ""]
    return "\n".join(parts)


def _figures(draw: random.Random) -> dict[str, float]:
    tokens = {
        "input_tokens": draw.randrange(100),
        "cache_read": draw.randrange(50_000, 400_000),
        "cache_create": draw.randrange(10_000, 40_000),
        "output_tokens": draw.randrange(500, 4000),
    }
    total = tokens["input_tokens"] + tokens["cache_create"] + tokens["output_tokens"]
    milliseconds = draw.randrange(20_000, 90_000)
    return {
        "duration_ms": milliseconds,
        "duration_s": milliseconds // 10 / 100,
        "num_turns": draw.randrange(3, 15),
        **tokens,
        "total_tokens": total,
        "effective_tokens": total + tokens["cache_read"],
        "cost": draw.randrange(50_000, 400_000) / 1_000_000,
    }


def _make_session(folder: Path, *, runs: int) -> None:
    draw = random.Random(1)
    lines, swarms = [], []
    for run in range(1, runs + 1):
        for mode in MODES:
            swarms.append(_swarm(mode, run))
            lines += [_trial(draw, mode, run, agent) for agent in range(1, AGENTS + 1)]
    _write_lines(folder / "metrics.jsonl", lines)
    _write_lines(folder / "retrieval.jsonl", swarms)
    (folder / "experiment.json").write_text(json.dumps(_experiment(runs)), encoding="utf-8")


def _trial(draw: random.Random, mode: str, run: int, agent: int) -> dict[str, object]:
    files = frozenset(f"src/{letter}/module_{n}.py" for letter in "abcdef" for n in range(40))
    context = ScoreContext(text=_answer(draw), workspace="/w", files=files)
    scores = {
        key: value
        for scorer in (Length(), References(), Structure())
        for key, value in scorer.score(context).items()
    }
    tool = mode != "baseline"
    return {
        "mode": mode,
        "agent": agent,
        "task": TASKS[(agent - 1) % len(TASKS)],
        **_figures(draw),
        "compacted": 0,
        "session": "s",
        "trial": f"{mode}-{run}-{agent}",
        "run": run,
        "task_id": str((agent - 1) % len(TASKS)),
        "status": "completed",
        "cause": "finished",
        "model": "m",
        "program": "agent",
        "program_version": "1",
        "wall_seconds": 61.0,
        "tool_calls": {"mcp__canopy__canopy_query": 3} if tool else {"Grep": 9, "Read": 5},
        "mcp_calls": 3 if tool else 0,
        "retrieval": "used" if tool else "not-given",
        **scores,
    }


def _swarm(mode: str, run: int) -> dict[str, object]:
    feedback = {"query_events": 90, "expand_events": 120}
    service = {"queries": 90, "expands": 70, "evidence_packs": 60}
    difference = {
        "baseline": {},
        "canopy": {"feedback": feedback},
        "canopy-service": {"feedback": feedback, "service": service},
    }
    return {
        "session": "s",
        "swarm": f"{mode}-{run}",
        "mode": mode,
        "run": run,
        "agents": list(range(1, AGENTS + 1)),
        "started_at": "2026-01-02T03:04:05Z",
        "ended_at": "2026-01-02T03:14:05Z",
        "index_seconds": 3.5,
        "difference": difference[mode],
    }


def _experiment(runs: int) -> dict[str, object]:
    probes = {"baseline": [], "canopy": ["feedback"], "canopy-service": ["feedback", "service"]}
    repository = {"path": "/r", "kind": "git", "commit": "0" * 40, "tree": "t"}
    return {
        "session": "s",
        "created_at": "2026-01-02T03:04:05Z",
        "benchmark": "swarm",
        "repository": {**repository, "files": 240, "bytes": 1_000_000},
        "modes": [
            {
                "name": mode,
                "source": "perf",
                "servers": {"canopy": {}} if probes[mode] else {},
                "probes": probes[mode],
            }
            for mode in MODES
        ],
        "suite": "exploration",
        "tasks": [{"id": str(n), "title": task, "prompt": task} for n, task in enumerate(TASKS)],
        "agent": {"name": "agent", "version": "1"},
        "agents": AGENTS,
        "concurrency": AGENTS,
        "runs": runs,
        "limits": {"max_turns": 15, "timeout": 900, "index_timeout": 600},
        "seed": 1,
        "order": [list(MODES)] * runs,
    }


def _make_script_folder(folder: Path) -> None:
    draw = random.Random(2)
    lines = []
    for mode in MODES:
        (folder / mode).mkdir()
        for agent in range(1, AGENTS + 1):
            figures, answer = _figures(draw), _answer(draw)
            task = TASKS[(agent - 1) % len(TASKS)]
            written = {"result_lines": answer.count("\n"), "compacted": 0}
            lines.append({"mode": mode, "agent": agent, "task": task, **figures, **written})
            payload = _payload(figures, answer)
            (folder / mode / f"agent-{agent}.json").write_text(json.dumps(payload), "utf-8")
    _write_lines(folder / "metrics.jsonl", lines)
    config = {"repo": "/r", "agents": AGENTS, "max_turns": 15, "mode": "all", "tasks": TASKS}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")


def _payload(figures: dict[str, float], answer: str) -> dict[str, object]:
    return {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "duration_ms": figures["duration_ms"],
        "num_turns": figures["num_turns"],
        "result": answer,
        "total_cost_usd": figures["cost"],
        "usage": {
            "input_tokens": figures["input_tokens"],
            "cache_creation_input_tokens": figures["cache_create"],
            "cache_read_input_tokens": figures["cache_read"],
            "output_tokens": figures["output_tokens"],
        },
    }


def _write_lines(path: Path, lines: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
