"""A session whose swarms run in interpreters of their own, with nothing but JSON in and out."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.builders.repositories import commit
from tests.e2e.conftest import Bench

SCRIPT = """
import json
import sys
from contextlib import asynccontextmanager
from swarm_bench.app.running import agents
from swarm_bench.app.setup.resolving import resolve
from swarm_bench.benchmarks.swarm.running.packing import pack_kit
from swarm_bench.core.roles.executor import run_here
from swarm_bench.core.session.designs import COMPARE
from swarm_bench.testing.fresh_interpreter import FreshInterpreters


@asynccontextmanager
async def open_fresh(kit):
    context = await pack_kit(kit)
    work, out = kit.work.parent, kit.artefacts.root
    fresh = FreshInterpreters(
        benchmark="swarm", context=context, work=work, out=out, emit=kit.emit
    )
    yield run_here(fresh, groups_at_once=2)


def main(where, options):
    typed = {"runs": 1, "output": where, "concurrency": 1, **json.loads(options)}
    resolved = resolve(typed, COMPARE)
    opening = open_fresh if where == "fresh" else agents.open_local_executor
    result = agents.run(resolved, COMPARE, lambda event: None, opening)
    print(result.end_counts.unfinished)


main(*sys.argv[1:])
"""
"""Agents that ask one service at once may differ, so one runs at a time."""
ASKING = """
import json, os, sys, urllib.request
body = {"model": "rehearsal", "messages": [{"role": "user", "content": sys.argv[1]}]}
request = urllib.request.Request(
    os.environ["BASE"] + "/v1/chat/completions", json.dumps(body).encode(),
    {"content-type": "application/json"},
)
usage = json.load(urllib.request.urlopen(request))["usage"]
tokens = {"input": usage["prompt_tokens"], "output": usage["completion_tokens"]}
print(json.dumps({"answer": " ".join(sorted(os.listdir())), "tokens": tokens}))
"""
OWN_AGENT = """
from swarm_bench.agents.scripted import Scripted

class Mine(Scripted):
    'An agent of somebody.'
"""
MEASURED = {
    "session", "started_at", "ended_at", "wall_seconds", "duration_ms", "duration_s", "api_seconds",
    "peak_memory_bytes", "cpu_seconds", "tool_seconds", "sha256",
}  # fmt: skip
"""Keys that differ between any two sessions."""


def run(bench: Bench, where: str, **options: object) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, where, json.dumps({"repo": str(bench.repo), **options})],
        cwd=bench.folder,
        env=bench.environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "0\n"


def compare_executors(bench: Bench, **options: object) -> list[dict[str, Any]]:
    """Run the same session in this process and in fresh interpreters, two swarms at once."""
    run(bench, "local", **options)
    run(bench, "fresh", **options)
    ours, theirs = (
        sorted(bench.records(name), key=lambda line: line["trial"]) for name in ("local", "fresh")
    )
    assert [same(line) for line in theirs] == [same(line) for line in ours]
    return theirs


pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def same(line: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in line.items() if key not in MEASURED}


def test_a_comparison_through_fresh_interpreters_has_the_same_records(bench: Bench) -> None:
    records = compare_executors(bench, modes=["baseline", "canopy", "canopy-service"], tasks="ab")
    assert len(records) == 3 * 4
    assert {line["retrieval"] for line in records} == {"used", "not-given"}
    assert files(bench, "fresh") == files(bench, "local")


def test_files_of_agents_commits_and_the_rehearsal_server_are_there_too(
    bench: Bench, tmp_path: Path
) -> None:
    program = tmp_path / "asking.py"
    program.write_text(ASKING)
    agent = {
        "name": "asking",
        "command": [sys.executable, "-I", str(program), "{{ prompt }}"],
        "turns": {"limit": "none"},
        "mcp": "none",
        "rehearsal": {"environment": {"BASE": "{{ rehearsal }}"}},
        "output": {
            "source": "stdout", "format": "json", "answer": "$.answer",
            "tokens": {
                "input": "$.tokens.input", "output": "$.tokens.output",
                "cache_read": {"constant": 0}, "cache_create": {"constant": 0},
            },
        },
    }  # fmt: skip
    (bench.folder / "asking.yaml").write_text(yaml.safe_dump(agent))
    commits = [commit(bench.repo, name, {f"{name}.py": "X = 1\n"}) for name in ("old", "new")]
    commit(bench.repo, "last", {"last.py": "X = 1\n"})
    tasks = [
        {"id": f"t{n}", "title": "a task", "prompt": "What is here?", "commit": made}
        for n, made in enumerate(commits)
    ]
    (bench.folder / "mine.yaml").write_text(yaml.safe_dump({"tasks": tasks}))
    records = compare_executors(
        bench, modes=["baseline"], tasks="mine.yaml", agent="asking.yaml", model="rehearsal",
        all_tasks=True,
    )  # fmt: skip
    assert [line["cause"] for line in records] == ["finished"] * 2
    assert [line["rehearsal_requests"] for line in records] == [1, 1]
    folder = bench.folder / "fresh" / "baseline"
    old, new = ((folder / f"agent-{number}.md").read_text() for number in (1, 2))
    assert ("old.py" in old, "new.py" in old) == (True, False)
    assert ("new.py" in new, "last.py" in new) == (True, False)


def test_a_class_of_the_working_folder_is_sent(bench: Bench) -> None:
    (bench.folder / "my_agent.py").write_text(OWN_AGENT)
    steps = [{"init": {"tools": ["Read"]}}, {"answer": {"text": "In `shop/auth.py`.", "turns": 1}}]
    script = bench.folder / "script.yaml"
    script.write_text(yaml.safe_dump([{"steps": steps}]))
    records = compare_executors(
        bench, modes=["baseline"], tasks="ab", agent="my_agent:Mine", model=str(script)
    )
    assert [line["cause"] for line in records] == ["finished"] * 4


def files(bench: Bench, name: str) -> set[str]:
    folder = bench.folder / name
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
