"""A line that says what a call is at, for whoever waits at a terminal; a pipe gets none of it."""

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread

from swarm_bench.cli.output.terminal import printable, say

PATIENCE = 1.0
"""Seconds without a sign of life."""
_BETWEEN = 0.25
_ERASED = "\r\x1b[K"
_ERASED_ABOVE = f"\x1b[A{_ERASED}"


class WaitingLine:
    """The last line of the terminal, once a step takes long. Whoever prints erases it first."""

    def __init__(self) -> None:
        self._step = ""
        self._since = time.monotonic()
        self._drawn = ""
        self._lock = Lock()
        self._ended = Event()

    def tell(self, step: str) -> None:
        """Name what begins now, or how far it is; the time goes on where nothing was printed."""
        with self._lock:
            self._step = step

    def say(self, sentence: str) -> None:
        """Print a sentence above it, which is what the call is at now."""
        self.erase()
        say(sentence)
        self.tell(sentence)

    def erase(self) -> None:
        """Make room for what is printed."""
        with self._lock:
            self._erase()
            self._since = time.monotonic()

    def follow(self) -> None:
        """Draw until `end` is called."""
        while not self._ended.wait(_BETWEEN):
            with self._lock:
                self._draw()

    def end(self) -> None:
        """Draw no more, and leave nothing."""
        self._ended.set()
        self.erase()

    def _draw(self) -> None:
        seconds = time.monotonic() - self._since
        if not self._step or seconds < PATIENCE:
            return
        self._erase()
        line = f"{printable(self._step)} ({seconds:.0f} s)"
        columns = shutil.get_terminal_size().columns - 1
        self._drawn = line if len(line) <= columns else f"{line[: columns - 1]}…"
        _write(self._drawn)

    def _erase(self) -> None:
        if not self._drawn:
            return
        # A narrower terminal has broken what was drawn into several lines.
        lines_above = (len(self._drawn) - 1) // max(1, shutil.get_terminal_size().columns)
        _write(_ERASED + _ERASED_ABOVE * lines_above)
        self._drawn = ""


def _write(text: str) -> None:
    with suppress(OSError):  # nobody looks any more
        sys.stderr.write(text)
        sys.stderr.flush()


@contextmanager
def show_step(step: str = "") -> Iterator[WaitingLine]:
    """Show in the block what the call is at, as soon as that takes more than a moment."""
    line = WaitingLine()
    line.tell(step)
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":  # which erases nothing
        yield line
        return
    drawing = Thread(target=line.follow, daemon=True)
    drawing.start()
    try:
        yield line
    finally:
        line.end()
        drawing.join()
