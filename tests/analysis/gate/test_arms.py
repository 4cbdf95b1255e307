"""Limits on a session of a benchmark of cases."""

from dataclasses import replace
from datetime import UTC, datetime

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.cases.summary import ComparedArms
from swarm_bench.analysis.gate.limits import make_case_gate
from swarm_bench.app.stored.limits import parse_limits
from swarm_bench.core.report.gate import Bound, Kind, State, Verdict
from swarm_bench.core.session.base import stable_id
from swarm_bench.core.session.cases import Case, CaseExperiment, CaseRecord
from swarm_bench.core.status import Cause, Status
from swarm_bench.testing.toy import METRICS
from tests.builders.cases import FAILED, HIGH, LOST, LOW, case_session
from tests.builders.golden import Sentences

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


SESSION = ComparedArms(
    experiment=EXPERIMENT,
    records=[*records("plain", 10), *records("polite", 30)],
    metrics=METRICS,
)


def verdict(session: CaseSession, kind: Kind, text: str) -> Verdict:
    limits = parse_limits({kind: [text]}, session.metrics, session.experiment.arms)
    (only,) = make_case_gate(session, limits, Bound.ESTIMATE).verdicts
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


def losing(trials: int, end: Cause | None = LOST) -> CaseSession:
    """The second arm is right more often, and takes more words; it lost some trials."""
    return case_session({"a": LOW, "b": HIGH}, {"b": [end] * trials})


def test_trials_that_are_not_in_a_figure_are_counted(golden: Sentences) -> None:
    ratio, least = (Kind.MAX_RATIO, "words=3"), (Kind.MIN, "right=0.6")
    for limit in (ratio, least):
        assert verdict(losing(0), *limit).state is State.HOLDS
        assert "not in these figures" not in verdict(losing(0), *limit).why
        assert verdict(losing(1), *limit).state is State.HOLDS
    golden(verdict(losing(1), *ratio).why)
    golden(verdict(losing(1), *least).why)


def test_no_limit_holds_on_what_more_trials_of_an_arm_are_not_in(golden: Sentences) -> None:
    for end in (LOST, Cause.ENVIRONMENT_FAILED, None):
        ratio = verdict(losing(4, end), Kind.MAX_RATIO, "words=3")
        assert ratio.state is State.INCONCLUSIVE
        golden(ratio.why)
        assert ratio.estimate is not None
        least = verdict(losing(4, end), Kind.MIN, "right=0.6")
        assert least.state is State.INCONCLUSIVE
        golden(least.why)
        assert verdict(losing(4, end), Kind.MIN, "a:right=0.3").state is State.HOLDS


def test_a_violation_is_in_doubt_as_well_and_equal_losses_leave_a_ratio(golden: Sentences) -> None:
    assert verdict(losing(4), Kind.MAX_RATIO, "words=1").state is State.INCONCLUSIVE
    both = case_session({"a": LOW, "b": HIGH}, {"a": [LOST] * 4, "b": [LOST] * 4})
    assert verdict(both, Kind.MAX_RATIO, "words=3").state is State.HOLDS
    golden(verdict(both, Kind.MAX_RATIO, "words=3").why)
    assert verdict(both, Kind.MIN, "right=0.6").state is State.INCONCLUSIVE


def test_what_failed_is_missing_of_what_was_spent_alone(golden: Sentences) -> None:
    ratio = verdict(losing(4, FAILED), Kind.MAX_RATIO, "words=3")
    assert ratio.state is State.INCONCLUSIVE
    golden(ratio.why)


def test_too_few_cases_are_said_before_the_trials_that_they_lack(golden: Sentences) -> None:
    few = verdict(losing(5), Kind.MAX_RATIO, "words=3")
    assert few.state is State.INCONCLUSIVE
    golden(few.why)
    assert few.why.count("5 of 20 trials of b") == 1
