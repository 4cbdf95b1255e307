"""What nodes of a Ray cluster answer before the session: they may be anybody's."""

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from swarm_bench.app.running.portable.questions import PortableQuestions
from swarm_bench.core.errors import HarnessError
from swarm_bench.core.roles.executor import Needs, PackedSession
from swarm_bench.executors import ray_cluster
from tests.executors.test_node_facts import FACTS

pytestmark = pytest.mark.anyio
NODE = ray_cluster._Node("id", "far", 4)
GOOD = {**FACTS, "ray": "2.9"}


@pytest.fixture(autouse=True)
def _set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    class RayError(Exception):
        pass

    ray = SimpleNamespace(__version__="2.9", exceptions=SimpleNamespace(RayError=RayError))
    monkeypatch.setitem(sys.modules, "ray", ray)


def make_actor(answer: str) -> Any:
    async def remote(*_: Any) -> str:
        return answer

    return SimpleNamespace(examine=SimpleNamespace(remote=remote))


async def examine(answer: Any) -> None:
    node = replace(NODE, actor=make_actor(json.dumps(answer)))
    await ray_cluster._examine([node], Needs(memory_mb=1))


async def test_facts_that_are_whole_are_taken() -> None:
    await examine(GOOD)


@pytest.mark.parametrize(
    "answer",
    [
        *({k: v for k, v in GOOD.items() if k != key} for key in ("version", "machine", "ray")),
        *({**GOOD, **wrong} for wrong in ({"memory_mb": "x"}, {"machine": 3}, {"agent_faults": 7})),
        [],
        7,
        None,
    ],
)
async def test_facts_of_which_nothing_can_be_made_name_the_node(answer: Any) -> None:
    with pytest.raises(HarnessError, match="^The node far does not say what it has; install"):
        await examine(answer)


async def test_another_ray_is_refused() -> None:
    with pytest.raises(HarnessError, match=r"far has Ray 2\.8, and this machine 2\.9; install"):
        await examine({**GOOD, "ray": "2.8"})


@pytest.mark.parametrize(
    ("agents", "sentence"),
    [
        ({"a": 2, "b": 3}, "and the largest node, b, takes 3; start nodes with"),
        ({"a": 0}, "and the largest node, a, takes 0; "),
        ({}, "and no node is there; "),
    ],
)
def test_the_largest_node_is_named(
    monkeypatch: pytest.MonkeyPatch, agents: Mapping[str, float], sentence: str
) -> None:
    nodes = [ray_cluster._Node(name, name, number) for name, number in agents.items()]
    monkeypatch.setattr(ray_cluster, "_list_alive", lambda: nodes)
    with pytest.raises(HarnessError) as raised:
        ray_cluster._list_nodes(4)
    assert f"4 agents run at once, {sentence}" in str(raised.value)


@pytest.mark.parametrize(("ending", "killed"), [("late", ["late"]), ("dead", [])])
async def test_a_node_that_does_not_stop_gets_no_other_session(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ending: str, killed: list[str]
) -> None:
    """A session that no node can start stops all of them."""
    killed_actors = list[str]()
    ray = sys.modules["ray"]
    monkeypatch.setattr(ray, "put", lambda content: content, raising=False)
    monkeypatch.setattr(ray, "kill", lambda actor: killed_actors.append(actor.name), raising=False)
    monkeypatch.setattr(ray_cluster, "STOP_SECONDS", 0.1)
    nodes = [replace(NODE, name=name, actor=StoppingActor(name)) for name in ("good", ending)]
    session = PackedSession(
        benchmark="none",
        portable=PortableQuestions(),
        context=b"",
        out=tmp_path,
        emit=lambda _: None,
    )
    with pytest.raises(HarnessError, match="cannot be used: no room"):
        async with ray_cluster._open_session(nodes, session):
            pass
    assert [node.name for node in nodes] == ["good"]
    assert killed_actors == killed


class StoppingActor:
    """An actor that starts nothing; by its name, it stops, takes too long, or has ended."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.start = self.stop = SimpleNamespace(remote=self._answer)

    async def _answer(self, *arguments: Any) -> None:
        import ray

        if arguments:
            raise ray.exceptions.RayError("no room")
        if self.name == "late":
            await anyio.sleep_forever()
        if self.name == "dead":
            raise ray.exceptions.RayError("it has ended")
