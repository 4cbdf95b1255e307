"""Runs one command as the root of a process tree, and leaves nothing of it behind.

The rule, each step paid for by a measurement: a session of its own and a tag in the environment;
wait for the process and not for its pipes, because a child that inherited them may live on; stop
the tree while the readers still run, so that last words are kept; find strays by descent and by
tag, because a child may have taken a session of its own or lost its parent.
"""

import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from subprocess import DEVNULL, PIPE
from tempfile import TemporaryFile
from typing import IO, Literal

import anyio
import psutil
from anyio.abc import Process

from swarm_bench.core.errors import ProcessLost
from swarm_bench.core.outcome import StopReason
from swarm_bench.runtime.files import store_errors
from swarm_bench.runtime.ownership import OWNER, TAG, this_owner
from swarm_bench.runtime.sink import Output, Sink

GRACE = 2.0
"""Seconds between the polite signal and the final one."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """A program to start. `env` is its whole environment, apart from the two tags."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    tag: str
    """Names the tree; must be unique among the trees that run at the same time."""
    stop_signal: signal.Signals = signal.SIGTERM
    """What asks the root to end; some programs have last words on SIGINT only."""


@dataclass(frozen=True, kw_only=True)
class ProcessResult:
    """How a command ended. A negative return code is the number of the signal."""

    returncode: int | None
    stopped: StopReason | None


async def run(
    command: Command, *, output: Output, timeout: float, grace: float = GRACE
) -> ProcessResult:
    """Run the command to its end or to `timeout` seconds, and stop whatever is left of its tree.

    Raises `ProcessLost` when it cannot be started.
    """
    stopped: StopReason | None = None
    with _opened(output.stdout, "wb") as out, _opened(output.stderr, "wb") as err:
        process = await _start(command)
        sink = Sink(output)
        try:
            async with anyio.create_task_group() as readers:
                readers.start_soon(sink.drain, process.stdout, out)
                readers.start_soon(sink.drain, process.stderr, err)
                stopped = await _wait(process, sink, timeout)
                await stop_tree(process, command, grace)  # closes the pipes: readers end
                readers.cancel_scope.deadline = anyio.current_time() + grace
        except ExceptionGroup as errors:  # of a reader: the disk, or whoever watches the lines
            raise errors.exceptions[0] from None
        finally:
            with anyio.CancelScope(shield=True):
                await stop_tree(process, command, grace)
                with anyio.move_on_after(grace):
                    await process.aclose()
    return ProcessResult(returncode=process.returncode, stopped=stopped)


@asynccontextmanager
async def background(
    command: Command, *, log: Path, grace: float = GRACE
) -> AsyncIterator[Process]:
    """Run the command beside the block, its output in `log`; its tree is gone afterwards.

    Raises `ProcessLost` when it cannot be started.
    """
    with _opened(log, "ab") as sink:
        process = await _start(command, stdout=sink, stderr=sink)
        try:
            yield process
        finally:
            with anyio.CancelScope(shield=True):
                await stop_tree(process, command, grace)
                with anyio.move_on_after(grace):
                    await process.aclose()


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
    with TemporaryFile() as given, TemporaryFile() as out, TemporaryFile() as err:
        given.write(feed)
        given.seek(0)
        process = await _start(command, stdin=given, stdout=out, stderr=err)
        try:
            returncode = await process.wait()
        finally:
            with anyio.CancelScope(shield=True):
                await stop_tree(process, command, grace)
        out.seek(0)
        err.seek(0)
        return Captured(returncode=returncode, stdout=out.read(), stderr=err.read())


@contextmanager
def _opened(path: Path, mode: Literal["wb", "ab"]) -> Iterator[FileIO]:
    """Not buffered: what was read is in the file, whatever happens to us next."""
    with store_errors(path):
        file = path.open(mode, buffering=0)
    with file:
        yield file


async def _start(
    command: Command,
    *,
    stdin: IO[bytes] | int = DEVNULL,
    stdout: IO[bytes] | FileIO | int = PIPE,
    stderr: IO[bytes] | FileIO | int = PIPE,
) -> Process:
    try:
        return await anyio.open_process(
            command.argv,
            cwd=command.cwd,
            env={**command.env, TAG: command.tag, OWNER: this_owner()},
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in an argument
        raise ProcessLost(
            f"{command.argv[0]} could not be started: {error}; check that it is installed"
        ) from error


async def _wait(process: Process, sink: Sink, timeout: float) -> StopReason | None:
    """Why it has to be stopped; `None` when it ended by itself."""

    async def until(event: Callable[[], Awaitable[object]]) -> None:
        await event()
        race.cancel_scope.cancel()

    with anyio.move_on_after(timeout) as limit:
        async with anyio.create_task_group() as race:
            race.start_soon(until, process.wait)
            race.start_soon(until, sink.full.wait)
    return "timeout" if limit.cancelled_caught else sink.reason


async def stop_tree(process: Process, command: Command, grace: float) -> None:
    """Ask the process to end, then end everything that descends from it or carries its tag."""
    if process.returncode is None:
        _signal_group(process.pid, command.stop_signal)
        with anyio.move_on_after(grace):
            await process.wait()
    await anyio.to_thread.run_sync(_kill_members, process.pid, command.tag, grace)
    with anyio.move_on_after(grace):
        await process.wait()


async def stop_tagged(tag: str, grace: float = GRACE) -> None:
    """End everything that carries the tag: what is left of a tree that a library started."""
    await anyio.to_thread.run_sync(_kill, tag, grace)


def _kill(tag: str, grace: float) -> None:
    strays = list(_tagged(tag))
    for stray in strays:
        with suppress(psutil.NoSuchProcess):
            stray.kill()
    psutil.wait_procs(strays, timeout=grace)


def _kill_members(pid: int, tag: str, grace: float) -> None:
    strays = _members(pid, tag)
    _signal_group(pid, signal.SIGKILL)
    for stray in strays:
        with suppress(psutil.NoSuchProcess):
            stray.kill()
    psutil.wait_procs(strays, timeout=grace)


def _signal_group(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _members(pid: int, tag: str) -> list[psutil.Process]:
    """The tree without its root: waiting for that here would take its exit code from asyncio."""
    found: dict[int, psutil.Process] = {}
    with suppress(psutil.NoSuchProcess):
        found.update((child.pid, child) for child in psutil.Process(pid).children(recursive=True))
    found.update((process.pid, process) for process in _tagged(tag) if process.pid != pid)
    return list(found.values())


def _tagged(tag: str) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(TAG) == tag:
                yield process
