"""Agents that would spoil it for the others of their swarm, which show the same figures as ever."""

import psutil
import pytest
import yaml

from tests.e2e.conftest import Bench

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

LIMIT = 12
"""Seconds. Half of the honest agents' time is left to start them on a busy machine."""
LINE = "- shop/auth.py:1 and shop/models.py\n"
BIG = 50_000_000 // len(LINE)
HONEST = [{"sleep": 6}, {"answer": {"text": LINE * 5, "turns": 2}}]
ESCAPED = "97.531"
ESCAPE = ["sh", "-c", f"env -i setsid -f sleep {ESCAPED} >/dev/null 2>&1"]


def test_a_huge_answer_and_an_escape_change_nothing_for_the_others(bench: Bench) -> None:
    """The huge one was scored where the others were waited for, and they got time-outs."""
    tasks = {
        "tasks": [
            {"id": word, "title": word, "prompt": f"{word} it"}
            for word in ("Huge", "Flee", "A", "B")
        ]
    }
    (bench.folder / "tasks.yaml").write_text(yaml.safe_dump(tasks))
    plays = [
        {"when": {"prompt": "Huge"}, "steps": [{"answer": {"text": LINE, "repeat": BIG}}]},
        {"when": {"prompt": "Flee"}, "steps": [{"run": ESCAPE}, {"answer": {"text": LINE}}]},
        {"steps": HONEST},
    ]
    (bench.folder / "script.yaml").write_text(yaml.safe_dump(plays))
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "baseline", "--runs", "1", "--agents", "4",
        "--agent", "swarm_bench.agents.scripted:Scripted", "--model", "script.yaml",
        "--tasks", "tasks.yaml", "--timeout", str(LIMIT), "--output", "out",
    )  # fmt: skip
    assert done.code == 0, done.err
    by_task = {record["task_id"]: record for record in bench.records("out")}
    assert {record["cause"] for record in by_task.values()} == {"finished"}
    for task in ("A", "B"):
        assert 6 <= by_task[task]["wall_seconds"] < LIMIT
        assert (by_task[task]["bullets"], by_task[task]["unscored_characters"]) == (5, None)
    huge = by_task["Huge"]
    assert huge["result_lines"] == BIG
    assert huge["unscored_characters"] == BIG * len(LINE) - 2**20
    assert huge["bullets"] == 2**20 // len(LINE) + 1
    assert "had more than a million characters" in done.out
    assert not [p for p in psutil.process_iter() if ESCAPED in _words(p)]


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []
