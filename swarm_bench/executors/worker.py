"""A worker: a process that runs groups of one session, with nothing but lines of JSON in and out.
It gets no open file, no callable and no path of the session, so it can be on another machine.

The first line that it reads opens the session; it works below `work`, and runs what the class
`benchmark` makes of the file `context`:

    {"benchmark": "swarm", "work": "/tmp", "context": "/tmp/context.json", "lease": 30}

Then come groups, which it runs at the same time, and what is said of them:

    {"job": "1", "content": {...}}
    {"cancel": "1"}
    {"stored": 7}      a delivery is on disk
    {"refused": 7, "cost_limit": null}     a delivery is not, and its group ends; where the money
                                           is spent, a sentence says so, and what runs may end
    {"alive": true}    whoever reads is there

It prints that it is open, and then what becomes known; the files of a trial before its delivery,
in pieces. Every delivery has a number, and waits until it is stored or refused:

    {"open": true}
    {"event": "TrialStarted", "content": {...}}
    {"file": "canopy/agent-1.stream.jsonl", "offset": 0, "content": "<base64>"}
    {"job": "1", "number": 7, "delivery": {...}}
    {"job": "1", "ended": null}    or a sentence on what went wrong
    {"alive": true}

It ends with its standard input, at SIGTERM, and where it was told nothing for the seconds of its
lease: its agents must not go on spending when nobody listens.
"""

import hashlib
import json
import os
import signal
import sys
from base64 import b64encode
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

import anyio
from anyio.abc import TaskGroup, TaskStatus
from pydantic_core import to_jsonable_python

from swarm_bench.core import entry_points
from swarm_bench.core.errors import CostLimitReached, StoreError, SwarmBenchError, described
from swarm_bench.core.events import Event, TrialActive, TrialStarted
from swarm_bench.core.roles.executor import OUT, Executor, Portable
from swarm_bench.runtime.files import State, read_state
from swarm_bench.runtime.ownership import OWNER, sweep, temporary, this_owner
from swarm_bench.runtime.processes.guard import run_guard
from swarm_bench.runtime.processes.launching import raise_limit, wait_without_threads
from swarm_bench.runtime.untrusted import read

PIECE = 1 << 19
"""Bytes of a file in one line."""
ALIVE_SECONDS = 5.0
"""Seconds between two signs of life, in both directions."""
_CHUNK = 1 << 16
_MOST_CONTEXT = 1 << 32
_HOLD_SECONDS = 0.5
"""How long what agents do waits to be told."""
_MOST_WAITING = 10_000
"""Lines that wait to be printed, beyond which what agents do at the moment is not told."""


class Printer:
    """Prints lines, without ever holding up the loop."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._waiting = deque[bytes]()
        self._new = anyio.Event()
        self._urgent = anyio.Event()
        self._turn = anyio.Lock()
        self._has_reader = True

    def print(self, message: dict[str, Any], *, urgent: bool = True) -> None:
        """Have a message printed soon."""
        self._waiting.append(json.dumps(message).encode() + b"\n")
        self._new.set()
        if urgent:
            self._urgent.set()

    def emit(self, event: Event) -> None:
        """Have an event printed; that a trial has started, and what agents do meanwhile, with
        others, as each line by itself costs the driver a message."""
        is_activity = isinstance(event, TrialActive)
        if not is_activity or len(self._waiting) < _MOST_WAITING:
            message = {"event": type(event).__name__, "content": to_jsonable_python(event)}
            self.print(message, urgent=not isinstance(event, TrialActive | TrialStarted))

    async def run(self) -> None:
        """Print what waits, until nobody reads any more."""
        with suppress(BrokenPipeError):
            while True:
                await self._new.wait()
                with anyio.move_on_after(_HOLD_SECONDS):
                    await self._urgent.wait()
                self._new, self._urgent = anyio.Event(), anyio.Event()
                await self.flush()

    def give_up(self) -> None:
        """Print nothing any more: nobody is there to read, and what is full stays full."""
        self._has_reader = False

    async def flush(self) -> None:
        """Print all that waits, each line whole: several tasks print."""
        async with self._turn:
            while self._waiting:
                line = memoryview(self._waiting.popleft())
                while line and self._has_reader:
                    with anyio.move_on_after(ALIVE_SECONDS):
                        await anyio.wait_writable(self._descriptor)
                    with suppress(BlockingIOError):
                        line = line[os.write(self._descriptor, line) :]


class Worker:
    """Runs the groups of one session."""

    def __init__(self, benchmark: Portable[Any, Any], out: Path, printer: Printer) -> None:
        self.printer = printer
        self._benchmark = benchmark
        self._out = out
        self._sent = dict[Path, State | None]()
        self._digests = dict[Path, tuple[int, bytes]]()
        """Number of the bytes that were sent of a file, and their checksum."""
        self._scopes = dict[str, anyio.CancelScope]()
        self._jobs = dict[str, Any]()
        """Groups that run, by the names of their jobs."""
        self._answers = dict[int, anyio.Event]()
        self._stored = set[int]()
        self._unpaid = dict[int, str]()
        """Sentences on the money that is missing, by the deliveries."""
        self._number = 0
        self._sending = anyio.Lock()
        self._abandoned = False
        """Whether whoever stored the deliveries is gone."""

    def take(self, message: dict[str, Any], execute: Executor[Any, Any], tasks: TaskGroup) -> None:
        """Do what a line says."""
        if "job" in message:
            self._scopes[message["job"]] = anyio.CancelScope()  # cancelled before it runs, perhaps
            tasks.start_soon(self._run, message["job"], message["content"], execute)
        elif (name := message.get("cancel")) in self._scopes:
            self._scopes[name].cancel()
        else:
            for word in ("stored", "refused"):
                if (number := message.get(word)) in self._answers:
                    if word == "stored":
                        self._stored.add(number)
                    elif reason := message.get("cost_limit"):
                        self._unpaid[number] = reason
                    self._answers[number].set()

    def abandon(self) -> None:
        """Stop what runs: nobody stores its deliveries any more."""
        self._abandoned = True
        self.printer.give_up()
        for event in self._answers.values():
            event.set()
        for scope in self._scopes.values():
            scope.cancel()

    async def _run(self, name: str, content: Any, execute: Executor[Any, Any]) -> None:
        async def deliver(delivery: Any) -> None:
            await self._deliver(name, delivery)

        failure: str | None = None
        with self._scopes[name]:
            try:
                self._jobs[name] = job = self._benchmark.jobs.validate_python(content)
                await execute(job, deliver)
            except Exception as error:  # noqa: BLE001  # a benchmark may raise anything
                failure = described(error)
        with anyio.CancelScope(shield=True):
            await self._send_files()
            del self._scopes[name]
            self._jobs.pop(name, None)
            if not self._scopes:
                self._forget_files()
        self.printer.print({"job": name, "ended": failure})

    async def _deliver(self, name: str, delivery: Any) -> None:
        """Print the files that are new or have grown, and the delivery, and wait until it is
        stored. Raises `StoreError`, and `CostLimitReached` where it starts what cannot be paid."""
        self._number = number = self._number + 1
        content = self._benchmark.deliveries.dump_python(delivery, mode="json")
        await self._send_files()
        self._answers[number] = anyio.Event()
        if not self._abandoned:
            self.printer.print({"job": name, "number": number, "delivery": content})
            await self._answers[number].wait()
        del self._answers[number]
        if (reason := self._unpaid.pop(number, None)) is not None:
            raise CostLimitReached(reason)
        if number not in self._stored:
            raise StoreError("What a trial came to was not stored")
        self._stored.remove(number)

    async def _send_files(self) -> None:
        """Print the files as they are now, which were not yet; agents that still run write some."""
        async with self._sending:
            for file in sorted(self._out.rglob("*")):
                state = read_state(file)
                if self._sent.get(file) != state and self._is_of_group(file):
                    self._sent[file] = state
                    for piece in self._make_pieces(file):
                        self.printer.print(piece)
                        await self.printer.flush()

    def _is_of_group(self, file: Path) -> bool:
        """Tell whether a file is of a group that runs: agents can put others beside them."""
        name = PurePosixPath(file.relative_to(self._out).as_posix())
        return any(self._benchmark.owns_file(job, name) for job in self._jobs.values())

    def _make_pieces(self, file: Path) -> Iterator[dict[str, Any]]:
        """Read a file, or what it has grown by; folders, and what agents left in the place of
        files, have none."""
        with suppress(OSError):
            content, name = read(file), file.relative_to(self._out).as_posix()
            size, digest = self._digests.get(file, (0, b""))
            start = size if hashlib.sha256(content[:size]).digest() == digest else 0
            self._digests[file] = len(content), hashlib.sha256(content).digest()
            for offset in range(start, max(len(content), 1), PIECE):
                encoded = b64encode(content[offset : offset + PIECE]).decode()
                yield {"file": name, "offset": offset, "content": encoded}

    def _forget_files(self) -> None:
        """Remove what was sent: it would be looked at after each trial that follows."""
        for file in self._sent:
            if file.is_symlink() or not file.is_dir():
                file.unlink(missing_ok=True)
        self._sent.clear()
        self._digests.clear()


async def serve(source: int, printer: Printer) -> None:
    """Run the groups that are read from a descriptor."""
    lines = _read_lines(source)
    order = json.loads(await anext(lines))
    sweep(Path(order["work"]))  # what a worker left that was killed
    with temporary(Path(order["work"])) as folder:
        context = read(Path(order["context"]), _MOST_CONTEXT)
        async with anyio.create_task_group() as tasks:
            await tasks.start(_watch_signals, tasks.cancel_scope)
            tasks.start_soon(printer.run)
            tasks.start_soon(_show_life, printer)  # making a session ready takes its time
            try:
                benchmark = entry_points.load("benchmarks", order["benchmark"])()
                async with benchmark.unpacked(context, folder, printer.emit) as execute:
                    await _serve(Worker(benchmark, folder / OUT, printer), lines, execute, order)
            except Exception as error:  # noqa: BLE001  # a benchmark may raise anything
                is_ours = isinstance(error, SwarmBenchError)
                printer.print({"failed": str(error) if is_ours else described(error)})
            with anyio.move_on_after(ALIVE_SECONDS, shield=True), suppress(BrokenPipeError):
                await printer.flush()
            tasks.cancel_scope.cancel()


async def _serve(
    worker: Worker,
    lines: AsyncIterator[bytes],
    execute: Executor[Any, Any],
    order: dict[str, Any],
) -> None:
    worker.printer.print({"open": True})
    async with anyio.create_task_group() as groups:
        try:
            while True:
                with anyio.fail_after(order.get("lease")):
                    line = await anext(lines)
                worker.take(json.loads(line), execute, groups)
        except (StopAsyncIteration, TimeoutError):
            worker.abandon()
        except anyio.get_cancelled_exc_class():
            worker.abandon()
            raise


async def _show_life(printer: Printer) -> None:
    while True:
        await anyio.sleep(ALIVE_SECONDS)
        printer.print({"alive": True})


async def _read_lines(descriptor: int) -> AsyncIterator[bytes]:
    os.set_blocking(descriptor, False)
    tail = b""
    while True:
        await anyio.wait_readable(descriptor)
        with suppress(BlockingIOError):
            if not (chunk := os.read(descriptor, _CHUNK)):
                return
            *lines, tail = (tail + chunk).split(b"\n")
            for line in lines:
                yield line


async def _watch_signals(scope: anyio.CancelScope, *, task_status: TaskStatus[None]) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM) as signals:
        task_status.started()
        async for _ in signals:
            scope.cancel()


def main() -> None:
    """Run the groups that stand on standard input."""
    raise_limit()
    wait_without_threads()
    # What plug-ins print is no line of ours, nor do they read ours.
    source, target = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    with run_guard(f"{OWNER}={this_owner()}"):
        anyio.run(serve, source, Printer(target))


if __name__ == "__main__":
    main()
    sys.exit()
