"""`swarm-bench report` on folders that canopy's script wrote. The payloads and lines are those of
the script itself, run with a `claude` that prints them, or dies."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.builders.golden import Sentences, parts
from tests.e2e.conftest import Bench

PLACEHOLDER: dict[str, Any] = {
    "result": "Agent command failed or produced no JSON output. See agent-2.stderr.log.",
    "duration_ms": 0,
    "num_turns": 0,
    "usage": {
        "input_tokens": 0,
        "cache_read_input_tokens": 0,
        "cache_creation_input_tokens": 0,
        "output_tokens": 0,
    },
    "total_cost_usd": 0,
}
USAGE = {
    "input_tokens": 20,
    "cache_creation_input_tokens": 30000,
    "cache_read_input_tokens": 200000,
    "output_tokens": 2000,
}
ANSWER: dict[str, Any] = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "duration_ms": 71000,
    "num_turns": 6,
    "result": "# Answer\nsrc/a.py, src/b.py and README.md",
    "total_cost_usd": 0.2,
    "usage": USAGE,
}
LINE: dict[str, float] = {
    "duration_ms": 71000,
    "duration_s": 71.0,
    "num_turns": 6,
    "input_tokens": 20,
    "cache_read": 200000,
    "cache_create": 30000,
    "output_tokens": 2000,
    "total_tokens": 32020,
    "effective_tokens": 232020,
    "cost": 0.2,
    "result_lines": 2,
    "compacted": 0,
}
ZEROS: dict[str, float] = dict.fromkeys(LINE, 0.0) | {"result_lines": 1}


def write(
    folder: Path, agents: Mapping[tuple[str, int], tuple[Mapping[str, Any], Mapping[str, Any]]]
) -> None:
    """A folder of the script: by mode and agent, the payload and the figures of its line."""
    numbers = [agent for _, agent in agents]
    tasks = [f"Task {number}" for number in range(1, max(numbers) + 1)]
    folder.mkdir()
    config = {"repo": "/srv/shop", "agents": max(numbers), "max_turns": 15, "tasks": tasks}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "summary.md").write_text("# Swarm Benchmark Summary\n")
    with (folder / "metrics.jsonl").open("w") as lines:
        for (mode, agent), (payload, figures) in agents.items():
            (folder / mode).mkdir(exist_ok=True)
            (folder / mode / f"agent-{agent}.json").write_text(json.dumps(payload, indent=2))
            head = {"mode": mode, "agent": agent, "task": tasks[agent - 1]}
            lines.write(json.dumps(head | dict(figures)) + "\n")


def test_four_of_five_dead_agents_make_no_saving(bench: Bench, golden: Sentences) -> None:
    agents = {("baseline", agent): (ANSWER, LINE) for agent in range(1, 6)}
    agents |= {("canopy", agent): (PLACEHOLDER, ZEROS) for agent in range(2, 6)}
    write(bench.folder / "results", agents | {("canopy", 1): (ANSWER, LINE)})
    done = bench.call("report", "results")
    assert done.code == 0
    assert "0×" not in done.out.replace("1.00×", "")
    golden(parts(done.out))
    rows = [line.split("|") for line in done.out.splitlines() if line.startswith("| Total cost")]
    assert [cell.strip() for cell in rows[0][2:4]] == ["$1", "$0.2 (4 missing)"]


def test_each_figure_that_differs_from_the_script_is_named(bench: Bench) -> None:
    empty = {key: value for key, value in ANSWER.items() if key != "result"}
    write(
        bench.folder / "results",
        {
            ("baseline", 1): (ANSWER | {"result": "-n"}, LINE | {"result_lines": 0}),
            ("baseline", 2): (ANSWER | {"total_cost_usd": None}, LINE | {"cost": 0}),
            ("baseline", 3): (empty, LINE | {"result_lines": 1}),
            ("baseline", 4): (ANSWER | {"result": "-\n"}, LINE | {"result_lines": 1}),
            ("baseline", 5): (ANSWER, LINE),
        },
    )
    done = bench.call("report", "results")
    warnings = [line for line in done.out.splitlines() if line.startswith("- baseline: ")]
    figures = {
        ("agent 1", "result_lines 0", "here it is 1"),
        ("agent 2", "cost 0", "here it is missing"),
        ("agent 3", "result_lines 1", "here it is missing"),
    }
    assert len(warnings) == len(figures) + 2, "and that agent 3 gave no answer, and 2 no cost"
    assert all(any(all(map(line.__contains__, one)) for line in warnings) for one in figures)
