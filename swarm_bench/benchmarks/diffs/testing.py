"""Runs the unit tests of a row on files that an answer has changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from anyio import to_thread

from swarm_bench.benchmarks.cases.python_code import parsed
from swarm_bench.benchmarks.diffs.rows import Edit
from swarm_bench.benchmarks.diffs.unit_tests import PREAMBLE, exports_of, program_of
from swarm_bench.core.errors import EnvironmentFailed, HarnessError
from swarm_bench.core.roles.execution import Environment
from swarm_bench.datasets.swe import texts_at
from swarm_bench.environments.files import run_beside
from swarm_bench.environments.python_tests import PythonTests, check

_LONGEST_OUTPUT = 1_000


@dataclass(frozen=True, kw_only=True)
class Tested:
    """How tests ended."""

    end: str
    """The one good end is `passed`."""
    output: str | None = None
    """The end of what they printed, where they failed."""

    @property
    def passed(self) -> bool:
        return self.end == "passed"


async def end_of_tests(
    environment: Environment, row: Edit, files: Mapping[str, str], timeout: float
) -> Tested:
    """Run them. Raises `EnvironmentFailed`."""
    if row.command:
        inside = {**await _beside(row), **files, **row.tests}
        execution = await run_beside(environment, inside, row.argv, timeout)
        if execution.stopped is not None:
            return Tested(end="timeout" if execution.stopped == "time" else execution.stopped)
        if execution.returncode == 0:
            return Tested(end="passed")
        return Tested(end="failed", output=_last(execution.stdout, execution.stderr))
    text, tests = files[row.file], parsed(row.unit_tests)
    assert tests
    if parsed(text) is None:
        return Tested(end="uncompiled")
    apart = PythonTests(
        preamble=PREAMBLE,
        candidate=text,
        exports=exports_of(tests),
        tests=program_of(row.unit_tests, tests, row.file),
        timeout=timeout,
    )
    checked = await check(environment, apart)
    return Tested(end=checked.end, output=None if checked.passed else _last(checked.detail))


def _last(*streams: str) -> str | None:
    """Return the end of what was printed."""
    return "\n".join(it.strip() for it in streams if it.strip())[-_LONGEST_OUTPUT:] or None


def run_beside_answers(rows: Sequence[Edit]) -> Sequence[str]:
    """Say of how many rows an answer could fake its tests; nothing where of none."""
    tested = [row for row in rows if row.unit_tests]
    own = [row for row in tested if row.command]
    if not own:
        return ()
    languages = ", ".join(sorted({row.language for row in own}))
    apart = " Those of the others run apart." if len(own) < len(tested) else ""
    return (
        f"The tests of {len(own)} of {len(rows)} rows ({languages}) run in the process of the "
        f"answer: one that ends it with exit code 0 passes.{apart}",
    )


async def _beside(row: Edit) -> Mapping[str, str]:
    """Return the files of a checkout, as the tests need them. Raises `EnvironmentFailed`."""
    if row.checkout is None:
        return {}
    folder, commit = Path(row.checkout.folder), row.checkout.commit
    try:
        texts = await to_thread.run_sync(texts_at, folder, commit)
    except HarnessError as error:
        raise EnvironmentFailed(f"The files of {folder} cannot be read: {error}") from error
    return {**texts, **row.checkout.tests}
