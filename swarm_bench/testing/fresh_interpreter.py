"""An executor that runs each group in an interpreter of its own, with nothing but JSON in and out.

It shows that a group could run on another machine: the process gets no open file, no callable and
no path of the session. `executors/worker.py` says what goes in and out.
"""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, Process

from swarm_bench.core import entry_points
from swarm_bench.core.errors import HarnessError, NodeLost
from swarm_bench.core.events import Emit
from swarm_bench.executors.link import Link, Streams
from swarm_bench.runtime.files import write_whole
from swarm_bench.runtime.ownership import temporary

END_SECONDS = 5.0
"""How long a process that was told to end may take."""


@dataclass(frozen=True, kw_only=True)
class FreshInterpreters:
    """Runs groups of one session."""

    benchmark: str
    """Name of the benchmark, by which the other interpreter finds it."""
    context: bytes
    """JSON that the benchmark made of what all groups need."""
    work: Path
    """Folder in which each group gets a folder of its own, which is removed afterwards."""
    out: Path
    """Folder for the files that the process sends."""
    emit: Emit
    command: tuple[str, ...] = (sys.executable, "-I", "-m", "swarm_bench.executors.worker")
    """Starts the other interpreter."""

    async def __call__(self, job: Any, deliver: Callable[[Any], Awaitable[None]]) -> None:
        """Run a group. Raises `HarnessError` when its process fails, or prints what is none of
        the lines of a worker."""
        benchmark = entry_points.load("benchmarks", self.benchmark)()
        with temporary(self.work.absolute()) as folder:
            write_whole(folder / "context.json", self.context)
            order = {
                "benchmark": self.benchmark,
                "work": str(self.work.absolute()),
                "context": str(folder / "context.json"),
            }
            link = Link(benchmark, name="this machine", out=self.out, emit=self.emit)
            async with await anyio.open_process(
                self.command, stderr=None, cwd=self.work
            ) as process:
                try:
                    async with link.open(_connect(process), order):
                        await link(job, deliver)
                except NodeLost as error:
                    with anyio.move_on_after(END_SECONDS):
                        await process.wait()
                    raise HarnessError(
                        f"A fresh interpreter ended with exit code {process.returncode}; what it "
                        "printed says why"
                    ) from error
                finally:
                    await _end(process)


def _connect(process: Process) -> Streams:
    assert process.stdin
    assert process.stdout

    async def send(content: bytes) -> None:
        assert process.stdin
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # its end is read
            await process.stdin.send(content)

    return Streams(receive=_read(process.stdout), send=send)


async def _read(printed: ByteReceiveStream) -> AsyncIterator[bytes]:
    with suppress(anyio.EndOfStream):
        while True:
            yield await printed.receive()


async def _end(process: Process) -> None:
    """Close its standard input, with which it ends."""
    assert process.stdin
    with anyio.CancelScope(shield=True):
        await process.stdin.aclose()
        with anyio.move_on_after(END_SECONDS if process.returncode is None else 0) as late:
            await process.wait()
        if late.cancelled_caught:
            process.kill()  # its guard ends what it started
