"""What /proc says of processes, read without anything between: to read one takes ten
microseconds."""

import os
import time
from collections.abc import Collection
from contextlib import suppress
from typing import NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")
"""Ticks per second of the clock in which the kernel gives times."""
PAGE = os.sysconf("SC_PAGE_SIZE")
_STAT_BYTES = 4096
_PIECE = 1 << 20


class Stat(NamedTuple):
    """A process, as it was."""

    pid: int
    state: str
    parent: int
    group: int
    session: int
    started: int
    """Ticks since the machine started; with the number it names a process for good."""
    cpu: int
    """Ticks of it and of its children that have ended."""
    memory: int
    """Resident pages."""

    @property
    def identity(self) -> tuple[int, int]:
        return self.pid, self.started

    @property
    def dead(self) -> bool:
        """Whether only its exit code is left."""
        return self.state in "ZX"


def now() -> int:
    """Return the present time as `Stat.started` has it."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * TICKS)


def stat(pid: int) -> Stat | None:
    """Read how a process is; `None` when there is no such process."""
    data = _read(pid, "stat", _STAT_BYTES)
    if not data:
        return None
    fields = data[data.rindex(b")") + 2 :].split(maxsplit=22)  # a name may hold anything
    return Stat(
        pid,
        chr(fields[0][0]),
        int(fields[1]),
        int(fields[2]),
        int(fields[3]),
        int(fields[19]),
        sum(map(int, fields[11:15])),
        int(fields[21]),
    )


class Processes:
    """All processes but the earlier ones, each of which is read once: on most machines these are
    nearly all."""

    def __init__(self) -> None:
        self._earlier = set[tuple[int, int]]()
        """Numbers and inodes: a number may be given again, and then there is another inode."""

    def read_new(self, start: int, read: Collection[int] = ()) -> dict[int, Stat]:
        """Read those that have started since and were not `read` just now, by number; the newest
        last unless numbering has restarted."""
        later, earlier = dict[int, Stat](), set[tuple[int, int]]()
        for entry in _entries():
            if entry in self._earlier:
                earlier.add(entry)
            elif entry[0] not in read and (status := stat(entry[0])) is not None:
                if status.started < start:
                    earlier.add(entry)
                else:
                    later[status.pid] = status
        self._earlier = earlier
        return later


def _entries() -> list[tuple[int, int]]:
    with os.scandir("/proc") as entries:
        return sorted((int(entry.name), entry.inode()) for entry in entries if entry.name.isdigit())


def variable(pid: int, name: str) -> str | None:
    """Read a variable of the environment that a process was started with; `None` without it, or
    when it may not be read."""
    start = name.encode() + b"="
    for entry in _read(pid, "environ", _PIECE).split(b"\0"):
        if entry.startswith(start):
            return os.fsdecode(entry[len(start) :])
    return None


def arguments(pid: int) -> tuple[str, ...]:
    """Read the command line; empty when there is none any more."""
    data = _read(pid, "cmdline", _PIECE)
    return (
        tuple(os.fsdecode(word) for word in data.removesuffix(b"\0").split(b"\0")) if data else ()
    )


def _read(pid: int, name: str, limit: int) -> bytes:
    with suppress(OSError):
        descriptor = os.open(f"/proc/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.read(descriptor, limit)
        finally:
            os.close(descriptor)
    return b""
