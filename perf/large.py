"""Seconds and memory that `swarm-bench report` takes for 10,000 and 100,000 records.

    python perf/large.py [RECORDS ...]

One small session is run with scout; its lines and its agents' output are multiplied to 4 modes of
50 agents with as many runs as it takes, some trials stopped by the time limit or by the provider.
Goal for 100,000: 20 s and 1 GB.
"""

import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from swarm_bench.core.session.experiment import stable_id
from swarm_bench.engine.lines import add_checksum

COMMAND = Path(sys.executable).parent / "swarm-bench"
REPOSITORY = Path(__file__).parents[1] / "swarm_bench" / "core"
SIZES = (10_000, 100_000)
BESIDE = {100_000: " (goal 20 s; was 28 s)"}
AGENTS = 5
COPIES = 10
FIGURES = (
    "duration_ms", "duration_s", "num_turns", "input_tokens", "cache_read", "cache_create",
    "output_tokens", "total_tokens", "effective_tokens", "cost", "result_lines", "wall_seconds",
    "references", "references_existing", "answer_digest", "requests", "all_in_tokens",
)  # fmt: skip

TOKENS = ("input_tokens", "output_tokens", "total_tokens", "effective_tokens")
BY_A_MODEL = {"fixed_rules": False, "model": "a-model"}


def main() -> None:
    """Print a line for each size."""
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small"
        run_small(small)
        for records in map(int, sys.argv[1:] or SIZES):
            session = Path(folder) / str(records)
            multiply(small, session, records)
            report(session)  # writes the summary; the folder is in the cache afterwards
            taken = report(session)
            print(f"{records:,} records: report {taken}{BESIDE.get(records, '')}")


def run_small(folder: Path) -> None:
    """A session of 4 modes with 5 agents each."""
    subprocess.run(
        [
            COMMAND, "compare", "--modes", "baseline", "canopy", "canopy-service", "--controls",
            "--repo", REPOSITORY, "--agents", str(AGENTS), "--runs", "1", "--output", folder,
            "--quiet",
        ],
        check=True, cwd=folder.parent, stdout=subprocess.DEVNULL,
    )  # fmt: skip


def report(session: Path) -> str:
    """Time and most memory of the command in a fresh process."""
    started = time.perf_counter()
    with subprocess.Popen([COMMAND, "report", session], stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, "swarm-bench report")
    seconds, busy = time.perf_counter() - started, usage.ru_utime + usage.ru_stime
    peak = usage.ru_maxrss / 2**10
    return f"{seconds:.1f} s (processor {busy:.1f} s), peak {peak:,.0f} MiB"


def multiply(small: Path, session: Path, records: int) -> None:
    """Write a session with the lines and the output of a small one, over and over."""
    experiment = json.loads((small / "experiment.json").read_text())
    trials, swarms = (_lines(small / name) for name in ("metrics.jsonl", "retrieval.jsonl"))
    modes = [mode["name"] for mode in experiment["modes"]]
    runs = records // (len(trials) * COPIES)
    asked = experiment["tasks"][:AGENTS]
    tasks = [task | {"id": f"{task['id']}-{n}"} for n in range(COPIES) for task in asked]
    agents = len(tasks)
    session.mkdir()
    grown = {"tasks": tasks, "agents": agents, "runs": runs, "order": [modes] * runs}
    grown["blocks"] = [[*range(1, agents + 1)]]
    (session / "experiment.json").write_text(json.dumps(experiment | grown))
    shutil.copy(small / "overhead.jsonl", session)
    draw = random.Random(1)
    with (session / "metrics.jsonl").open("wb") as file:
        for run, trial, copy in itertools.product(range(1, runs + 1), trials, range(COPIES)):
            file.write(_sealed(_ended(_copied(trial, run, copy), draw)))
            _link_output(small, session, trial, _copied(trial, run, copy))
    with (session / "retrieval.jsonl").open("wb") as file:
        for run, swarm in itertools.product(range(1, runs + 1), swarms):
            new = {"run": run, "swarm": stable_id(run, swarm["mode"])}
            file.write(_sealed(swarm | new | {"agents": [*range(1, agents + 1)]}))


def _lines(path: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    return [{key: value for key, value in line.items() if key != "sha256"} for line in lines]


def _sealed(line: dict[str, Any]) -> bytes:
    return add_checksum(json.dumps(line, separators=(",", ":"))) + b"\n"


def _copied(trial: dict[str, Any], run: int, copy: int) -> dict[str, Any]:
    """A trial of another run and another agent, with a task of its own."""
    agent, task = trial["agent"] + copy * AGENTS, f"{trial['task_id']}-{copy}"
    place = {"run": run, "agent": agent, "task_id": task}
    return trial | place | {"trial": stable_id(run, trial["mode"], agent, task)}


def _ended(trial: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    """Some were stopped, some never ran; the others spent a little more or less."""
    chance = draw.random()
    if chance < 0.01:
        limited = {"status": "provider-limited", "cause": "rate-limited", "detail": "429"}
        return trial | dict.fromkeys(FIGURES) | BY_A_MODEL | limited
    factor = draw.lognormvariate(0, 0.3)
    varied = {key: round(trial[key] * factor) for key in TOKENS}
    wall = {"wall_seconds": trial["wall_seconds"] * factor}
    found = {"scores": trial["scores"] | {"file_recall": draw.choice((0.0, 0.5, 1.0))}}
    late = {"status": "budget-reached", "cause": "timeout"} if chance < 0.03 else {}
    return trial | varied | wall | found | BY_A_MODEL | late


def _link_output(small: Path, session: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    folder = session / f"run-{new['run']}" / new["mode"]
    folder.mkdir(parents=True, exist_ok=True)
    for suffix in ("stream.jsonl", "stderr.log"):
        source = small / old["mode"] / f"agent-{old['agent']}.{suffix}"
        os.link(source, folder / f"agent-{new['agent']}.{suffix}")


if __name__ == "__main__":
    main()
