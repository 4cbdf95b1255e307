"""The role of an environment: where code runs that a model has written."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from swarm_bench.core.session.experiment import Program

PYTHON = "python"
"""Interpreter of the environment, as the first word of a command."""
Limit = Literal["time", "memory", "processes", "output"]
ASLEEP_SECONDS = 10.0
"""Seconds that a command may be idle longer than it may compute."""


@dataclass(frozen=True, kw_only=True)
class Code:
    """A command, and what it may take."""

    argv: tuple[str, ...]
    """The first word is a path, or `PYTHON`."""
    stdin: str = ""
    visible: tuple[Path, ...] = ()
    """Folders and files that it may read, under their own paths."""
    timeout: float
    """Seconds of processor time of all its processes together. By the clock it ends when it takes
    none of it for `ASLEEP_SECONDS` longer, and at last after `guard`: a busy machine is no fault of
    the command's."""
    memory_mb: int = 1024
    """Address space of each process, and resident memory of all of them."""
    output_bytes: int = 1 << 20
    """Most bytes of each of its two streams, and of each file that it writes."""
    processes: int = 32
    """Most processes that run at the same time."""

    @property
    def guard(self) -> float:
        """Seconds by the clock after which it ends, whatever it does."""
        return 10 * self.timeout + 30


@dataclass(frozen=True, kw_only=True)
class Execution:
    """How a command ended."""

    returncode: int | None
    """`None` where a limit ended it. A negative one is the number of a signal."""
    stopped: Limit | None
    """The limit that ended it."""
    stdout: str
    stderr: str
    seconds: float
    """Seconds by the clock, with the start of the environment."""


@runtime_checkable
class Environment(Protocol):
    """Runs code that nobody has read. Packages register theirs as `swarm_bench.environments`; it is
    made without arguments, and of the word `NAME:ARGUMENT` with what stands behind the colon."""

    name: str
    confinement: str
    """A clause for the record and the summary: what code cannot do there."""
    confines: bool
    """Whether anything keeps code from what its user may do."""

    def program(self) -> "Program":
        """Find what confines, with its version, and try it. Raises `UsageError`, which says what to
        do."""
        ...

    async def run(self, code: Code) -> Execution:
        """Run a command to its end or to a limit; nothing of it is there afterwards. Raises
        `EnvironmentFailed`."""
        ...
