"""Whether what a program printed is what was expected, as APPS compares it."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

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
