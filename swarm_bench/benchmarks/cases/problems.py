"""Problems of contests: programs that read and print, and functions that return."""

import json
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from swarm_bench.benchmarks.cases.outputs import same_output
from swarm_bench.core.roles.execution import Environment
from swarm_bench.environments.python_tests import (
    NOT_COMPILED,
    PythonTests,
    check,
    run_program,
)

DOES_NOT_COMPILE, FAILS, WRONG, RIGHT = -2, -1, 0, 1
_START_SECONDS = 0.15
"""To start an environment and an interpreter: no time of a program's."""
_LONGEST_PROGRAM = 100_000
"""Bytes: it is a word of a command line."""
_SYNTAX = ("SyntaxError", "IndentationError", "TabError")
_PREAMBLE = """import sys, time, itertools, collections, math, fractions
import random, heapq, bisect, re, string
from itertools import *
from collections import *
from functools import *
from heapq import *
from bisect import *
from math import *
from typing import *
"""
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
            content = json.loads(text)
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
        if function is not None and not all(isinstance(asked, list) for asked in inputs):
            return None
        return cls(function=function, inputs=tuple(inputs), outputs=tuple(outputs))


@dataclass(frozen=True, kw_only=True)
class Judging:
    """Where programs run, and how long."""

    environment: Environment
    timeout: float
    """Seconds of a test."""
    in_all: float
    """Seconds of all tests of a problem."""
    parity: bool = False
    """Compare what is printed as the original does."""


@dataclass(frozen=True, kw_only=True)
class _Call:
    function: str
    arguments: list[Any]
    expected: Any


async def outcomes(judging: Judging, problem: Problem, program: str) -> list[int]:
    """Run every test, each in processes of its own. Where all of them take longer than they may,
    without the time to start an interpreter, each one fails. Raises `EnvironmentFailed`."""
    results, spent = list[int](), 0.0
    program = program.encode(errors="replace").decode()
    if "\0" in program:
        return [DOES_NOT_COMPILE] * len(problem.inputs)
    for asked, expected in zip(problem.inputs, problem.outputs, strict=True):
        if problem.function is None:
            result, seconds = await _printed(judging, program, asked, expected)
        else:
            arguments = [_with_numbers(each) for each in asked]
            call = _Call(
                function=problem.function, arguments=arguments, expected=_with_numbers(expected)
            )
            result, seconds = await _returned(judging, call, program)
        spent += max(0.0, seconds - _START_SECONDS)
        if result == DOES_NOT_COMPILE and not results:
            return [DOES_NOT_COMPILE] * len(problem.inputs)
        if spent > judging.in_all:
            return [FAILS] * len(problem.inputs)
        results.append(result)
    return results


async def _printed(judging: Judging, program: str, asked: Any, expected: Any) -> tuple[int, float]:
    """Run a whole program on an input, and compare what it prints; with the seconds."""
    if len(program.encode()) > _LONGEST_PROGRAM:
        return FAILS, 0
    execution = await run_program(
        judging.environment,
        _preamble(program),
        program,
        _text(asked),
        judging.timeout,
        _numpy(program),
    )
    seconds = execution.seconds
    if execution.returncode == NOT_COMPILED:
        return DOES_NOT_COMPILE, seconds
    if execution.returncode != 0:
        return FAILS, seconds
    same = same_output(execution.stdout, _text(expected), parity=judging.parity)
    return RIGHT if same else WRONG, seconds


async def _returned(judging: Judging, call: "_Call", program: str) -> tuple[int, float]:
    """Call a function, and compare what it returns; with the seconds."""
    inside = "class Solution" in program
    function = f"Solution().{call.function}" if inside else call.function
    checked = await check(
        judging.environment,
        PythonTests(
            candidate=_preamble(program) + program,
            helpers=_COMPARE,
            exports=("Solution",) if inside else (call.function,),
            tests=f"swarm_bench_compare({function}(*{call.arguments!r}), {call.expected!r})",
            timeout=judging.timeout,
            visible=_numpy(program),
        ),
    )
    if checked.passed:
        return RIGHT, checked.seconds
    if checked.detail.startswith("SwarmBenchDiffers"):
        return WRONG, checked.seconds
    syntax = checked.detail.startswith(_SYNTAX)
    return DOES_NOT_COMPILE if syntax else FAILS, checked.seconds


def _text(value: Any) -> str:
    """Return what a program reads or prints: lines may stand in a list."""
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def _with_numbers(value: Any) -> Any:
    """Make numbers of keys that are digits: JSON has texts only."""
    if isinstance(value, dict) and value and all(map(str.isdigit, value)):
        return {int(key): each for key, each in value.items()}
    return value


def _preamble(program: str) -> str:
    """Return the imports that stand before a program. Those of numpy take a tenth of a second."""
    folder = sysconfig.get_path("purelib")
    return _PREAMBLE + (_NUMPY_PREAMBLE.format(folder=folder) if _numpy(program) else "")


def _numpy(program: str) -> tuple[Path, ...]:
    """Return the folders of numpy for a program that names it."""
    folders = (Path(sysconfig.get_path("purelib"), name) for name in _NUMPY)
    used = "numpy" in program or "np." in program
    return tuple(folder for folder in folders if folder.is_dir()) if used else ()
