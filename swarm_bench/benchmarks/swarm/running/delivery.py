"""Plain data that crosses between the runner of a swarm and its store."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from swarm_bench.benchmarks.swarm.run_plan import Swarm, SwarmTrial
from swarm_bench.core.outcome import BYTES_AS_BASE64, Outcome, StopReason
from swarm_bench.core.session.records import Measurements, Rehearsed, SwarmRecord
from swarm_bench.core.treatment.overhead import Overhead
from swarm_bench.engine.budget import Budget
from swarm_bench.engine.executor import Executor


@dataclass(frozen=True, kw_only=True)
class SwarmJob:
    """A swarm as it is given to be run."""

    swarm: Swarm
    attempts: Mapping[str, int]
    """Number of earlier attempts at each trial, by its id."""
    overhead: Overhead | None = None
    """Overhead of its mode as far as it is known, when the empty prompt is due."""
    budget: Budget | None = None
    """`None` when the session has no limit of its cost."""


@dataclass(frozen=True, kw_only=True)
class ProcessEnd:
    """How the process of an agent ended."""

    returncode: int | None = None
    """Return code of the process; `None` when its end was not observed."""
    stopped: StopReason | None = None
    turn_limit: int | None = None
    """Limit of turns, where we counted the turns and kept the budget."""

    @property
    def exit_code(self) -> int | None:
        """Return the code with which the program ended by itself, or by a limit; `None` for a
        program that had already answered, whose code says nothing of its end."""
        return None if self.stopped == "answered" else self.returncode


@dataclass(frozen=True, kw_only=True)
class Execution:
    """A trial that has ended: what the agent left, and what was measured of it. Its output stands
    in the files of its trial (`Artefacts`)."""

    __pydantic_config__ = BYTES_AS_BASE64

    trial: SwarmTrial
    outcome: Outcome
    measured: Measurements
    prompt: str
    workspace: str
    """Path of the workspace as the agent saw it: its answer may name files by it."""
    program_version: str | None
    """Version that the program reported when it was asked, before the session."""
    rehearsed: Rehearsed = Rehearsed()
    outside: tuple[str, ...] = ()
    """Sentences on what the agent reached apart from its servers."""
    answers: tuple[str, ...] = ()
    """Places where the agent may have read the answer, as sentences."""
    replayed: str | None = None
    """Id of the session whose recording was played."""
    process: ProcessEnd | None = None
    """`None` when none ran."""
    leaves: Mapping[str, bytes] = field(default_factory=dict)
    """Files that its adapter read in its home, by their path there, when they are to be kept."""


@dataclass(frozen=True, kw_only=True)
class SwarmResult:
    """What happened around the agents of a swarm; the last of its deliveries."""

    record: SwarmRecord
    """Record of the swarm before its counters were compared with the transcripts."""
    overhead: Overhead | None = None
    """Overhead of its mode by the empty prompt, when it was asked."""


Delivery = Execution | SwarmResult
SwarmExecutor = Executor[SwarmJob, Delivery]
Deliver = Callable[[Delivery], Awaitable[None]]
"""Function that delivers, and returns once the delivery is stored. Raises `StoreError`."""
