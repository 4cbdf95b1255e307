"""The summary of pairs of arms and cases: what is missing is counted, what is not planned is no
part of it."""

from datetime import UTC, datetime

from swarm_bench.analysis.cases.summary import ComparedArms, make_case_document
from swarm_bench.core.session.base import stable_id
from swarm_bench.core.session.cases import Case, CaseExperiment, CaseRecord
from swarm_bench.core.status import Cause, Status
from swarm_bench.engine.plan import select_planned
from swarm_bench.reports.markdown import render
from swarm_bench.testing.toy import METRICS
from tests.builders.golden import Sentences

EXPERIMENT = CaseExperiment(
    concurrency=1,
    session="s", created_at=datetime.now(UTC), benchmark="toy", benchmark_version=1, seed=0, runs=2,
    arms=("a", "b"), cases=(Case(id="x", title="x"),), order=(("a", "b"), ("a", "b")),
)  # fmt: skip


def record(run: int, arm: str = "a", tokens: int | None = 4) -> CaseRecord:
    return CaseRecord(
        arm=arm, case="x", number=1, run=run, session="s", trial=stable_id(run, arm, "x"),
        attempt=1, status=Status.COMPLETED, cause=Cause.FINISHED, input_tokens=tokens,
    )  # fmt: skip


def test_a_run_without_any_trial_is_missing() -> None:
    session = ComparedArms(experiment=EXPERIMENT, records=[record(1)], metrics=METRICS)
    summary = render(make_case_document(session))
    (row,) = [line for line in summary.splitlines() if "4.0" in line and "Words" in line]
    assert "1 missing" in row


def test_only_trials_of_the_plan_are_records_of_it() -> None:
    planned = [record(1), record(2, "b")]
    forged = [record(0), record(3), record(1, "c"), record(1).model_copy(update={"run": 2})]
    assert select_planned(EXPERIMENT, [*planned, *forged]) == planned


def test_a_ratio_of_fewer_cases_and_the_properties_are_written_in_the_benchmarks_words(
    golden: Sentences,
) -> None:
    experiment = EXPERIMENT.model_copy(
        update={
            "cases": (Case(id="x", title="x"), Case(id="y", title="y")),
            "properties": {"strict": False, "names": ["p", "q"], "style": "short"},
        }
    )
    records = [record(1), record(1, "b")]
    session = ComparedArms(experiment=experiment, records=records, metrics=METRICS)
    summary = render(make_case_document(session))
    assert "1.00× (1 of 2 cases)" in summary
    golden(*(line for line in summary.splitlines() if "**Properties:**" in line))


def test_its_size_is_what_has_trials() -> None:
    cases = tuple(Case(id=name, title=name) for name in "xyz")
    experiment = EXPERIMENT.model_copy(update={"cases": cases})
    records = [record(1), record(1, "b"), record(1).model_copy(update={"case": "y"})]
    session = ComparedArms(experiment=experiment, records=records, metrics=METRICS)
    assert session.size == "2 cases × 1 run"
