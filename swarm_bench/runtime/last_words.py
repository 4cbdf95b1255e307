"""The end of what a process of ours says on its standard error, without secrets, however much it
says."""

import asyncio
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TextIO

from swarm_bench.runtime.sink import Cleaner

KEPT_BYTES = 64 * 1024
_PIECE = 64 * 1024
_LAST_PIECES = 16
"""How many more are read at the end, from a process that may never stop."""
_LAST_LINES, _LAST_CHARACTERS = 3, 300


class LastWords:
    """Reads a pipe while the process writes, and forgets all but the end."""

    def __init__(self, pipe: int, secrets: Collection[str]) -> None:
        self._pipe = pipe
        # Before anything is cut: the rest of a secret would not be recognised.
        self._cleaner = Cleaner(secrets)
        self._end = b""

    def read(self) -> bool:
        """Take what is there, at most a piece. Returns whether there was anything."""
        try:
            piece = os.read(self._pipe, _PIECE)
        except BlockingIOError:
            return False
        self._end = (self._end + self._cleaner.clean(piece))[-KEPT_BYTES:]
        return bool(piece)

    def text(self) -> str:
        """Join the last lines until now."""
        for _ in range(_LAST_PIECES):
            if not self.read():
                break
        self._end += self._cleaner.finish()
        return ending(self._end)


def ending(output: bytes) -> str:
    """Join the last lines of what a process printed."""
    lines = [line.strip() for line in output[-KEPT_BYTES:].decode(errors="replace").splitlines()]
    return " | ".join([line for line in lines if line][-_LAST_LINES:])[-_LAST_CHARACTERS:]


@contextmanager
def listening(secrets: Collection[str]) -> Iterator[tuple[TextIO, LastWords]]:
    """Open a file for a process to write to, and keep its last words, for the block. A process that
    still writes to it afterwards gets a broken pipe."""
    pipe, end = os.pipe()
    # A process that fills a file would fill the disk. The loop itself reads, as a task would wrap
    # what the block raises.
    loop = asyncio.get_running_loop()
    try:
        with os.fdopen(end, "w", encoding="utf-8") as file:
            os.set_blocking(pipe, False)
            last = LastWords(pipe, secrets)
            loop.add_reader(pipe, last.read)
            try:
                yield file, last
            finally:
                loop.remove_reader(pipe)
    finally:
        os.close(pipe)
