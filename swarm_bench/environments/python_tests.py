"""Check of whether an untrusted Python program passes trusted tests."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex
from typing import Any, Literal

from pydantic import TypeAdapter

from swarm_bench.core.errors import EnvironmentFailed
from swarm_bench.core.roles.execution import PYTHON, Code, Environment, Limit

End = Literal["passed", "failed", "timeout", "exited", "ended", "uncompiled"] | Limit
"""The last two are of programs that print: whether they passed is for who knows what to expect."""
SEPARATE_PROCESS = (
    "Tests run in another process than the answer, also with parity=true: an answer that ends its "
    "process, or is equal to everything, passes elsewhere; and one that returns what is no plain "
    "value, such as a Fraction or a range, is equal to nothing here."
)
"""An oddity of every benchmark that runs them."""
SECONDS = (
    "Seconds of processor time. By the clock a program that does nothing ends 10 to 15 s later."
)
"""Description of such a property."""
_TRY_SECONDS = 20
_LONGEST_REASON = 200
_SPARE_SECONDS = 5.0
"""Seconds that the environment and the checker, which watches the programs itself, may take
beyond."""
OUTPUT_BYTES = 1 << 20
"""Most bytes that a program may print, and write into each of its files."""
_REPORT_BYTES = 16 * OUTPUT_BYTES
"""Most bytes of a report, without what is printed beyond them."""
_CHECKER = Path(__file__).parents[1] / "programs" / "checker"


@dataclass(frozen=True, kw_only=True)
class _Tried:
    """A program that is tried, and what it may take."""

    candidate: str
    """The program."""
    preamble: str = ""
    """Executed before the program, as code of its own with the same names: what the program says
    of the future still comes first."""
    timeout: float
    """Seconds of processor time in each test."""
    in_all: float | None = None
    """Seconds of all tests together; a test that takes too long took `timeout` at least."""
    visible: tuple[Path, ...] = ()
    """Folders that the program may read."""
    output_bytes: int = OUTPUT_BYTES


@dataclass(frozen=True, kw_only=True)
class PythonTests(_Tried):
    """A program and its tests. The two run in processes of their own, and only values cross."""

    tests: str | tuple[str, ...]
    """Tests that must run to their end; if there are several, the program is started anew for
    each."""
    exports: tuple[str, ...]
    """Names of the program that the tests use."""
    helpers: str = ""
    """Code of the data set that is executed before the tests."""


@dataclass(frozen=True, kw_only=True)
class PrintingTests(_Tried):
    """A whole program, which starts no processes, and what it reads in each test."""

    inputs: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Checked:
    """How a test ended."""

    end: End
    detail: str = ""
    seconds: float = 0
    """Seconds of the program's processor time; all that it had if the time is unknown."""
    printed: str = ""
    """Output of a program that `ended`."""

    @property
    def passed(self) -> bool:
        return self.end == "passed"


@dataclass(frozen=True, kw_only=True)
class _Line(Checked):
    """What the checker says of a test; what was printed is in base64."""

    number: str


_LINE = TypeAdapter(_Line)


async def try_out(environment: Environment) -> None:
    """Raise `EnvironmentFailed` unless a program that is right passes, and one that is wrong
    fails."""
    for candidate, end in (("def one(): return 1", "passed"), ("def one(): return 2", "failed")):
        tests = PythonTests(
            candidate=candidate, tests="assert one() == 1", exports=("one",), timeout=_TRY_SECONDS
        )
        checked = await check(environment, tests)
        if checked.end != end:
            raise EnvironmentFailed(
                f"The environment {environment.name} does not work here: a program that had to be "
                f"{end} was {checked.end} ({checked.detail}); see: swarm-bench doctor"
            )


async def check(environment: Environment, tests: PythonTests) -> Checked:
    """Run the tests; of several, return the first that did not pass. Raises
    `EnvironmentFailed`."""
    results = await check_each(environment, tests)
    return next((checked for checked in results if not checked.passed), results[-1])


async def check_each(environment: Environment, tests: PythonTests) -> list[Checked]:
    """Run the tests one by one, until all of them have taken too long. Only a report of our own
    checker, with a number that is secret, can say that one passed. Raises `EnvironmentFailed`."""
    settings = {"helpers": tests.helpers, "exports": tests.exports}
    single_tests = (tests.tests,) if isinstance(tests.tests, str) else tests.tests
    return await _check_group(environment, tests, settings, ("tests", single_tests))


async def run_each(environment: Environment, tests: PrintingTests) -> list[Checked]:
    """Run a program on each input, until all of them have taken too long. Raises
    `EnvironmentFailed`."""
    return await _check_group(environment, tests, {}, ("inputs", tests.inputs))


async def _check_group(
    environment: Environment,
    tried: _Tried,
    settings: Mapping[str, Any],
    group: tuple[str, Sequence[str]],
) -> list[Checked]:
    """Have the checker run the tests, again for those that it has not come to."""
    name, single_tests = group
    results = list[Checked]()
    while len(results) < len(single_tests) and not _are_late(tried, results):
        remaining = None if tried.in_all is None else tried.in_all - _sum_seconds(tried, results)
        job = {**settings, name: single_tests[len(results) :], "in_all": remaining}
        results += await _run_checker(environment, tried, job, len(single_tests) - len(results))
    return results


def _are_late(tried: _Tried, tests: Sequence[Checked]) -> bool:
    return tried.in_all is not None and _sum_seconds(tried, tests) > tried.in_all


def _sum_seconds(tried: _Tried, tests: Sequence[Checked]) -> float:
    late = (max(result.seconds, tried.timeout) for result in tests if result.end == "timeout")
    return sum(late) + sum(result.seconds for result in tests if result.end != "timeout")


async def _run_checker(
    environment: Environment, tried: _Tried, job: Mapping[str, Any], tests: int
) -> list[Checked]:
    """Run an environment, and read what it says of the tests that were run in it: at least one."""
    number = token_hex(16)
    sent = {
        **job,
        "candidate": tried.candidate,
        "preamble": tried.preamble,
        "seconds": tried.timeout,
        "output_bytes": tried.output_bytes,
        "number": number,
    }
    limit = tried.timeout * tests if tried.in_all is None else tried.in_all + tried.timeout
    execution = await environment.run(
        Code(
            argv=(PYTHON, "-I", "-S", str(_CHECKER)),
            stdin=json.dumps(sent),
            visible=(_CHECKER, *tried.visible),
            timeout=2 * limit + _SPARE_SECONDS,  # tests have a share of it, which is not counted
            output_bytes=_REPORT_BYTES + 2 * tried.output_bytes,
        )
    )
    lines = read_report(execution.stdout, number)
    if len(lines) == tests or (lines and execution.returncode == 0):
        return lines
    if execution.stopped is not None:
        end: End = "timeout" if execution.stopped == "time" else execution.stopped
        return [*lines, Checked(end=end, seconds=min(execution.seconds, tried.timeout))]
    # It does not end well without a report, and nothing that it runs has its standard error.
    if not lines and (execution.returncode == 0 or execution.stderr.startswith("bwrap:")):
        reason = execution.stderr.strip()[:_LONGEST_REASON] or "its command ended without a word"
        raise EnvironmentFailed(f"The environment {environment.name} broke: {reason}")
    sentence = "the program ended its checker"
    return [*lines, Checked(end="exited", detail=sentence, seconds=tried.timeout)]


def read_report(text: str, number: str) -> list[Checked]:
    """Read the lines that are the checker's."""
    tests = list[Checked]()
    for row in text.splitlines():
        try:
            line = _LINE.validate_json(row)
            printed = base64.b64decode(line.printed).decode(errors="replace")
        except ValueError:
            break
        if line.number != number:
            break
        tests.append(replace(line, printed=printed))
    return tests
