"""The benchmark `unified-diff`: changes of files that models write as unified diffs. The unit tests
of a row run on the files that an answer has changed."""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, ClassVar

from anyio import to_thread
from pydantic import BaseModel, Field

from swarm_bench.benchmarks.cases.passing import PASSED, answer_share, pass_metrics
from swarm_bench.benchmarks.cases.python_code import parse_python
from swarm_bench.benchmarks.cases.role import ModelBenchmark, RowCase, Scores, Tools
from swarm_bench.benchmarks.diffs.applying import apply, find_diff, read_diff
from swarm_bench.benchmarks.diffs.rows import PREAMBLE, Edit, find_exports, write_program
from swarm_bench.core.errors import EnvironmentFailed, HarnessError
from swarm_bench.core.metric import Column, Metric
from swarm_bench.core.roles.execution import Environment
from swarm_bench.core.roles.language_model import Ask, Completion, Turn, Way
from swarm_bench.datasets.swe import texts_at
from swarm_bench.environments.files import run_beside
from swarm_bench.environments.python_tests import SECONDS, PythonTests, check

FORM, STRICT, APPLIED = "form", "strict", "applied"
"""Keys of scores; the funnel ends in `PASSED`."""
_SYSTEM = "You change source files and answer with unified diffs."
_NO_END = "\n\\ No newline at end of file\n"
"""Ends the last line of a file that has no line break there."""
_TICKS = re.compile(r"`{3,}")


class UnifiedDiff(ModelBenchmark):
    """Changes of source files, written as unified diffs, each with unit tests."""

    name: ClassVar[str] = "unified-diff"
    dataset: ClassVar[str] = "diff-dataset"
    Row: ClassVar[type[BaseModel]] = Edit
    executes: ClassVar[bool] = True
    ways: ClassVar[tuple[Way, ...]] = ("chat",)
    oddities: ClassVar[tuple[str, ...]] = (
        "A diff that does not apply as git applies it is applied where its old lines are found "
        "exactly once, unless tolerant=false.",
        "A diff may change the files of its row and no others: it makes, renames and deletes none.",
    )

    max_tokens: int = Field(default=2048, ge=1, description="Of an answer.")
    temperature: float | None = Field(default=0.1, ge=0, description="Of sampling.")
    systemPrompt: str = Field(default=_SYSTEM, description="What models are told first.")
    tolerant: bool = Field(
        default=True, description="Apply a damaged diff where its old lines are found once."
    )
    timeout: float = Field(default=10, gt=0, le=600, description=SECONDS)

    def mistaken(self, way: Way) -> Mapping[str, str]:
        """Refuse parity: there is no original."""
        return self.without_effect("parity", "where there is no original")

    def cases(self, rows: Iterable[Any]) -> Iterator[RowCase]:
        """Yield a case for each row."""
        for number, row in enumerate(rows):
            title = row.prompt.partition("\n")[0]
            yield RowCase(id=row.id or str(number), title=title, row=row, part=row.difficulty)

    def faults(self, rows: Sequence[Any]) -> Sequence[str]:
        """Say of how many rows an answer could fake its tests."""
        return describe_unsafe_tests(rows)

    def ask(self, case: RowCase, way: Way) -> Ask:
        """Have the file changed, with a diff for an answer."""
        row = case.row
        tests = f"These unit tests must pass:\n\n{put_in_fences(row.unit_tests, row.language)}"
        files = row.every_file.items()
        texts = [f"The file {name}:\n{put_in_fences(text, row.language)}" for name, text in files]
        end = f"Answer with a unified diff of {row.file} in one code block."
        turns = [Turn(role="user", text="\n\n".join([row.prompt or tests, *texts, end]))]
        if self.systemPrompt:
            turns.insert(0, Turn(role="system", text=self.systemPrompt))
        return Ask(
            prompt=tuple(turns),
            sampling=self.sampling(),
            reference=_write_solution(row),
            files=row.every_file,
        )

    def read(self, case: RowCase, completion: Completion, way: Way) -> str:
        """Return the diff."""
        return find_diff(completion.text)

    async def score(self, case: RowCase, prediction: str, tools: Tools) -> Scores:
        """Apply the diff, and run the tests on what comes of it."""
        row, diff = case.row, read_diff(prediction)
        assert tools.environment
        files = row.every_file
        applied = await apply(tools.environment, diff, files, row.file, tolerant=self.tolerant)
        scores = {FORM: diff.well_formed, STRICT: applied.strict, "why": applied.reason or None}
        if applied.files is None:
            return {**scores, APPLIED: False, PASSED: False, "end": None}
        tested = await run_unit_tests(tools.environment, row, applied.files, self.timeout)
        return {**scores, APPLIED: True, PASSED: tested.has_passed, **vars(tested)}

    @classmethod
    def metrics(cls) -> Sequence[Metric]:
        """Return pass@k, and the steps before it."""
        return (
            *pass_metrics(1, 10, 100),
            *(answer_share(*step, column=Column(title=step[1])) for step in _STEPS),
        )

    def lesson(self, case: RowCase) -> str:
        """Return the right diff."""
        return _write_solution(case.row) or ""

    def reference(self, case: RowCase) -> str | None:
        """Return the file as it should be, or the diff that makes it so."""
        solution: str | None = case.row.solution
        patch: str | None = case.row.patch
        return patch if solution is None else solution


_STEPS = (
    (FORM, "Form", "Answers that have the form of a unified diff: names and a numbered hunk."),
    (STRICT, "Strict", "Answers that git applies as they are."),
    (APPLIED, "Applied", "Answers that apply, be it where their old lines are found once."),
)


def put_in_fences(text: str, language: str) -> str:
    """Put a text between fences that are longer than those within it."""
    ticks = "`" * max([3, *(len(run) + 1 for run in _TICKS.findall(text))])
    end = "" if text.endswith("\n") else "\n"
    return f"{ticks}{language}\n{text}{end}{ticks}"


def _write_solution(row: Edit) -> str | None:
    """Return the answer that is right; `None` where the row has none."""
    if row.solution is None:
        return None if row.patch is None else put_in_fences(row.patch, "diff")
    old, new = (list(StringIO(text, newline="\n")) for text in (row.source_code, row.solution))
    diff = difflib.unified_diff(old, new, f"a/{row.file}", f"b/{row.file}")
    return put_in_fences(
        "".join(line if line.endswith("\n") else line + _NO_END for line in diff), "diff"
    )


_LONGEST_OUTPUT = 1_000


@dataclass(frozen=True, kw_only=True)
class UnitTestResult:
    """How tests ended."""

    end: str
    """The one good end is `passed`."""
    output: str | None = None
    """The end of what they printed, where they failed."""

    @property
    def has_passed(self) -> bool:
        return self.end == "passed"


async def run_unit_tests(
    environment: Environment, row: Edit, files: Mapping[str, str], timeout: float
) -> UnitTestResult:
    """Run them. Raises `EnvironmentFailed`."""
    if row.command:
        inside = {**await _read_checkout(row), **files, **row.tests}
        execution = await run_beside(environment, inside, row.argv, timeout)
        if execution.stopped is not None:
            return UnitTestResult(
                end="timeout" if execution.stopped == "time" else execution.stopped
            )
        if execution.returncode == 0:
            return UnitTestResult(end="passed")
        return UnitTestResult(end="failed", output=_find_last(execution.stdout, execution.stderr))
    text, tests = files[row.file], parse_python(row.unit_tests)
    assert tests
    if parse_python(text) is None:
        return UnitTestResult(end="uncompiled")
    separate = PythonTests(
        preamble=PREAMBLE,
        candidate=text,
        exports=find_exports(tests),
        tests=write_program(row.unit_tests, tests, row.file),
        timeout=timeout,
    )
    checked = await check(environment, separate)
    return UnitTestResult(
        end=checked.end, output=None if checked.passed else _find_last(checked.detail)
    )


def _find_last(*streams: str) -> str | None:
    """Return the end of what was printed."""
    return (
        "\n".join(stream.strip() for stream in streams if stream.strip())[-_LONGEST_OUTPUT:] or None
    )


def describe_unsafe_tests(rows: Sequence[Edit]) -> Sequence[str]:
    """Say of how many rows an answer could fake its tests; nothing where of none."""
    tested = [row for row in rows if row.unit_tests]
    with_command = [row for row in tested if row.command]
    if not with_command:
        return ()
    languages = ", ".join(sorted({row.language for row in with_command}))
    note = " Those of the others run apart." if len(with_command) < len(tested) else ""
    return (
        f"The tests of {len(with_command)} of {len(rows)} rows ({languages}) run in the process of "
        f"the answer: one that ends it with exit code 0 passes.{note}",
    )


async def _read_checkout(row: Edit) -> Mapping[str, str]:
    """Return the files of a checkout, as the tests need them. Raises `EnvironmentFailed`."""
    if row.checkout is None:
        return {}
    folder, commit = Path(row.checkout.folder), row.checkout.commit
    try:
        texts = await to_thread.run_sync(texts_at, folder, commit)
    except HarnessError as error:
        raise EnvironmentFailed(f"The files of {folder} cannot be read: {error}") from error
    return {**texts, **row.checkout.tests}
