"""What every benchmark must keep, asked of `my-benchmark`."""

from pathlib import Path

import anyio
from my_benchmark import MyBenchmark, Question

from swarm_bench.benchmarks.cases.role import Tools
from swarm_bench.testing.model_contracts import check_model_benchmark

PROMPTS = {1: "3fbfa8af0a52df73"}
"""The hash of what models are asked, by the version of the benchmark. Where the test says that it
is another one, put it here while nobody has run this version; afterwards raise the version and add
a line: older sessions are not compared with new ones."""


def test_it_keeps_the_contract() -> None:
    """Check it on the rows."""
    lines = Path(__file__).with_name("my_benchmark.jsonl").read_text().splitlines()
    rows = [Question.model_validate_json(line) for line in lines]
    tools = Tools(environment=None)
    anyio.run(lambda: check_model_benchmark(MyBenchmark, rows, tools, prompts=PROMPTS))
