"""Processor time of diff cases with their tests, and of looking through rows of a data set.

    python perf/diffs.py [CASES]

Goals: 150 ms a case, and 120 s by the clock for 1,000 on two cores that do nothing else; 60 s and
300 MB for 500 MB of rows, of which a tenth is measured.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.resources import files
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

CASES = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
ROWS = Path(str(files("swarm_bench.datasets"))) / "shipped" / "diff-dataset" / "rows.jsonl"
VERIFIED = 50_000_000
"""Bytes."""


def main() -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "rows.jsonl").write_text("".join(cases()))
        words = ["unified-diff", "--models", "reference", "--dataset", "rows.jsonl", "--quiet"]
        took, wall = measured(folder, "run", *words, "--allow-code-execution", "--output", "out")
        own = (f"{1_000 * took / CASES:.0f} ms a case (goal 150)", f"{wall:.0f} s by the clock")
        print(f"diffs: {', '.join(own)} for {CASES:,} cases")
        for length in (1_000, 90):
            row = json.dumps({"func": "x" * length, "target": 0})
            lines = (f'{row[:-1]}, "idx": {n}}}\n' for n in range(VERIFIED // len(row)))
            (folder / "rows.jsonl").write_text("".join(lines))
            words = ["verify", "rows.jsonl", "--benchmark", "labels"]
            took, _ = measured(folder, "datasets", *words)
            most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
            goals = f"(goal {60 * VERIFIED / 500_000_000:.0f}), {most:.0f} MB at most (goal 300)"
            print(f"verify: {took:.1f} s {goals} for {VERIFIED / 1e6:.0f} MB, {length} bytes a row")


def cases() -> Iterator[str]:
    """Yield as many rows as are asked, each with an id of its own."""
    rows = [json.loads(line) for line in ROWS.read_text().splitlines()]
    for number, row in enumerate(islice(cycle(rows), CASES)):
        yield json.dumps({**row, "id": str(number)}) + "\n"


def measured(folder: Path, *words: str) -> tuple[float, float]:
    """Run a command; return the seconds of processor time of all that it started, and by the
    clock."""
    before, began = spent(), time.perf_counter()
    argv = [sys.executable, "-m", "swarm_bench", *words]
    subprocess.run(argv, cwd=folder, check=True, capture_output=True)
    return spent() - before, time.perf_counter() - began


def spent() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
