"""The way to a worker: sends groups to it, and does what it says of them. Its lines are checked as
what any agent prints: the machine that it is on may be anybody's."""

import json
from base64 import b64decode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, get_args

import anyio
from anyio.abc import TaskGroup
from pydantic import TypeAdapter

from swarm_bench.core.errors import CostLimitReached, HarnessError, NodeLost
from swarm_bench.core.events import Emit, FarEvent, StepStarted, TrialStarted
from swarm_bench.core.roles.executor import Deliver, Portable
from swarm_bench.core.session.cases import CaseStarted
from swarm_bench.executors.worker import ALIVE_SECONDS
from swarm_bench.runtime.files import make_folder, write_piece

LONGEST_LINE = 1 << 28
MOST_BYTES = 1 << 30
"""Most bytes of a line, and of a file, that a worker sends."""
END_SECONDS = 60.0
"""How long a group that was stopped may take to deliver what it had done."""
_EVENTS: dict[str, TypeAdapter[FarEvent]] = {
    kind.__name__: TypeAdapter(kind) for kind in get_args(FarEvent)
}
_REASON = 500
"""Characters of an error that are shown."""


class Streams(NamedTuple):
    """What is read from a worker and written to it, in pieces of any size."""

    receive: AsyncIterator[bytes]
    """Ends with the worker. Raises `NodeLost`."""
    send: Callable[[bytes], Awaitable[None]]
    """Raises `NodeLost`."""


@dataclass(kw_only=True)
class _Job:
    content: Any
    deliver: Deliver[Any]
    end: anyio.Event = field(default_factory=anyio.Event)
    error: Exception | None = None
    scopes: dict[int, anyio.CancelScope] = field(default_factory=dict)
    """Scopes of the deliveries that are being stored, by their numbers."""
    stored: anyio.Condition = field(default_factory=anyio.Condition)

    async def settle(self) -> None:
        """Wait until what was delivered is stored; what waits for money to start does not."""
        for scope in self.scopes.values():
            if not scope.shield:
                scope.cancel()
        async with self.stored:
            while self.scopes:
                await self.stored.wait()


class Link:
    """Runs groups by one worker."""

    def __init__(
        self,
        benchmark: Portable[Any, Any],
        *,
        name: str,
        out: Path,
        emit: Emit,
        silence: float | None = None,
    ) -> None:
        """`name` is that of its node; files go to `out`; a worker that says nothing for the seconds
        of `silence` is lost."""
        self.name = name
        self._benchmark = benchmark
        self._out = out
        self._emit = emit
        self._silence = silence
        self._jobs = dict[str, _Job]()
        self._files = dict[PurePosixPath, int]()
        """Bytes that were received of each file since a group was sent to an idle worker."""
        self._number = 0
        self._opened = anyio.Event()
        self._waiting = list[dict[str, Any]]()
        self._new = anyio.Event()
        self.lost: Exception | None = None
        """The error with which all groups end."""

    @asynccontextmanager
    async def connect(self, streams: Streams, order: dict[str, Any]) -> AsyncIterator[None]:
        """Send a worker the first of its lines, and read its own for the block."""
        failure: Exception | None = None
        async with anyio.create_task_group() as tasks:
            self._send(order)
            tasks.start_soon(self._write, streams.send)
            tasks.start_soon(self._read, streams.receive, tasks)
            try:
                yield
            except Exception as error:  # noqa: BLE001  # the tasks would wrap it
                failure = error
            tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def wait_until_open(self) -> None:
        """Wait until the worker can run groups. Raises `HarnessError` where it cannot, and
        `NodeLost`."""
        await self._opened.wait()
        if self.lost is not None:
            raise self.lost

    async def __call__(self, content: Any, deliver: Deliver[Any]) -> None:
        """Run a group. Raises `HarnessError` where it fails, or the worker prints what is none of
        its lines; `NodeLost` when that is lost."""
        await self.wait_until_open()
        if not self._jobs:
            self._files.clear()
        self._number += 1
        name = str(self._number)
        self._jobs[name] = job = _Job(content=content, deliver=deliver)
        dumped = self._benchmark.jobs.dump_python(content, mode="json")
        self._send({"job": name, "content": dumped})
        try:
            await job.end.wait()
        except anyio.get_cancelled_exc_class():
            self._send({"cancel": name})
            with anyio.CancelScope(shield=True), anyio.move_on_after(END_SECONDS):
                await job.end.wait()
            raise
        finally:
            with anyio.CancelScope(shield=True):
                await job.settle()
            del self._jobs[name]
        if job.error is not None:
            raise job.error

    def _send(self, message: dict[str, Any]) -> None:
        self._waiting.append(message)
        self._new.set()

    async def _write(self, send: Callable[[bytes], Awaitable[None]]) -> None:
        try:
            while True:
                with anyio.move_on_after(ALIVE_SECONDS):
                    await self._new.wait()
                if self.lost is not None:  # the lease of who is lost must run out
                    return
                self._new = anyio.Event()
                messages, self._waiting = self._waiting or [{"alive": True}], []
                await send(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
        except NodeLost as error:
            self._lose(error)

    async def _read(self, received: AsyncIterator[bytes], tasks: TaskGroup) -> None:
        try:
            async for line in self._lines(received):
                await self._take(line, tasks)
            self._lose(NodeLost(f"The worker on {self.name} ended by itself; see what it printed"))
        except TimeoutError:
            self._lose(NodeLost(f"The node {self.name} has said nothing for {self._silence:g} s"))
        except HarnessError as error:
            self._lose(error)

    async def _lines(self, received: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        buffer = bytearray()
        while True:
            with anyio.fail_after(self._silence):
                chunk = await anext(received, None)
            if chunk is None:
                return
            first, *lines = chunk.split(b"\n")
            buffer += first
            for line in lines:
                yield bytes(buffer)
                buffer = bytearray(line)
            if len(buffer) > LONGEST_LINE:
                raise self._no_line(f"{LONGEST_LINE} bytes without an end")

    def _lose(self, error: Exception) -> None:
        self.lost = self.lost or error
        self._opened.set()
        for job in self._jobs.values():
            job.error = job.error or error
            job.end.set()

    async def _take(self, line: bytes, tasks: TaskGroup) -> None:
        """Do what a line says. Raises `HarnessError` for what is none."""
        try:
            message = json.loads(line)
            if "delivery" in message:
                tasks.start_soon(self._deliver, *self._read_delivery(message))
            elif "ended" in message:
                self._end(self._find_job(message), message["ended"])
            elif "file" in message:
                await anyio.to_thread.run_sync(self._keep_piece, message)
            elif "event" in message:
                event = _EVENTS[message["event"]].validate_python(message["content"])
                if isinstance(event, StepStarted | TrialStarted):
                    event = replace(event, node=self.name)
                self._emit(event)
            elif "failed" in message:
                raise HarnessError(f"{self.name}: {str(message['failed'])[:_REASON]}")
            elif "open" in message:
                self._opened.set()
            elif "alive" not in message:
                raise ValueError("nothing is known of it")
        except (ValueError, TypeError, LookupError, RecursionError, ArithmeticError) as error:
            raise self._no_line(str(error)[:_REASON]) from error

    def _read_delivery(self, message: dict[str, Any]) -> tuple[_Job, int, Any]:
        job, number = self._find_job(message), int(message["number"])
        delivery = self._benchmark.deliveries.validate_python(message["delivery"])
        if number in job.scopes:
            raise ValueError(f"the number {number} is used twice")
        waits = isinstance(delivery, CaseStarted)  # for money
        job.scopes[number] = anyio.CancelScope(shield=not waits)
        return job, number, delivery

    def _find_job(self, message: dict[str, Any]) -> _Job:
        """Return the group that a line is of. One that was given up can still say something."""
        name = message["job"]
        if (job := self._jobs.get(name)) is None:
            if not 1 <= int(name) <= self._number:
                raise LookupError(f"there is no group {name}")
            job = _Job(content=None, deliver=_refuse)
        return job

    def _end(self, job: _Job, failure: Any) -> None:
        if failure is not None and job.error is None:
            job.error = HarnessError(f"{self.name}: {str(failure)[:_REASON]}")
        job.end.set()

    async def _deliver(self, job: _Job, number: int, delivery: Any) -> None:
        """Store a delivery, which cannot be stopped: what has ended is stored. What starts may wait
        for money, and is given up."""
        answer: dict[str, Any] = {"stored": number}
        try:
            with job.scopes[number] as scope:
                await job.deliver(delivery)
            if scope.cancelled_caught:
                answer = {"refused": number}
        except Exception as error:  # noqa: BLE001  # whoever runs the session is told
            job.error = job.error or error
            reason = str(error) if isinstance(error, CostLimitReached) else None
            answer = {"refused": number, "cost_limit": reason}
        finally:
            with anyio.CancelScope(shield=True):
                del job.scopes[number]
                async with job.stored:
                    job.stored.notify_all()
        self._send(answer)

    def _keep_piece(self, message: dict[str, Any]) -> None:
        name, offset = PurePosixPath(message["file"]), int(message["offset"])
        if name.is_absolute() or ".." in name.parts or "\0" in name.name:
            raise ValueError(f"the file {name} leads elsewhere")
        if not any(self._benchmark.owns_file(job.content, name) for job in self._jobs.values()):
            raise ValueError(f"the file {name} is of no group that runs")
        content = b64decode(message["content"], validate=True)
        if offset not in (0, self._files.get(name)) or offset > MOST_BYTES:
            raise ValueError(f"the file {name} is sent out of order")
        path = self._out / name
        make_folder(path.parent)
        write_piece(path, content, offset)
        self._files[name] = offset + len(content)

    def _no_line(self, reason: str) -> HarnessError:
        return HarnessError(
            f"The worker on {self.name} printed what is no line of ours: {reason}; end what else "
            "prints there"
        )


async def _refuse(_: Any) -> None:
    raise HarnessError("The group was given up")
