"""200 agents that sleep for five seconds at once: how many times as long that takes, and what they
cost us, beside the same processes started by anyio alone. Goals: at most 1.10 times (anyio alone
takes 1.03 on a quiet machine of two cores), and 5 ms of our processor time for each.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from subprocess import run as run_process
from uuid import uuid4

import anyio

from swarm_bench.runtime.monitor import TreeMonitor
from swarm_bench.runtime.process import Command, run
from swarm_bench.runtime.processes.launching import raise_limit
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


async def together(each: Callable[[], Coroutine[None, None, None]]) -> float:
    """Seconds until all have ended, watched as a swarm is."""
    began = anyio.current_time()
    async with anyio.create_task_group() as watchers:
        watchers.start_soon(TreeMonitor().watch)
        async with anyio.create_task_group() as group:
            for _ in range(AGENTS):
                group.start_soon(each)
        watchers.cancel_scope.cancel()
    return anyio.current_time() - began


def measure(name: str) -> None:
    """Print one line for a process of its own: processor time is that of a process."""
    raise_limit()
    before = sum(os.times()[:2])
    with tempfile.TemporaryDirectory() as folder:
        each = alone if name == "anyio alone" else partial(agent, Path(folder))
        seconds = anyio.run(together, each)
    own = (sum(os.times()[:2]) - before) / AGENTS * 1000
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
