"""The end of a process is its own, however late somebody looks."""

import os
import time
from functools import partial
from pathlib import Path

import anyio
import pytest

from swarm_bench.runtime.process import Command, ProcessResult, run
from swarm_bench.runtime.sink import Output

pytestmark = pytest.mark.anyio


async def test_who_ended_in_time_is_no_time_out_though_nobody_looked(tmp_path: Path) -> None:
    async def busy() -> None:
        await anyio.sleep(0.1)
        time.sleep(3)  # noqa: ASYNC251  # as a parser that keeps the loop waiting would

    results: dict[str, ProcessResult] = {}

    async def agent(name: str, seconds: float) -> None:
        output = Output(stdout=tmp_path / name, stderr=tmp_path / f"{name}.err", limit=100)
        command = Command(
            argv=("sleep", str(seconds)), cwd=tmp_path, env=dict(os.environ), tag=f"exits-{name}"
        )
        results[name] = await run(command, output=output, timeout=2, grace=0.5)

    async with anyio.create_task_group() as group:
        group.start_soon(partial(agent, "short", 0.5))
        group.start_soon(partial(agent, "long", 30))
        group.start_soon(busy)
    short, long = results["short"], results["long"]
    assert (short.returncode, short.stopped, long.stopped) == (0, None, "timeout")
    assert short.seconds is not None
    assert 0.5 <= short.seconds < 2
