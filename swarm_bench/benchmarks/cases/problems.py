"""Problems of contests: programs that read and print, and functions that return."""

import json
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from swarm_bench.benchmarks.cases.outputs import is_same_output
from swarm_bench.config.text_file import MARK
from swarm_bench.core.figures import allow_any_length
from swarm_bench.core.roles.execution import Environment
from swarm_bench.environments.python_tests import (
    OUTPUT_BYTES,
    Checked,
    PrintingTests,
    PythonTests,
    check_each,
    run_each,
)

DOES_NOT_COMPILE, FAILS, WRONG, RIGHT = -2, -1, 0, 1
_SYNTAX = ("SyntaxError", "IndentationError", "TabError")
_PREAMBLE = """import sys, time, itertools, collections, math, fractions
import random, heapq, bisect, re, string
from typing import *
from itertools import *
from collections import *
from functools import *
from heapq import *
from bisect import *
from math import *
del pow
"""
"""Of `typing`, some names are those of classes, which come later. What is built in keeps its name:
math's `pow` knows no modulus."""
_NUMPY = ("numpy", "numpy.libs")
_NUMPY_PREAMBLE = """import os
os.environ["OPENBLAS_NUM_THREADS"] = "1"
sys.path.append({folder!r})
import numpy as np
"""
_COMPARE = """
inf, nan = float("inf"), float("nan")  # as repr() writes them

class SwarmBenchDiffers(Exception):
    pass

def _lists(value):
    if isinstance(value, tuple):
        return list(value)
    return value

def swarm_bench_compare(value, expected):
    value = _lists(value)
    rows = [_lists(each) for each in value] if isinstance(value, list) else value
    first = [expected[0]] if isinstance(expected, list) and expected else []
    if not any(asked == wanted for asked in (value, rows) for wanted in (expected, *first)):
        raise SwarmBenchDiffers
"""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """The tests of a problem."""

    function: str | None
    """What is called; `None` where a program reads and prints."""
    inputs: tuple[Any, ...]
    """The arguments of each call, or what a program reads."""
    outputs: tuple[Any, ...]

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Read them; `None` where that cannot be done."""
        try:
            with allow_any_length():
                content = json.loads(text.removeprefix(MARK))
            inputs, outputs = content["inputs"], content["outputs"]
        except (ValueError, RecursionError, TypeError, KeyError):
            return None
        if not isinstance(inputs, list) or not isinstance(outputs, list) or not inputs:
            return None
        if len(inputs) != len(outputs):
            return None
        function = content.get("fn_name") or None
        if function is not None and not (isinstance(function, str) and function.isidentifier()):
            return None
        if function is not None and not all(isinstance(arguments, list) for arguments in inputs):
            return None
        return cls(function=function, inputs=tuple(inputs), outputs=tuple(outputs))


@dataclass(frozen=True, kw_only=True)
class Judging:
    """Where programs run, and how long."""

    environment: Environment
    timeout: float
    """Seconds of processor time in a test."""
    in_all: float
    """Seconds of all tests of a problem."""
    parity: bool = False
    """Compare what is printed as the original does."""


@dataclass(frozen=True, kw_only=True)
class Outcomes:
    """What became of the tests of a problem."""

    tests: list[int]
    timed_out: bool
    """Whether one of them took too long, or all of them did."""


async def run_tests(judging: Judging, problem: Problem, program: str) -> Outcomes:
    """Run every test on a process of its own. Where all of them take longer than they may, each one
    fails. Raises `EnvironmentFailed`."""
    program = program.encode(errors="replace").decode()
    number = len(problem.inputs)
    if "\0" in program:
        return Outcomes(tests=[DOES_NOT_COMPILE] * number, timed_out=False)
    if problem.function is None:
        results, late = await _run_program(judging, problem, program)
    else:
        results, late = await _run_calls(judging, problem, program)
    cut = len(results) < number
    if results[0] == DOES_NOT_COMPILE:
        results = [DOES_NOT_COMPILE] * number
    elif cut:
        results = [FAILS] * number
    return Outcomes(tests=results, timed_out=late or cut)


async def _run_program(judging: Judging, problem: Problem, program: str) -> tuple[list[int], bool]:
    """Run a whole program on each input, and compare what it prints; with whether it was late."""
    outputs = [_join_lines(expected) for expected in problem.outputs]
    tests = PrintingTests(
        candidate=program,
        preamble=_build_preamble(program),
        inputs=tuple(map(_join_lines, problem.inputs)),
        output_bytes=max(OUTPUT_BYTES, 2 * max(map(_count_bytes, outputs))),
        timeout=judging.timeout,
        in_all=judging.in_all,
        visible=_find_numpy(program),
    )
    results_by_end = {"ended": WRONG, "uncompiled": DOES_NOT_COMPILE}
    results, printed = list[int](), await run_each(judging.environment, tests)
    for test, expected in zip(printed, outputs, strict=False):
        same = test.end == "ended" and is_same_output(test.printed, expected, parity=judging.parity)
        results.append(RIGHT if same else results_by_end.get(test.end, FAILS))
    return results, any(test.end == "timeout" for test in printed)


async def _run_calls(judging: Judging, problem: Problem, program: str) -> tuple[list[int], bool]:
    """Call a function for each test, and compare what it returns; with whether it was late."""
    inside = "class Solution" in program
    function = f"Solution().{problem.function}" if inside else str(problem.function)
    with allow_any_length():
        calls = tuple(
            f"swarm_bench_compare({function}(*{list(map(_convert_keys, arguments))!r}), "
            f"{_convert_keys(expected)!r})"
            for arguments, expected in zip(problem.inputs, problem.outputs, strict=True)
        )
    tests = PythonTests(
        candidate=program,
        preamble=_build_preamble(program),
        helpers=_COMPARE,
        exports=("Solution",) if inside else (str(problem.function),),
        tests=calls,
        timeout=judging.timeout,
        in_all=judging.in_all,
        visible=_find_numpy(program),
    )
    checked = await check_each(judging.environment, tests)
    return [_grade(test) for test in checked], any(test.end == "timeout" for test in checked)


def _grade(checked: Checked) -> int:
    if checked.passed:
        return RIGHT
    if checked.detail.startswith("SwarmBenchDiffers"):
        return WRONG
    return DOES_NOT_COMPILE if checked.detail.startswith(_SYNTAX) else FAILS


def _join_lines(value: Any) -> str:
    """Return what a program reads or prints: lines may stand in a list."""
    with allow_any_length():
        return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def _count_bytes(text: str) -> int:
    return len(text.encode(errors="replace"))


def _convert_keys(value: Any) -> Any:
    """Make numbers of keys that are digits: JSON has texts only."""
    if isinstance(value, dict) and value and all(key.isascii() and key.isdigit() for key in value):
        return {int(key): item for key, item in value.items()}
    return value


def _build_preamble(program: str) -> str:
    """Return the imports that stand before a program. Those of numpy take a tenth of a second."""
    folder = sysconfig.get_path("purelib")
    return _PREAMBLE + (_NUMPY_PREAMBLE.format(folder=folder) if _find_numpy(program) else "")


def _find_numpy(program: str) -> tuple[Path, ...]:
    """Return the folders of numpy for a program that names it."""
    folders = (Path(sysconfig.get_path("purelib"), name) for name in _NUMPY)
    used = "numpy" in program or "np." in program
    return tuple(folder for folder in folders if folder.is_dir()) if used else ()
