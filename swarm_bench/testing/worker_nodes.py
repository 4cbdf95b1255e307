"""An executor whose nodes are processes on this machine: what a cluster does, without a cluster.

`--on swarm_bench.testing.worker_nodes:TwoNodes` runs a session so.
"""

import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, Process

from swarm_bench.core.errors import HarnessError, NodeLost
from swarm_bench.core.events import Emit
from swarm_bench.core.listing import Check
from swarm_bench.core.roles.executor import Needs, OpenedExecutor, OpenPacked, PackedSession
from swarm_bench.executors.link import Link, Streams
from swarm_bench.executors.node_facts import Facts, build_node_check, collect_facts, find_fault
from swarm_bench.executors.pool import Pool
from swarm_bench.runtime import machine
from swarm_bench.runtime.files import write_whole
from swarm_bench.runtime.ownership import temporary

COMMAND = (sys.executable, "-P", "-m", "swarm_bench.executors.worker")
"""Starts a worker."""
END_SECONDS = 5.0
"""How long a worker that was told to end may take."""


class WorkerNodes:
    """Runs the blocks of a session by workers of this machine, one for each node."""

    def __init__(
        self, number: int, started: Callable[[str, Process], None] = lambda name, process: None
    ) -> None:
        """Take what is told of each worker that was started, with the name of its node."""
        self._names = [f"node-{index}" for index in range(1, number + 1)]
        self._started = started

    @asynccontextmanager
    async def connect(self, needs: Needs, emit: Emit) -> AsyncIterator[OpenPacked]:
        """Examine the nodes. Raises `HarnessError` for one that lacks something."""
        for name in self._names:
            if (fault := find_fault(self.collect_facts(name, needs), needs)) is not None:
                raise HarnessError(f"The node {name} {fault}")
        yield self.open_session

    async def examine(self, needs: Needs) -> list[Check]:
        """Return what each node has."""
        return [
            build_node_check(name, self.collect_facts(name, needs), needs) for name in self._names
        ]

    def collect_facts(self, name: str, needs: Needs) -> Facts:
        """Return what a node has: what this machine has."""
        return {**collect_facts(needs), "authentication": "token"}

    @asynccontextmanager
    async def open_session(self, session: PackedSession) -> AsyncIterator[OpenedExecutor[Any, Any]]:
        """Start the workers. Raises `HarnessError`."""
        async with AsyncExitStack() as stack:
            links = [
                await stack.enter_async_context(self.open_link(name, session))
                for name in self._names
            ]
            for link in links:
                await link.wait_until_open()
            nodes = {link.name: machine.describe() for link in links}
            yield Pool(session.portable, links, session.emit).build_executor(nodes)

    @asynccontextmanager
    async def open_link(self, name: str, session: PackedSession) -> AsyncIterator[Link]:
        """Start the worker of a node. Raises `HarnessError`."""
        work = Path(tempfile.gettempdir())
        link = Link(session.portable, name=name, out=session.out, emit=session.emit)
        async with open_worker(link, session.benchmark, session.context, work) as process:
            self._started(name, process)
            yield link


class TwoNodes(WorkerNodes):
    """Two of them."""

    def __init__(self) -> None:
        super().__init__(2)


@asynccontextmanager
async def open_worker(
    link: Link,
    benchmark: str,
    context: bytes,
    work: Path,
    command: Sequence[str] = COMMAND,
    env: Mapping[str, str] | None = None,
) -> AsyncIterator[Process]:
    """Start a worker for the block, which works below the folder, and open a session at it."""
    with temporary(work) as folder:
        write_whole(folder / "context.json", context)
        order = {"benchmark": benchmark, "work": str(work), "context": str(folder / "context.json")}
        started = await anyio.open_process(command, stderr=None, cwd=work, env=env)
        async with started as process:
            try:
                async with link.connect(_connect(process, link.name), order):
                    yield process
            finally:
                await _end(process)


def _connect(process: Process, name: str) -> Streams:
    assert process.stdin
    assert process.stdout

    async def send(content: bytes) -> None:
        assert process.stdin
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # its end is read
            await process.stdin.send(content)

    return Streams(receive=_read(process, process.stdout, name), send=send)


async def _read(process: Process, printed: ByteReceiveStream, name: str) -> AsyncIterator[bytes]:
    with suppress(anyio.EndOfStream):
        while True:
            yield await printed.receive()
    with anyio.move_on_after(END_SECONDS):
        await process.wait()
    raise NodeLost(
        f"The worker on {name} ended with exit code {process.returncode}; what it printed says why"
    )


async def _end(process: Process) -> None:
    """Close its standard input, with which it ends."""
    assert process.stdin
    with anyio.CancelScope(shield=True):
        await process.stdin.aclose()
        with anyio.move_on_after(END_SECONDS if process.returncode is None else 0) as late:
            await process.wait()
        if late.cancelled_caught and process.returncode is None:
            process.send_signal(signal.SIGKILL)  # its guard ends what it started
