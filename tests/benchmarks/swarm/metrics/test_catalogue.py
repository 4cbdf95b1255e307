"""Metrics of packages that cannot be told apart."""

import ast
import re
from pathlib import Path

import pytest

from swarm_bench.analysis.summary import summarise
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS, load_metrics
from swarm_bench.core.metric import Column, How, Metric, Metrics, Row, Style
from swarm_bench.core.session.records import TrialRecord
from tests.builders.golden import Sentences
from tests.builders.packages import install
from tests.builders.reference import metric_table
from tests.builders.reports import render, render_page
from tests.builders.sessions import make_session, make_trial


def test_without_packages_there_are_those_of_the_benchmark() -> None:
    assert load_metrics() == METRICS


def test_what_a_reader_sees_of_a_metric_is_in_words() -> None:
    keys = {*TrialRecord.model_fields, *(metric.key for metric in METRICS)}
    for metric in METRICS:
        in_table = metric.in_table
        texts = metric.title, metric.definition, in_table.title, in_table.definition, metric.page
        for text in texts:
            joined = {word for word in re.findall(r"\w+", text) if "_" in word.strip("_")}
            assert not joined - {"evidence_pack"}, (metric.key, text)
            assert not keys & {*re.findall(r"\((\w+)\)", text)}, (metric.key, text)


def test_two_packages_with_one_name_are_omitted_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Sentences
) -> None:
    for module in ("ours", "theirs"):
        install(module, "", f"[swarm_bench.metrics]\ntone = {module}:TONE", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    metrics = load_metrics()
    assert metrics.all == METRICS.all
    (sentence,) = metrics.omitted
    golden(sentence.partition("(")[0], sentence.partition(")")[2])


SOURCE = Path(__file__).parents[4] / "swarm_bench"
SUBAGENTS = Metric(
    key="subagents",
    title="Sub-agents",
    unit="sub-agents",
    style=Style.WHOLE,
    definition="Sub-agents that the agent started.",
    read=lambda trial: trial.subagents,
    row=Row(table="Answers", how=How.TOTAL, title="Total sub-agents"),
    column=Column(title="Subs"),
    page="Sub-agents",
)


@pytest.fixture
def page() -> str:
    trials = (make_trial(subagents=3), make_trial(agent=2, subagents=4), make_trial("canopy"))
    data = make_session(*trials)
    return render(summarise(data, Metrics((*METRICS, SUBAGENTS))))


def cells(page: str, beginning: str) -> list[str]:
    lines = [line for line in page.splitlines() if line.startswith(beginning)]
    return [cell.strip() for cell in lines[0].strip("|").split("|")]


def test_a_metric_that_is_added_has_a_row_and_its_definition(page: str) -> None:
    answers = page.partition("## Answers")[2].partition("## Retrieval")[0]
    assert cells(answers, "| Total sub-agents") == ["Total sub-agents", "7", "not reported"]
    assert f"- **Total sub-agents**, {SUBAGENTS.unit}: {SUBAGENTS.definition}" in answers


def test_and_a_column_of_the_trials_if_it_says_so(page: str) -> None:
    trials = page.partition("## Per-Agent Results")[2]
    assert cells(trials, "| Mode")[-1] == "Subs"
    assert [cells(line, "| ")[-1] for line in trials.splitlines() if "| baseline" in line] == [
        "3",
        "4",
    ]


def test_and_a_line_on_the_page_of_each_trial() -> None:
    shown = render_page(Metrics((*METRICS, SUBAGENTS)), make_trial(subagents=3), "x")
    assert "- **Sub-agents:** 3\n" in shown


def test_and_a_line_of_the_dictionary() -> None:
    rows = metric_table(Metrics((*METRICS, SUBAGENTS)).tables["Answers"]).splitlines()
    assert cells(rows[-1], "|")[:3] == ["Total sub-agents", "`subagents`", "sub-agents"]


def test_a_key_is_declared_once() -> None:
    with pytest.raises(ValueError, match="the metric cost is declared 2 times"):
        Metrics((*METRICS, METRICS["cost"]))


def test_metrics_are_declared_in_their_folder_only() -> None:
    elsewhere = {
        path.relative_to(SOURCE)
        for path in SOURCE.rglob("*.py")
        if path.parent != SOURCE / "benchmarks" / "swarm" / "metrics"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id == "Metric"
    }
    # Benchmarks of their own.
    assert elsewhere == {
        Path("testing/toy.py"),
        Path("benchmarks/retrieve/benchmark.py"),
        Path("benchmarks/cases/passing.py"),
        Path("benchmarks/cases/passing.py"),
        Path("benchmarks/code_to_text/benchmark.py"),
        Path("benchmarks/completion/rows.py"),
        Path("benchmarks/labels/benchmark.py"),
        Path("benchmarks/one_line/benchmark.py"),
        Path("benchmarks/prompts/evaluation.py"),
    }


def test_what_is_read_from_a_trial_or_a_swarm_states_how_it_aggregates() -> None:
    """A row that nothing computes would stand in every table as not reported."""
    rows = [one for one in METRICS if one.row]
    assert [one.key for one in rows if not (one.read or one.read_swarm)] == []
