"""A machine that does much else takes no time of a program's."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from swarm_bench.benchmarks.cases.problems import Judging, Problem, run_tests
from swarm_bench.benchmarks.cases.role import Tools
from swarm_bench.benchmarks.mbpp import Mbpp
from swarm_bench.datasets.rows import read_rows
from swarm_bench.environments.unconfined import Unconfined

pytestmark = pytest.mark.anyio
LIMIT = 0.3
"""Seconds: a tenth of what these programs take by the clock on such a machine."""


@pytest.fixture
def busy() -> Iterator[None]:
    """Keep all processors busy several times over."""
    argv = [sys.executable, "-S", "-c", "while True: pass"]
    loops = [subprocess.Popen(argv) for _ in range(2 * (os.cpu_count() or 1) + 4)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@pytest.mark.usefixtures("busy")
async def test_answers_of_the_data_sets_pass_on_a_busy_machine() -> None:
    mbpp = Mbpp(timeout=LIMIT)
    cases = list(mbpp.cases(read_rows("mbpp", mbpp.row_schema()).rows))[:8]
    scored = [
        await mbpp.score(case, case.row.code, Tools(environment=Unconfined())) for case in cases
    ]
    assert [scores["end"] for scores in scored] == ["passed"] * 8


@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize("called", [True, False])
async def test_problems_with_many_tests_pass_on_a_busy_machine(called: bool) -> None:
    numbers = range(60)
    content = {
        "fn_name": "f" if called else None,
        "inputs": [[n] if called else f"{n}\n" for n in numbers],
        "outputs": [n * n if called else f"{n * n}\n" for n in numbers],
    }
    problem = Problem.read(json.dumps(content))
    assert problem
    program = "def f(n): return n * n" if called else "print(int(input()) ** 2)"
    judging = Judging(environment=Unconfined(), timeout=LIMIT, in_all=2)
    assert (await run_tests(judging, problem, program)).tests == [1] * 60
