"""The rows of `diff-dataset`: their tests tell what is asked from what is there."""

import os
import shutil
from collections import Counter

import pytest

from swarm_bench.benchmarks.diffs.applying import read_diff
from swarm_bench.benchmarks.diffs.benchmark import UnifiedDiff, run_unit_tests
from swarm_bench.benchmarks.diffs.rows import JAVASCRIPT, PYTHON, Edit
from swarm_bench.core.roles.execution import Environment
from swarm_bench.datasets.rows import read_rows
from swarm_bench.environments.local import Local
from swarm_bench.environments.unconfined import Unconfined

pytestmark = pytest.mark.anyio
ROWS: dict[str, Edit] = {str(row.id): row for row in read_rows("diff-dataset", Edit).rows}
ENVIRONMENT: Environment = Local() if shutil.which("bwrap") else Unconfined()
CONSTANT = {
    PYTHON: "def __getattr__(name):\n    return lambda *values, **named: {value}\n",
    JAVASCRIPT: "module.exports = new Proxy({{}}, {{ get: () => () => ({value}) }});\n",
}
"""Files in which every function returns the same."""


def test_there_are_rows_of_all_kinds() -> None:
    kinds = Counter((row.language, row.difficulty) for row in ROWS.values())
    assert len(ROWS) == sum(kinds.values()) >= 44
    assert {language: sum(kinds[language, it] for it in ("easy", "medium", "hard"))
            for language in (PYTHON, JAVASCRIPT)} == {PYTHON: 24, JAVASCRIPT: 20}  # fmt: skip
    assert min(kinds.values()) >= 6
    assert all(row.prompt and row.solution for row in ROWS.values())
    assert sum(bool(row.files) for row in ROWS.values()) >= 3


def test_hard_rows_change_long_files_in_several_places() -> None:
    benchmark = UnifiedDiff()
    hunks = list[int]()
    for case in benchmark.cases(ROWS.values()):
        if case.row.difficulty == "hard":
            assert 80 <= len(str(case.row.solution).splitlines()) <= 220, case.id
            reference = str(benchmark.ask(case, "chat").reference)
            hunks.append(sum(len(it.hunks) for it in read_diff(reference).changes))
    assert sum(number > 1 for number in hunks) >= 10


@pytest.mark.parametrize("id", ROWS)
async def test_what_is_asked_passes_and_nothing_else(id: str) -> None:
    row = ROWS[id]
    if row.language == JAVASCRIPT and not (shutil.which("node") or "NEED_NODE" in os.environ):
        pytest.skip("node is not installed: NOT TESTED")
    assert row.solution
    assert await end(row, row.solution) == "passed"
    assert await end(row, row.source_code) == "failed"
    for value in ("null", "0", "[]", "true") if row.language == JAVASCRIPT else ("None", "0", "[]"):
        assert await end(row, CONSTANT[row.language].format(value=value)) != "passed", value


async def end(row: Edit, text: str) -> str:
    return (await run_unit_tests(ENVIRONMENT, row, {**row.every_file, row.file: text}, 10)).end
