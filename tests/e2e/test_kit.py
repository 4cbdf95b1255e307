"""What a person gets who writes a benchmark: one that works, and a page for a model."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import Bench


def test_a_new_benchmark_runs_and_passes_its_test(bench: Bench) -> None:
    done = bench.call("benchmarks", "new", "word-sums")
    assert done.code == 0, done.err
    commands = [line.split() for line in done.out.splitlines() if line.startswith("  ")]
    tested, run = commands[-2:]
    env = {"PATH": str(Path(sys.executable).parent), "PYTHONPATH": str(bench.folder)}
    argv = [sys.executable, *tested[1:], "-p", "no:cacheprovider"]
    result = subprocess.run(argv, cwd=bench.folder, env=env, capture_output=True, text=True)
    assert (result.returncode, "1 passed" in result.stdout) == (0, True), result.stdout
    done = bench.call(*run[1:], "--output", "out", "--quiet")
    assert done.code == 0, done.err
    lines = (bench.folder / "out/metrics.jsonl").read_text().splitlines()
    records = list(map(json.loads, lines))
    passed = {(it["arm"], it["scores"]["passed"]) for it in records}
    assert passed == {("reference", True), ("copy", False), ("empty", False)}
    assert not list(bench.folder.glob("*my?benchmark*"))


@pytest.mark.parametrize(
    "name", ["Big", "two words", "../x", "a_b", "", "-a", "class", "statistics", "yaml"]
)
def test_a_name_that_is_none_is_refused(name: str, bench: Bench) -> None:
    done = bench.call("benchmarks", "new", "--", name)
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert not list(bench.folder.glob("*.py"))


def test_nothing_is_written_over(bench: Bench) -> None:
    (bench.folder / "sums.jsonl").write_text("mine")
    done = bench.call("benchmarks", "new", "sums")
    assert (done.code, "sums.jsonl is there already" in done.err) == (2, True), done.err
    assert (bench.folder / "sums.jsonl").read_text() == "mine"
    assert not (bench.folder / "sums.py").exists()


def test_the_page_for_a_model_has_an_example_that_runs(bench: Bench) -> None:
    page = bench.call("benchmarks", "prompt").out
    module = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    row = re.search(r"`(\{\"id\".*?\})`", page)
    assert module
    assert row
    (bench.folder / "my_benchmark.py").write_text(module[1])
    (bench.folder / "my_benchmark.jsonl").write_text(row[1] + "\n")
    command = re.search(r"`swarm-bench (run .*?)`", page)
    assert command
    done = bench.call(*command[1].split(), "--output", "out", "--quiet")
    assert done.code == 0, done.err
    assert page.rindex("## The idea") < page.rindex("Replace this line by") < len(page)
