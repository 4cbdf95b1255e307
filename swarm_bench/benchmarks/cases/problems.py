"""Problems of contests: programs that read and print, and functions that return. What they print is
compared with what was expected as APPS does it."""

import json
import math
import re
import sysconfig
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Self

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
"""Code that is put before a program. Some names of `typing` are those of classes, which come later.
Built-in names keep their meaning: math's `pow` knows no modulus."""
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
    """Function that is called; `None` where a program reads and prints."""
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
    """Environment in which programs run, and for how long."""

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


_DIGITS = 3
_RELATIVE, _ABSOLUTE = 1e-5, 1e-8
"""Tolerances of numpy's `allclose`, which the original uses."""
_ROUNDED = 0.0005
"""Half of the last of three decimals, to which the original rounds."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,9})?", re.ASCII)
_FRACTIONAL = frozenset(".eE")
"""Whole numbers have none of them."""


def is_same_output(printed: str, expected: str, *, parity: bool = False) -> bool:
    """Tell whether one of several comparisons holds, from the strictest on. The words of a line may
    have any order. A number is near enough only to one with a decimal point or an exponent, and a
    whole one is equal to none but itself. With `parity`, as in the original, all numbers have a
    tolerance, and words may also come any number of times."""
    if parity:
        return _is_same_in_parity(printed, expected)
    printed_lines, expected_lines = _split_lines(printed), _split_lines(expected)
    return _have_same_lines(printed_lines, expected_lines) or _have_same_numbers(
        printed_lines, expected_lines
    )


def _split_lines(text: str) -> list[str]:
    return [line for line in (line.strip() for line in text.strip().split("\n")) if line]


def _have_same_lines(printed: Sequence[str], expected: Sequence[str]) -> bool:
    """Compare the words of each line, in any order."""
    return len(printed) == len(expected) and all(
        printed_line == expected_line
        or _have_same_words(_sort_words(printed_line), _sort_words(expected_line))
        for printed_line, expected_line in zip(printed, expected, strict=True)
    )


def _have_same_numbers(printed: Iterable[str], expected: Iterable[str]) -> bool:
    """Compare words one by one where all are numbers, wherever their lines end."""
    printed_words, expected_words = (" ".join(lines).split() for lines in (printed, expected))
    return all(_parse_number(word) is not None for word in expected_words) and _have_same_words(
        printed_words, expected_words
    )


def _sort_words(line: str) -> list[str]:
    """Sort the words of a line: numbers by their size, behind all others."""
    numbers = {word: _parse_number(word) for word in line.split()}

    def size(word: str) -> tuple[bool, Decimal | int, str]:
        return numbers[word] is not None, numbers[word] or 0, word

    return sorted(line.split(), key=size)


def _have_same_words(printed: Sequence[str], expected: Sequence[str]) -> bool:
    return len(printed) == len(expected) and all(map(_is_same_word, printed, expected))


def _is_same_word(printed: str, expected: str) -> bool:
    if printed == expected:
        return True
    printed_number, expected_number = _parse_number(printed), _parse_number(expected)
    if printed_number is None or expected_number is None:
        return False
    return printed_number == expected_number or (
        not _FRACTIONAL.isdisjoint(expected) and _are_near(printed_number, expected_number)
    )


def _are_near(printed: Decimal, expected: Decimal) -> bool:
    """Tell whether a number is near one with decimals: as floats compare, or within what its last
    decimal leaves open."""
    a, b, exponent = float(printed), float(expected), expected.as_tuple().exponent
    if not (math.isfinite(a) and math.isfinite(b) and isinstance(exponent, int)):
        return False
    open_ = min(_ROUNDED, 0.5 * 10.0**exponent) if exponent < 0 else 0.0
    return math.isclose(a, b, rel_tol=_RELATIVE, abs_tol=max(_ABSOLUTE, open_))


def _parse_number(word: str) -> Decimal | None:
    """Read a number of any length, as tests and most languages write it."""
    return Decimal(word) if _NUMBER.fullmatch(word) else None


def _is_same_in_parity(printed: str, expected: str) -> bool:
    printed_lines, expected_lines = _split_lines(printed), _split_lines(expected)
    return (
        printed_lines == expected_lines
        or _are_close(printed_lines, expected_lines)
        or any(
            _make_sets(printed_lines, convert) == _make_sets(expected_lines, convert)
            for convert in (str, _round_word)
        )
    )


def _are_close(printed: Iterable[str], expected: Iterable[str]) -> bool:
    try:
        printed_numbers, expected_numbers = (
            [float(word) for word in " ".join(lines).split()] for lines in (printed, expected)
        )
    except ValueError:
        return False
    return len(printed_numbers) == len(expected_numbers) and all(
        math.isclose(a, b, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)
        for a, b in zip(printed_numbers, expected_numbers, strict=True)
    )


def _make_sets(lines: Iterable[str], convert: Callable[[str], Any]) -> list[Any]:
    return [frozenset(map(convert, line.split())) for line in lines]


def _round_word(word: str) -> float | str:
    try:
        number = float(word)
    except ValueError:
        return word
    return round(number, _DIGITS) if math.isfinite(number) else word
