"""How long a program may take: by its own processor time, whatever else the machine does."""

import select
import time

_LOOK_SECONDS = 0.1
_WINDOW_SECONDS = 5.0
"""A program that waits for the processor gets some of it in as long, however busy a machine is."""
_NOTHING = 0.001
"""Part of such a time. A program that looks at the clock now and then, and sleeps again, takes
less."""
_ASLEEP_SECONDS = 10.0
"""Seconds that a program may sleep longer than it may compute, to the end of a window."""


class Exited(Exception):
    """The other side is gone."""


class TimedOut(Exception):
    """The time is over."""


class Allowance:
    """What is left of a process's time. It is that of all its threads together; by the clock only a
    process that sleeps is stopped, and at last one that is not done in ten times as long."""

    def __init__(self, process: int, seconds: float) -> None:
        """`seconds` of processor time; what it has taken so far does not count. Raises
        `Exited`."""
        self.seconds = seconds
        self._clock = ~process << 3 | 2  # as clock_getcpuclockid() of the C library makes it
        self._began = 0.0
        self._began = self._last = self._read_seconds()
        self._guard = 10 * seconds + 30
        self._waited = self._window = self._asleep = 0.0

    def wait(self, reads: int) -> None:
        """Wait until something can be read. Raises `TimedOut` and `Exited`. A look counts as
        what it should take: a machine that stood still meanwhile is no time of the program's."""
        while not select.select([reads], [], [], _LOOK_SECONDS)[0]:
            self._check()
            self._waited += _LOOK_SECONDS
            self._window += _LOOK_SECONDS
            if self._window >= _WINDOW_SECONDS:
                self._check_sleep()
            if self._waited > self._guard:
                raise TimedOut(f"it was not done after {self._guard:g} s")
        self._check()

    def _check(self) -> None:
        if self._read_seconds() > self.seconds:
            raise TimedOut(f"it took longer than {self.seconds:g} s")

    def _check_sleep(self) -> None:
        seconds = self._read_seconds()
        if seconds - self._last < _NOTHING * self._window:
            self._asleep += self._window
        self._last, self._window = seconds, 0.0
        if self._asleep > self.seconds + _ASLEEP_SECONDS:
            raise TimedOut(f"it slept longer than {self.seconds + _ASLEEP_SECONDS:g} s")

    def _read_seconds(self) -> float:
        try:
            return time.clock_gettime(self._clock) - self._began
        except OSError:
            raise Exited from None
