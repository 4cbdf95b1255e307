"""A session with `--max-cost` starts no trial that could cost too much, and can be continued."""

from collections import Counter
from typing import Any

import pytest
import yaml

from tests.builders.golden import Sentences, parts
from tests.e2e.conftest import Bench, Done

pytestmark = pytest.mark.timeout(120)

AGENT = "swarm_bench.agents.scripted:Scripted"
USAGE = {"input": 10, "cache_read": 0, "cache_create": 0, "output": 5}


def run(bench: Bench, *arguments: str, design: str = "ab", cost: float | None = 0.5) -> Done:
    """Run four tasks of half a dollar each."""
    answer: dict[str, Any] = {"text": "See shop/auth.py.\n", "turns": 2, "usage": USAGE}
    if cost is not None:
        answer["cost"] = cost
    steps = [{"init": {"tools": ["Read"]}}, {"answer": answer}]
    tasks = [{"id": f"t{n}", "title": f"t{n}", "prompt": f"What is {n}?"} for n in range(4)]
    (bench.folder / "script.yaml").write_text(yaml.safe_dump([{"steps": steps}]))
    (bench.folder / "tasks.yaml").write_text(yaml.safe_dump({"tasks": tasks}))
    return bench.call(
        design, "--repo", str(bench.repo), "--agent", AGENT, "--model", "script.yaml",
        "--tasks", "tasks.yaml", "--runs", "1", "--output", "out", *arguments,
    )  # fmt: skip


def test_a_session_ends_before_a_trial_that_could_exceed_it_and_continues(
    bench: Bench, golden: Sentences
) -> None:
    done = run(bench, "--modes", "baseline", "--max-cost", "1.2")
    assert done.code == 4, done.err
    assert len(bench.records("out")) == 2
    golden(parts(done.out))
    assert (bench.folder / "out" / "summary.md").read_text() in done.out
    golden(done.err)

    done = bench.call("ab", "--continue", "out", "--max-cost", "1.2")
    assert (done.code, len(bench.records("out"))) == (4, 2)
    done = bench.call("ab", "--continue", "out", "--max-cost", "1.5")
    assert (done.code, len(bench.records("out"))) == (4, 3)
    done = bench.call("ab", "--continue", "out")
    assert (done.code, len(bench.records("out"))) == (0, 4), done.err


def test_trials_at_the_same_time_count_with_what_they_may_cost(bench: Bench) -> None:
    done = run(
        bench, "--modes", "baseline", "--concurrency", "2", "--agents", "4", "--max-cost", "1.2",
        design="compare",
    )  # fmt: skip
    assert done.code == 4, done.err
    assert len(bench.records("out")) == 2


@pytest.mark.parametrize("at_once", ["1", "4"])
def test_money_buys_a_comparison_of_fewer_tasks(
    bench: Bench, golden: Sentences, at_once: str
) -> None:
    """Four at once are one block: its first mode alone would cost 2 dollars."""
    arguments = ("--modes", "baseline", "canopy", "--concurrency", at_once, "--max-cost", "3.2")
    done = run(bench, *arguments, design="compare")
    assert done.code == 4, done.err
    tasks = Counter((record["mode"], record["task"]) for record in bench.records("out"))
    asked = {task for _, task in tasks}
    assert tasks == {(mode, task): 1 for mode in ("baseline", "canopy") for task in asked}
    assert len(asked) == 3, "six trials could be paid, and not eight"
    golden(done.err)

    done = bench.call("compare", "--continue", "out", "--max-cost", "4.1")
    assert (done.code, len(bench.records("out"))) == (0, 8), done.err


def test_a_limit_ends_nothing_where_nobody_is_billed(bench: Bench) -> None:
    words = ("--modes", "baseline", "--tasks", "exploration", "--max-cost", "0.0001")
    done = bench.call("compare", "--repo", str(bench.repo), *words, "--output", "out")
    assert (done.code, len(bench.records("out"))) == (0, 5), done.err
    assert "--max-cost has no effect: nobody is billed for scout" in done.err


def test_a_calibration_and_a_series_stop_too(bench: Bench, golden: Sentences) -> None:
    done = run(bench, "--max-cost", "1.2", "--agents", "1", design="calibrate")
    assert (done.code, len(bench.records("out"))) == (0, 2), done.err
    (bench.folder / "out").rename(bench.folder / "first")
    done = run(
        bench, "--modes", "baseline", "--agents", "1", "2", "--max-cost", "1.7", design="compare"
    )
    assert done.code == 4, done.err
    assert [len(bench.records(f"out/agents-{size}")) for size in (1, 2)] == [2, 1]
    golden(done.err)
    done = bench.call("compare", "--continue", "out")
    assert done.code == 0, done.err
    assert [len(bench.records(f"out/agents-{size}")) for size in (1, 2)] == [2, 2]


def test_an_agent_that_answers_and_gives_no_cost_ends_the_session(
    bench: Bench, golden: Sentences
) -> None:
    done = run(bench, "--modes", "baseline", "--max-cost", "9", cost=None)
    assert done.code == 4, done.err
    assert len(bench.records("out")) == 1
    golden(done.err)
    golden(parts(done.out))

    (bench.folder / "prices.toml").write_text(
        "[scripted]\ninput = 1e5\ncache_write = 0\ncache_read = 0\noutput = 0\n"
    )
    done = bench.call("ab", "--continue", "out", "--max-cost", "2.5")
    assert done.code == 4, done.err
    assert [record["cost"] for record in bench.records("out")] == [None, 1.0]
    golden(done.err)


def test_without_a_limit_trials_without_a_cost_all_run(bench: Bench) -> None:
    done = run(bench, "--modes", "baseline", "--concurrency", "1", design="compare", cost=None)
    assert (done.code, len(bench.records("out"))) == (0, 4), done.err


@pytest.mark.parametrize("limit", ["0", "-1", "nan", "inf", "much", "$5"])
def test_what_is_no_limit_is_refused(bench: Bench, limit: str) -> None:
    done = run(bench, "--modes", "baseline", f"--max-cost={limit}")
    assert done.code == 2
    assert "--max-cost" in done.err
