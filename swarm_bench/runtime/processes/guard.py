"""A process that outlives ours, to end what we started when we are killed: the death signal that
`launching` asks for reaches our children only, and not what they have started.

This file is run as a program by itself, so it imports nothing of ours.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ROUNDS, PAUSE = 100, 0.02
"""How often it looks for what is left, and the seconds between; a process may start others while
it dies."""
_DONE = b"."


@contextmanager
def run_guard(mark: str) -> Iterator[None]:
    """Have all that carries the mark `NAME=value` in its environment killed, and the rest of its
    sessions, when this process dies in the block."""
    # In our own session: whatever ends strays does not take it for one. It is deaf to Ctrl-C.
    command = [sys.executable, "-I", "-S", str(Path(__file__)), mark]
    with subprocess.Popen(
        command,
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,  # whoever reads what we print waits for no guard
        stderr=subprocess.DEVNULL,
        bufsize=0,
    ) as process:
        assert process.stdin is not None
        try:
            yield
        finally:
            with suppress(OSError):
                process.stdin.write(_DONE)


def main(mark: str) -> None:
    """Wait for the end of the process that started this, and clean up after it."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if os.read(0, 1) == _DONE:
        return
    for _ in range(ROUNDS):
        if not _end(mark.encode()):
            return
        time.sleep(PAUSE)


def _end(mark: bytes) -> bool:
    """Kill what is there. Returns whether anything was."""
    names = os.listdir("/proc")  # noqa: PTH208  # as in procfs
    sessions = {pid: _read_session(pid) for pid in map(int, filter(str.isdigit, names))}
    marked = {pid for pid in sessions if mark in _read(pid, "environ").split(b"\0")}
    marked_sessions = {sessions[pid] for pid in marked} - {None, os.getsid(0)}
    doomed = marked | {pid for pid, session in sessions.items() if session in marked_sessions}
    for pid in doomed:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return bool(doomed)


def _read_session(pid: int) -> int | None:
    """Return the session of a process that is alive."""
    fields = _read(pid, "stat").rpartition(b")")[2].split()
    return int(fields[3]) if fields and fields[0] not in (b"Z", b"X") else None


def _read(pid: int, name: str) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/{name}").read_bytes()
    return b""


if __name__ == "__main__":
    main(sys.argv[1])
    os._exit(0)  # there is nothing to put away
