"""Blocks that run at the same time, each on a node."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from swarm_bench.core.errors import CostLimitReached
from swarm_bench.core.events import BlockStarted
from swarm_bench.core.roles.executor import Deliver, Host, OpenedExecutor
from swarm_bench.engine.session import run_session
from tests.engine.test_session import Asker, Questions

pytestmark = pytest.mark.anyio


class Nodes:
    """Two nodes, where groups take a moment."""

    def __init__(self) -> None:
        self.free = ["left", "right"]
        self.seen: list[tuple[str, str]] = []
        """Nodes and the ids of the groups that ran there."""
        self.most = 0

    def opened(self) -> OpenedExecutor[Questions, str]:
        return OpenedExecutor(reserve_host=self.reserve_host, blocks_at_once=2)

    @asynccontextmanager
    async def reserve_host(self) -> AsyncIterator[Host[Questions, str]]:
        name = self.free.pop(0)
        self.most = max(self.most, 2 - len(self.free))

        async def execute(job: Any, deliver: Deliver[str]) -> None:
            self.seen.append((name, job.id))
            await anyio.sleep(0.01)
            await deliver(f"answer to {job.id}")

        yield Host(execute, name)
        self.free.append(name)


async def test_a_block_runs_whole_on_one_node_and_two_blocks_at_once(tmp_path: Path) -> None:
    asker, nodes = Asker(tmp_path, runs=4), Nodes()
    assert not await run_session(asker.store, asker.blocks, nodes.opened())
    assert nodes.most == 2
    assert len(nodes.seen) == 8
    by_run = {run: {name for name, group in nodes.seen if group[0] == run} for run in "1234"}
    assert all(len(names) == 1 for names in by_run.values())
    assert {name for names in by_run.values() for name in names} == {"left", "right"}
    begun = [event for event in asker.events if isinstance(event, BlockStarted)]
    assert sorted((event.run, event.node) for event in begun) == sorted(
        (int(run), name) for run, names in by_run.items() for name in names
    )


async def test_it_is_looked_at_while_no_block_runs(tmp_path: Path) -> None:
    asker, nodes = Asker(tmp_path, runs=4), Nodes()
    running = list[int]()

    def is_clear() -> bool:
        running.append(2 - len(nodes.free))
        return True

    await run_session(asker.store, asker.blocks, nodes.opened(), is_clear)
    assert running == [0]
    assert {group[0] for _, group in nodes.seen} == {"1", "2"}


async def test_a_limit_lets_the_blocks_that_run_come_to_their_end(tmp_path: Path) -> None:
    asker, nodes = Asker(tmp_path, runs=4), Nodes()
    asker.ends_before.append(2)
    with pytest.raises(CostLimitReached):
        await run_session(asker.store, asker.blocks, nodes.opened())
    assert [group for _, group in nodes.seen if group[0] == "1"] == [
        group.id for group in asker.blocks[0].groups
    ]
    assert {group[0] for _, group in nodes.seen} == {"1"}
    assert len(asker.kept) == 2


async def test_an_error_stops_what_runs_elsewhere(tmp_path: Path) -> None:
    asker, nodes = Asker(tmp_path, runs=4), Nodes()
    asker.kept.append("answer to refused")
    with pytest.raises(Exception, match="refused"):
        await run_session(asker.store, asker.blocks, nodes.opened())
    assert len(nodes.seen) <= 2
