"""The other side of `fresh_interpreter`: reads one group as JSON, and runs it."""

import json
import signal
import sys
import tempfile
from base64 import b64encode
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import TaskStatus
from pydantic_core import to_jsonable_python

from swarm_bench.core import registry
from swarm_bench.core.events import Event
from swarm_bench.runtime.ownership import OWNER, this_owner
from swarm_bench.runtime.processes.guard import guarded
from swarm_bench.runtime.processes.launching import raise_limit, wait_without_threads

OUT = "out"


class Sender:
    """Prints what becomes known, each file once and before the delivery that it belongs to."""

    def __init__(self, benchmark: Any, out: Path) -> None:
        self._benchmark = benchmark
        self._out = out
        self._sent = set[Path]()

    def emit(self, event: Event) -> None:
        """Print an event."""
        _print({"event": type(event).__name__, "content": to_jsonable_python(event)})

    async def deliver(self, delivery: Any) -> None:
        """Print the new files, and the delivery."""
        for file in sorted(set(filter(Path.is_file, self._out.rglob("*"))) - self._sent):
            content = b64encode(file.read_bytes()).decode()
            _print({"file": file.relative_to(self._out).as_posix(), "content": content})
            self._sent.add(file)
        _print({"delivery": self._benchmark.deliveries.dump_python(delivery, mode="json")})


async def run(order: dict[str, Any]) -> None:
    """Run the group of an order in a folder of its own; SIGTERM stops it."""
    benchmark = registry.load("benchmarks", order["benchmark"])()
    with tempfile.TemporaryDirectory(dir=order["work"], prefix="") as name:
        folder = Path(name).resolve()
        sender = Sender(benchmark, folder / OUT)
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


def _print(message: dict[str, Any]) -> None:
    print(json.dumps(message), flush=True)  # noqa: T201  # it is read by the other side


def main() -> None:
    """Run the one group that stands on the first line of standard input."""
    raise_limit()
    wait_without_threads()
    with guarded(f"{OWNER}={this_owner()}"):
        anyio.run(run, json.loads(sys.stdin.readline()))


if __name__ == "__main__":
    main()
