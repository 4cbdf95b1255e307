"""Seconds until the first agent starts when a large session that lacks one trial goes on.

    python perf/continuing.py [RECORDS]

A session of so many records (100,000) is made from a real one of one trial. Then it goes on, in a
fresh process: measured is the time from the command's start, interpreter and imports included, to
the event that says that the agent starts. With it are the copy of a tiny repository and the clone.
The process ends there, so the agent and the summary are not in it. Goal: 3 s.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Any

from swarm_bench.benchmarks.swarm.run_plan import plan
from swarm_bench.core.session.designs import COMPARE
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.engine.lines import add_checksum

RECORDS = 100_000
REPEATS = 5
AGENTS = 1000
"""Of each run, where there are enough records."""
SCRIPT = '[steps: [init: {tools: [Read]}, answer: {text: "See `a.py:1`.", turns: 1}]]'


def main(records: int) -> None:
    """Print the medians of several sessions that go on."""
    agents = min(AGENTS, records)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tmp").mkdir()
        begin(folder)
        size = grow(folder / "out", agents, records // agents)
        taken = [go_on(folder) for _ in range(REPEATS)]
    walls, spent, memory = zip(*taken, strict=True)
    print(
        f"--continue of {records:,} records but one, {size / 2**20:.0f} MiB, to the first agent: "
        f"{statistics.median(walls):.2f} s (goal 3), processor {statistics.median(spent):.2f} s, "
        f"at most {max(memory):.0f} MiB; medians of {REPEATS}"
    )


def begin(folder: Path) -> None:
    """Run a real session of one trial."""
    (folder / "repo").mkdir()
    (folder / "repo" / "a.py").write_text("def f():\n    return 1\n")
    (folder / "script.yaml").write_text(SCRIPT)
    subprocess.run(
        [
            Path(sys.executable).parent / "swarm-bench", "compare", "--modes", "baseline",
            "--repo", "repo", "--agents", "1", "--runs", "1", "--output", "out", "--quiet",
            "--agent", "swarm_bench.agents.scripted:Scripted", "--model", "script.yaml",
        ],
        check=True, cwd=folder, capture_output=True,
    )  # fmt: skip


def grow(session: Path, agents: int, runs: int) -> int:
    """Give the session so many runs, with all of their records but the last. Its bytes then."""
    content = json.loads((session / "experiment.json").read_text())
    content |= {
        "agents": agents,
        "concurrency": agents,
        "runs": runs,
        "order": [["baseline"]] * runs,
    }
    for key, value in (("agents", [agents]), ("runs", runs)):
        content["settings"][key]["value"] = value
    (session / "experiment.json").write_text(json.dumps(content))
    metrics = session / "metrics.jsonl"
    record = TrialRecord.from_json(metrics.read_bytes())
    trials = [
        trial
        for block in plan(Experiment.from_json(json.dumps(content)))
        for swarm in block.groups
        for trial in swarm.trials
    ]
    with metrics.open("wb") as file:
        for trial in trials[:-1]:
            own = {"trial": trial.id, "run": trial.run, "agent": trial.number}
            file.write(add_checksum(record.model_copy(update=own).model_dump_json()) + b"\n")
    return metrics.stat().st_size


def go_on(folder: Path) -> tuple[float, float, float]:
    """Go on in a fresh process, to the first agent's start; seconds, those of the processor, and
    MiB."""
    began = time.time()
    words = [sys.executable, __file__, "--go-on"]
    environment = {**os.environ, "TMPDIR": str(folder / "tmp"), "HOME": str(folder)}
    done = subprocess.run(words, check=True, cwd=folder, env=environment, capture_output=True)
    ended, spent, memory = json.loads(done.stdout)
    return ended - began, spent, memory


def end_at_first_agent() -> None:
    """Go on with `out`, as the command does, and end this process when the first agent starts."""
    from swarm_bench.app.running import agents
    from swarm_bench.app.setup.resolving import resolve
    from swarm_bench.app.trust.approval import approve
    from swarm_bench.core.events import Event, TrialStarted

    def emit(event: Event) -> None:
        if isinstance(event, TrialStarted):
            usage = getrusage(RUSAGE_SELF)
            figures = (time.time(), time.process_time(), usage.ru_maxrss / 1024)
            print(json.dumps(figures), flush=True)
            os._exit(0)

    options: dict[str, Any] = {"resume": "out"}
    resolved = resolve(options, COMPARE, None)
    resolved = approve(resolved, trust=True, ask=None)
    agents.run(resolved, COMPARE, emit)


if __name__ == "__main__":
    if sys.argv[1:] == ["--go-on"]:
        end_at_first_agent()
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else RECORDS)
