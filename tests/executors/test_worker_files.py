"""The files of trials, as a worker prints them."""

import os
from base64 import b64decode
from pathlib import Path, PurePosixPath
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from pydantic import TypeAdapter

from swarm_bench.core.roles.executor import Deliver
from swarm_bench.executors.worker import PIECE, Printer, Worker

pytestmark = pytest.mark.anyio


class Recorder(Printer):
    """Keeps what is printed."""

    def __init__(self) -> None:
        super().__init__(os.open(os.devnull, os.O_WRONLY))
        self.messages = list[dict[str, Any]]()
        self.delivered = anyio.Semaphore(0)

    def print(self, message: dict[str, Any], *, urgent: bool = True) -> None:
        self.messages.append(message)
        if "delivery" in message:
            self.delivered.release()

    async def flush(self) -> None:
        """Let the other tasks run."""
        await anyio.lowlevel.checkpoint()


class Plain:
    jobs = deliveries = TypeAdapter(Any)

    def owns_file(self, _: Any, file: PurePosixPath) -> bool:
        return file.parent == PurePosixPath("mode")


async def test_of_a_file_that_grows_the_rest_is_sent_and_of_one_that_changed_all(
    tmp_path: Path,
) -> None:
    printer = Recorder()
    worker = Worker(Plain(), tmp_path, printer)  # type: ignore[arg-type]  # it opens nothing
    grown, changed = tmp_path / "mode" / "grown", tmp_path / "mode" / "changed"
    head = b"x" * (PIECE + 7)

    async def execute(_: Any, deliver: Deliver[Any]) -> None:
        grown.parent.mkdir()
        grown.write_bytes(head)
        changed.write_bytes(b"abc")
        (tmp_path / "of-no-group").write_bytes(b"planted")
        await deliver("first")
        with grown.open("ab") as file:
            file.write(b"tail")
        changed.write_bytes(b"abX and more")
        await deliver("second")

    async with anyio.create_task_group() as tasks:
        worker.take({"job": "1", "content": None}, execute, tasks)
        for number in (1, 2):
            with anyio.fail_after(10):
                await printer.delivered.acquire()
            worker.take({"stored": number}, execute, tasks)
    pieces = [
        (message["file"], message["offset"], b64decode(message["content"]))
        for message in printer.messages
        if "file" in message
    ]
    assert pieces == [
        ("mode/changed", 0, b"abc"),
        ("mode/grown", 0, head[:PIECE]),
        ("mode/grown", PIECE, head[PIECE:]),
        ("mode/changed", 0, b"abX and more"),
        ("mode/grown", len(head), b"tail"),
    ]
