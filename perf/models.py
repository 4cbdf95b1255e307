"""What a session of models takes beside its models: programs a second in the sandbox, milliseconds
of a test of APPS and of the kernel a trial, `--plan` of 5,000 cases, and 200 samples of all of
HumanEval.

    SAMPLES=200 python perf/models.py

Goals on two cores: 30 programs a second, 10 ms a test, 5 ms a trial, 1 s, and 25 minutes with
300 MB for 200 samples.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMAND = Path(sys.executable).parent / "swarm-bench"
SUMS = Path(__file__).parents[1] / "docs" / "benchmarks.md"
CASES = 5_000
TRIALS = 2_000
TESTS = 500


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sandbox(folder)
        tests(folder)
        code = SUMS.read_text().partition("```python\n")[2].partition("```")[0]
        (folder / "my_sums.py").write_text(code)
        rows = ({"id": str(n), "sum": f"{n} + {n}", "result": 2 * n} for n in range(CASES))
        (folder / "sums.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        kernel(folder)
        plan(folder)
        samples(folder, int(os.environ.get("SAMPLES", "200")))


def sandbox(folder: Path) -> None:
    """Compare sessions with and without the programs of the same answers."""
    words = ("humaneval", "--models", "reference")
    bare = seconds(folder, *words, "--generate-only", "--output", "bare")
    full = seconds(folder, *words, "--allow-code-execution", "--output", "full")
    print(f"sandbox: {164 / (full - bare):.0f} programs a second (goal 30), 164 of HumanEval")


def tests(folder: Path) -> None:
    """Run problems with many tests, in both forms, one after the other."""
    numbers = range(TESTS)
    for form, solution, content in (
        ("print", "print(int(input()) ** 2)",
         {"inputs": [f"{n}\n" for n in numbers], "outputs": [f"{n * n}\n" for n in numbers]}),
        ("return", "def square(n):\n    return n * n",
         {"fn_name": "square", "inputs": [[n] for n in numbers],
          "outputs": [n * n for n in numbers]}),
    ):  # fmt: skip
        row = {
            "problem_id": 1,
            "question": "Square a number.",
            "solutions": json.dumps([solution]),
            "input_output": json.dumps(content),
            "difficulty": "interview",
        }
        (folder / "squares.jsonl").write_text(json.dumps(row))
        words = ("apps", "--models", "reference", "--dataset", "./squares.jsonl")
        bare = seconds(folder, *words, "--generate-only", "--output", f"bare-{form}")
        full = seconds(folder, *words, "--allow-code-execution", "--output", f"full-{form}")
        each = (full - bare) / TESTS * 1000
        print(f"tests: {each:.1f} ms each (goal 10), {TESTS} of programs that {form}")


def kernel(folder: Path) -> None:
    words = ("my_sums:Sums", "--models", "reference")
    few = seconds(folder, *words, "--limit", "1", "--output", "few")
    many = seconds(folder, *words, "--limit", str(TRIALS), "--output", "many")
    each = (many - few) / TRIALS * 1000
    print(f"kernel: {each:.2f} ms a trial (goal 5), {TRIALS:,} trials that run no code")


def plan(folder: Path) -> None:
    took = sorted(seconds(folder, "my_sums:Sums", "--plan") for _ in range(3))[1]
    print(f"plan: {took:.2f} s for {CASES:,} cases of two models (goal 1), median of 3")


def samples(folder: Path, runs: int) -> None:
    """Run all of HumanEval so often; nothing before took as much memory."""
    words = ("humaneval", "--models", "reference", "--allow-code-execution", "--output", "samples")
    minutes = seconds(folder, *words, "--runs", str(runs)) / 60
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"samples: {minutes:.1f} minutes (goal 25) and {most:.0f} MB (goal 300), {runs} runs")


def seconds(folder: Path, *words: str) -> float:
    began = time.monotonic()
    subprocess.run([COMMAND, "run", *words, "--quiet"], cwd=folder, capture_output=True, check=True)
    return time.monotonic() - began


if __name__ == "__main__":
    main()
