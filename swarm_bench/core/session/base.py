"""What the sessions of all benchmarks have in common."""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    Protocol,
    Self,
    TypeVar,
)

from pydantic import Field, model_validator

from swarm_bench.core.ports import Score
from swarm_bench.core.session.audit import Key
from swarm_bench.core.status import CONSEQUENCES, Cause, Status
from swarm_bench.core.stored import Moment, Stored

Machine = dict[str, str | int | float]
"""What is known of a machine."""
EXPERIMENT_VERSION = 4
"""Version of `experiment.json`; since 2 a design stands beside the benchmark, which older versions
would read as `compare`; since 3 a task can have a commit, which they would ignore; since 4 a run
can have several blocks, which they would run as one."""
SLICE_VERSION = 5
"""Version where it is a slice: older versions would run the whole plan."""
SCHEMA_VERSION = 1
SchemaVersion = Annotated[int, Field(le=SCHEMA_VERSION)]
"""Version of a line: one that a newer version wrote is not read as if it were of this one."""
MAX_TRIALS = 100_000
"""Most trials of a session: each is a process, and a line that the summary reads."""
RULES = "rules"
"""Scout's model, in records that do not say `fixed_rules`."""
SESSION = re.compile(r"[\w.-]{1,64}")
"""Pattern of the id of a session."""


Source = Literal["command line", "session", "environment", ".env", "file", "default"]
"""Place where an option or a property was set."""


class Setting(Stored):
    """One resolved option and the place it came from."""

    value: Any
    source: Source | Literal["report"]


class Case(Stored):
    """What every arm is asked."""

    id: str
    title: str


C = TypeVar("C", bound=Case)
T = TypeVar("T")


class Slice(Stored):
    """A part of the plan of a session, which runs on a machine of its own."""

    number: int = Field(ge=1)
    total: int = Field(ge=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.number > self.total:
            raise ValueError(f"there is no slice {self}")
        return self

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what `--slice` says: `2/6`."""
        number, _, total = text.partition("/")
        return cls(number=int(number), total=int(total))

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"

    def select(self, items: Sequence[T]) -> tuple[T, ...]:
        """Return its items: slices are dealt one after the other, in turns."""
        return tuple(items[self.number - 1 :: self.total])

    def describe(self) -> str:
        """Say what a session of it is."""
        return (
            f"This is slice {self} of a plan: its figures are of its part alone, and swarm-bench "
            "merge makes one session of all slices"
        )


class MergedSlice(Slice):
    """A slice that was merged into a session."""

    session: str
    """Id of the session that ran it, which its records name."""
    machine: Machine = {}


def describe_slices(merged: Sequence[MergedSlice]) -> str:
    """Say which slices a session was merged from, and what they ran on."""
    total, numbers = merged[0].total, {part.number for part in merged}
    machine_text = count_machines(part.machine for part in merged)
    missing = [str(number) for number in range(1, total + 1) if number not in numbers]
    without = f" (without {', '.join(missing)})" if missing else ""
    return (
        f"This session was merged from {len(numbers)} of {total} slices{without}. They ran on: "
        f"{machine_text}"
    )


def count_machines(machines: Iterable[Mapping[str, str | int | float]]) -> str:
    """Say how many machines of which kind there are."""
    kinds = Counter(map(_describe_machine, machines))
    return "; ".join(f"{count} × {machine}" for machine, count in kinds.items())


def _describe_machine(machine: Mapping[str, str | int | float]) -> str:
    memory = machine.get("memory_bytes")
    parts = (
        machine.get("system"),
        machine.get("architecture"),
        f"{machine.get('processors', '?')} processors",
        f"{float(memory) / 2**30:.0f} GiB" if memory else None,
    )
    return ", ".join(str(part) for part in parts if part)


@dataclass(frozen=True, kw_only=True)
class Trial(Generic[C]):
    """One case in one arm in one run: it is run once, and has one record in the end."""

    id: str
    """Stable: the same run, arm and case have the same one in every session."""
    run: int
    arm: str
    case: C
    number: int
    """Number that tells trials of one arm, case and run apart, from 1."""


@dataclass(frozen=True, kw_only=True)
class Group(Generic[C]):
    """The trials of one arm in one run that run together."""

    id: str
    run: int
    arm: str
    trials: tuple[Trial[C], ...]
    commit: str | None = None
    """Commit that its cases are asked on; `None` for what the session copied when it began."""

    def drop_finished(self, finished: Collection[str]) -> Self:
        """Return the group with the trials that are still to run."""
        trials = tuple(trial for trial in self.trials if trial.id not in finished)
        return replace(self, trials=trials)


class BaseExperiment(Stored):
    """What decides what runs, in any benchmark. Stored as `experiment.json`."""

    schema_version: int = EXPERIMENT_VERSION
    session: str
    created_at: Moment
    sealed: bool = False
    """Whether each line of a trial has a checksum: an older swarm-bench wrote none."""
    benchmark: str
    benchmark_version: int = 1
    runs: int
    seed: int
    order: tuple[tuple[str, ...], ...]
    """The arms of each block, in the order they take their turn; blocks stand run by run."""
    concurrency: int
    """Agents of one swarm, or arms of one run, that run at the same time."""
    machine: Machine = {}
    versions: dict[str, str] = {}
    settings: dict[str, Setting] = {}
    slice: Slice | None = Field(default=None, exclude_if=lambda value: value is None)
    """The part of the plan that this session runs; `None` for all of it."""
    merged: tuple[MergedSlice, ...] = Field(default=(), exclude_if=lambda value: not value)
    """The slices that it was merged from."""

    nodes: dict[str, Machine] = Field(default={}, exclude_if=lambda value: not value)
    """Machines that its trials ran on where that is not `machine`, by the name that records have
    for them."""

    @property
    def version(self) -> int:
        """The version of the file: the oldest that reads it as it is."""
        return SLICE_VERSION if self.slice else EXPERIMENT_VERSION

    @property
    def slice_notes(self) -> tuple[str, ...]:
        """Sentences on the slice that it is, and on those that it was merged from."""
        return (
            *((self.slice.describe(),) if self.slice else ()),
            *((describe_slices(self.merged),) if self.merged else ()),
        )

    def note_nodes(self, nodes: Mapping[str, Machine]) -> Self:
        """Return the experiment with the machines that its trials run on, by name."""
        return self.model_copy(update={"nodes": {**self.nodes, **nodes}})

    def share(self, limit: float | None) -> float | None:
        """Return what this session may spend of a limit: the sessions of other slices do not know
        what it costs."""
        return limit / self.slice.total if limit is not None and self.slice else limit

    def explain_share(self, limit: float | None) -> tuple[str, ...]:
        """Say what a slice may spend of a limit, where there are both."""
        share = self.share(limit)
        if share is None or self.slice is None:
            return ()
        return (f"--max-cost {limit:g}: slice {self.slice} may spend ${share:,.2f} of it",)

    if TYPE_CHECKING:  # the swarm has modes and tasks, under these names in its files

        @property
        def arms(self) -> tuple[str, ...]:
            """What is compared; the first one is the reference of the ratios."""

        @property
        def cases(self) -> Sequence[Case]: ...


class RecordView(Protocol):
    """The keys that the records of all benchmarks have; read only."""

    @property
    def arm(self) -> str: ...
    @property
    def case(self) -> str: ...
    @property
    def number(self) -> int:
        """What tells trials of one arm, case and run apart, from 1."""
        ...

    @property
    def run(self) -> int: ...
    @property
    def trial(self) -> str | None: ...
    @property
    def attempt(self) -> int: ...
    @property
    def status(self) -> Status | None: ...
    @property
    def cause(self) -> Cause | None: ...
    @property
    def detail(self) -> str | None: ...
    @property
    def node(self) -> str | None:
        """Name of the machine that it ran on; `None` for that of the session."""
        ...

    @property
    def started_at(self) -> datetime | None: ...
    @property
    def ended_at(self) -> datetime | None: ...
    @property
    def wall_seconds(self) -> float | None: ...
    @property
    def input_tokens(self) -> int | None: ...
    @property
    def cache_read(self) -> int | None: ...
    @property
    def cache_create(self) -> int | None: ...
    @property
    def output_tokens(self) -> int | None: ...
    @property
    def total_tokens(self) -> int | None: ...
    @property
    def effective_tokens(self) -> int | None: ...
    @property
    def cost(self) -> float | None: ...
    @property
    def is_billed(self) -> bool:
        """Return whether the user may have been charged what it cost."""
        ...

    @property
    def scores(self) -> Mapping[str, Score | list[int]] | None: ...
    @property
    def missing_scores(self) -> Mapping[str, str] | None: ...
    @property
    def score_failures(self) -> Mapping[str, str] | None: ...


NodeName = Annotated[str | None, Field(exclude_if=lambda name: name is None)]
"""Name of the machine that something ran on; without the key, that of the session."""


class StoredRecord(Stored):
    """What the lines of the trials of all benchmarks are. Their keys `schema_version`, `trial`,
    `attempt` and `cause` stand in this order, and no other value between them is nested: the engine
    looks for these four in a large session, and parses no line that has them so."""

    labels: ClassVar[frozenset[str]] = frozenset()
    """Keys that change when the group of the trial has ended, and its record is appended again."""
    read_anew: ClassVar[frozenset[Cause]] = frozenset()
    """Causes that mean another one by now in some lines of earlier versions, so that these are
    parsed in full."""
    own_scores: ClassVar[type[Stored]] = Stored
    """The scores that have keys of their own; all others stand in `scores`."""

    if TYPE_CHECKING:  # real fields would come first in every line, and the order of keys is fixed

        @property
        def trial(self) -> str | None:
            """Stable id: the same run, arm and case have the same one in every session."""

        @property
        def attempt(self) -> int: ...

        @property
        def cause(self) -> Cause | None: ...

    @property
    def key(self) -> Key:
        """What tells its line from others."""
        return self.trial, self.attempt

    @property
    def conclusive(self) -> bool:
        """Whether it says something about its arm, so that the trial need not run again."""
        return self.cause is not None and not CONSEQUENCES[self.cause].rerun


def stable_id(*parts: object) -> str:
    """Return the id of a trial (run, mode, agent, task id) or of a swarm: equal parts, equal id."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:12]
