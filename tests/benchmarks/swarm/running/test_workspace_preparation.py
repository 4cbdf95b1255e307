"""What a tool left in the clone and in its home."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from swarm_bench.agents.scout.adapter import Scout
from swarm_bench.benchmarks.swarm.artefacts import Artefacts
from swarm_bench.benchmarks.swarm.run_plan import Swarm
from swarm_bench.benchmarks.swarm.running.kit import Kit
from swarm_bench.benchmarks.swarm.running.workspace_preparation import (
    SwarmState,
    WorkspacePreparation,
)
from swarm_bench.core.session.designs import COMPARE
from swarm_bench.core.session.experiment import Experiment, Limits, Mode, Program, Repository, Task
from swarm_bench.core.treatment.mode_parts import Preparation
from swarm_bench.retrieval.opened_mode import OpenedMode
from swarm_bench.retrieval.tools import Tools
from swarm_bench.runtime.workspaces.workspace import Snapshot

pytestmark = pytest.mark.anyio
MODE = Mode(name="tool", source="test", servers={"s": {}}, services=("canopy-service",))
SWARM = Swarm(id="1", run=1, arm="tool", trials=())


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    repository = Repository(path="/r/shop", kind="folder", tree="t", files=1, bytes=1)
    experiment = Experiment(
        session="s", created_at=datetime.now(UTC), benchmark="swarm", design=COMPARE,
        repository=repository,
        modes=(MODE,), suite="x", agents=1, concurrency=1,
        tasks=(Task(id="t", title="t", prompt="t"),), agent=Program(name="scout"),
        index="cold", runs=1, seed=0, order=(("tool",),),
        limits=Limits(max_turns=1, timeout=1, index_timeout=1),
    )  # fmt: skip
    kit = Kit(
        experiment=experiment,
        agent=Scout(),
        agent_spec="scout",
        snapshot=Snapshot(path=tmp_path, repository=repository, files=frozenset()),
        artefacts=Artefacts(tmp_path / "session", runs=1),
        tools=Tools(work=tmp_path / "work", programs={}, user_environment={}),
        emit=lambda _: None,
    )
    kit.workspace.mkdir(parents=True)
    return kit


def opened(kit: Kit, mode: Mode = MODE) -> OpenedMode:
    return OpenedMode(kit.tools, mode, kit.workspace, tag="tag")


@pytest.mark.parametrize(("home", "counted"), [("work/home", 3 + 500), ("users/me", 3)])
async def test_an_index_in_a_home_of_the_swarm_is_counted_and_not_the_users(
    kit: Kit, tmp_path: Path, home: str, counted: int
) -> None:
    """Who gives one with `--agent-env HOME=…` has more there than an index."""
    place = tmp_path / home
    place.mkdir(parents=True)
    tools = replace(kit.tools, agent_env={"HOME": str(place)})
    story = SwarmState(attempt=1)
    async with opened(replace(kit, tools=tools)) as tool:
        (place / "before").write_bytes(b"x" * 70)
        ground = WorkspacePreparation(kit, SWARM, tool, story)
        await ground.begin()
        (kit.workspace / "index").write_bytes(b"abc")
        (place / "more").write_bytes(b"x" * 500)
        await ground.record_changes()
    assert story.index_bytes == counted


@pytest.mark.parametrize(
    ("mode", "runs"),
    [
        (Mode(name="tool", source="test"), False),
        (Mode(name="tool", source="test", servers={"s": {}}), True),
        (Mode(name="tool", source="test", services=("canopy-service",)), True),
        (Mode(name="tool", source="test", prepare=Preparation(command=("true",))), True),
        (Mode(name="tool", source="test", teardown=("true",)), True),
    ],
)
async def test_whatever_a_mode_runs_beside_its_agents_has_a_home(
    kit: Kit, mode: Mode, runs: bool
) -> None:
    async with opened(kit, mode) as tool:
        assert bool(tool.site.home) is runs


async def test_without_a_home_only_the_clone_is_looked_at(kit: Kit) -> None:
    tool, story = opened(kit), SwarmState(attempt=1)
    ground = WorkspacePreparation(kit, SWARM, tool, story)
    await ground.begin()
    await ground.record_changes()
    assert story.index_bytes == 0
