"""MCP over the standard streams of a process. The SDK's own transport says neither with which code
a server exited nor what it printed that is no message, and gives servers variables of ours."""

import json
import os
import signal
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import anyio
from anyio.abc import Process, TaskGroup
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp.types import (
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from swarm_bench.runtime.mcp.lines import StrayOutput, read_messages
from swarm_bench.runtime.process import GRACE
from swarm_bench.runtime.processes.launching import restore_limit

EXIT_SECONDS = 0.5
"""Seconds in which a server that has closed its output is seen to exit."""
LONGEST_MESSAGE = 64 * 1024 * 1024
"""Bytes; a server that says more in one line has failed."""
LOST_SECONDS = 0.5
"""Seconds after which a call fails whose answer seems to have come unreadably: a server may print
it for a person too."""
_Replies = MemoryObjectSendStream[SessionMessage | Exception]
_CLOSED = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError)
_END_ERRORS = (*_CLOSED, anyio.IncompleteRead, anyio.EndOfStream)


@dataclass(kw_only=True)
class StdioServer:
    """A server to start, and what became of its process. `env` is its whole environment."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: Path | None
    errors: TextIO
    """File for its standard error."""
    secrets: Collection[str] | None = None
    """Secrets to remove from what is quoted; `None` if none are known."""
    returncode: int | None = None
    """`None` unless it ended before its connection was closed."""
    _closing: bool = field(default=False, init=False)
    _is_too_long: bool = field(default=False, init=False)
    """Whether a line of it was longer than a message may be."""
    _pending: set[str] = field(default_factory=set, init=False)
    """Requests that have no answer yet, by their ids."""
    _doubted: set[str] = field(default_factory=set, init=False)
    """Requests whose answer seems to be lost."""
    _lines: BufferedByteReceiveStream | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._stray = StrayOutput(self.secrets)

    @property
    def turns_away(self) -> bool:
        """Whether a call was refused for what is not of the call: there is no sign of it."""
        return False

    @property
    def waiting_seconds(self) -> float:
        """Seconds of a call that were not the server's: there are none."""
        return 0.0

    def begin(self, _deadline: float, *, may_repeat: bool) -> None:
        """Note that a call is made: what was printed before is not its answer."""
        self._stray.begin()

    def other_output(self) -> str | None:
        """Quote what it printed since then that is no message, as a clause; `None` for nothing."""
        if self._lines is not None:
            self._stray.add(bytes(self._lines.buffer), "its line has no end")
        return self._stray.clause()

    def ending(self) -> str:
        """Say how it ended before it answered: a clause."""
        if self._is_too_long:
            return f"it sent a line of more than {LONGEST_MESSAGE // 2**20} MiB"
        if self.returncode is None:
            return "it closed its input or output before it answered"
        if self.returncode < 0:
            return f"it was ended by {_signal_name(-self.returncode)} before it answered"
        return f"it exited with code {self.returncode} before it answered"

    @asynccontextmanager
    async def streams(self) -> AsyncGenerator[TransportStreams, None]:
        """Start the server, exchange messages for the block, and end it. Raises `OSError`
        and `ValueError` when it cannot be started."""
        process = await anyio.open_process(
            [*self.argv], env=self.env, stderr=self.errors, cwd=self.cwd, start_new_session=True
        )
        restore_limit(process.pid)
        # From here to the task group nothing waits: a cancellation would leave the process behind.
        replies, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, requests = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as group:
            group.start_soon(self._read, process, replies, group)
            group.start_soon(self._write, process, requests, replies)
            group.start_soon(self._watch, replies, group)
            try:
                yield incoming, outgoing
            finally:
                self._closing = True
                with anyio.CancelScope(shield=True):
                    outgoing.close()
                    incoming.close()
                    await _end(process)
                group.cancel_scope.cancel()

    async def _read(self, process: Process, replies: _Replies, group: TaskGroup) -> None:
        assert process.stdout is not None
        self._lines = lines = BufferedByteReceiveStream(process.stdout)
        with replies:
            try:
                while True:
                    line = await lines.receive_until(b"\n", LONGEST_MESSAGE)
                    await self._deliver(line, replies, group)
            except anyio.DelimiterNotFound:
                self._is_too_long = True
            except _END_ERRORS:
                with suppress(*_CLOSED):
                    await self._deliver(lines.buffer, replies, group)
            self._lines = None
            await self._note_exit(process)
        # A server that is stuck in writing would not see that its input has ended.
        with suppress(*_CLOSED, anyio.EndOfStream):
            while True:
                await process.stdout.receive()

    async def _deliver(self, line: bytes, replies: _Replies, group: TaskGroup) -> None:
        messages, problem = read_messages(line)
        if problem is not None:
            self._stray.add(line, problem)
            request = self._stray.find_request(self._pending - self._doubted)
            if request is not None:
                self._doubted.add(request)
                group.start_soon(self._give_up, request, replies)
        elif messages:
            self._stray.forget()
        for message in messages:
            if isinstance(message, JSONRPCResponse | JSONRPCError):
                self._pending.discard(str(message.id))
            await replies.send(SessionMessage(message))

    async def _watch(self, replies: _Replies, group: TaskGroup) -> None:
        """Look for answers on a line that does not end: the caller would wait in vain."""
        earlier = b""
        while True:
            await anyio.sleep(LOST_SECONDS)
            line = bytes(self._lines.buffer) if self._lines and self._pending else b""
            if line == earlier and line.rstrip().endswith((b"}", b"]")):
                answered_ids = {
                    str(message.id)
                    for message in read_messages(line)[0]
                    if isinstance(message, JSONRPCResponse | JSONRPCError)
                }
                for request in answered_ids & self._pending - self._doubted:
                    self._doubted.add(request)
                    group.start_soon(self._give_up, request, replies)
            earlier = line

    async def _give_up(self, request: str, replies: _Replies) -> None:
        """Fail a call whose answer cannot be read, unless it comes after all."""
        await anyio.sleep(LOST_SECONDS)
        if request in self._pending:
            self._pending.discard(request)
            error = ErrorData(code=PARSE_ERROR, message=f"no answer; {self.other_output()}")
            answer = JSONRPCError(jsonrpc="2.0", id=request, error=error)
            with suppress(*_CLOSED):
                await replies.send(SessionMessage(answer))

    async def _note_exit(self, process: Process) -> None:
        code = None if self._closing else await _exit_code(process, EXIT_SECONDS)
        if not self._closing:  # else it is we who ended it
            self.returncode = code

    async def _write(
        self,
        process: Process,
        requests: MemoryObjectReceiveStream[SessionMessage],
        replies: _Replies,
    ) -> None:
        assert process.stdin is not None
        with requests:
            try:
                async for item in requests:
                    match item.message:
                        case JSONRPCRequest(id=request):
                            self._pending.add(str(request))
                        case JSONRPCNotification(
                            method="notifications/cancelled", params={"requestId": request}
                        ):
                            self._pending.discard(str(request))
                    await process.stdin.send(f"{dump_message(item.message)}\n".encode())
            except _CLOSED:  # who waits for an answer waits in vain
                await self._note_exit(process)
                replies.close()


def dump_message(message: JSONRPCMessage) -> str:
    """Write a message; not as pydantic does, which cannot write text that is not Unicode."""
    return json.dumps(message.model_dump(by_alias=True, exclude_unset=True))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # most real-time signals have no name
        return f"signal {number}"


async def _exit_code(process: Process, seconds: float) -> int | None:
    """Wait for the exit code; `None` for a process that has not ended by then."""
    with anyio.move_on_after(seconds):
        await process.wait()
    return process.returncode


async def _end(process: Process) -> None:
    """End its input, then its process group, politely at first, as the protocol asks."""
    assert process.stdin is not None
    with suppress(*_CLOSED):
        await process.stdin.aclose()
    for number in (signal.SIGTERM, signal.SIGKILL):
        if await _exit_code(process, GRACE) is not None:
            break
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
    with anyio.move_on_after(GRACE):
        await process.aclose()
