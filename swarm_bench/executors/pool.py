"""Hands the blocks of a session to workers: a block runs on one of them, whole."""

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar

import anyio

from swarm_bench.core.errors import HarnessError, NodeLost
from swarm_bench.core.events import Emit, WarningRaised
from swarm_bench.core.roles.executor import Deliver, Host, OpenedExecutor, Portable
from swarm_bench.executors.link import Link

T = TypeVar("T")


class Pool:
    """Workers of one session, each of which runs one block at a time."""

    def __init__(self, portable: Portable[Any, Any], links: Sequence[Link], emit: Emit) -> None:
        self._portable = portable
        self._links = links
        self._free = deque(links)
        self._changed = anyio.Condition()
        self._emit = emit
        self._reported = set[Link]()
        """Those whose loss was told."""

    def build_executor(self, nodes: Mapping[str, dict[str, Any]]) -> OpenedExecutor[Any, Any]:
        """Return what runs the blocks. Raises `HarnessError` without a worker."""
        if not self._links:
            raise HarnessError("There is no node that could run anything; start one, and continue")
        return OpenedExecutor(
            reserve_host=self._reserve_host, blocks_at_once=len(self._links), nodes=nodes
        )

    @asynccontextmanager
    async def _reserve_host(self) -> AsyncIterator[Host[Any, Any]]:
        """Wait for a worker that is free, for the block. Raises `NodeLost` when all are lost."""
        link = await self._take()
        try:
            yield Host(partial(self._run, link), link.name)
        finally:
            with anyio.CancelScope(shield=True):
                async with self._changed:
                    self._free.append(link)
                    self._changed.notify_all()

    async def _take(self) -> Link:
        async with self._changed:
            while True:
                if all(link.lost for link in self._links):
                    raise NodeLost("Every node was lost; restart them, and continue")
                for link in list(self._free):
                    if link.lost is None:
                        self._free.remove(link)
                        return link
                await self._changed.wait()

    async def _run(self, link: Link, job: Any, deliver: Deliver[Any]) -> None:
        """Run a group. Trials that are lost with their node end so."""
        finished_ids = set[str]()

        async def keep(delivery: Any) -> None:
            await deliver(delivery)
            if (trial := self._portable.find_end(delivery)) is not None:
                finished_ids.add(trial)

        try:
            await link(job, keep)
        except NodeLost as error:
            if link not in self._reported:
                self._reported.add(link)
                self._emit(WarningRaised(message=str(error)))
            for delivery in self._portable.describe_lost(job, finished_ids, str(error)):
                await deliver(delivery)


async def gather(make: Callable[[int], Awaitable[T]], number: int) -> list[T]:
    """Await them at the same time. Raises the first of their errors."""
    results, errors = dict[int, T](), list[Exception]()

    async def run(index: int) -> None:
        try:
            results[index] = await make(index)
        except Exception as error:  # noqa: BLE001  # a group of tasks would wrap it
            errors.append(error)

    async with anyio.create_task_group() as tasks:
        for index in range(number):
            tasks.start_soon(run, index)
    if errors:
        raise errors[0]
    return [results[index] for index in range(number)]
