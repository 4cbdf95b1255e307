"""What a judge made of the answers of a mode or an arm, beside those of the reference."""

from dataclasses import dataclass, replace

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.selection import Selection, counts
from swarm_bench.core.session.judgements import Verdict
from swarm_bench.core.status import Cause

Judge = tuple[str, str]
Identity = tuple[str, str | None, int, str | None, int]
"""The mode of a pair, and its two trials."""


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """A trial, as a judge is asked about its answer."""

    mode: str
    """Or arm."""
    run: int
    agent: int
    """Or number of the case."""
    task: str
    """Task that was asked."""
    task_id: str | None
    trial: str | None
    attempt: int
    has_answer: bool
    """Whether it gave an answer, as its mode is meant."""

    @property
    def position(self) -> tuple[int, int, str]:
        """Return the position, which the trial shares with its counterpart in the other mode."""
        return self.run, self.agent, self.task_id or self.task


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two trials on the same task in the same run."""

    of_mode: Contestant
    of_reference: Contestant

    @property
    def identity(self) -> Identity:
        mode, reference = self.of_mode, self.of_reference
        return mode.mode, mode.trial, mode.attempt, reference.trial, reference.attempt

    @property
    def has_answers(self) -> bool:
        """Whether both gave an answer."""
        return self.of_mode.has_answer and self.of_reference.has_answer

    def set_task(self, task: str) -> "Pair":
        """Return the pair with what both were asked."""
        contestant, opponent = (
            replace(side, task=task) for side in (self.of_mode, self.of_reference)
        )
        return Pair(of_mode=contestant, of_reference=opponent)


@dataclass(frozen=True, kw_only=True)
class Match:
    """A mode beside its reference."""

    name: str
    """Name of the mode in the table."""
    of_mode: tuple[Contestant, ...]
    of_reference: tuple[Contestant, ...]

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The trials of the mode with those of the reference."""
        by_position = {contestant.position: contestant for contestant in self.of_reference}
        return tuple(
            Pair(of_mode=contestant, of_reference=by_position[contestant.position])
            for contestant in self.of_mode
            if contestant.position in by_position
        )

    @property
    def positions(self) -> int:
        """How many pairs there could be."""
        return len({contestant.position for contestant in (*self.of_mode, *self.of_reference)})


def make_matches(selection: Selection) -> tuple[Match, ...]:
    """Set the trials of each mode beside those of the reference."""
    if not selection.modes:
        return ()
    reference = _make_contestants(selection, selection.modes[0])
    return tuple(
        Match(name=mode, of_mode=_make_contestants(selection, mode), of_reference=reference)
        for mode in selection.modes[1:]
    )


def _make_contestants(selection: Selection, mode: str) -> tuple[Contestant, ...]:
    return tuple(
        Contestant(
            mode=trial.mode,
            run=trial.run,
            agent=trial.agent,
            task=trial.task,
            task_id=trial.task_id,
            trial=trial.trial,
            attempt=trial.attempt,
            has_answer=trial.cause is Cause.FINISHED and counts(trial),
        )
        for trial in selection.select(mode)
    )


def identify_pair(verdict: Verdict) -> Identity:
    """Return that of the pair that it is about."""
    return (
        verdict.mode,
        verdict.trial,
        verdict.attempt,
        verdict.reference_trial,
        verdict.reference_attempt,
    )


def make_case_matches(session: CaseSession) -> tuple[Match, ...]:
    """Set the trials of each arm beside those of the arm that it is held against."""
    references = session.references
    has_several = len({*references.values()}) > 1
    return tuple(
        Match(
            name=f"{arm} against {reference}" if has_several else arm,
            of_mode=_make_case_contestants(session, arm),
            of_reference=_make_case_contestants(session, reference),
        )
        for arm, reference in references.items()
    )


def _make_case_contestants(session: CaseSession, arm: str) -> tuple[Contestant, ...]:
    titles = {case.id: case.title for case in session.experiment.cases}
    return tuple(
        Contestant(
            mode=record.arm,
            run=record.run,
            agent=record.number,
            task=titles.get(record.case, record.case),
            task_id=record.case,
            trial=record.trial,
            attempt=record.attempt,
            has_answer=record.cause is Cause.FINISHED and bool(record.answer),
        )
        for record in session.records
        if record.arm == arm
    )
