"""Signals that ask us to end: raised where we are, and remembered, since Python swallows what is
raised while an object is finalised, and kills a process that is already ending."""

import atexit
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import NoReturn

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
INTERRUPTED = 130
"""The exit code."""
_signals: list[int] = []


def listen() -> None:
    """Let a signal raise `KeyboardInterrupt`, or cancel the event loop's main task, as Ctrl-C does.
    What is ignored, as under nohup, stays ignored."""
    atexit.register(_end)
    sys.excepthook = _report
    sys.unraisablehook = _report_ignored
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, raise_interrupt)


def _report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print an uncaught exception, unless it comes from an interruption: Python wraps what is
    raised while it names the members of a class."""
    if not isinstance(error.__cause__, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)


def _report_ignored(ignored: "sys.UnraisableHookArgs") -> None:
    """Print what Python ignores while it puts objects away, unless it is an interruption, which is
    remembered."""
    if not isinstance(ignored.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(ignored)


def raise_interrupt(number: int, frame: FrameType | None) -> None:
    """Handle a signal."""
    _signals.append(number)
    of_loop = signal.getsignal(signal.SIGINT)
    if not callable(of_loop) or of_loop is raise_interrupt:
        raise KeyboardInterrupt
    of_loop(signal.SIGINT, frame)


def check() -> None:
    """Raise `KeyboardInterrupt` when a signal came and was not heeded."""
    if _signals:
        raise KeyboardInterrupt


@contextmanager
def cancelling() -> Iterator[None]:
    """Let an event loop that is started in the block cancel its main task at the first signal, so
    that what runs in it ends in order; asyncio does that for Python's own handler."""
    check()
    previous = signal.getsignal(signal.SIGINT)
    if previous is not raise_interrupt:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        _signals.append(signal.SIGINT)
        raise
    finally:
        signal.signal(signal.SIGINT, previous)


@contextmanager
def restoring_handlers() -> Iterator[None]:
    """Give signals the handlers back after the block that they had before it."""
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            if signal.getsignal(number) != handler:
                signal.signal(number, handler)


def leave(code: int | str | None) -> NoReturn:
    """End with the code; after a signal as interrupted, and at once: a thread whose event loop was
    broken off would be waited for without end."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, _: _signals.append(number))
    if _signals:
        _end()
    sys.exit(code)


def _end() -> None:
    """Ignore signals at the very end, when Python would let one kill us."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    if _signals:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(INTERRUPTED)
