"""What an export says of how good a trial is: enough for the headline's figures, and for a build
that fails where a trial is not right."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any
from xml.etree import ElementTree

import pytest
from junitparser import Failure, JUnitXml, Skipped

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.comparison.pairs import pair_metric
from swarm_bench.analysis.comparison.quality import find_quality_metric
from swarm_bench.analysis.export_table import make_case_table, make_swarm_table
from swarm_bench.analysis.retrieve.figures import Answers
from swarm_bench.analysis.selection import Selection
from swarm_bench.app.benchmarks import run_call
from swarm_bench.app.exporting import export, load
from swarm_bench.app.session import run
from swarm_bench.app.setup.case_experiment import CaseRequest
from swarm_bench.app.stored.pairs import PairSession
from swarm_bench.app.stored.session import open_session
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.config.run_options import RunSettings
from swarm_bench.core.errors import UsageError
from swarm_bench.core.metric import Metrics
from swarm_bench.core.report.trials import TrialsTable
from swarm_bench.core.session.tasks import DONE_ALREADY
from swarm_bench.reports.exports import render_junit
from tests.builders.cases import LOST, RIGHT, WORDS, case_session
from tests.builders.golden import Sentences
from tests.builders.keyed import TASKS, trials_of
from tests.builders.sessions import make_session

SESSIONS = Path(__file__).parents[2] / "tests" / "golden" / "sessions"
Row = Mapping[Any, Any]


def rows_of(table: TrialsTable) -> list[Row]:
    names = [column.name for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in table.rows]


def headline(rows: Sequence[Row], arm: str, part: str | None = None) -> float:
    """Compute a figure as docs/export.md says: over the runs of a case, then over cases."""
    by_case, weights = defaultdict[str, list[float]](list), dict[str, float]()
    for row in rows:
        if row["arm"] == arm and row["in_verdict"] and part in (None, row["part"]):
            by_case[row["case"]].append(row["score"])
            weights[row["case"]] = row["weight"]
    return fmean(map(fmean, by_case.values()), [weights[case] for case in by_case])


def kinds(document: str) -> dict[str, list[str]]:
    """Return by arm what became of each trial."""
    suites = JUnitXml.fromstring(document.encode())
    return {
        suite.name: [type(case.result[0]).__name__ if case.result else "passed" for case in suite]
        for suite in suites
    }


def test_the_means_of_an_export_are_the_headline_and_tasks_done_already_stand_apart() -> None:
    weights, tags = (1.0, 3.0), ((), ("hard", "easy"))
    tasks = [
        {**task, "weight": weight, "tags": tag}
        for task, weight, tag in zip(TASKS, weights, tags, strict=True)
    ]
    apart = {**TASKS[0], "id": "c", "title": "c", "prompt": "Is c done?", "tags": [DONE_ALREADY]}
    trials = trials_of({"baseline": (0.5, 1.0), "canopy": (1.0, 0.25)})
    more = trials_of({"baseline": (0.0,), "canopy": (1.0,)})
    others = [it.model_copy(update={"task_id": "c", "agent": 3}) for it in more]
    data = make_session(*trials, *others, tasks=[*tasks, apart])
    selection = Selection(data, METRICS)
    rows = rows_of(make_swarm_table(selection))
    metric = find_quality_metric(selection)
    assert metric
    pairs = pair_metric(selection, "canopy", metric).pairs
    assert headline(rows, "canopy") == pairs.arm_mean == pytest.approx(1.75 / 4)
    assert headline(rows, "baseline") == pairs.reference_mean == pytest.approx(3.5 / 4)
    assert {(row["case"], row["in_verdict"], row["tags"]) for row in rows} == {
        ("a", True, None), ("b", True, "hard, easy"), ("c", False, DONE_ALREADY)
    }  # fmt: skip
    assert all(row["counts"] for row in rows)


def test_what_one_arm_lacks_is_in_no_verdict() -> None:
    session = case_session({"a": (1.0, 0.5, 0.0), "b": (0.5, 0.5, 1.0)}, {"b": [LOST]})
    rows = rows_of(make_case_table(session))
    pairs = session.pair_arms("b", "a", RIGHT)
    assert (headline(rows, "b"), headline(rows, "a")) == (pairs.arm_mean, pairs.reference_mean)
    assert [(row["arm"], row["case"]) for row in rows if not row["in_verdict"]] == [
        ("a", "c0"), ("b", "c0")
    ]  # fmt: skip


def read(name: str) -> CaseSession:
    session = open_session(SESSIONS / name)
    assert isinstance(session, PairSession)
    return session.read()


def test_loaded_sessions_of_models_give_the_headline() -> None:
    for name in ("humaneval", "apps"):
        session, trials = read(name), load(SESSIONS / name).trials.to_dict("records")
        metric = session.metrics["pass_at_1"]
        for arm, reference in session.references.items():
            pairs = session.pair_arms(arm, reference, metric)
            figures = headline(trials, arm), headline(trials, reference)
            assert figures == (pairs.arm_mean, pairs.reference_mean)


def test_loaded_sessions_of_retrieve_give_the_headline_of_each_form() -> None:
    answers = read("retrieve")
    assert isinstance(answers, Answers)
    trials = load(SESSIONS / "retrieve").trials.to_dict("records")
    for form in answers.forms:
        pairs = answers.pair_modes("canopy", "bm25", answers.main.key, form)
        assert headline(trials, "canopy", form) == pairs.arm_mean
        assert headline(trials, "bm25", form) == pairs.reference_mean


@pytest.mark.parametrize("name", ["humaneval", "apps", "retrieve", "compare", "ab"])
def test_junit_fails_what_is_not_right_in_every_benchmark(name: str) -> None:
    rows = load(SESSIONS / name).trials
    document = export(SESSIONS / name, "junit")
    wrong = (rows["status"] != "completed") | (rows["score"] < 1).fillna(value=False)
    suites = JUnitXml.fromstring(document.encode())
    trials = [case for suite in suites for case in suite if case.name != "evidence"]
    assert len(trials) == len(rows)
    assert sum(suite.failures for suite in suites) == (rows["counts"] & wrong).sum()
    scores = ElementTree.fromstring(document).iterfind("testsuite/testcase/properties/property")
    values = sorted(float(prop.attrib["value"]) for prop in scores)
    assert values == sorted(rows["score"].dropna())
    if name in ("retrieve", "compare", "ab"):
        assert all(case.time > 0 for case in trials)


def test_half_a_score_fails_with_it_and_none_is_skipped() -> None:
    session = case_session({"a": (1.0, 0.5, 0.0), "b": (1.0, 1.0, 1.0)}, {"b": [LOST]})
    records = [
        it.model_copy(update={"figures": {}}) if (it.arm, it.case) == ("b", "c1") else it
        for it in session.records
    ]
    document = render_junit(make_case_table(replace(session, records=records)))
    assert kinds(document) == {
        "a": ["passed", "Failure", "Failure"], "b": ["Skipped", "Skipped", "passed"]
    }  # fmt: skip
    results = [
        result
        for suite in JUnitXml.fromstring(document.encode())
        for case in suite
        for result in case.result
    ]
    assert [it.message for it in results if isinstance(it, Failure)] == [
        "Accuracy 0.5", "Accuracy 0"
    ]  # fmt: skip
    assert [it.message for it in results if isinstance(it, Skipped)][1] == "no score"


def test_where_the_verdict_is_on_a_cost_junit_looks_at_the_score() -> None:
    session = case_session({"a": (1.0, 0.5), "b": (0.5, 1.0)}, primary="words")
    assert kinds(render_junit(make_case_table(session))) == {
        "a": ["passed", "Failure"], "b": ["Failure", "passed"]
    }  # fmt: skip
    alone = replace(session, metrics=Metrics((WORDS,)))
    assert make_case_table(alone).scored is None


def test_junit_is_refused_where_no_score_is_known(tmp_path: Path, golden: Sentences) -> None:
    settings = RunSettings(output=tmp_path / "toy", runs=1)
    request = CaseRequest(benchmark="swarm_bench.testing.toy:Toy", settings=settings)
    run(run_call(request), lambda _: None)
    with pytest.raises(UsageError) as refused:
        export(tmp_path / "toy", "junit")
    golden(str(refused.value))
    assert export(tmp_path / "toy", "csv").startswith("arm,")
