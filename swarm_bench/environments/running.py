"""Runs a command within its limits, whatever confines it besides."""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from shutil import which
from uuid import uuid4

import anyio

from swarm_bench.core.errors import EnvironmentFailed, ProcessLost, UsageError
from swarm_bench.core.roles.execution import ASLEEP_SECONDS, PYTHON, Code, Execution, Limit
from swarm_bench.runtime.process import Captured, Command, capture
from swarm_bench.runtime.processes.launching import descriptor_limit
from swarm_bench.runtime.processes.procfs import PAGE, TICKS, Stat
from swarm_bench.runtime.processes.trees import FAMILY

_LIMITER = "prlimit"
"""Program of util-linux that sets limits."""
_DESCRIPTORS = 256
_LOOK_SECONDS = 0.1
"""Between two looks at what a command takes; most have ended before the first."""
_MEGABYTE = 1024 * 1024
_VARIABLES: Mapping[str, str] = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}


def interpreter() -> Path:
    """Return the Python that our own environment was made from."""
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def command_of(code: Code) -> tuple[str, ...]:
    """Return the command of the code, with the interpreter in the place of its name."""
    return (str(interpreter()), *code.argv[1:]) if code.argv[0] == PYTHON else code.argv


def limiter() -> str:
    """Return the path of the program that sets limits. Raises `UsageError`."""
    if path := which(_LIMITER):
        return path
    raise UsageError(f"No code runs without {_LIMITER}, which is not there; install util-linux")


def add_limits(argv: Sequence[str], code: Code, folder: Path) -> Command:
    """Make the command of a command line, which ends in that of the code, in a folder and with the
    limits of the code."""
    line = (limiter(), *_limits(code), "--", *argv)
    return Command(argv=line, cwd=folder, env=_VARIABLES, tag=new_tag())


def new_tag() -> str:
    """Return the tag of the processes of some code."""
    return f"code-{uuid4().hex}"


def descriptors() -> int:
    """Return how many files a process of code may have open: no process is given more than we
    have."""
    return min(_DESCRIPTORS, descriptor_limit())


class Watch:
    """Looks at what all processes of a command take together: a limit of the system's is one of
    each process, or of everything that a person runs."""

    def __init__(self, code: Code, list_processes: Callable[[], list[Stat]]) -> None:
        """`list_processes` lists the processes that run."""
        self.excess: Limit | None = None
        self._code, self._look = code, list_processes
        self._stats: dict[tuple[int, int], Stat] = {}
        """Last state of every process so far."""
        self._ticks, self._asleep = -1, 0.0

    async def end_excess(self, scope: anyio.CancelScope) -> None:
        """Cancel the scope when they take too much."""
        while self.excess is None:
            await anyio.sleep(_LOOK_SECONDS)
            processes = await anyio.to_thread.run_sync(self._look)
            if len(processes) > self._code.processes:
                self.excess = "processes"
            elif self._is_late(processes):
                self.excess = "time"
            elif sum(stat.memory for stat in processes) * PAGE > self._code.memory_mb * _MEGABYTE:
                self.excess = "memory"
        scope.cancel()

    def _is_late(self, processes: Sequence[Stat]) -> bool:
        """Tell whether they have taken their processor time, or have slept for longer."""
        self._stats |= {stat.identity: stat for stat in processes}
        running = {stat.pid for stat in processes}
        # Whoever waits for a child has its time too; one that has ended and nobody waits for is
        # counted for itself.
        orphans = (process for process in self._stats.values() if process.parent not in running)
        ticks = sum(process.cpu for process in {*processes, *orphans})
        self._asleep = self._asleep + _LOOK_SECONDS if ticks == self._ticks else 0.0
        self._ticks = ticks
        timeout = self._code.timeout
        return ticks > timeout * TICKS or self._asleep > timeout + ASLEEP_SECONDS


def _list_tree(tag: str) -> list[Stat]:
    return [stat for stat, tree in FAMILY.list_members() if tree.tag == tag]


async def execute(command: Command, code: Code, watch: Watch | None = None) -> Execution:
    """Run a command, which runs the code, until the code ends or has taken too much. Raises
    `EnvironmentFailed`."""
    watch, start = watch or Watch(code, partial(_list_tree, command.tag)), anyio.current_time()
    captured: Captured | None = None
    try:
        with anyio.move_on_after(code.guard):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(watch.end_excess, tasks.cancel_scope)
                captured = await capture(command, code.stdin.encode(errors="surrogatepass"))
                tasks.cancel_scope.cancel()
    except* ProcessLost as errors:
        raise EnvironmentFailed(str(errors.exceptions[0])) from errors
    return _execution(captured, code, watch.excess, anyio.current_time() - start)


def _limits(code: Code) -> tuple[str, ...]:
    return (
        f"--as={code.memory_mb * _MEGABYTE}",
        f"--cpu={int(code.timeout) + 1}",
        f"--fsize={code.output_bytes}",
        f"--nofile={descriptors()}",
        "--core=0",
    )


def _execution(
    captured: Captured | None, code: Code, excess: Limit | None, seconds: float
) -> Execution:
    if captured is None:
        stopped = excess or "time"
        return Execution(returncode=None, stopped=stopped, stdout="", stderr="", seconds=seconds)
    full = max(len(captured.stdout), len(captured.stderr)) >= code.output_bytes
    return Execution(
        returncode=None if full else captured.returncode,
        stopped="output" if full else None,
        stdout=captured.stdout.decode(errors="replace"),
        stderr=captured.stderr.decode(errors="replace"),
        seconds=seconds,
    )
