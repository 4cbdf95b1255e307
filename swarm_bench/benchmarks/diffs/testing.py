"""Runs the unit tests of a row on files that an answer has changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from anyio import to_thread

from swarm_bench.benchmarks.cases.python_code import parse_python
from swarm_bench.benchmarks.diffs.rows import Edit
from swarm_bench.benchmarks.diffs.unit_tests import PREAMBLE, find_exports, write_program
from swarm_bench.core.errors import EnvironmentFailed, HarnessError
from swarm_bench.core.roles.execution import Environment
from swarm_bench.datasets.swe import texts_at
from swarm_bench.environments.files import run_beside
from swarm_bench.environments.python_tests import PythonTests, check

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
