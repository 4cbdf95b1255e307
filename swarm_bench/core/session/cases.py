"""Benchmarks whose trials are pairs of an arm and a case: the experiment, what runs, what is
delivered of it, and the line that is stored."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Self, TypeVar

from pydantic import BaseModel, Field, SecretStr

from swarm_bench.core.figures import LARGEST
from swarm_bench.core.outcome import Usage
from swarm_bench.core.ports import Score
from swarm_bench.core.session import base
from swarm_bench.core.session.base import (
    MAX_TRIALS,
    SCHEMA_VERSION,
    SESSION,
    BaseExperiment,
    Group,
    NodeName,
    SchemaVersion,
    Source,
    StoredRecord,
    Trial,
)
from swarm_bench.core.session.designs import MARGIN
from swarm_bench.core.session.preregistration import VERDICT_VERSION, Sealed
from swarm_bench.core.status import Cause, Status
from swarm_bench.core.stored import Counts, Moment, Stored, StoredScore

Count = Annotated[int, Field(ge=0, le=LARGEST)] | None
"""`None` where it is missing."""
Amount = Annotated[float, Field(ge=0, le=LARGEST)] | None
"""`None` where it is missing."""
LONGEST_ANSWER = 1 << 20
"""Characters that are stored and scored."""
_NAME = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]{1,200}")
"""Pattern of the name of an arm or a case: it is shown in one line."""


class Case(base.Case):
    """What every arm is asked."""

    group: str | None = None
    """Cases of one group are not independent of each other; `None`: it is one by itself."""
    part: str | None = None
    """Part of the data to which it belongs; in older sessions the records say it."""


class NamedBeforehand(Sealed):
    """What was named before the first trial."""

    primary: str
    margin: float
    arms: tuple[str, ...]
    cases: tuple[str, ...]
    """Their ids."""
    runs: int


class CaseExperiment(BaseExperiment):
    """The experiment of a benchmark whose trials are pairs of an arm and a case."""

    benchmark_class: str | None = None
    """Its class as `module:Class`, where that was typed: no package may register it."""
    concurrency: int = Field(ge=1)
    arms: tuple[str, ...]
    cases: tuple[Case, ...] = Field(min_length=1)
    properties: dict[str, Any] = {}
    """Properties of the benchmark, resolved."""
    property_sources: dict[str, Source] = {}
    """Place where each property was set; a property that is not in it has its default."""
    primary: str | None = None
    """The key of the metric that the verdict is on. `None` in older sessions: the first one that
    the benchmark compares; and where it compares none, so that there is no verdict."""
    margin: float = Field(default=MARGIN, gt=0, le=1)
    """A difference in it that is of no importance: a share of what is compared by ratios, otherwise
    a difference."""
    beforehand: NamedBeforehand | None = None
    """`None` in older sessions, and without a verdict."""

    def preregister(self) -> Self:
        """Name what the verdict is on, before there is a trial."""
        if self.primary is None:
            return self
        beforehand = NamedBeforehand(
            verdict_version=VERDICT_VERSION,
            primary=self.primary,
            margin=self.margin,
            arms=self.arms,
            cases=tuple(case.id for case in self.cases),
            runs=self.runs,
        )
        return self.model_copy(update={"beforehand": beforehand.add_checksum()})

    def count_runs(self, arm: str) -> int:
        """Return in how many runs an arm is asked."""
        return self.runs

    def cut_to_slice(self) -> Self:
        """Return the experiment as if its plan had no other cases than those of its slice. What was
        named beforehand is cut alike, unless it was changed."""
        part, declared = self.slice, self.beforehand
        if part is None:
            return self
        if declared is not None and declared.is_whole:
            cases = {"cases": part.select(declared.cases)}
            declared = declared.model_copy(update=cases).add_checksum()
        update = {"cases": part.select(self.cases), "beforehand": declared, "slice": None}
        return self.model_copy(update=update)

    @property
    def typed_benchmark(self) -> str:
        """What names the benchmark on a command line."""
        return self.benchmark_class or self.benchmark

    @property
    def started_words(self) -> Mapping[str, tuple[str, ...]]:
        """Words that name what a continued session starts, by the option that had them."""
        return {}

    @property
    def arm_properties(self) -> tuple[Mapping[str, Any], ...]:
        """Properties that differ between the arms."""
        return ()

    @property
    def chosen_afterwards(self) -> bool:
        """Whether the verdict is on something else than was named."""
        beforehand = self.beforehand
        return beforehand is not None and (beforehand.primary, beforehand.margin) != (
            self.primary,
            self.margin,
        )

    def check(self) -> None:
        """Raise `ValueError` for what no session can be: a benchmark, or a file, may say anything.
        Its text follows the name of either."""
        ids = [case.id for case in self.cases]
        if not self.arms or len(set(self.arms)) < len(self.arms):
            raise ValueError("needs arms, with different names")
        if not ids or len(set(ids)) < len(ids):
            raise ValueError("needs cases, with different ids")
        if not all(map(_NAME.fullmatch, [*self.arms, *ids])):
            raise ValueError("has a name of an arm or a case that cannot be shown in one line")
        if not SESSION.fullmatch(self.session):
            raise ValueError("has an id that cannot name a session")
        fits = len(self.order) == self.runs
        if not fits or any(sorted(order) != sorted(self.arms) for order in self.order):
            raise ValueError("has an order that does not fit its arms and runs")
        if len(ids) * sum(map(self.count_runs, self.arms)) > MAX_TRIALS:
            raise ValueError(f"has more than {MAX_TRIALS:,} trials")


E = TypeVar("E", bound=CaseExperiment)


def select_keys(properties: BaseModel) -> dict[str, str]:
    """Return the properties that are keys, as a job has them."""
    values = {name: getattr(properties, name) for name in type(properties).model_fields}
    return {k: v.get_secret_value() for k, v in values.items() if isinstance(v, SecretStr)}


CaseTrial = Trial[Case]
CaseGroup = Group[Case]
"""The cases of one arm in one run."""


@dataclass(frozen=True, kw_only=True)
class CaseJob:
    """A group as it is given to be run: plain data."""

    group: CaseGroup
    properties: dict[str, Any]
    """Properties of the benchmark, resolved."""


@dataclass(frozen=True, kw_only=True)
class CaseEnded:
    """A trial that has ended. What it did not say is `None`."""

    trial: CaseTrial
    cause: Cause
    detail: str | None = None
    started_at: Moment | None = None
    ended_at: Moment | None = None
    wall_seconds: float | None = None
    """`None`: from the start to the end, where both are known."""
    answer: str | None = None
    usage: Usage = Usage()
    cost: float | None = None
    """US dollars."""
    figures: Mapping[str, float | None] = field(default_factory=dict)
    """Figures that the benchmark measured besides, by its own keys."""
    scores: Mapping[str, Score | list[int]] | None = None
    """Scores that the benchmark computed itself; `None` where scorers do it, or there are none."""
    own: Stored | None = None
    """The keys that only the records of its kind of benchmark have."""


@dataclass(frozen=True, kw_only=True)
class CaseStarted:
    """A trial that starts."""

    trial: CaseTrial


@dataclass(frozen=True, kw_only=True)
class JudgeAsked:
    """A request to the judge of a trial that is about to be sent, from where nobody keeps the
    budget."""

    trial: CaseTrial
    max_cost: Annotated[float, Field(ge=0, le=LARGEST)]
    """Highest possible cost, in US dollars."""


CaseDelivery = CaseStarted | CaseEnded | JudgeAsked
Deliver = Callable[[CaseDelivery], Awaitable[None]]
"""Function that delivers, and returns once the delivery is stored. Raises `StoreError`."""


class CaseRecord(StoredRecord):
    """One line of `metrics.jsonl` in a benchmark whose trials are pairs of an arm and a case."""

    arm: str
    case: str
    number: int
    """Number of the case, from 1."""
    run: int
    schema_version: SchemaVersion = SCHEMA_VERSION
    session: str
    trial: str
    """Stable id: the same run, arm and case have the same one in every session."""
    attempt: int
    status: Status
    cause: Cause
    detail: str | None = None
    started_at: Moment | None = None
    ended_at: Moment | None = None
    wall_seconds: Amount = None
    input_tokens: Count = None
    cache_read: Count = None
    cache_create: Count = None
    output_tokens: Count = None
    total_tokens: Count = None
    """Reported tokens: input + cache creation + output."""
    effective_tokens: Count = None
    """Reported tokens + cache read."""
    cost: Amount = None
    """US dollars."""
    answer: str | None = None
    figures: dict[str, Annotated[float, Field(ge=-LARGEST, le=LARGEST)] | None] = {}
    """Figures that the benchmark measured besides, by its own keys."""
    scores: dict[str, StoredScore | Counts] | None = None
    """Scores from the scorers, under the keys that they state; `None` where one failed."""
    missing_scores: dict[str, str] | None = None
    """Reason why a score could not be computed, by its key."""
    score_failures: dict[str, str] | None = None
    """Reason why the scores of a scorer are missing, by its name."""
    node: NodeName = None

    @property
    def is_billed(self) -> bool:
        """Return whether the user may have been charged what it cost."""
        return True

    @property
    def scoring_cost(self) -> float:
        """US dollars that scoring took, which is no cost of the arm."""
        return 0.0


R = TypeVar("R", bound=CaseRecord)
