"""Stores what the trials of pairs of an arm and a case deliver: a scored line each."""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import anyio

from swarm_bench.core.errors import SwarmBenchError
from swarm_bench.core.events import Emit, TrialEnded, TrialStarted, Trouble
from swarm_bench.core.ports import ScoreContext, Scorer
from swarm_bench.core.session.cases import (
    LONGEST_ANSWER,
    Case,
    CaseDelivery,
    CaseEnded,
    CaseExperiment,
    CaseGroup,
    CaseJob,
    CaseRecord,
    CaseStarted,
    CaseTrial,
)
from swarm_bench.core.status import CONSEQUENCES, Cause
from swarm_bench.engine.caps import LONGEST_DETAIL, shortened
from swarm_bench.engine.folder import Folder
from swarm_bench.engine.plan import Block, part_of
from swarm_bench.engine.scoring import Scored, score
from swarm_bench.runtime.redaction.cleaning import cleaned


async def _at_once(trial: CaseTrial) -> None: ...


@dataclass(frozen=True, kw_only=True)
class CaseStore:
    """The folder of a session, and what makes its lines."""

    experiment: CaseExperiment
    properties: dict[str, Any] = field(repr=False)
    """Those of its benchmark, with what is secret."""
    folder: Folder[CaseExperiment, Any]
    to_continue: str
    scorers: tuple[Scorer, ...]
    emit: Emit
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Values that must not reach a file."""
    ending: Callable[[CaseRecord], SwarmBenchError | None] = lambda record: None
    """Returns the error with which a trial ends the session."""
    starting: Callable[[CaseTrial], Awaitable[None]] = _at_once
    """Waits until a trial may start. Raises the error with which the session ends instead."""
    cases_of_turn: int | None = None
    """How many the arms take turns by, where the money may end before the cases."""
    scoring: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(2))
    """How many threads score at a time: the loop must go on."""

    @cached_property
    def attempts(self) -> Mapping[str, int]:
        """How often each trial was tried before this call, by its id."""
        return self.folder.records.attempts()

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
            yield part_of(block, {trial.id for trial in trials if trial.case.id in turn})

    def of_group(self, group: CaseGroup) -> "CaseGroupStore":
        """Make what stores the deliveries of one group."""
        job = CaseJob(group=group, properties=self.properties)
        return CaseGroupStore(session=self, job=job)


@dataclass(frozen=True, kw_only=True)
class CaseGroupStore:
    """Stores what one group delivers."""

    session: CaseStore
    job: CaseJob

    async def keep(self, delivery: CaseDelivery) -> None:
        """Score the answer, and append the line. Raises `StoreError`, and the error with which the
        session ends."""
        session, trial = self.session, delivery.trial
        if isinstance(delivery, CaseStarted):
            await session.starting(trial)
            session.emit(
                TrialStarted(
                    run=trial.run, arm=trial.arm, number=trial.number, case=trial.case.title
                )
            )
            return
        ended, scored = await anyio.to_thread.run_sync(
            self._read, delivery, limiter=session.scoring
        )
        for trouble in scored.troubles:
            session.emit(Trouble(message=trouble))
        record = self._record(ended, scored)
        session.folder.records.append(record)
        session.emit(TrialEnded(record=record))
        if (error := session.ending(record)) is not None:
            raise error

    def check(self) -> None:
        """Do nothing: only its own errors end such a session."""

    def _read(self, delivery: CaseEnded) -> tuple[CaseEnded, Scored]:
        """Take out what must not be stored, and score the rest. In a thread: answers can be
        long."""
        secrets, own = self.session.secrets, delivery.own
        clean = replace(cleaned(delivery, secrets), trial=delivery.trial)
        if own is not None:
            dumped = own.model_dump(mode="json")  # a key may be spelt like one of the names
            plain = {name: cleaned(value, secrets) for name, value in dumped.items()}
            clean = replace(clean, own=type(own).model_validate_json(json.dumps(plain)))
        ended = _within_limits(clean)
        return ended, self._scored(ended)

    def _scored(self, ended: CaseEnded) -> Scored:
        if ended.answer is None or ended.cause is not Cause.FINISHED:
            return Scored()
        context = ScoreContext(text=ended.answer, workspace="", files=frozenset())
        return score(
            self.session.scorers, context, self.session.secrets, self.session.folder.record
        )

    def _record(self, ended: CaseEnded, scored: Scored) -> CaseRecord:
        trial, usage = ended.trial, ended.usage
        scores = scored.scores if ended.scores is None else ended.scores
        record = CaseRecord(
            arm=trial.arm,
            case=trial.case.id,
            number=trial.number,
            run=trial.run,
            session=self.session.experiment.session,
            trial=trial.id,
            attempt=self.session.attempts.get(trial.id, 0) + 1,
            status=CONSEQUENCES[ended.cause].status,
            cause=ended.cause,
            detail=ended.detail,
            started_at=ended.started_at,
            ended_at=ended.ended_at,
            wall_seconds=_seconds(ended),
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
        )
        kind = self.session.folder.record
        return record if ended.own is None else kind(**vars(record), **vars(ended.own))


def _within_limits(ended: CaseEnded) -> CaseEnded:
    """Cut what would make lines that nobody can read."""
    return replace(
        ended,
        answer=ended.answer and shortened(ended.answer, LONGEST_ANSWER),
        detail=ended.detail and shortened(ended.detail, LONGEST_DETAIL),
    )


def _seconds(ended: CaseEnded) -> float | None:
    if ended.wall_seconds is None and ended.started_at and ended.ended_at:
        return (ended.ended_at - ended.started_at).total_seconds()
    return ended.wall_seconds
