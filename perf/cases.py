"""Processor time of what a session of models computes beside its models: holes in files, and the
figures of many records.

    python perf/cases.py

Goals: 0.2 s for the holes of 50 files, 10 s and 100 MB for those of 5,000; 0.5 s for the figure of
10,000 cases with ten counts each, its interval among it.
"""

import random
import resource
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from swarm_bench.analysis.aggregates import pool
from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.benchmarks.completion.benchmark import CodeCompletion
from swarm_bench.core.metric import Metric, Style
from swarm_bench.datasets.rows import read_rows

CASES, COUNTS, RUNS = 10_000, 10, 5
FEW, MANY = 50, 5_000
"""Files."""


def main() -> None:
    own = CodeCompletion()
    shipped = read_rows(own.default_dataset(), own.row_schema()).rows
    rows = [
        row.model_copy(update={"path": f"{n}/{row.path}", "content": f"// {n}\n{row.content}"})
        for n in range(MANY // len(shipped) + 1)
        for row in shipped
    ]
    print(f"holes: {seconds(lambda: holes(rows[:FEW])):.2f} s for {FEW} files (goal 0.2)")
    before, began = megabytes(), time.process_time()
    number = holes(rows[:MANY])
    took, most = time.process_time() - began, megabytes() - before
    print(f"holes: {took:.1f} s and {most:.0f} MB for {number:,} of {MANY:,} files (goal 10, 100)")
    Effect(differences=(0.0, 1.0)).interval()  # scipy is imported here
    print(f"figure of many: {seconds(figure):.2f} s for {CASES:,} cases (goal 0.5)")


def figure() -> None:
    rng = random.Random(0)
    counts = {f"c{n}": tuple(float(rng.randrange(99)) for _ in range(COUNTS)) for n in range(CASES)}
    metric = Metric(
        key="share", title="Share", unit="0 to 1", style=Style.FRACTION, definition="Of all.",
        relative=False, counts=lambda record: record, of_counts=lambda sums: sums[0] / sum(sums),
    )  # fmt: skip
    values = pool(metric, [counts])
    assert Effect(differences=tuple(value for (value,) in values.values())).interval()


def holes(rows: Sequence[Any]) -> int:
    return len(list(CodeCompletion().cases(rows)))


def megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def seconds(measured: Callable[[], object]) -> float:
    """Take the median of the processor time."""
    times = list[float]()
    for _ in range(RUNS):
        began = time.process_time()
        measured()
        times.append(time.process_time() - began)
    return median(times)


if __name__ == "__main__":
    main()
