"""The table of trials: a row for each, and of many trials one for each agent of a mode."""

import re
from typing import Any

from swarm_bench.analysis.documents.comparison import make_document
from swarm_bench.analysis.documents.trials import MAX_SINGLE, make_trials_section
from swarm_bench.core.report.document import Cell, Grid, Paragraph, Span, Value
from swarm_bench.core.session.records import SessionData, TrialRecord
from swarm_bench.reports.markdown import write_files
from tests.builders.reports import summarise
from tests.builders.sessions import make_session, make_swarm, make_trial


def of_runs(agents: int, runs: int) -> SessionData:
    trials: list[TrialRecord] = []
    for run in range(1, runs + 1):
        for agent in range(1, agents + 1):
            lost: dict[str, Any] = {
                "status": "agent-failed",
                "cause": "timeout",
                "total_tokens": None,
            }
            failed = lost if (run, agent) == (2, 1) else {}
            trials.append(make_trial(run=run, agent=agent, task="a", cost=run / 10, **failed))
    return make_session(*trials, agents=agents)


def table(data: SessionData) -> tuple[Grid, list[dict[str, Cell]], str]:
    """The grid, its rows by header, and where the others are."""
    *above, grid = make_trials_section(summarise(data)).blocks
    assert isinstance(grid, Grid)
    texts = [line for block in above if isinstance(block, Paragraph) for line in block.lines]
    parts = [part for text in texts for part in text if isinstance(part, Span)]
    rows = [dict(zip(grid.headers, row, strict=True)) for row in grid.rows]
    return grid, rows, "".join(part.address for part in parts)


def test_few_trials_have_a_row_each() -> None:
    grid, rows, address = table(of_runs(agents=MAX_SINGLE // 3, runs=3))
    assert len(rows) == MAX_SINGLE
    assert grid.headers[0] == "Run"
    assert address == ""


def test_of_many_each_agent_has_one_and_the_file_has_all() -> None:
    grid, rows, address = table(of_runs(agents=MAX_SINGLE // 3 + 1, runs=3))
    assert len(rows) == MAX_SINGLE // 3 + 1
    assert "Run" not in grid.headers
    assert address == "metrics.jsonl"
    first, second = rows[:2]
    assert (first["Outcome"], second["Outcome"]) == ("2 finished, 1 timed out", "finished")
    cost, tokens = first["Cost"], first["Reported Tokens"]
    assert isinstance(cost, Value)
    assert isinstance(tokens, Value)
    assert (cost.value, cost.low, cost.high) == (0.2, 0.1, 0.3)
    assert (tokens.value, tokens.low, tokens.notes) == (100, None, ("1 missing",))


def test_a_figure_that_no_run_has_is_missing() -> None:
    data = make_session(*(make_trial(run=run, cost=None) for run in range(1, MAX_SINGLE + 2)))
    _, (row,), _ = table(data)
    cost = row["Cost"]
    assert isinstance(cost, Value)
    assert (cost.value, cost.notes) == (None, ())


def test_of_one_run_every_trial_has_a_row() -> None:
    _, rows, address = table(of_runs(agents=MAX_SINGLE + 1, runs=1))
    assert len(rows) == MAX_SINGLE + 1
    assert address == "metrics.jsonl"


def test_a_summary_as_large_as_that_of_the_demo_is_short() -> None:
    """All but the table of trials; everything else is in the second file."""
    modes, numbers = ("baseline", "canopy", "canopy-service"), range(36)
    scores = {"file_recall": 0.5, "file_precision": 0.1, "symbol_recall": 0.2}
    trials = [
        make_trial(mode, agent=at + 1, task=f"t{at}", task_id=f"t{at}", fixed_rules=True,
                   scores=scores | {"file_recall": float((at + modes.index(mode)) % 2)})
        for mode in modes
        for at in numbers
    ]  # fmt: skip
    tasks = [
        {"id": f"t{at}", "title": f"T{at}", "prompt": f"{at}", "key": {"files": [f"{at}.py"]}}
        for at in numbers
    ]
    swarms = (make_swarm(mode, agents=tuple(range(1, 37))) for mode in modes)
    report = summarise(make_session(*trials, *swarms, tasks=tasks, agents=36))
    files = write_files(make_document(report))
    trials_table = r"<details><summary>\n\n## Per-Agent Results.*?</details>\n"
    rest = re.sub(trials_table, "", files.markdown, flags=re.DOTALL)
    assert 60 < rest.count("\n") <= 120
    assert files.markdown.count("\n| ") > 108
    assert "[details.md](details.md)" in rest
    assert "## Missed by one, found by another" in rest
    for title in ("Time, tokens and cost", "What was found", "How to read the effects"):
        assert f"## {title}\n" not in rest
        assert f"## {title}\n" in files.details
