"""`swarm-bench doctor --on`: what each node has, and what it lacks."""

import os
from collections.abc import Sequence
from importlib.util import find_spec

import pytest

from tests.e2e.conftest import Bench, Done

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

NODES = "swarm_bench.testing.worker_nodes:TwoNodes"
KEY = "sk-hunter2-hunter2"
FAR = """
from dataclasses import replace
from swarm_bench.core.listing import State
from swarm_bench.testing.worker_nodes import WorkerNodes


class Older(WorkerNodes):
    def __init__(self):
        super().__init__(2)

    async def examine(self, needs):
        assert needs.agents_at_once == 3
        first, second = await super().examine(needs)
        return [first, replace(second, state=State.PROBLEM, advice="install the same")]
"""


def doctor(bench: Bench, *more: str, env: dict[str, str] | None = None) -> Done:
    where = ("--repo", str(bench.repo), "--modes", "baseline")
    paths = {"PYTHONPATH": str(bench.folder)}
    return bench.call("doctor", *where, *more, env={**paths, **(env or {})})


def node_lines(done: Done) -> list[str]:
    return [line for line in done.out.splitlines() if line[9:].startswith("node ")]


def test_every_node_has_a_line_with_what_it_has(bench: Bench) -> None:
    done = doctor(bench, "--on", NODES)
    assert done.code == 0, done.err
    first, second = node_lines(done)
    assert (first[:20], second[:20]) == ("ok       node node-1", "ok       node node-2")
    for part in ("swarm-bench ", "Python 3.", "scout ", " git, ", "GB of memory", "keys: none"):
        assert part in first
    assert not node_lines(doctor(bench))


def test_what_a_node_lacks_ends_with_3(bench: Bench) -> None:
    (bench.folder / "far.py").write_text(FAR)
    done = doctor(bench, "--on", "far:Older", "--agents", "3")
    assert done.code == 3, done.err
    assert [line[:7] for line in node_lines(done)] == ["ok     ", "problem"]
    assert "Not ready: 1 problem," in done.out


@pytest.mark.parametrize("keys", [(), ("ANTHROPIC_API_KEY",)])
def test_keys_are_named_and_never_shown(bench: Bench, keys: Sequence[str]) -> None:
    env = {"PATH": f"{os.environ['PATH']}", **dict.fromkeys(keys, KEY)}
    done = doctor(bench, "--on", NODES, "--agent", "claude", env=env)
    assert KEY not in done.out + done.err
    for line in node_lines(done):
        assert f"keys: {', '.join(keys) or 'none'}" in line
        assert ("it lacks the variable ANTHROPIC_API_KEY or" in line) is not bool(keys)


@pytest.mark.skipif(find_spec("ray") is not None, reason="Ray is installed")
def test_without_ray_it_is_one_sentence(bench: Bench) -> None:
    done = doctor(bench, "--on", "ray")
    assert (done.code, done.out) == (2, "")
    assert done.err == ("swarm-bench: --on ray: Ray is not installed; install swarm-bench[ray]\n")
