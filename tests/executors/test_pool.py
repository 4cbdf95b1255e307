"""Workers that run the blocks of a session."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from swarm_bench.core.errors import HarnessError, NodeLost
from swarm_bench.core.events import Event, WarningRaised
from swarm_bench.executors.link import Link
from swarm_bench.executors.pool import Pool

pytestmark = pytest.mark.anyio


class Lossy:
    """Groups of which nothing is left."""

    def describe_lost(self, *_: Any) -> Iterator[Any]:
        yield from ()


def test_without_a_node_nothing_waits_for_one() -> None:
    portable: Any = Lossy()
    with pytest.raises(HarnessError, match="There is no node that could run anything; "):
        Pool(portable, [], lambda _: None).build_executor({})


async def test_the_loss_of_a_node_is_told_once(tmp_path: Path) -> None:
    events, portable = list[Event](), Lossy()

    class LostLink(Link):
        async def __call__(self, *_: Any) -> None:
            await anyio.sleep(0.01)
            self.lost = NodeLost("n is gone")
            raise self.lost

    link = LostLink(portable, name="n", out=tmp_path, emit=events.append)  # type: ignore[arg-type]
    pool: Any = Pool(portable, [link], events.append)  # type: ignore[arg-type]

    async def deliver(_: Any) -> None: ...

    async with pool.build_executor({}).reserve_host() as host, anyio.create_task_group() as tasks:
        for number in range(3):
            tasks.start_soon(host.execute, number, deliver)
    assert events == [WarningRaised(message="n is gone")]
    with pytest.raises(NodeLost, match="Every node was lost; restart them, and continue"):
        async with pool.build_executor({}).reserve_host():
            pass
