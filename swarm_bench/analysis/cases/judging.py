"""Answers of models, set beside each other for a judge."""

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.comparison.judging import Contestant, Match
from swarm_bench.core.status import Cause


def make_case_matches(session: CaseSession) -> tuple[Match, ...]:
    """Set the trials of each arm beside those of the arm that it is held against."""
    references = session.references
    has_several = len({*references.values()}) > 1
    return tuple(
        Match(
            name=f"{arm} against {reference}" if has_several else arm,
            of_mode=_make_contestants(session, arm),
            of_reference=_make_contestants(session, reference),
        )
        for arm, reference in references.items()
    )


def _make_contestants(session: CaseSession, arm: str) -> tuple[Contestant, ...]:
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
