"""200 agents that sleep for five seconds at once: how many times as long that takes, and what they
cost us, beside the same processes started by anyio alone, that nothing watches. Goals: at most 1.10
times, and 5 ms of our processor time for each. The event loop is loaded before.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from subprocess import run as run_process
from uuid import uuid4

import anyio

from swarm_bench.runtime.monitor import TreeMonitor
from swarm_bench.runtime.process import Command, run
from swarm_bench.runtime.processes.launching import raise_limit, wait_without_threads
from swarm_bench.runtime.sink import Output

AGENTS = 200
SECONDS = 5


async def alone() -> None:
    """As anyio starts a process, and waits for it."""
    await anyio.run_process(["sleep", str(SECONDS)], start_new_session=True)


async def agent(folder: Path) -> None:
    """As an agent is run."""
    tag = uuid4().hex
    command = Command(
        argv=("sleep", str(SECONDS)), cwd=folder, env={"PATH": os.environ["PATH"]}, tag=tag
    )
    output = Output(stdout=folder / f"{tag}.out", stderr=folder / f"{tag}.err", limit=1000)
    await run(command, output=output, timeout=10 * SECONDS)


async def together(each: Callable[[], Coroutine[None, None, None]]) -> None:
    """All at once, to the end of the last."""
    async with anyio.create_task_group() as group:
        for _ in range(AGENTS):
            group.start_soon(each)


async def watched(folder: Path) -> None:
    """All at once, as a swarm is."""
    async with anyio.create_task_group() as watchers:
        watchers.start_soon(TreeMonitor().watch)
        await together(partial(agent, folder))
        watchers.cancel_scope.cancel()


def measure(name: str) -> None:
    """Print one line for a process of its own: processor time is that of a process."""
    anyio.run(anyio.sleep, 0)
    began, before = time.monotonic(), time.process_time()
    if name == "anyio alone":
        anyio.run(together, alone)
    else:
        raise_limit()
        wait_without_threads()
        with tempfile.TemporaryDirectory() as folder:
            anyio.run(watched, Path(folder))
    own = (time.process_time() - before) / AGENTS * 1000
    seconds = time.monotonic() - began
    print(
        f"{AGENTS} agents that sleep {SECONDS} s, {name}: {seconds / SECONDS:.2f} times as long, "
        f"{own:.1f} ms of processor time for each"
    )


def main() -> None:
    """Measure each in turn, in a process of its own."""
    if sys.argv[1:]:
        measure(sys.argv[1])
        return
    for name in ("anyio alone", "swarm-bench"):
        run_process([sys.executable, __file__, name], check=True)


if __name__ == "__main__":
    main()
