"""What a package of one's own adds: the examples of docs/extending, in real sessions."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from swarm_bench.testing.benchmark_contracts import check_benchmark
from swarm_bench.testing.contracts import check_agent, check_metric, check_scorer
from tests.builders.packages import (
    DOCUMENTS,
    EXAMPLES,
    block,
    build_examples,
    install,
    install_example,
)
from tests.e2e.conftest import Bench, Done

PROGRAM = f"""#!{sys.executable}
import sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from tests.e2e import frugal_agent
if "--version" in sys.argv:
    sys.exit(print("my-agent 1.2.3"))
print('{{"doing": "Read shop/auth.py"}}', flush=True)
sys.argv[1:] = [sys.argv[sys.argv.index("--mcp-config") + 1], sys.argv[-1]]
frugal_agent.main()
"""
TONE = """
from dataclasses import replace
from my_metrics import LINE_REFERENCES

def fails(trial):
    return 1 / (trial.agent - 1)

def words(trial):
    return "many"

FAILS = replace(LINE_REFERENCES, key="fails", title="Fails", read=fails)
WORDS = replace(LINE_REFERENCES, key="words", title="Words", read=words, compared=False)
COST = replace(LINE_REFERENCES, key="cost")
EMPTY = replace(LINE_REFERENCES, key="empty", read=None)
NONE = "no metric"
"""

pytestmark = pytest.mark.timeout(180)


def example(page: str, name: str) -> Any:
    names: dict[str, Any] = {}
    exec(block(page, "python"), names)
    return names[name]


@pytest.fixture
def packages(bench: Bench) -> Path:
    return bench.folder / "packages"


def call(bench: Bench, packages: Path, *arguments: str) -> Done:
    path = f"{packages}:{bench.environment()['PATH']}"
    done = bench.call(*arguments, env={"PYTHONPATH": str(packages), "PATH": path})
    assert done.code == 0, done.out + done.err
    return done


def compare(bench: Bench, packages: Path, *more: str) -> Done:
    options = ["--repo", str(bench.repo), "--runs", "1", "--output", "out"]
    agents = [] if "--agents" in more else ["--agents", "2"]
    return call(bench, packages, "compare", *options, *agents, *more)


def summary(bench: Bench) -> str:
    return (bench.folder / "out" / "summary.md").read_text(encoding="utf-8")


def cells(page: str, beginning: str) -> list[list[str]]:
    lines = [line for line in page.splitlines() if line.startswith(f"| {beginning}")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_examples_keep_the_contracts_of_their_roles(tmp_path: Path) -> None:
    check_agent(example("agent-program", "MyAgent")(), tmp_path)
    check_scorer(example("scorer", "LineReferences")())
    check_metric(example("metric", "LINE_REFERENCES"))
    check_metric(example("column", "LARGEST_REQUEST"))
    check_benchmark(example("benchmark", "Sorting")())


def test_a_metric_that_divides_by_what_can_be_0_breaks_the_contract() -> None:
    metric = replace(
        example("metric", "LINE_REFERENCES"),
        read=lambda trial: None if trial.requests is None else 1 / trial.requests,
    )
    with pytest.raises(AssertionError, match="reads any trial: .*, line [0-9]+: ZeroDivisionError"):
        check_metric(metric)


@pytest.mark.slow
def test_an_agent_program(bench: Bench, packages: Path) -> None:
    install_example("agent-program", "my_agent", packages)
    program = packages / "my-agent"
    program.write_text(PROGRAM, encoding="utf-8")
    program.chmod(0o700)
    options = ["--agent", "my-agent", "--agents", "1", "--modes", "canopy"]
    compare(bench, packages, *options)
    (record,) = bench.records("out")
    assert (record["program"], record["program_version"]) == ("my-agent", "1.2.3")
    assert (record["cause"], record["cost"], record["retrieval"]) == ("finished", None, "used")
    assert record["effective_tokens"] > 100
    assert record["references_existing"] >= 1
    assert "my-agent 1.2.3" in summary(bench)


@pytest.mark.slow
def test_a_scorer_its_metric_and_a_column(bench: Bench, packages: Path) -> None:
    for page, module in (
        ("scorer", "my_scorers"),
        ("metric", "my_metrics"),
        ("column", "my_columns"),
    ):
        install_example(page, module, packages)
    (bench.folder / "plain.json").write_text('{"mcpServers": {}}')
    compare(bench, packages, "--modes", "baseline", "./plain.json")
    records = sorted(bench.records("out"), key=lambda record: (record["mode"], record["agent"]))
    page = summary(bench)
    scores = [record["scores"]["line_references"] for record in records]
    assert sum(scores) > 0
    headline = page.partition("## Effects")[2].partition("\n## ")[0]
    assert [len(line) for line in cells(headline, "Line references")] == [3]
    ((_, *means),) = cells(page, "Avg line references/output")
    assert means == [f"{sum(pair) / 2:.1f}" for pair in (scores[:2], scores[2:])]
    trials = page.partition("## Per-Agent Results")[2]
    largest = [f"{max(sent(record)):,}" for record in records]
    assert [line[-1] for line in cells(trials, "Mode")] == ["Largest Request"]
    shown = [line[-1] for mode in ("baseline", "plain") for line in cells(trials, mode)]
    assert shown == largest
    first = (bench.folder / "out" / "baseline" / "agent-1.md").read_text(encoding="utf-8")
    assert f"- **Largest request:** {largest[0].replace(',', '')}\n" in first
    assert "omitted" not in page
    assert call(bench, bench.folder / "none", "report", "out").code == 0
    assert "line references" not in summary(bench)
    call(bench, packages, "report", "out")
    assert summary(bench) == page


def sent(record: dict[str, Any]) -> list[int]:
    keys = ("input", "cache_read", "cache_create")
    return [sum(usage[key] for key in keys) for usage in record["turn_usage"]]


@pytest.mark.slow
def test_metrics_that_fail_are_named_and_the_others_shown(bench: Bench, packages: Path) -> None:
    install_example("metric", "my_metrics", packages)
    names = ("FAILS", "WORDS", "COST", "EMPTY", "NONE", "MISSING")
    points = "\n".join(f"{name.lower()} = tone:{name}" for name in names)
    install("tone", TONE, f"[swarm_bench.metrics]\n{points}", packages)
    install("leaves", "raise SystemExit(0)", "[swarm_bench.metrics]\nleaves = leaves:A", packages)
    compare(bench, packages, "--modes", "baseline")
    page = summary(bench)
    for sentence in (
        "The metric fails failed on 1 of 2 trials, and is missing there. The first says: "
        "packages/tone.py, line 6: ZeroDivisionError: division by zero",
        "The metric words failed on 2 of 2 trials, and is missing there. The first says: ",
        "The metric cost of tone is omitted: its key 'cost' is that of another metric.",
        "The metric empty of tone is omitted: it has a row, and reads nothing.",
        "The metric none of tone is omitted: it is a str and no Metric.",
        "The metric missing of tone is omitted: 'tone:MISSING' cannot be loaded",
        "The metric leaves of leaves is omitted: 'leaves:A' cannot be loaded as one of the "
        "metrics: packages/leaves.py, line 1: SystemExit: 0",
    ):
        assert sentence in page
    call(bench, packages, "report", "out")
    assert summary(bench) == page


def test_a_plan_loads_no_metric_and_no_scorer(bench: Bench, packages: Path) -> None:
    for page, module in (("scorer", "my_scorers"), ("metric", "my_metrics")):
        install_example(page, module, packages)
        (packages / f"{module}.py").write_text(
            "raise KeyboardInterrupt('loaded')", encoding="utf-8"
        )
    compare(bench, packages, "--plan")
    call(bench, packages, "tasks")


@pytest.mark.slow
def test_a_suite(bench: Bench) -> None:
    text = block("suite", "yaml")
    (bench.folder / "my-suite.yaml").write_text(text, encoding="utf-8")
    compare(bench, bench.folder, "--modes", "baseline", "--tasks", "my-suite.yaml")
    suite = yaml.safe_load(text)
    asked = {record["task_id"]: record["task"] for record in bench.records("out")}
    assert asked == {task["id"]: task["prompt"] for task in suite["tasks"]}
    assert bench.experiment("out")["answer_format"] == suite["answer_format"]
    (bench.folder / "tasks").mkdir()
    (bench.folder / "my-suite.yaml").rename(bench.folder / "tasks" / "my-suite.yaml")
    listed = bench.call("tasks")
    assert "my-suite" in listed.out
    assert suite["description"] in listed.out


def test_all_examples_are_one_package(tmp_path: Path) -> None:
    groups = build_examples(tmp_path / "mine", tmp_path / "packages")
    script = (
        "import json, sys; from swarm_bench.core import entry_points\n"
        "for group, points in json.loads(sys.argv[1]).items():\n"
        "    for name in points: entry_points.load(group.removeprefix('swarm_bench.'), name)"
    )
    subprocess.run(
        [sys.executable, "-c", script, json.dumps(groups)],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "packages")},
        check=True,
    )
    assert sum(map(len, groups.values())) == len(EXAMPLES)


def test_the_index_names_every_page() -> None:
    index = (DOCUMENTS / "README.md").read_text(encoding="utf-8")
    pages = {path.name for path in DOCUMENTS.glob("*.md")} - {"README.md"}
    assert {page for page in pages if f"]({page})" not in index} == set()


def test_a_benchmark_is_run_continued_and_reported(bench: Bench, packages: Path) -> None:
    install_example("benchmark", "my_benchmark", packages)
    words = ("--runs", "1", "--property", "longest=2", "--output", "out")
    call(bench, packages, "run", "sorting", *words)
    done = call(bench, packages, "run", "sorting", "--continue", "out", "--runs", "2")
    assert [record["answer"] for record in bench.records("out")] == ["1\n", "1 2\n"] * 4
    assert "| Wall time" in done.out
    assert call(bench, packages, "report", "out").out == done.out
