"""A session whose swarms run in interpreters of their own, with nothing but JSON in and out."""

import subprocess
import sys
from typing import Any

import pytest

from tests.e2e.conftest import Bench

SCRIPT = """
import sys
from swarm_bench.app.running import agents
from swarm_bench.app.setup.resolving import resolve
from swarm_bench.benchmarks.swarm.running.packing import packed
from swarm_bench.core.session.designs import COMPARE
from swarm_bench.testing.fresh_interpreter import FreshInterpreters


def fresh(kit):
    return FreshInterpreters(
        benchmark="swarm", context=packed(kit), work=kit.work.parent, out=kit.artefacts.root,
        emit=kit.emit,
    )


def main(repo, output, where, *modes):
    typed = {"repo": repo, "modes": list(modes), "runs": 1, "output": output}
    typed |= {"tasks": "ab", "concurrency": 1}  # agents that ask one service at once may differ
    resolved = resolve(typed, COMPARE)
    executor = fresh if where == "fresh" else agents.create_local_executor
    result = agents.run(resolved, COMPARE, lambda event: None, executor)
    print(result.end_counts.unfinished)


main(*sys.argv[1:])
"""
MEASURED = {
    "session", "started_at", "ended_at", "wall_seconds", "duration_ms", "duration_s", "api_seconds",
    "peak_memory_bytes", "cpu_seconds", "tool_seconds", "sha256",
}  # fmt: skip
"""Keys that differ between any two sessions."""


def run(bench: Bench, where: str, *modes: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(bench.repo), where, where, *modes],
        cwd=bench.folder,
        env=bench.environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "0\n"


pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def same(line: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in line.items() if key not in MEASURED}


def test_a_comparison_through_fresh_interpreters_has_the_same_records(bench: Bench) -> None:
    modes = ("baseline", "canopy", "canopy-service")
    run(bench, "local", *modes)
    run(bench, "fresh", *modes)
    ours, theirs = (
        sorted(bench.records(name), key=lambda line: line["trial"]) for name in ("local", "fresh")
    )
    assert len(ours) == 3 * 4
    assert {line["retrieval"] for line in ours} == {"used", "not-given"}
    assert [same(line) for line in theirs] == [same(line) for line in ours]
    assert files(bench, "fresh") == files(bench, "local")


def files(bench: Bench, name: str) -> set[str]:
    folder = bench.folder / name
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
