"""A worker's lines, where who reads them is slow."""

import json
import os

import anyio
import pytest

from swarm_bench.executors.worker import Printer

pytestmark = pytest.mark.anyio
LINES = 40
LONG = "x" * 100_000
"""More than a pipe holds."""


async def test_tasks_that_print_at_the_same_time_write_whole_lines() -> None:
    source, target = os.pipe()
    printer, read = Printer(target), bytearray()

    async def print_half(first: int) -> None:
        for number in range(first, LINES, 2):
            printer.print({"number": number, "text": LONG})
            await printer.flush()

    def read_all() -> None:
        while piece := os.read(source, 4096):
            read.extend(piece)

    with anyio.fail_after(20):
        async with anyio.create_task_group() as readers:
            readers.start_soon(anyio.to_thread.run_sync, read_all)
            try:
                async with anyio.create_task_group() as writers:
                    writers.start_soon(print_half, 0)
                    writers.start_soon(print_half, 1)
            finally:
                os.close(target)
    os.close(source)
    messages = [json.loads(line) for line in read.splitlines()]
    assert sorted(message["number"] for message in messages) == [*range(LINES)]
    assert all(message["text"] == LONG for message in messages)
