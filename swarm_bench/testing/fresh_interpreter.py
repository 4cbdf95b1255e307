"""An executor that runs each group in an interpreter of its own, with nothing but JSON in and out.

It shows that a group could run on another machine: the process gets no open file, no callable and
no path of the session. `executors/worker.py` says what goes in and out.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarm_bench.core import entry_points
from swarm_bench.core.errors import HarnessError, NodeLost
from swarm_bench.core.events import Emit
from swarm_bench.executors.link import Link
from swarm_bench.testing.worker_nodes import COMMAND, open_worker


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
    command: Sequence[str] = COMMAND
    """Starts the other interpreter."""

    async def __call__(self, job: Any, deliver: Callable[[Any], Awaitable[None]]) -> None:
        """Run a group. Raises `HarnessError` when its process fails, or prints what is none of
        the lines of a worker."""
        benchmark = entry_points.load("benchmarks", self.benchmark)()
        link = Link(benchmark, name="this machine", out=self.out, emit=self.emit)
        work = self.work.absolute()
        try:
            async with open_worker(link, self.benchmark, self.context, work, self.command):
                await link(job, deliver)
        except NodeLost as error:
            raise HarnessError(str(error)) from error
