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
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream
from pydantic import TypeAdapter

from swarm_bench.core import events, registry
from swarm_bench.core.errors import HarnessError
from swarm_bench.core.events import Emit
from swarm_bench.runtime.files import make_folder, write_whole

LONGEST_LINE = 1 << 30
END_SECONDS = 60.0
"""How long a group that was stopped may take to deliver what it had done."""


@dataclass(frozen=True, kw_only=True)
class FreshInterpreters:
    """Runs groups of one session."""

    benchmark: str
    """Its name, by which the other interpreter finds it."""
    context: bytes
    """JSON that the benchmark made of what all groups need."""
    work: Path
    """Where each group gets a folder of its own, which goes away."""
    out: Path
    """Where the files that it sends go."""
    emit: Emit

    async def __call__(self, job: Any, deliver: Callable[[Any], Awaitable[None]]) -> None:
        """Run a group. Raises `HarnessError` when its process fails."""
        benchmark = registry.load("benchmarks", self.benchmark)()
        order = {
            "benchmark": self.benchmark,
            "work": str(self.work),
            "context": json.loads(self.context),
            "job": benchmark.jobs.dump_python(job, mode="json"),
        }
        command = [sys.executable, "-I", "-m", "swarm_bench.testing.fresh_worker"]
        process = await anyio.open_process(command, stderr=None)
        assert process.stdin
        assert process.stdout
        lines = BufferedByteReceiveStream(process.stdout)
        try:
            await process.stdin.send(json.dumps(order).encode() + b"\n")
            await self._take(lines, benchmark, deliver)
        except anyio.get_cancelled_exc_class():
            process.terminate()
            with anyio.CancelScope(shield=True), anyio.move_on_after(END_SECONDS):
                await self._take(lines, benchmark, deliver)
            raise
        finally:
            with anyio.CancelScope(shield=True):
                await process.aclose()
        if process.returncode != 0:
            raise HarnessError(
                f"A fresh interpreter ended with exit code {process.returncode}; "
                "what it printed says why"
            )

    async def _take(
        self,
        lines: BufferedByteReceiveStream,
        benchmark: Any,
        deliver: Callable[[Any], Awaitable[None]],
    ) -> None:
        while True:
            try:
                line = await lines.receive_until(b"\n", LONGEST_LINE)
            except (anyio.EndOfStream, anyio.IncompleteRead):
                break
            message = json.loads(line)
            if "delivery" in message:
                await deliver(benchmark.deliveries.validate_python(message["delivery"]))
            elif "file" in message:
                self._write(message["file"], b64decode(message["content"]))
            else:
                self.emit(_event(message["event"], message["content"]))

    def _write(self, name: str, content: bytes) -> None:
        inner = PurePosixPath(name)
        if inner.is_absolute() or ".." in inner.parts:
            raise HarnessError(f"A fresh interpreter sent a file that leads elsewhere: {name}")
        make_folder((self.out / inner).parent)
        write_whole(self.out / inner, content)


def _event(kind: str, content: Any) -> Any:
    return TypeAdapter(getattr(events, kind)).validate_python(content)
