"""What a person gets who writes a benchmark: one that works, and a page for a model."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import pytest

from swarm_bench.core.metric import Style
from tests.builders.golden import Sentences
from tests.builders.packages import block
from tests.e2e.conftest import Bench


def test_a_new_benchmark_runs_and_passes_its_test(bench: Bench, golden: Sentences) -> None:
    done = bench.call("benchmarks", "new", "word-sums")
    assert done.code == 0, done.err
    golden(done.out)
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
    "name",
    [
        "Big",
        "two words",
        "../x",
        "a_b",
        "",
        "-a",
        "class",
        "none",
        "statistics",
        "pydantic",
        "question",
        "tools",
        "swarm",
        "humaneval",
    ],
)
def test_a_name_that_cannot_be_is_refused(name: str, bench: Bench, golden: Sentences) -> None:
    done = bench.call("benchmarks", "new", "--", name)
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert not list(bench.folder.glob("*.py"))
    golden(done.err)


def test_nothing_is_written_over(bench: Bench) -> None:
    (bench.folder / "sums.jsonl").write_text("mine")
    done = bench.call("benchmarks", "new", "sums")
    assert (done.code, "sums.jsonl is there already" in done.err) == (2, True), done.err
    assert (bench.folder / "sums.jsonl").read_text() == "mine"
    assert not (bench.folder / "sums.py").exists()


def pages(bench: Bench) -> tuple[str, list[str]]:
    """The page for a model, and the blocks of code in it."""
    page = bench.call("benchmarks", "prompt").out
    return page, re.findall(r"```python\n(.*?)```", page, re.DOTALL)


def with_parts(example: str, parts: str) -> str:
    """The module of the page with what another block of it has: imports, and what stands in the
    class in the place of what was there."""
    imports, body = parts.split("\n\n\n", 1)
    for name in re.findall(r"def (\w+)\(", body):
        old = rf"(    @classmethod\n)?    (async )?def {name}\(.*?(?=\n\n    \S|\Z)"
        example = re.sub(old, "", example, count=1, flags=re.DOTALL)
    first = "from swarm_bench.benchmarks.cases.role"
    return example.replace(first, f"{imports}\n{first}", 1).rstrip() + f"\n\n{body}"


@pytest.mark.parametrize("part", ["answer_share", "executes", "judged", "def arms"])
def test_each_part_of_the_page_for_a_model_works_at_once(part: str, bench: Bench) -> None:
    page, blocks = pages(bench)
    (extra,) = [it for it in blocks if part in it and "class MyBenchmark" not in it]
    (example,) = [it for it in blocks if "class MyBenchmark" in it]
    code = with_parts(example, extra)
    if part == "answer_share":
        scored = 'return {"share": prediction == case.row.answer, "letters": len(prediction)}'
        code = re.sub(r"return \{PASSED.*", scored, code)
    row = {"id": "a", "question": "1 + 1?", "answer": "2"}
    if part == "executes":
        code = code.replace("reference=case.row.answer", 'reference=f"print({case.row.answer})"')
    (bench.folder / "my_benchmark.py").write_text(code)
    (bench.folder / "my_benchmark.jsonl").write_text(json.dumps(row) + "\n")
    words = ("my_benchmark:MyBenchmark", "--models", "reference", "empty", "--environment")
    run = ("run", *words, "unconfined", "--allow-code-execution", "--output", "out", "--quiet")
    done = bench.call(*run)
    assert (done.code, "benchmark" in done.err.lower()) == (0, False), done.err
    (key,) = {"share" if part == "answer_share" else "passed"}
    values = {it["arm"].split()[0]: it["scores"][key] for it in bench.records("out")}
    assert values == {"reference": True, "empty": False}
    assert all(style.name in page for style in Style)


def test_a_package_brings_its_rows(bench: Bench) -> None:
    assert bench.call("benchmarks", "new", "word-sums").code == 0
    project = block("README", "toml").replace("swarm_bench.scorers", "swarm_bench.benchmarks")
    point = 'word-sums = "word_sums:WordSums"'
    project = re.sub(r"^line-references = .*$", point, project, flags=re.MULTILINE)
    (bench.folder / "pyproject.toml").write_text(project)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    subprocess.run(command, cwd=bench.folder, check=True, capture_output=True)
    (wheel,) = (bench.folder / "dist").glob("*.whl")
    ZipFile(wheel).extractall(bench.folder / "packages")
    (other := bench.folder / "other").mkdir()
    inside = ("env", f"PYTHONPATH={bench.folder / 'packages'}")
    elsewhere = replace(bench, folder=other)
    run = ("--models", "reference", "--output", "out", "--quiet")
    done = elsewhere.call("run", "word-sums", *run, inside=inside)
    assert (done.code, len(elsewhere.records("out"))) == (0, 3), done.err
    shown = elsewhere.call("benchmarks", "show", "word-sums", "--case", "metres", inside=inside)
    assert "kilometres" in shown.out, shown.err
    assert (
        elsewhere.call(
            "run", "word-sums", "--continue", "out", "--runs", "2", "--quiet", inside=inside
        ).code
        == 0
    )
    both = bench.call("run", "word_sums:WordSums", *run, inside=inside)
    assert (both.code, "installed too" in both.err) == (2, True), both.err
    own = elsewhere.call("run", "word_sums:WordSums", *run[:-1], "--output", "own", inside=inside)
    assert own.code == 0, own.err


def test_a_property_that_would_replace_a_method_is_refused(bench: Bench, golden: Sentences) -> None:
    page, blocks = pages(bench)
    (example,) = [it for it in blocks if "class MyBenchmark" in it]
    code = example.replace("    hint: str", '    rules: str = "strict"\n    hint: str')
    (bench.folder / "my_benchmark.py").write_text(code)
    done = bench.call("run", "my_benchmark:MyBenchmark", "--models", "reference")
    assert (done.code, done.out) == (2, "")
    golden(done.err)


def test_the_page_for_a_model_has_an_example_that_runs(bench: Bench) -> None:
    page, blocks = pages(bench)
    (module,) = [it for it in blocks if "class MyBenchmark" in it]
    row = re.search(r"`(\{\"id\".*?\})`", page)
    assert row
    (bench.folder / "my_benchmark.py").write_text(module)
    (bench.folder / "my_benchmark.jsonl").write_text(f"{row[1]}\n")
    command = re.search(r"`swarm-bench (run .*?)`", page)
    assert command
    done = bench.call(*command[1].split(), "--output", "out", "--quiet")
    assert done.code == 0, done.err
    assert page.rindex("## The idea") < page.rindex("Replace this line by") < len(page)
