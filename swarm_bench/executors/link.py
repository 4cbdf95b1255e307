"""The way to a worker: sends groups to it, and does what it says of them. Its lines are checked as
what any agent prints: the machine that it is on may be anybody's."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import anyio
from anyio.abc import TaskGroup

from swarm_bench.core.errors import CostLimitReached, HarnessError, NodeLost, SwarmBenchError
from swarm_bench.core.events import Emit
from swarm_bench.core.roles.executor import Deliver, Portable
from swarm_bench.core.session.cases import CaseStarted
from swarm_bench.executors.received import (
    LONG_LINE,
    FarGroup,
    ReceivedEvents,
    ReceivedFiles,
    check_length,
    make_line,
    parse_line,
    read_name,
    read_number,
)
from swarm_bench.executors.worker import ALIVE_SECONDS

MOST_WAITING = 1 << 18
"""Lines that wait for a worker to read them: it is told of each delivery."""
_WRONG = (ValueError, TypeError, LookupError, RecursionError, ArithmeticError)
"""What is raised for a line that is none of ours, or has what cannot be."""


class Streams(NamedTuple):
    """What is read from a worker and written to it, in pieces of any size."""

    receive: AsyncIterator[bytes]
    """Ends with the worker. Raises `NodeLost`."""
    send: Callable[[bytes], Awaitable[None]]
    """Raises `NodeLost`."""


class Link:
    """Runs groups by one worker."""

    OPEN_SECONDS = 600.0
    """How long a worker may take until it can run groups."""
    END_SECONDS = 60.0
    """How long a group that was stopped may take to deliver what it had done, and that to be
    stored."""

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
        self._silence = silence
        self._groups = dict[str, FarGroup]()
        """Groups that run, by the names of their jobs."""
        self._events = ReceivedEvents(emit, name)
        self._files = ReceivedFiles(out)
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
        """Wait until the worker can run groups. Raises `HarnessError` where it cannot, or takes too
        long, and `NodeLost`."""
        with anyio.move_on_after(self.OPEN_SECONDS):
            await self._opened.wait()
        if self.lost is not None:
            raise self.lost
        if not self._opened.is_set():
            raise HarnessError(
                f"The node {self.name} did not make the session ready within "
                f"{self.OPEN_SECONDS:g} s; see to it, or omit that node"
            )

    async def __call__(self, content: Any, deliver: Deliver[Any]) -> None:
        """Run a group. Raises `HarnessError` where it fails, or the worker prints what is none of
        its lines; `NodeLost` when that is lost."""
        await self.wait_until_open()
        if not self._groups:
            self._files.forget()
        self._number += 1
        name, group = str(self._number), self._benchmark.find_group(content)
        self._groups[name] = far = FarGroup(content=content, group=group, deliver=deliver)
        dumped = self._benchmark.jobs.dump_python(content, mode="json")
        self._send({"job": name, "content": dumped})
        try:
            await self._wait_for_end(name, far)
        finally:
            far.end.set()
            with anyio.CancelScope(shield=True):
                await far.settle(self.END_SECONDS)
            del self._groups[name]
        if far.error is not None:
            raise far.error

    async def _wait_for_end(self, name: str, far: FarGroup) -> None:
        """Wait until the group has ended. One that is cancelled, or whose delivery was refused, has
        some time for that."""
        try:
            with far.patience:
                await far.end.wait()
            if far.patience.cancelled_caught:
                self._send({"cancel": name})
        except anyio.get_cancelled_exc_class():
            self._send({"cancel": name})
            with anyio.CancelScope(shield=True), anyio.move_on_after(self.END_SECONDS):
                await far.end.wait()
            raise

    def _send(self, message: dict[str, Any]) -> None:
        if len(self._waiting) >= MOST_WAITING:
            self._waiting.clear()
            self._lose(HarnessError(f"The worker on {self.name} does not read; restart that node"))
        if self.lost is None:
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
                if self.lost is not None:
                    return
                await self._take(line, tasks)
            self._lose(
                NodeLost(
                    f"The worker on {self.name} ended by itself; restart that node, and see that "
                    "it has enough memory"
                )
            )
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
            try:
                check_length(buffer)
            except ValueError as error:
                raise self._no_line(error) from error

    def _lose(self, error: Exception) -> None:
        self.lost = self.lost or error
        self._opened.set()
        for far in self._groups.values():
            far.error = far.error or error
            far.end.set()

    async def _take(self, line: bytes, tasks: TaskGroup) -> None:
        """Do what a line says. Raises `HarnessError` for what is none."""
        try:
            message = await parse_line(line)
            if "delivery" in message:
                await self._take_delivery(message, len(line), tasks)
            elif "ended" in message:
                self._end(self._find_group(message), message["ended"])
            elif "file" in message:
                piece = self._files.take(
                    name := read_name(message), message, self._find_owner(name)
                )
                await anyio.to_thread.run_sync(piece.write)
            elif "event" in message:
                self._events.take(message, self._groups.values())
            elif "failed" in message:
                raise HarnessError(f"{self.name}: {make_line(message['failed'])}")
            elif "open" in message:
                self._opened.set()
            elif "alive" not in message:
                raise ValueError("nothing is known of it")
        except _WRONG as error:
            raise self._no_line(error) from error

    async def _take_delivery(self, message: dict[str, Any], size: int, tasks: TaskGroup) -> None:
        """Have a delivery stored, unless its group has ended."""
        number, far = read_number(message), self._find_group(message)
        if far is not None and not far.end.is_set():
            read = self._benchmark.deliveries.validate_python
            if size < LONG_LINE:
                delivery = read(message["delivery"])
            else:
                delivery = await anyio.to_thread.run_sync(read, message["delivery"])
        if far is None or far.end.is_set():  # perhaps meanwhile
            self._send({"refused": number})
            return
        far.admit_delivery(number, size)
        waits = isinstance(delivery, CaseStarted)  # for money
        far.scopes[number] = anyio.CancelScope(shield=not waits)
        tasks.start_soon(self._deliver, far, number, delivery, size)

    def _find_group(self, message: dict[str, Any]) -> FarGroup | None:
        """Return the group that a line is of; `None` for one that was given up, which can still say
        something."""
        name = message["job"]
        if (far := self._groups.get(name)) is None and not 1 <= int(name) <= self._number:
            raise LookupError(f"there is no group {name}")
        return far

    def _find_owner(self, name: PurePosixPath) -> FarGroup:
        """Return the group that a file is of."""
        groups = self._groups.values()
        for far in groups:
            if name in far.files:
                return far
        for far in groups:
            if self._benchmark.owns_file(far.content, name):
                return far
        raise ValueError(f"the file {name} is of no group that runs")

    def _end(self, far: FarGroup | None, failure: Any) -> None:
        if far is None:
            return
        if failure is not None and far.error is None:
            far.error = HarnessError(f"{self.name}: {make_line(failure)}")
        far.end.set()

    async def _deliver(self, far: FarGroup, number: int, delivery: Any, size: int) -> None:
        """Store a delivery, which cannot be stopped: what has ended is stored. What starts may wait
        for money, and is given up."""
        answer: dict[str, Any] = {"stored": number}
        try:
            with far.scopes[number] as scope:
                await far.deliver(delivery)
            if scope.cancelled_caught:
                answer = {"refused": number}
        except CostLimitReached as error:  # what runs may end
            far.error = far.error or error
            answer = {"refused": number, "cost_limit": str(error)}
        except Exception as error:  # noqa: BLE001  # whoever runs the session is told
            far.error = far.error or self._blame(error)
            if not isinstance(error, SwarmBenchError):  # nothing that it says is believed
                far.end.set()
            far.patience.deadline = anyio.current_time() + self.END_SECONDS
            answer = {"refused": number, "cost_limit": None}
        finally:
            far.drop_delivery(number, size)
        self._send(answer)

    def _blame(self, error: Exception) -> Exception:
        """Return the error of a delivery that could not be stored: figures that no record can have
        are the worker's."""
        is_ours = isinstance(error, SwarmBenchError) or not isinstance(error, _WRONG)
        return error if is_ours else self._no_line(error)

    def _no_line(self, reason: object) -> HarnessError:
        return HarnessError(
            f"The worker on {self.name} printed what is no line of ours: {make_line(reason)}; end "
            "what else prints there"
        )
