"""Whether a Python program that nobody trusts passes tests that somebody does."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from secrets import token_hex
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from swarm_bench.core.errors import EnvironmentFailed
from swarm_bench.core.roles.execution import PYTHON, Code, Environment, Execution, Limit

End = Literal["passed", "failed", "timeout", "exited"] | Limit
NOT_COMPILED = 97
"""The exit code of a program that is no Python (`programs/checker/printing.py`)."""
APART = (
    "Tests run in another process than the answer, also with parity=true: an answer that ends its "
    "process, or is equal to everything, passes elsewhere; and one that returns what is no plain "
    "value, such as a Fraction or a range, is equal to nothing here."
)
"""An oddity of every benchmark that runs them."""
_TRY_SECONDS = 20
_LONGEST_REASON = 200
_SPARE_SECONDS = 2.0
"""What the checker, which watches the time itself, may take beyond it."""
_CHECKER = Path(__file__).parents[1] / "programs" / "checker"


@dataclass(frozen=True, kw_only=True)
class PythonTests:
    """A program and its tests. The two run in processes of their own, and only values cross."""

    candidate: str
    """The program."""
    tests: str
    """What must run to its end."""
    exports: tuple[str, ...]
    """Names of the program that the tests use."""
    helpers: str = ""
    """Code of the data set that is executed before the tests."""
    timeout: float
    """Seconds."""
    visible: tuple[Path, ...] = ()
    """Folders that the program may read."""


@dataclass(frozen=True, kw_only=True)
class Checked:
    """How the tests ended."""

    end: End
    detail: str = ""
    seconds: float = 0
    """With the start of the environment."""

    @property
    def passed(self) -> bool:
        return self.end == "passed"


@dataclass(frozen=True, kw_only=True)
class _Report(Checked):
    number: str


_REPORT = TypeAdapter(_Report)


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
    """Run the tests. Only the report of our own checker, with a number that nobody else has, can
    say that they passed. Raises `EnvironmentFailed`."""
    number = token_hex(16)
    execution = await environment.run(
        Code(
            argv=(PYTHON, "-I", "-S", str(_CHECKER)),
            stdin=json.dumps({**_job(tests), "number": number}),
            visible=(_CHECKER, *tests.visible),
            timeout=tests.timeout + _SPARE_SECONDS,
        )
    )
    if execution.stopped is not None:
        return Checked(end=execution.stopped, seconds=execution.seconds)
    try:
        report = _REPORT.validate_json(execution.stdout)
    except ValidationError:
        report = None
    if report is None and _is_broken(execution):
        why = execution.stderr.strip()[:_LONGEST_REASON] or "its command ended without a word"
        raise EnvironmentFailed(f"The environment {environment.name} broke: {why}")
    if report is None or report.number != number:
        detail = "the program ended its checker"
        return Checked(end="exited", detail=detail, seconds=execution.seconds)
    return Checked(end=report.end, detail=report.detail, seconds=execution.seconds)


def _is_broken(execution: Execution) -> bool:
    """Tell whether the checker was never there: it does not end well without a report, and nothing
    that it runs has its standard error."""
    return execution.returncode == 0 or execution.stderr.startswith("bwrap:")


async def run_program(
    environment: Environment,
    preamble: str,
    program: str,
    stdin: str,
    timeout: float,
    visible: tuple[Path, ...] = (),
) -> Execution:
    """Run a whole program, which starts no processes; where it is no Python, its exit code is
    `NOT_COMPILED`. Raises `EnvironmentFailed`."""
    return await environment.run(
        Code(
            argv=(PYTHON, "-I", "-S", str(_CHECKER), preamble, program),
            stdin=stdin,
            visible=(_CHECKER, *visible),
            timeout=timeout,
        )
    )


def _job(tests: PythonTests) -> dict[str, object]:
    return {name: value for name, value in asdict(tests).items() if name != "visible"}
