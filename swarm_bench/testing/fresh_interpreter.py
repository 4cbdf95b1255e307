"""An executor that runs each group in an interpreter of its own, with nothing but JSON in and out.

It shows that a group could run on another machine: the process gets no open file, no callable and
no path of the session. Lines that it prints:

    {"event": "TrialStarted", "content": {...}}
    {"file": "canopy/agent-1.stream.jsonl", "content": "<base64>"}
    {"delivery": {...}}
"""

import json
import sys
from base64 import b64decode
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, get_args

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream
from pydantic import TypeAdapter

from swarm_bench.core import entry_points
from swarm_bench.core.errors import HarnessError
from swarm_bench.core.events import Emit, Event, TrialEnded
from swarm_bench.runtime.files import make_folder, write_whole

LONGEST_LINE = 1 << 30
END_SECONDS = 60.0
"""How long a process that was stopped may take to deliver what it had done, or one to end."""
_EVENTS = {kind.__name__: kind for kind in get_args(Event) if kind is not TrialEnded}
"""Events that the process may send; records are made here."""


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
    command: tuple[str, ...] = (sys.executable, "-I", "-m", "swarm_bench.testing.fresh_worker")
    """Starts the other interpreter."""

    async def __call__(self, job: Any, deliver: Callable[[Any], Awaitable[None]]) -> None:
        """Run a group. Raises `HarnessError` when its process fails, or prints what is none of
        the lines above."""
        benchmark = entry_points.load("benchmarks", self.benchmark)()
        work = self.work.absolute()
        order = {
            "benchmark": self.benchmark,
            "work": str(work),
            "context": json.loads(self.context),
            "job": benchmark.jobs.dump_python(job, mode="json"),
        }
        process = await anyio.open_process(self.command, stderr=None, cwd=work)
        try:
            await self._run(process, order, _Lines(benchmark, self, deliver))
        finally:
            with anyio.CancelScope(shield=True):
                if process.returncode is None:
                    process.kill()  # its guard ends what it started
                await process.aclose()
        if process.returncode != 0:
            raise HarnessError(
                f"A fresh interpreter ended with exit code {process.returncode}; "
                "what it printed says why"
            )

    async def _run(self, process: Process, order: dict[str, Any], lines: "_Lines") -> None:
        assert process.stdin
        assert process.stdout
        printed = BufferedByteReceiveStream(process.stdout)
        try:
            with suppress(anyio.BrokenResourceError):  # it ended at once: its exit code counts
                await process.stdin.send(json.dumps(order).encode() + b"\n")
            await lines.take(printed)
            with anyio.move_on_after(END_SECONDS):
                await process.wait()
        except anyio.get_cancelled_exc_class():
            process.terminate()
            with anyio.CancelScope(shield=True), anyio.move_on_after(END_SECONDS):
                await lines.take(printed)
            raise


@dataclass(frozen=True)
class _Lines:
    """Reads what is printed of a group."""

    benchmark: Any
    session: FreshInterpreters
    deliver: Callable[[Any], Awaitable[None]]

    async def take(self, printed: BufferedByteReceiveStream) -> None:
        while True:
            try:
                line = await printed.receive_until(b"\n", LONGEST_LINE)
            except (anyio.EndOfStream, anyio.IncompleteRead):
                break
            except anyio.DelimiterNotFound as error:
                raise _no_line(f"{LONGEST_LINE} bytes without an end") from error
            try:
                act, content = self._read(json.loads(line))
            except (ValueError, TypeError, LookupError, RecursionError) as error:
                raise _no_line(str(error)[:500]) from error
            with anyio.CancelScope(shield=True):  # what has ended is stored
                await act(content)

    def _read(self, message: Any) -> tuple[Callable[[Any], Awaitable[None]], Any]:
        """Return what is done with a message, and what it says."""
        if "delivery" in message:
            return self.deliver, self.benchmark.deliveries.validate_python(message["delivery"])
        if "file" in message:
            inner = PurePosixPath(message["file"])
            if inner.is_absolute() or ".." in inner.parts or "\0" in inner.name:
                raise ValueError(f"the file {inner} leads elsewhere")
            if len(inner.parts) < 2:  # there are the session's own
                raise ValueError(f"the file {inner} is in no folder")
            return self._write, (inner, b64decode(message["content"], validate=True))
        return self._emit, TypeAdapter(_EVENTS[message["event"]]).validate_python(
            message["content"]
        )

    async def _write(self, file: tuple[PurePosixPath, bytes]) -> None:
        path = self.session.out / file[0]
        make_folder(path.parent)
        write_whole(path, file[1])

    async def _emit(self, event: Event) -> None:
        self.session.emit(event)


def _no_line(reason: str) -> HarnessError:
    return HarnessError(
        f"A fresh interpreter printed what is no line of ours: {reason}; end what else prints there"
    )
