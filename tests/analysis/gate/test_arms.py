"""Limits on a session of a benchmark of cases."""

from dataclasses import replace
from datetime import UTC, datetime

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.gate.arms import case_gate
from swarm_bench.app.stored.limits import parse_limits
from swarm_bench.core.report.gate import Bound, Kind, State, Verdict
from swarm_bench.core.session.base import stable_id
from swarm_bench.core.session.cases import Case, CaseExperiment, CaseRecord
from swarm_bench.core.status import Cause, Status
from swarm_bench.testing.toy import METRICS

CASES = tuple(Case(id=f"c{n}", title="x") for n in range(6))
EXPERIMENT = CaseExperiment(
    concurrency=1, session="s", created_at=datetime.now(UTC), benchmark="toy", benchmark_version=1,
    seed=0, runs=1, arms=("plain", "polite"), cases=CASES, order=(("plain", "polite"),),
)  # fmt: skip


def records(arm: str, tokens: int) -> list[CaseRecord]:
    return [
        CaseRecord(
            arm=arm, case=case.id, number=number, run=1, session="s", attempt=1,
            trial=stable_id(1, arm, case.id), status=Status.COMPLETED, cause=Cause.FINISHED,
            input_tokens=tokens + number,
        )
        for number, case in enumerate(CASES, start=1)
    ]  # fmt: skip


SESSION = CaseSession(
    experiment=EXPERIMENT,
    records=[*records("plain", 10), *records("polite", 30)],
    metrics=METRICS,
)


def verdict(session: CaseSession, kind: Kind, text: str) -> Verdict:
    limits = parse_limits({kind: [text]}, METRICS, session.experiment.arms)
    (only,) = case_gate(session, limits, Bound.ESTIMATE).verdicts
    return only


def test_an_arm_is_held_against_the_first_one_and_by_itself() -> None:
    assert verdict(SESSION, Kind.MAX_RATIO, "words=2").state is State.VIOLATED
    own = verdict(SESSION, Kind.MAX, "words=33.5")
    assert (own.state, own.estimate, own.mode) == (State.HOLDS, 33.5, "polite")
    assert (own.cases, own.noun) == (6, "case")
    assert verdict(SESSION, Kind.MAX, "plain:words=20").state is State.HOLDS


def test_what_is_missing_or_changed_holds_nothing() -> None:
    assert verdict(SESSION, Kind.MAX, "letters=99").state is State.MISSING
    assert verdict(replace(SESSION, changed=True), Kind.MAX, "words=99").state is State.MISSING
    assert verdict(replace(SESSION, records=()), Kind.MAX, "words=99").state is State.MISSING
    half = replace(SESSION, records=SESSION.records[:9])
    assert verdict(half, Kind.MAX_RATIO, "words=99").state is State.INCONCLUSIVE
