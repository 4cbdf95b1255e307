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
    from swarm_bench.programs.checker.nursery import Nursery
    from swarm_bench.programs.checker.surroundings import Surroundings
else:
    from allowance import Allowance, Exited, TimedOut
    from nursery import Nursery
    from surroundings import Surroundings

_NOT_COMPILED = 97
"""The exit code of a program that is no Python."""


class Printing:
    """The tests: what each run of the program reads."""

    name, how = "__main__", "printing"

    def __init__(self, nursery: Nursery, job: dict[str, Any]) -> None:
        self._nursery, self._job = nursery, job
        self.each: Sequence[str] = job["inputs"]

    def run(self, test: str) -> dict[str, Any]:
        """Run the program on an input, and say what it printed and how it ended. Its streams are
        files, which nobody else has."""
        reads, prints = (os.memfd_create(name) for name in ("input", "output"))
        try:
            with open(reads, "wb", closefd=False) as file:
                file.write(test.encode(errors="surrogatepass"))
            os.lseek(reads, 0, os.SEEK_SET)
            child = self._nursery.start(reads, prints)
            return self._ended(child, prints)
        finally:
            for descriptor in (reads, prints):
                os.close(descriptor)

    def _ended(self, child: int, prints: int) -> dict[str, Any]:
        late = ""
        try:
            try:
                Allowance(child, self._job["seconds"]).wait(self._nursery.fileno())
            except TimedOut as error:
                late = str(error)
            code, seconds = self._nursery.end(child)
        except Exited:  # the next test needs another nursery
            return {"end": "exited", "detail": "the program ended its checker", "seconds": 0.0}
        size = os.fstat(prints).st_size
        result = {"end": "ended", "detail": "", "seconds": seconds}
        if late or code == -signal.SIGXCPU or seconds > self._job["seconds"]:
            return {**result, "end": "timeout", "detail": late}
        if code:
            end = "uncompiled" if code == _NOT_COMPILED else "failed"
            return {**result, "end": end, "detail": f"exit code {code}"}
        if size >= self._job["output_bytes"]:
            return {**result, "end": "output"}
        return {**result, "printed": os.pread(prints, size, 0)}


def printing(surroundings: Surroundings, program: str) -> None:
    """Run the program. To exit is no failure."""
    try:
        code = surroundings.compiled(program)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        os._exit(_NOT_COMPILED)
    try:
        with contextlib.suppress(SystemExit):
            exec(code, surroundings.names)
        _finish(surroundings.names)
    finally:
        os._exit(1)


def _finish(names: dict[str, Any]) -> None:
    """Do what an interpreter does at its end, but for taking itself apart: that would take twice as
    long as all else."""
    if "threading" in sys.modules:
        sys.modules["threading"]._shutdown()  # waits for threads
    atexit._run_exitfuncs()
    if sys.stdout is not None and not getattr(sys.stdout, "closed", False):
        sys.stdout.flush()
    names.clear()  # files are closed, and objects may have last words
    with contextlib.suppress(ValueError):  # it is closed
        print(end="", file=sys.__stdout__, flush=True)
    os._exit(0)
