"""Stores what the groups of a session deliver: a line for each trial."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

import anyio

from swarm_bench.core.errors import HarnessError, SwarmBenchError
from swarm_bench.core.events import Emit, TrialEnded, TrialStarted, WarningRaised
from swarm_bench.core.ports import ScoreContext, Scorer
from swarm_bench.core.roles.executor import Deliver
from swarm_bench.core.session.base import BaseExperiment, C, Group, RecordView
from swarm_bench.core.session.cases import (
    LONGEST_ANSWER,
    Case,
    CaseDelivery,
    CaseEnded,
    CaseExperiment,
    CaseJob,
    CaseRecord,
    CaseStarted,
    CaseTrial,
    JudgeAsked,
)
from swarm_bench.core.status import CONSEQUENCES, Cause
from swarm_bench.engine.caps import LONGEST_DETAIL, shorten
from swarm_bench.engine.folder import Folder
from swarm_bench.engine.plan import Block, select_part
from swarm_bench.engine.scoring import ScoringResult, score
from swarm_bench.runtime.sink import clean_value

J = TypeVar("J")
"""A job: a group as an executor is given it."""
D = TypeVar("D")
"""Type of what is delivered of a group."""
Line = TypeVar("Line", bound=RecordView)


@dataclass(frozen=True, kw_only=True)
class GroupStore(Generic[J, D]):
    """Stores what one group delivers."""

    job: J
    """The group as an executor is given it."""
    keep: Deliver[D]
    """Stores a delivery. Raises `StoreError`, and the error with which the session ends at once."""
    check: Callable[[], None] = lambda: None
    """Raises the error with which the session must end after this group, if there is one."""


@dataclass(frozen=True, kw_only=True)
class Store(Generic[C, J, D]):
    """The folder of a session, and what makes its lines."""

    experiment: BaseExperiment
    folder: Folder[Any, Any]
    to_continue: str
    """The command that continues the session."""
    scorers: tuple[Scorer, ...] = ()
    emit: Emit
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Values that must not reach a file."""
    lost_trials: set[str] = field(default_factory=set)
    """Ids of the trials that were lost with their node."""
    scoring: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(2))
    """How many threads score at a time: the loop must go on."""

    @property
    def has_limit(self) -> bool:
        """Whether the session must not cost more than a limit."""
        return False

    @cached_property
    def attempts(self) -> Mapping[str, int]:
        """How often each trial was tried before this call, by its id."""
        return self.folder.records.count_attempts()

    def forget_attempts(self) -> None:
        """Have the attempts counted again: some of this call were set aside."""
        self.__dict__.pop("attempts", None)

    def turns(self, block: Block[C]) -> Iterator[Block[C]]:
        """Yield the parts in which a block is to run, one after the other. Raises the error with
        which the session must end before one."""
        yield block

    def make_group_store(self, group: Group[C], node: str | None = None) -> GroupStore[J, D]:
        """Make what stores the deliveries of one group, which runs on that node. Raises the error
        with which the session must end before it, if there is one."""
        raise NotImplementedError

    async def append(self, make: Callable[[], tuple[Line, Sequence[str]]]) -> Line:
        """Store the record that this makes, with what went wrong, in a thread: answers can be
        long. Raises `StoreError`."""

        def write() -> tuple[Line, Sequence[str]]:
            record, troubles = make()
            self.folder.records.append(record)
            return record, troubles

        record, troubles = await anyio.to_thread.run_sync(write, limiter=self.scoring)
        for problem in troubles:
            self.emit(WarningRaised(message=problem))
        if record.cause is Cause.NODE_LOST and record.trial is not None:
            self.lost_trials.add(record.trial)
        self.emit(TrialEnded(record=record))
        return record


async def _start_at_once(trial: CaseTrial) -> None: ...


async def _ask_at_once(trial: str, max_cost: float) -> None: ...


@dataclass(frozen=True, kw_only=True)
class CaseStore(Store[Case, CaseJob, CaseDelivery]):
    """Makes a scored line of what the trials of pairs of an arm and a case deliver."""

    experiment: CaseExperiment
    properties: dict[str, Any] = field(repr=False)
    """Properties of its benchmark, with what is secret."""
    ending: Callable[[CaseRecord], SwarmBenchError | None] = lambda record: None
    """Returns the error with which a trial ends the session."""
    starting: Callable[[CaseTrial], Awaitable[None]] = _start_at_once
    """Waits until a trial may start. Raises the error with which the session ends instead."""
    judging: Callable[[str, float], Awaitable[None]] = _ask_at_once
    """Takes the id of a trial, and the most that a request to its judge can cost. Raises the error
    with which the session ends instead."""
    cases_of_turn: int | None = None
    """How many the arms take turns by, where the money may end before the cases."""

    def turns(self, block: Block[Case]) -> Iterator[Block[Case]]:
        """Yield the block as a whole, or a few cases of all arms at a time: then money that ends
        before the cases has bought a comparison of fewer. What a trial costs is looked at where it
        runs."""
        if self.cases_of_turn is None or len(block.groups) < 2:
            yield block
            return
        trials = [trial for group in block.groups for trial in group.trials]
        cases = [*dict.fromkeys(trial.case.id for trial in trials)]
        for first in range(0, len(cases), self.cases_of_turn):
            turn = {*cases[first : first + self.cases_of_turn]}
            yield select_part(block, {trial.id for trial in trials if trial.case.id in turn})

    def make_group_store(
        self, group: Group[Case], node: str | None = None
    ) -> GroupStore[CaseJob, CaseDelivery]:
        """Make what stores the deliveries of one group."""
        job, pending = CaseJob(group=group, properties=self.properties), set(group.trials)

        async def keep(delivery: CaseDelivery) -> None:
            if delivery.trial not in pending:
                raise HarnessError(
                    f"What ran the group delivered the trial {delivery.trial.id!r}, which has "
                    "ended, or is none of it as it was planned; end what answers in its place"
                )
            ended = {delivery.trial} if isinstance(delivery, CaseEnded) else set()
            pending.difference_update(ended)
            try:
                await self.keep(delivery, node)
            except Exception:  # nothing was stored of it
                pending.update(ended)
                raise

        return GroupStore(job=job, keep=keep)

    def clean(self, delivery: CaseEnded) -> CaseEnded:
        """Return what may be sent to whoever stores it, without secrets. Raises what making a line
        of it does."""
        self._make_line(delivery, None)
        fields = delivery.own
        if fields is not None:
            dumped = fields.model_dump(mode="json")
            values = {name: clean_value(value, self.secrets) for name, value in dumped.items()}
            fields = type(fields).model_validate(values)
        return replace(clean_value(delivery, self.secrets), trial=delivery.trial, own=fields)

    async def keep(self, delivery: CaseDelivery, node: str | None = None) -> None:
        """Score the answer, and append the line. Raises `StoreError`, and the error with which the
        session ends."""
        trial = delivery.trial
        if isinstance(delivery, JudgeAsked):
            await self.judging(trial.id, delivery.max_cost)
            return
        if isinstance(delivery, CaseStarted):
            await self.starting(trial)
            self.emit(
                TrialStarted(
                    run=trial.run,
                    arm=trial.arm,
                    number=trial.number,
                    case=trial.case.title,
                    node=node,
                )
            )
            return
        record = await self.append(lambda: self._make_line(delivery, node))
        if (error := self.ending(record)) is not None:
            raise error

    def _make_line(self, delivery: CaseEnded, node: str | None) -> tuple[CaseRecord, Sequence[str]]:
        """Take out what must not be stored, and score the rest. A key of its kind of benchmark may
        be spelt like one of the secrets."""
        clean = replace(clean_value(delivery, self.secrets), trial=delivery.trial)
        result = _limit(clean)
        scored, own_fields = self._score(result), {"node": node}
        kind: type[CaseRecord] = CaseRecord
        if delivery.own is not None:
            dumped = delivery.own.model_dump(mode="json")
            own_fields |= {name: clean_value(value, self.secrets) for name, value in dumped.items()}
            kind = self.folder.record
        return self._record(kind, result, scored, own_fields), scored.troubles

    def _score(self, result: CaseEnded) -> ScoringResult:
        if result.answer is None or result.cause is not Cause.FINISHED:
            return ScoringResult()
        context = ScoreContext(text=result.answer, workspace="", files=frozenset())
        return score(self.scorers, context, self.secrets, self.folder.record)

    def _record(
        self,
        kind: type[CaseRecord],
        ended: CaseEnded,
        scored: ScoringResult,
        own: Mapping[str, Any],
    ) -> CaseRecord:
        """Make the record, with the keys of its own kind of benchmark."""
        trial, usage = ended.trial, ended.usage
        scores = scored.scores if ended.scores is None else ended.scores
        return kind(
            arm=trial.arm,
            case=trial.case.id,
            number=trial.number,
            run=trial.run,
            session=self.experiment.session,
            trial=trial.id,
            attempt=self.attempts.get(trial.id, 0) + 1,
            status=CONSEQUENCES[ended.cause].status,
            cause=ended.cause,
            detail=ended.detail,
            started_at=ended.started_at,
            ended_at=ended.ended_at,
            wall_seconds=_find_seconds(ended),
            input_tokens=usage.input,
            cache_read=usage.cache_read,
            cache_create=usage.cache_create,
            output_tokens=usage.output,
            total_tokens=usage.reported,
            effective_tokens=usage.effective,
            cost=ended.cost,
            answer=ended.answer,
            figures=dict(ended.figures),
            scores=None if scores is None else dict(scores),
            missing_scores=scored.missing,
            score_failures=scored.failures,
            **own,
        )


def _limit(result: CaseEnded) -> CaseEnded:
    """Cut texts that would make unreadable lines."""
    return replace(
        result,
        answer=result.answer and shorten(result.answer, LONGEST_ANSWER),
        detail=result.detail and shorten(result.detail, LONGEST_DETAIL),
    )


def _find_seconds(result: CaseEnded) -> float | None:
    if result.wall_seconds is None and result.started_at and result.ended_at:
        return (result.ended_at - result.started_at).total_seconds()
    return result.wall_seconds
