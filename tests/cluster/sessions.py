"""Sessions of swarm-bench on a cluster, and what is compared of them."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from tests.builders.repositories import commit, start
from tests.cluster.ray_cluster import Cluster

BENCH = str(Path(sys.executable).with_name("swarm-bench"))
MEASURED = {
    "session", "started_at", "ended_at", "wall_seconds", "duration_ms", "duration_s", "api_seconds",
    "peak_memory_bytes", "cpu_seconds", "tool_seconds", "sha256", "node",
}  # fmt: skip
"""Keys that differ between any two sessions."""
COMPARE = (
    *("compare", "--modes", "bm25", "grep", "--runs", "3", "--block-size", "1", "--quiet"),
    *("--concurrency", "1", "--tasks", "./tasks.yaml", "--repo", "repo"),
)
SLOW = """
import json, sys, time
from pathlib import Path
with open(sys.argv[1], "a") as file:
    file.write(sys.argv[2] + "\\n")
time.sleep(float(sys.argv[3]))
print(json.dumps({"answer": "It is in app/worker.py"}))
"""


def make_folder(folder: Path, tasks: int = 2) -> Path:
    """Make a folder with a repository and tasks."""
    folder.mkdir()
    commit(start(folder / "repo"), "one", {"app/worker.py": "def run_worker(queue):\n    pass\n"})
    content = [
        {"id": f"t{n}", "title": f"t{n}", "prompt": f"Where is it ({n})?"} for n in range(tasks)
    ]
    (folder / "tasks.yaml").write_text(yaml.safe_dump({"tasks": content}))
    return folder


def make_slow_agent(folder: Path, seconds: float) -> tuple[str, ...]:
    """Make an agent that takes its time, and notes in the file `begun` of its machine that it
    started. Returns a command that runs it."""
    begun = "/tmp/begun"
    agent = {
        "name": "slow",
        "command": [sys.executable, "-I", "-c", SLOW, begun, "{{ prompt }}", str(seconds)],
        "turns": {"limit": "none"},
        "mcp": "none",
        "output": {"source": "stdout", "format": "json", "answer": "$.answer"},
    }
    (folder / "slow.yaml").write_text(yaml.safe_dump(agent))
    return (
        *("compare", "--modes", "baseline", "--runs", "2", "--block-size", "1", "--quiet"),
        *("--concurrency", "1", "--tasks", "./tasks.yaml", "--repo", "repo"),
        *("--agent", "slow.yaml"),
    )


def run(
    cluster: Cluster, folder: Path, *words: str, env: dict[str, str | None] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run swarm-bench at the head."""
    return cluster.run([BENCH, *words], env, cwd=folder, timeout=150)


def lines(session: Path, name: str = "metrics.jsonl") -> list[dict[str, Any]]:
    file = session / name
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def by_trial(session: Path) -> dict[str, dict[str, Any]]:
    """What the records of a session say that does not differ between any two sessions."""
    return {
        record["trial"]: {key: value for key, value in record.items() if key not in MEASURED}
        for record in lines(session)
    }


def await_until(is_so: Callable[[], Any], seconds: float = 60) -> None:
    """Wait for something, and fail when it takes too long."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.05)
