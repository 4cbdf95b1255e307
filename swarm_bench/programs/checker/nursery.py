"""Starts a process for each test, from one that was there before anything of the tests was read."""

import gc
import os
import resource
import select
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from swarm_bench.programs.checker.allowance import Exited
    from swarm_bench.programs.checker.confining import drop_capabilities, forbid_processes
    from swarm_bench.programs.checker.crossing import Channel
    from swarm_bench.programs.checker.outer_view import ProgramNamespace
else:
    from allowance import Exited
    from confining import drop_capabilities, forbid_processes
    from crossing import Channel
    from outer_view import ProgramNamespace

_ANSWER_SECONDS = 30
"""Seconds for an answer of a process of ours, which does next to nothing. A program may have
stopped it."""
CHANNEL = 3
"""The descriptor by which a program is asked."""
_MOST_DESCRIPTORS = 4096
NOT_STARTED = 96
"""The exit code of a child in which the program did not begin."""

Runs = Callable[[ProgramNamespace, str], None]
"""Function of a child that uses the program until it is ended, or until it ends itself."""


class Nursery:
    """The other process, as the process with the tests sees it."""

    def __init__(self, runs: Mapping[str, Runs]) -> None:
        """Start it; `runs` are what its children may do, by name."""
        parent_end, child_end = socket.socketpair()
        self.process = os.fork()
        if self.process == 0:
            parent_end.close()
            try:
                _serve(child_end, runs)
            finally:
                os._exit(0)
        child_end.close()
        self._socket, self._channel = parent_end, Channel(parent_end.fileno())

    def prepare(self, form: dict[str, Any]) -> str | None:
        """Execute what stands before the program, once for all children; says what it raised."""
        self._channel.send(form)
        raised: str | None = self._receive()
        return raised

    def start(self, reads: int, prints: int, *channel: int) -> int:
        """Start a child that has these descriptors and no others; returns its number. Raises
        `Exited`."""
        try:
            socket.send_fds(self._socket, [b"+"], [reads, prints, *channel])
        except OSError:
            raise Exited from None
        return int(self._receive())

    def fileno(self) -> int:
        """Return what can be read from once a child has ended."""
        return self._socket.fileno()

    def end(self, child: int) -> tuple[int, float]:
        """End a child if it has not; returns its exit code and its processor time. Raises
        `Exited`."""
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        self._receive()
        self._channel.send(None)
        status, seconds = self._receive()
        return os.waitstatus_to_exitcode(status), seconds

    def _receive(self) -> Any:
        if not select.select([self._socket], [], [], _ANSWER_SECONDS)[0]:
            raise Exited
        return self._channel.receive()


def _serve(connection: socket.socket, runs: Mapping[str, Runs]) -> None:
    """Start children as long as there are requests."""
    _silence()
    channel = Channel(connection.fileno())
    form = channel.receive()
    namespace = ProgramNamespace(form["name"])
    try:
        namespace.execute(form["preamble"])
        channel.send(None)
    except Exception as error:  # noqa: BLE001  # it is code of a data set
        channel.send(f"{type(error).__name__}: {error}")
    gc.freeze()  # or each child copies what it only looks at
    while True:
        request, descriptors, _, _ = socket.recv_fds(connection, 1, 3)
        if not request:
            return
        child = os.fork()
        if child == 0:
            _become(runs[form["run"]], namespace, descriptors, form)
        for descriptor in descriptors:
            os.close(descriptor)
        channel.send(child)
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        channel.send(None)
        channel.receive()  # nobody needs its number any more
        _, status, usage = os.wait4(child, 0)
        channel.send([status, usage.ru_utime + usage.ru_stime])


def _become(
    run: Runs, namespace: ProgramNamespace, descriptors: list[int], form: dict[str, Any]
) -> None:
    """Run the program in this process."""
    try:
        _confine(descriptors, form)
        namespace.enter(form["candidate"])
    except BaseException:  # noqa: BLE001  # whatever it is, it is not the program's end
        os._exit(NOT_STARTED)
    run(namespace, form["candidate"])


def _confine(descriptors: list[int], form: dict[str, Any]) -> None:
    """Keep nothing but the descriptors."""
    reads, prints, *channel = descriptors
    os.dup2(reads, 0)
    os.dup2(prints, 1)
    for number in channel:
        os.dup2(number, CHANNEL)
    os.closerange(CHANNEL + len(channel), _MOST_DESCRIPTORS)
    utf8: Any = {"encoding": "utf-8", "errors": "surrogateescape", "closefd": False}
    sys.stdin = sys.__stdin__ = open(0, **utf8)  # type: ignore[misc]  # noqa: SIM115
    sys.stdout = sys.__stdout__ = open(1, "w", **utf8)  # type: ignore[misc]  # noqa: SIM115
    _limit(resource.RLIMIT_CPU, int(form["seconds"]) + 1)
    _limit(resource.RLIMIT_FSIZE, form["output_bytes"])
    drop_capabilities()
    forbid_processes()


def _limit(kind: int, value: int) -> None:
    _, hard_limit = resource.getrlimit(kind)
    value = value if hard_limit == resource.RLIM_INFINITY else min(value, hard_limit)
    resource.setrlimit(kind, (value, value))


def _silence() -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    os.close(null)
