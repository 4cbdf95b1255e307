"""Trials that are not in a figure: counted in verdicts, limits and differences, which conclude
nothing where one side lost many more."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from swarm_bench.analysis.cases.losses import lost
from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.cases.summary import case_document
from swarm_bench.analysis.diff.cases import case_diff
from swarm_bench.analysis.gate.arms import case_gate
from swarm_bench.app.stored.limits import parse_limits
from swarm_bench.core.metric import Better, Metric, Metrics, Style
from swarm_bench.core.report.diff import Diff
from swarm_bench.core.report.gate import Bound, Kind, State, Verdict
from swarm_bench.core.session.base import stable_id
from swarm_bench.core.session.cases import Case, CaseExperiment, CaseRecord
from swarm_bench.core.status import CONSEQUENCES, Cause
from swarm_bench.reports.markdown import render

RIGHT = Metric(
    key="right", title="Accuracy", unit="0 to 1", style=Style.FRACTION, definition="is right.",
    better=Better.HIGHER, relative=False, compared=True,
    read=lambda record: record.figures.get("right"),
)  # fmt: skip
WORDS = Metric(
    key="words", title="Words", unit="words", style=Style.AVERAGE, definition="of an answer.",
    better=Better.LOWER, compared=True, read=lambda record: record.figures.get("words"),
)  # fmt: skip
METRICS = Metrics((RIGHT, WORDS))
CASES = tuple(Case(id=f"c{n}", title="c") for n in range(20))
RUNS = 3
HARD = 0.4
"""Share of right answers of both arms to the last four cases; to all others it is 1."""


def session(
    *lost: tuple[int, Cause], runs: Sequence[int] = (1, 2, 3), id: str = "s"
) -> CaseSession:
    """Make a session of two arms that do alike, but that the second loses so many trials of the
    hard cases by each cause."""
    experiment = CaseExperiment(
        concurrency=1, session=id, created_at=datetime.now(UTC), benchmark="toy", seed=0, runs=RUNS,
        arms=("a", "b"), cases=CASES, order=(("a", "b"),) * RUNS, primary="right",
    )  # fmt: skip
    causes = [cause for number, cause in lost for _ in range(number)]
    records = [
        record(arm, number, run, causes.pop() if arm == "b" and number >= 16 and causes else None)
        for arm in "ab"
        for number in reversed(range(20))
        for run in runs
    ]
    return CaseSession(experiment=experiment, records=records, metrics=METRICS)


def record(arm: str, number: int, run: int, cause: Cause | None) -> CaseRecord:
    ended = cause or Cause.FINISHED
    share = 1.0 if number < 16 else HARD
    figures: dict[str, float | None] = {
        "right": share + (arm == "b") * 0.01 * (number % 3),
        "words": 100.0 + number,
    }
    return CaseRecord(
        arm=arm, case=f"c{number}", number=number + 1, run=run, session="s", attempt=1,
        trial=stable_id(run, arm, f"c{number}"), status=CONSEQUENCES[ended].status, cause=ended,
        figures=figures if cause is None else {},
    )  # fmt: skip


def verdict(side: CaseSession) -> str:
    lines = render(case_document(side)).splitlines()
    (line,) = [line for line in lines if line.startswith("- **b**")]
    return line


def limit(side: CaseSession, kind: Kind, text: str) -> Verdict:
    (only,) = case_gate(
        side, parse_limits({kind: [text]}, METRICS, ("a", "b")), Bound.ESTIMATE
    ).verdicts
    return only


def difference(a: CaseSession, b: CaseSession) -> Diff:
    return case_diff(a, b, (Path("A"), Path("B")))


def test_a_session_that_lost_nothing_says_nothing_of_it() -> None:
    whole = session()
    assert "not in it" not in verdict(whole)
    assert "**equivalent**" in verdict(whole)
    assert limit(whole, Kind.MIN, "b:right=0.8").why.count("not in it") == 0
    assert "not in it" not in difference(whole, session(id="t")).modes[1].conclusion


def test_a_trial_or_two_are_counted_and_change_no_verdict() -> None:
    few = session((1, Cause.RATE_LIMITED))
    assert "**equivalent**" in verdict(few)
    assert "1 of 60 trials of b and 0 of 60 trials of a are not in it." in verdict(few)
    held = limit(few, Kind.MIN, "b:right=0.8")
    assert (held.state, "1 of 60 trials of b is not in it." in held.why) == (State.HOLDS, True)
    conclusion = difference(session(id="t"), few).modes[1].conclusion
    assert "0 of 60 trials of b in A and 1 of 60 trials of b in B" in conclusion
    assert "nothing can be concluded" not in conclusion


@pytest.mark.parametrize(
    "cause", [Cause.RATE_LIMITED, Cause.ENVIRONMENT_FAILED, Cause.ADAPTER_FAILED]
)
def test_nothing_is_concluded_where_one_arm_lost_its_hard_trials(cause: Cause) -> None:
    easy = session((12, cause))
    assert "**inconclusive**" in verdict(easy)
    assert "12 of 60 trials of b and 0 of 60 trials of a are not in it." in verdict(easy)
    for kind, text in ((Kind.MIN, "b:right=0.9"), (Kind.MAX_RATIO, "b:words=2")):
        held = limit(easy, kind, text)
        assert held.state is State.INCONCLUSIVE
        assert "Not to be relied on: 12 of 60 trials of b" in held.why
    compared = difference(session(id="t"), easy)
    assert compared.modes[1].conclusion.startswith("accuracy: nothing can be concluded, as ")
    assert any("12 trials of B did not come to an end" in it for it in compared.caveats)


def test_failures_of_a_model_count_in_scores_and_are_omitted_from_ratios() -> None:
    failed = session((12, Cause.REFUSED))
    assert lost(failed, "b", WORDS).lost == 12
    assert limit(failed, Kind.MAX_RATIO, "b:words=1.2").state is State.INCONCLUSIVE


def test_trials_that_were_never_run_are_lost_on_both_sides_alike() -> None:
    half = session(runs=(1, 2))
    assert [lost(half, arm, RIGHT).lost for arm in "ab"] == [20, 20]
    assert "**equivalent**" in verdict(half)
    assert limit(half, Kind.MIN, "b:right=0.8").state is State.INCONCLUSIVE


def test_a_case_that_nobody_can_be_measured_in_is_no_loss() -> None:
    whole = session()
    records = [
        it.model_copy(update={"figures": {}}) if it.case == "c0" else it for it in whole.records
    ]
    some = CaseSession(experiment=whole.experiment, records=records, metrics=METRICS)
    counted = lost(some, "b", RIGHT)
    assert (counted.lost, counted.planned) == (0, 57)
