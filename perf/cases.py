"""Processor time of what a session of models computes beside its models: figures of many records.

    python perf/cases.py

Goal: 0.5 s for the figure of 10,000 cases with ten counts each, its interval among it.
"""

import random
import time
from collections.abc import Callable
from statistics import median

from swarm_bench.analysis.cases.pooled import pooled
from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.core.metric import Metric, Style

CASES, COUNTS, RUNS = 10_000, 10, 5


def main() -> None:
    Effect(differences=(0.0, 1.0)).interval()  # scipy is imported here
    print(f"figure of many: {seconds(figure):.2f} s for {CASES:,} cases (goal 0.5)")


def figure() -> None:
    rng = random.Random(0)
    counts = {f"c{n}": tuple(float(rng.randrange(99)) for _ in range(COUNTS)) for n in range(CASES)}
    metric = Metric(
        key="share", title="Share", unit="0 to 1", style=Style.FRACTION, definition="Of all.",
        relative=False, counts=lambda record: record, of_counts=lambda sums: sums[0] / sum(sums),
    )  # fmt: skip
    values = pooled(metric, [counts])
    assert Effect(differences=tuple(value for (value,) in values.values())).interval()


def seconds(measured: Callable[[], None]) -> float:
    """Take the median of the processor time."""
    times = list[float]()
    for _ in range(RUNS):
        began = time.process_time()
        measured()
        times.append(time.process_time() - began)
    return median(times)


if __name__ == "__main__":
    main()
