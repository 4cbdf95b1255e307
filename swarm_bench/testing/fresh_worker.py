"""The other side of `fresh_interpreter`: reads one group as JSON, and runs it."""

import json
import os
import signal
import sys
from base64 import b64encode
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

import anyio
from anyio.abc import TaskStatus
from pydantic_core import to_jsonable_python

from swarm_bench.core import entry_points
from swarm_bench.core.events import Event
from swarm_bench.runtime.files import State, read_state
from swarm_bench.runtime.ownership import OWNER, temporary, this_owner
from swarm_bench.runtime.processes.guard import run_guard
from swarm_bench.runtime.processes.launching import raise_limit, wait_without_threads
from swarm_bench.runtime.untrusted import read

OUT = "out"


class Sender:
    """Prints what becomes known, each file before the delivery that it belongs to."""

    def __init__(self, benchmark: Any, out: Path, stream: TextIO) -> None:
        self._benchmark = benchmark
        self._stream = stream
        self._out = out
        self._sent = dict[Path, State | None]()

    def emit(self, event: Event) -> None:
        """Print an event."""
        self._print({"event": type(event).__name__, "content": to_jsonable_python(event)})

    async def deliver(self, delivery: Any) -> None:
        """Print the files that are new or have grown, and the delivery."""
        self.send_files()
        self._print({"delivery": self._benchmark.deliveries.dump_python(delivery, mode="json")})

    def send_files(self) -> None:
        """Print the files that were not sent as they are now; agents that still run write some."""
        for file in sorted(self._out.rglob("*")):
            state = read_state(file)
            if self._sent.get(file) != state:
                self._sent[file] = state
                with suppress(OSError):  # folders, and what agents left in the place of files
                    content = b64encode(read(file)).decode()
                    name = file.relative_to(self._out).as_posix()
                    self._print({"file": name, "content": content})

    def _print(self, message: dict[str, Any]) -> None:
        self._stream.write(json.dumps(message) + "\n")
        self._stream.flush()


async def run(order: dict[str, Any], stream: TextIO) -> None:
    """Run the group of an order in a folder of its own; SIGTERM stops it."""
    benchmark = entry_points.load("benchmarks", order["benchmark"])()
    with temporary(Path(order["work"])) as folder:
        sender = Sender(benchmark, folder / OUT, stream)
        job = benchmark.jobs.validate_python(order["job"])
        context = json.dumps(order["context"]).encode()
        async with anyio.create_task_group() as tasks:
            await tasks.start(_listen, tasks.cancel_scope)
            async with benchmark.unpacked(context, folder, sender.emit) as execute:
                await execute(job, sender.deliver)
            tasks.cancel_scope.cancel()


async def _listen(scope: anyio.CancelScope, *, task_status: TaskStatus[None]) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM) as signals:
        task_status.started()
        async for _ in signals:
            scope.cancel()


def main() -> None:
    """Run the one group that stands on the first line of standard input."""
    raise_limit()
    wait_without_threads()
    # What plug-ins print is no line of ours.
    with os.fdopen(os.dup(1), "w") as stream, run_guard(f"{OWNER}={this_owner()}"):
        os.dup2(2, 1)
        anyio.run(run, json.loads(sys.stdin.readline()), stream)


if __name__ == "__main__":
    main()
