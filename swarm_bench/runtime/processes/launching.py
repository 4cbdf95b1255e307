"""How programs are started: so that they end with us, even if we are killed, and with the limits
that we were started with."""

import os
import resource
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from swarm_bench.core.errors import UsageError

LAUNCHER = "setpriv"
"""A program of util-linux. It has the kernel kill the program when the thread that started it ends,
and then becomes the program. To do that between fork and exec in a process with threads is not
safe."""
_OPTIONS = ("--pdeathsig", "KILL", "--")
CANNOT_RUN = (126, 127)
"""Its exit codes then. Programs have these too."""
SPARE = 40
"""Descriptors that a session needs beside those of its agents, some of them for a moment."""
PER_AGENT = 6
"""Descriptors: two pipes, two files, and two by which its end is seen."""


def mortal(argv: tuple[str, ...], env: Mapping[str, str], cwd: Path) -> tuple[str, ...]:
    """Make the command line for a program that dies with the thread that starts it. It stays the
    same when there is no such program, or nothing that could do so."""
    launcher = _launcher()
    program = argv[0] if "/" not in argv[0] else str(cwd / argv[0])
    path = env.get("PATH", os.defpath)
    if launcher is None or "\0" in "".join(argv) or shutil.which(program, path=path) is None:
        return argv
    return (launcher, *_OPTIONS, *argv)


def is_launching(argv: tuple[str, ...]) -> bool:
    """Tell whether a process has not become its program yet."""
    return argv[:1] == (_launcher(),) and argv[1:4] == _OPTIONS


def refusal(stderr: bytes) -> str | None:
    """Read from standard error why the program could not be started after all; `None` when it
    was."""
    if not stderr.startswith(f"{LAUNCHER}: failed to execute ".encode()):
        return None
    return stderr.splitlines()[0].rpartition(b": ")[2].decode("utf-8", "replace")


@cache
def _launcher() -> str | None:
    return shutil.which(LAUNCHER)


@cache
def first_limit() -> tuple[int, int]:
    """Return how many descriptors a process may have, soft and hard, as we were started."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)


def raise_limit() -> None:
    """Let this process have as many descriptors as it may: an agent takes six, and a swarm of 200
    more than the usual 1,024."""
    _, hard = first_limit()
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def wait_without_threads() -> None:
    """Have asyncio wait for processes by their descriptors, as it does from Python 3.12 on, where
    the kernel has these: 3.11 starts a thread for each."""
    if sys.version_info < (3, 12):
        import asyncio

        with suppress(OSError):
            os.close(os.pidfd_open(os.getpid()))
            asyncio.get_event_loop_policy().set_child_watcher(asyncio.PidfdChildWatcher())


def restore_limit(pid: int) -> None:
    """Give a child the limit back that we were started with: some programs close or poll all
    descriptors that they may have."""
    if resource.getrlimit(resource.RLIMIT_NOFILE) != first_limit():
        with suppress(ProcessLookupError, PermissionError):
            resource.prlimit(pid, resource.RLIMIT_NOFILE, first_limit())


def descriptor_limit() -> int:
    """Return how many descriptors a session can have."""
    return first_limit()[1]


def needed_descriptors(agents: int) -> int:
    """Compute the descriptors for a session with so many agents at once."""
    return SPARE + PER_AGENT * agents


def room_at_once() -> int:
    """Compute how many agents, or requests, at once have room below the hard limit."""
    return max(1, (descriptor_limit() - SPARE) // PER_AGENT)


def require_descriptors(at_once: int) -> None:
    """Refuse more agents, or requests, at once than have room. Raises `UsageError`."""
    if at_once > room_at_once():
        raise UsageError(
            f"{at_once} at once need about {needed_descriptors(at_once):,} open files, and "
            f"{descriptor_limit():,} are allowed here; give --concurrency {room_at_once()}, or "
            "raise the hard limit (ulimit -Hn)"
        )
