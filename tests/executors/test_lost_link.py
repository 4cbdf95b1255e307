"""A worker that is lost while what it delivered is being stored."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import TypeAdapter

from swarm_bench.core.errors import NodeLost
from swarm_bench.core.session.base import Case, Group
from swarm_bench.executors.link import Link, Streams

pytestmark = pytest.mark.anyio


class Words:
    """Groups and deliveries that are texts."""

    jobs = deliveries = TypeAdapter(str)

    def find_group(self, _: str) -> Group[Case]:
        return Group(id="g", run=1, arm="a", trials=())


async def test_what_was_delivered_is_stored_before_the_group_is_lost(tmp_path: Path) -> None:
    benchmark: Any = Words()
    link = Link(benchmark, name="n", out=tmp_path, emit=lambda _: None)
    stored, has_job = list[str](), anyio.Event()

    async def receive() -> AsyncIterator[bytes]:
        yield b'{"open": true}\n'
        await has_job.wait()
        yield b'{"job": "1", "number": 1, "delivery": "answer"}\n'
        await anyio.sleep(0.05)
        raise NodeLost("gone")

    async def send(content: bytes) -> None:
        assert not link.lost, "who is lost is told nothing"
        if b'"job"' in content:
            has_job.set()

    async def deliver(delivery: str) -> None:
        await anyio.sleep(0.3)
        stored.append(delivery)

    async with link.connect(Streams(receive=receive(), send=send), {"benchmark": "words"}):
        with pytest.raises(NodeLost):
            await link("group", deliver)
        assert stored == ["answer"]
