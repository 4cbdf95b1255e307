"""When processes end, noted by a thread of its own: whoever waits for one may be late."""

import os
import select
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock, Thread


class Ending:
    """The end of one process, as `time.monotonic` has it; `None` as long as nobody saw it."""

    at: float | None = None


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


def _is_readable(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


@cache
def _clock() -> _Clock:
    return _Clock()


@contextmanager
def watch_exit(pid: int) -> Iterator[Ending]:
    """Note in the block when a child of ours ends that nobody has waited for yet."""
    with _clock().watch_exit(pid) as ending:
        yield ending
