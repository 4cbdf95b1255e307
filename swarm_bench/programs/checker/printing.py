"""Runs a whole program that reads and prints: what it prints is compared elsewhere."""

import atexit
import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from swarm_bench.programs.checker.allowance import Allowance, Exited, TimedOut
    from swarm_bench.programs.checker.nursery import NOT_STARTED, Nursery
    from swarm_bench.programs.checker.outer_view import ProgramNamespace
    from swarm_bench.programs.checker.places import Folders
else:
    from allowance import Allowance, Exited, TimedOut
    from nursery import NOT_STARTED, Nursery
    from outer_view import ProgramNamespace
    from places import Folders

_NOT_COMPILED = 97
"""The exit code of a program that is no Python."""


class PrintTests:
    """The tests: what each run of the program reads."""

    name, how = "__main__", "printing"

    def __init__(self, nursery: Nursery, job: dict[str, Any], folders: Folders) -> None:
        self._nursery, self._job, self._places = nursery, job, folders
        self.tests: Sequence[str] = job["inputs"]

    def run(self, test: str) -> dict[str, Any]:
        """Run the program on an input, and say what it printed and how it ended. Its streams are
        files, which no other process has."""
        reads, prints = self._places.open_streams()
        try:
            with open(reads, "wb", closefd=False) as file:
                file.write(test.encode(errors="surrogatepass"))
            os.lseek(reads, 0, os.SEEK_SET)
            child = self._nursery.start(reads, prints)
            return self._wait(child, prints)
        finally:
            for descriptor in (reads, prints):
                os.close(descriptor)

    def _wait(self, child: int, prints: int) -> dict[str, Any]:
        late = ""
        try:
            try:
                Allowance(child, self._job["seconds"]).wait(self._nursery.fileno())
            except TimedOut as error:
                late = str(error)
            code, seconds = self._nursery.end(child)
        except Exited:  # the next test needs another nursery
            detail = "the program ended its checker"
            return {"end": "exited", "detail": detail, "seconds": self._job["seconds"]}
        size = os.fstat(prints).st_size
        result = {"end": "ended", "detail": "", "seconds": seconds}
        if late or code == -signal.SIGXCPU or seconds > self._job["seconds"]:
            return {**result, "end": "timeout", "detail": late}
        if code == NOT_STARTED:
            return {**result, "end": "exited", "detail": "the program could not be started"}
        if code:
            end = "uncompiled" if code == _NOT_COMPILED else "failed"
            return {**result, "end": end, "detail": f"exit code {code}"}
        if size >= self._job["output_bytes"]:
            return {**result, "end": "output"}
        return {**result, "printed": os.pread(prints, size, 0)}


def run_program(namespace: ProgramNamespace, program: str) -> None:
    """Run the program. To exit is no failure."""
    try:
        code = namespace.compile(program)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        os._exit(_NOT_COMPILED)
    try:
        with contextlib.suppress(SystemExit):
            exec(code, namespace.names)
        _finish(namespace, program)
    finally:
        os._exit(1)


def _finish(namespace: ProgramNamespace, program: str) -> None:
    """Do what an interpreter does at its end, but for taking itself apart."""
    if "threading" in sys.modules:
        sys.modules["threading"]._shutdown()  # waits for threads
    atexit._run_exitfuncs()
    # The program may have put anything in its place, or nothing.
    prints = getattr(sys, "stdout", None)
    if prints is not None and not getattr(prints, "closed", False):
        prints.flush()
    namespace.leave(program)
    with contextlib.suppress(ValueError):  # it is closed
        print(end="", file=sys.__stdout__, flush=True)
    os._exit(0)
