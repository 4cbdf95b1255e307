"""A mode against itself, from the command to the noise floor."""

import math
import re
from pathlib import Path

import pytest
import yaml

from swarm_bench.analysis.statistics.formulas import compute_sd_interval
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.core.report.calibration import Noise
from tests.builders.golden import Sentences
from tests.builders.reports import calibration
from tests.e2e.conftest import Bench

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

STILL = (
    "num_turns", "tool_calls", "total_tokens", "effective_tokens", "output_tokens",
    "result_lines", "references", "grounded", "completed",
)  # fmt: skip
SPREAD = 0.3
TASKS, RUNS = 8, 6


def noise(folder: Path) -> dict[str, Noise]:
    """The rows of a session's calibration by key, those that fixed rules decided too."""
    found = calibration(SessionFolder(folder).read())
    return {row.metric.key: row for row in (*found.rows, *found.spent_by_rules)}


@pytest.mark.long
def test_scout_is_deterministic_in_all_but_time(bench: Bench, golden: Sentences) -> None:
    repo = str(bench.repo)
    done = bench.call(
        "calibrate", "--repo", repo, "--mode", "canopy", "--agents", "2", "--runs", "2",
        "--output", "out",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert done.out == (bench.folder / "out" / "summary.md").read_text()
    rows = noise(bench.folder / "out")
    assert {key: rows[key].still for key in STILL} == dict.fromkeys(STILL, True)
    assert rows["wall_seconds"].identical == 0
    assert (rows["wall_seconds"].spread or 0) > 1
    spent = done.out.partition("## What the fixed rules spent")[2]
    assert re.search(r"^\| Effective tokens +\| +1\.00× \|.*\| +all 4 \|$", spent, re.M)
    headline = done.out.partition("## Headline")[2].partition("## Warnings")[0]
    assert re.search(r"differences (below|of) .* in wall time may be chance", headline)
    assert "tokens:" not in headline
    assert {r["mode"] for r in bench.records("out")} == {"canopy", "canopy-again"}
    assert {r["retrieval"] for r in bench.records("out")} == {"used"}
    again = bench.call("report", "out")
    assert (again.code, again.out) == (0, done.out)
    other = bench.call("calibrate", "--continue", "out", "--mode", "baseline")
    assert other.code == 2
    golden(other.err)


def test_a_known_spread_is_recovered(bench: Bench) -> None:
    """Within the interval that holds 99.9 % of the spreads that such a calibration finds."""
    figures = {"text": "a.py:1", "turns": 3, "cost": 0.25, "spread": SPREAD}
    usage = {"input": 40_000, "cache_read": 90_000, "cache_create": 0, "output": 10_000}
    plays = [{"steps": [{"answer": {**figures, "usage": usage}}]}]
    (bench.folder / "script.yaml").write_text(yaml.safe_dump(plays))
    tasks = [{"id": f"t{n}", "title": f"Task {n}", "prompt": f"What {n}?"} for n in range(TASKS)]
    (bench.folder / "tasks.yaml").write_text(yaml.safe_dump({"tasks": tasks}))
    done = bench.call(
        "calibrate", "--repo", str(bench.repo), "--tasks", "./tasks.yaml", "--all-tasks",
        "--runs", str(RUNS), "--agent", "swarm_bench.agents.scripted:Scripted",
        "--model", "script.yaml", "--output", "out",
    )  # fmt: skip
    assert done.code == 0, done.err
    rows = noise(bench.folder / "out")
    freedom = 2 * TASKS * (RUNS - 1)
    low, high = compute_sd_interval(SPREAD, freedom, 0.999)
    for key in ("effective_tokens", "output_tokens", "cost"):
        row = rows[key]
        assert row.spread is not None
        assert low < math.log(row.spread) < high, key
        assert row.spread_interval is not None
        assert row.interval is not None
        assert (row.pairs, row.identical, row.tasks) == (TASKS * RUNS, 0, TASKS)
        # Nothing differs: the effect is noise, and three standard errors hold it.
        assert abs(math.log(row.effect or 0)) < 3 * SPREAD * math.sqrt(2 * 1.29 / RUNS / TASKS)
    assert "1.3" in done.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--agents", "1", "--runs", "1"], ["With one task", "With one run"]),
        (["--agents", "2", "--runs", "1"], ["With one run there is no spread"]),
    ],
)
def test_what_cannot_be_computed_is_said(bench: Bench, words: list[str], says: list[str]) -> None:
    done = bench.call("calibrate", "--repo", str(bench.repo), *words, "--output", "out")
    assert done.code == 0, done.err
    assert all(sentence in done.out for sentence in says)


def test_a_calibration_is_extended(bench: Bench) -> None:
    words = ("--repo", str(bench.repo), "--agents", "1", "--runs", "1", "--output", "out")
    assert bench.call("calibrate", *words).code == 0
    more = bench.call("calibrate", "--continue", "out", "--runs", "2")
    assert (more.code, len(bench.records("out"))) == (0, 4), more.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--agents", "1", "2"], "this session has swarms of one size"),
        (["--mode", "nothing"], "There is no mode called 'nothing'"),
    ],
)
def test_what_calibrate_refuses(bench: Bench, words: list[str], says: str) -> None:
    done = bench.call("calibrate", "--repo", str(bench.repo), *words)
    assert (done.code, says in done.err) == (2, True), done.err


def test_several_modes_of_the_environment_are_refused(bench: Bench) -> None:
    done = bench.call(
        "calibrate", "--repo", str(bench.repo), env={"SWARM_BENCH_MODES": "baseline canopy"}
    )
    assert (done.code, "give one with --mode" in done.err) == (2, True), done.err
