"""What both benchmarks of prompts have: tasks, tests, checks and marks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, ClassVar

from pydantic import BaseModel, Field

from swarm_bench.benchmarks.cases.passing import PASSED, answer_share
from swarm_bench.benchmarks.cases.python_code import find_definitions
from swarm_bench.benchmarks.cases.role import (
    ModelBenchmark,
    RowCase,
    Scores,
    Tools,
    of_score,
)
from swarm_bench.benchmarks.cases.texts import find_program
from swarm_bench.benchmarks.diffs.benchmark import put_in_fences
from swarm_bench.benchmarks.diffs.rows import PYTHON
from swarm_bench.benchmarks.diffs.testing import describe_unsafe_tests, run_unit_tests
from swarm_bench.benchmarks.prompts.rows import Task
from swarm_bench.core.errors import UsageError
from swarm_bench.core.roles.language_model import Ask, Completion, Turn, Way
from swarm_bench.core.session.models import Arm
from swarm_bench.environments.python_tests import SECONDS

CHECKS, QUALITY = "checks", "quality"
"""Keys of scores."""


class Prompted(ModelBenchmark):
    """Tasks that are asked with a prompt before them."""

    dataset: ClassVar[str] = "prompt-mini"
    Row: ClassVar[type[BaseModel]] = Task
    executes: ClassVar[bool] = True
    ways: ClassVar[tuple[Way, ...]] = ("chat",)

    max_tokens: int = Field(default=1024, ge=1, description="Of an answer.")
    temperature: float | None = Field(default=0, ge=0, description="Of sampling.")
    systemPrompt: str = Field(default="", description="What models are told first.")
    timeout: float = Field(default=10, gt=0, le=600, description=SECONDS)

    def mistaken(self, way: Way) -> Mapping[str, str]:
        """Refuse parity: there is no original."""
        return self.without_effect("parity", "where there is no original")

    def runs_code(self, rows: Sequence[Any]) -> bool:
        """Tell whether a row has tests."""
        return any(row.unit_tests for row in rows)

    def cases(self, rows: Iterable[Any]) -> Iterator[RowCase]:
        """Yield a case for each row."""
        for number, row in enumerate(rows):
            title = row.prompt.partition("\n")[0]
            yield RowCase(id=row.id or str(number), title=title, row=row)

    def faults(self, rows: Sequence[Any]) -> Sequence[str]:
        """Say of how many rows nothing tells whether an answer is right, or could be fooled."""
        without = sum(not row.unit_tests for row in rows)
        have = "has" if without == 1 else "have"
        unknown = (
            f"{without} of {len(rows)} rows {have} no unit tests, so that nobody knows whether "
            "answers to them are correct."
        )
        return [*([unknown] if without else ()), *describe_unsafe_tests(rows)]

    def ask(self, case: RowCase, way: Way) -> Ask:
        """Ask the task, behind the prompt."""
        turns = [Turn(role="user", text=self.task(case))]
        if system := self.system(case):
            turns.insert(0, Turn(role="system", text=system))
        row = case.row
        right = None if row.solution is None else put_in_fences(row.solution, row.language)
        return Ask(
            prompt=tuple(turns), sampling=self.sampling(), reference=right, files=list_files(row)
        )

    def system(self, case: RowCase) -> str:
        """Return what the model is told first."""
        return self.systemPrompt

    def task(self, case: RowCase) -> str:
        """Return what is asked."""
        row = case.row
        files = list_files(row).items()
        texts = (f"The file {name}:\n{put_in_fences(text, row.language)}" for name, text in files)
        return "\n\n".join([row.prompt, *texts])

    def read(self, case: RowCase, completion: Completion, way: Way) -> str:
        """Return the answer as it is: its code is looked for where it is run."""
        return completion.text

    async def score(self, case: RowCase, prediction: str, tools: Tools) -> Scores:
        """Run the tests of the row on the code of the answer, and hold its checks against it."""
        row: Task = case.row
        checks = row.checks.share(prediction)
        if not row.unit_tests:
            return {PASSED: None, "end": None, CHECKS: checks}
        assert tools.environment
        files = {**row.every_file, row.file: _find_code(row, prediction)}
        tested = await run_unit_tests(tools.environment, row, files, self.timeout)
        return {PASSED: tested.has_passed, **vars(tested), CHECKS: checks}

    async def score_none(self, case: RowCase, tools: Tools) -> Scores | None:
        """Score an empty answer, of which a judge has nothing to say."""
        return await self.score(case, "", replace(tools, judge=None))

    def reference(self, case: RowCase) -> str | None:
        """Return the solution."""
        solution: str | None = case.row.solution
        return solution

    def lesson(self, case: RowCase) -> str:
        """Return the solution."""
        return case.row.solution or ""


def check_varied(models: Iterable[Arm], names: Iterable[str]) -> None:
    """Refuse values of `--vary` that no arm has of its own. Raises `UsageError`."""
    for name in names:
        if any(name in model.properties for model in models):
            raise UsageError(
                f"--vary {name}: it is the same for all arms of a session; give one value, "
                f"-p {name}=VALUE"
            )


def list_files(row: Task) -> dict[str, str]:
    """Return the files that a task is about."""
    return row.every_file if row.source_code else row.files


def _find_code(row: Task, answer: str) -> str:
    if row.language != PYTHON:
        return find_program(answer, (row.language, PurePosixPath(row.file).suffix[1:]))
    return find_program(answer, names=find_definitions(row.solution or row.source_code))


CORRECT = answer_share(PASSED, "Correct", "Share of the answers that pass the tests of the row.")
CHECKED = answer_share(
    CHECKS,
    "Checks",
    "Share of the checks of the row that its answer fulfils.",
    read=of_score(CHECKS),
)
MARKED = answer_share(
    QUALITY,
    "Quality",
    "Mean of five marks of the judge, as a share of the best.",
    read=of_score(QUALITY),
    judged=True,
)
