"""Runs one command as the root of a process tree, and leaves nothing of it behind.

The rule, each step paid for by a measurement: a session of its own and a tag in the environment;
wait for the process and not for its pipes, because a child that inherited them may live on; stop
the tree while the readers still run, so that last words are kept; find strays as
`processes.trees` does, because a child may have taken a session of its own or lost its parent.
"""

import os
import select
import signal
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from io import FileIO
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT
from tempfile import TemporaryFile
from threading import Lock, Thread
from typing import IO, Literal

import anyio
from anyio.abc import Process

from swarm_bench.core.errors import ProcessLost
from swarm_bench.core.outcome import StopReason
from swarm_bench.runtime.files import make_room, store_errors, writable
from swarm_bench.runtime.ownership import OWNER, TAG, this_owner
from swarm_bench.runtime.processes.launching import CANNOT_RUN, mortal, refusal, restore_limit
from swarm_bench.runtime.processes.trees import FAMILY, Tree, end_strays
from swarm_bench.runtime.sink import Output, Settled, Sink
from swarm_bench.runtime.untrusted import read

GRACE = 2.0
"""Seconds between the polite signal and the final one."""
LONGEST_LOG = 64 * 1024 * 1024
"""Bytes that a background process can add to its log; what is beyond is not kept."""
_LONGEST_REFUSAL = 4096
"""Bytes."""


class Ending:
    """The end of one process, as `time.monotonic` has it; `None` until it is observed."""

    at: float | None = None


@dataclass(frozen=True, kw_only=True)
class Command:
    """A program to start. `env` is its whole environment, apart from the two tags."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    tag: str
    """Names the tree; must be unique among the trees that run at the same time."""
    stop_signal: signal.Signals = signal.SIGTERM
    """Signal that asks the root to end; some programs print their last output on SIGINT only."""


@dataclass(frozen=True, kw_only=True)
class ProcessResult:
    """How a command ended. A negative return code is the number of the signal."""

    returncode: int | None
    stopped: StopReason | None
    seconds: float | None = field(default=None, compare=False)
    """Time from its start to its own end, however late we came to see it; to the end of its run, if
    it stayed behind that."""


async def run(
    command: Command, *, output: Output, timeout: float, grace: float = GRACE
) -> ProcessResult:
    """Run the command to its end or to `timeout` seconds, and stop the rest of its tree.

    Raises `ProcessLost` when it cannot be started.
    """
    with (
        FAMILY.hold_tree(command.tag) as tree,
        _open_output(output.stdout, "wb") as out,
        _open_output(output.stderr, "wb") as err,
    ):
        start = anyio.current_time()
        process = await _start(command, tree)
        with _watch_exit(process.pid) as ending:
            sink = Sink(output)
            try:
                async with anyio.create_task_group() as readers:
                    readers.start_soon(partial(sink.drain, process.stdout, out, has_events=True))
                    readers.start_soon(sink.drain, process.stderr, err)
                    try:
                        stopped = await _wait_for_end(
                            process, sink, ending, start + timeout, output.settled
                        )
                    finally:
                        await _stop(process, tree, command.stop_signal, grace)  # readers end then
                        readers.cancel_scope.deadline = anyio.current_time() + grace
            except ExceptionGroup as errors:  # of a reader: the disk, or who watches the lines
                raise errors.exceptions[0] from None
            finally:
                await _close(process, grace)
            end = ending.at or anyio.current_time()
            if stopped == "answered":
                end = sink.over or end
    _check_launched(command, process.returncode, output.stderr)
    return ProcessResult(returncode=process.returncode, stopped=stopped, seconds=end - start)


@asynccontextmanager
async def background(
    command: Command, *, log: Path, secrets: tuple[str, ...], grace: float = GRACE
) -> AsyncIterator[Process]:
    """Run the command beside the block; its tree is gone afterwards. Its output is added to `log`
    without the secrets, at most `LONGEST_LOG` bytes of it.

    Raises `ProcessLost` when it cannot be started.
    """
    sink = Sink(Output(stdout=log, stderr=log, limit=LONGEST_LOG, secrets=secrets))
    with FAMILY.hold_tree(command.tag) as tree, _open_output(log, "ab") as file:
        process = await _start(command, tree, stderr=STDOUT)
        try:
            async with anyio.create_task_group() as readers:
                reading = anyio.CancelScope(shield=True)  # to its end, whoever is cancelled
                readers.start_soon(_drain, sink, process, file, reading)
                try:
                    yield process
                finally:
                    await _stop(process, tree, command.stop_signal, grace)
                    reading.deadline = anyio.current_time() + grace
        except BaseExceptionGroup as errors:  # of the block alone, or of the reader: the disk
            raise errors.exceptions[0] from errors.exceptions[0].__cause__
        finally:
            await _close(process, grace)


async def _drain(sink: Sink, process: Process, file: FileIO, scope: anyio.CancelScope) -> None:
    with scope:
        await sink.drain(process.stdout, file)


@dataclass(frozen=True, kw_only=True)
class Captured:
    """A command that ran to its end, and what it printed."""

    returncode: int
    stdout: bytes
    stderr: bytes


async def capture(command: Command, feed: bytes = b"", *, grace: float = GRACE) -> Captured:
    """Run a short-lived command on `feed`, and keep what it prints. Its tree is gone afterwards.

    All three streams are files: a program that ends without reading would break a pipe and hide
    its own words, and one that leaves a child behind would keep a pipe open. Raises `ProcessLost`.
    """
    with (
        FAMILY.hold_tree(command.tag) as tree,
        TemporaryFile() as stdin,
        TemporaryFile() as out,
        TemporaryFile() as err,
    ):
        stdin.write(feed)
        stdin.seek(0)
        process = await _start(command, tree, stdin=stdin, stdout=out, stderr=err)
        try:
            returncode = await process.wait()
        finally:
            await _stop(process, tree, command.stop_signal, grace)
        out.seek(0)
        err.seek(0)
        return Captured(returncode=returncode, stdout=out.read(), stderr=err.read())


@contextmanager
def _open_output(path: Path, mode: Literal["wb", "ab"]) -> Iterator[FileIO]:
    """Open a file without a buffer: what was read stays, whatever happens to us next."""
    make_room(path)
    with store_errors(path):
        file = writable(path, mode)
    with file:
        yield file


async def _start(
    command: Command,
    tree: Tree,
    *,
    stdin: IO[bytes] | int = DEVNULL,
    stdout: IO[bytes] | FileIO | int = PIPE,
    stderr: IO[bytes] | FileIO | int = PIPE,
) -> Process:
    try:
        process = await anyio.open_process(
            mortal(command.argv, command.env, command.cwd),
            cwd=command.cwd,
            env={**command.env, TAG: command.tag, OWNER: this_owner()},
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in an argument
        raise ProcessLost(_not_started(command, str(error))) from error
    tree.root = process.pid
    restore_limit(process.pid)
    return process


def _check_launched(command: Command, returncode: int | None, stderr: Path) -> None:
    """Raise `ProcessLost` when the program never ran."""
    if returncode not in CANNOT_RUN:
        return
    reason = None
    with suppress(OSError):  # what is longer, or no file any more, says something else
        reason = refusal(read(stderr, _LONGEST_REFUSAL))
    if reason is not None:
        raise ProcessLost(_not_started(command, reason))


def _not_started(command: Command, reason: str) -> str:
    return f"{command.argv[0]} could not be started: {reason}; check that it is installed"


async def _wait_for_end(
    process: Process, sink: Sink, ending: Ending, deadline: float, settled: Settled | None
) -> StopReason | None:
    """Wait for the end of a process or of its run, its deadline, or the limit of its output.
    Returns why it has to be stopped; `None` when it ended by itself."""
    while True:
        sink.wait_until(deadline)
        with sink.taking:
            await process.wait()
        if sink.reason is not None or not sink.taking.cancelled_caught:
            return sink.reason
        over, limit = sink.over, sink.taking.deadline
        # We may have been too busy to see that it had ended before its deadline passed.
        if process.returncode is not None if ending.at is None else ending.at <= limit:
            return None
        if over is not None and (settled is None or await settled()):
            return "answered" if process.returncode is None else None
        if anyio.current_time() >= deadline:
            return "timeout"


async def _stop(process: Process, tree: Tree, number: signal.Signals, grace: float) -> None:
    """Ask the process to end, then end everything that is of its tree, whichever task is
    cancelled."""
    with anyio.CancelScope(shield=True):
        if process.returncode is None:
            _signal_group(process.pid, number)
            with anyio.move_on_after(grace):
                await process.wait()
        if process.returncode is None:
            await end_strays(tree, grace)  # as long as they descend from it
            _signal_group(process.pid, signal.SIGKILL)
            with anyio.move_on_after(grace):
                await process.wait()
        await end_strays(tree, grace)


async def _close(process: Process, grace: float) -> None:
    with anyio.move_on_after(grace, shield=True):
        await process.aclose()


def _signal_group(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


@contextmanager
def _watch_exit(pid: int) -> Iterator[Ending]:
    """Note in the block when a child of ours ends that nobody has waited for yet."""
    with _clock().watch_exit(pid) as ending:
        yield ending


class _Clock:
    def __init__(self) -> None:
        self._poll = select.epoll()
        self._awaited: dict[int, Ending] = {}
        self._turn = Lock()
        Thread(target=self._run, name="exits", daemon=True).start()

    def _run(self) -> None:
        while True:
            for descriptor, _ in self._poll.poll():
                self._note(descriptor, time.monotonic())

    def _note(self, descriptor: int, now: float) -> None:
        with self._turn:
            ending = self._awaited.get(descriptor)
            # The number may have become that of another process since it was polled.
            if ending is not None and _is_readable(descriptor):
                ending.at = now
                self._forget(descriptor)

    def _forget(self, descriptor: int) -> None:
        if self._awaited.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)

    @contextmanager
    def watch_exit(self, pid: int) -> Iterator[Ending]:
        ending = Ending()
        try:
            descriptor = os.pidfd_open(pid)
        except OSError:  # an old kernel, or no descriptor left
            yield ending
            return
        with self._turn:
            self._awaited[descriptor] = ending
            self._poll.register(descriptor, select.EPOLLIN)
        try:
            yield ending
        finally:
            with self._turn:
                self._forget(descriptor)
                os.close(descriptor)


@cache
def _clock() -> _Clock:
    return _Clock()


def _is_readable(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
