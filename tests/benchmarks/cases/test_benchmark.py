"""The benchmark of the kernel that is made of one in the smaller role."""

from dataclasses import replace

from swarm_bench.benchmarks.cases.benchmark import RowBenchmark, Setup
from swarm_bench.benchmarks.labels.benchmark import Labels
from swarm_bench.datasets.rows import read_rows


def test_cases_of_equal_properties_are_made_once() -> None:
    rows = read_rows("defect-mini", Labels.Row).rows
    first = RowBenchmark(Labels, Setup(arms=(), sources={}, rows=rows))
    assert first.setup is not None
    second = RowBenchmark(Labels, replace(first.setup, seed=1))
    assert first.load_cases(Labels()) is second.load_cases(Labels())
    assert first.load_cases(Labels()) is not first.load_cases(Labels(temperature=1))
