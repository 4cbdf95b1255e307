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


def same_output(printed: str, expected: str, *, parity: bool = False) -> bool:
    """Tell whether one of several comparisons holds, from the strictest on. The words of a line may
    have any order. A number is near enough only to one with a decimal point or an exponent, and a
    whole one is equal to none but itself. With `parity`, as in the original, all numbers have a
    tolerance, and words may also come any number of times."""
    if parity:
        return _same_in_parity(printed, expected)
    own, other = _written(printed), _written(expected)
    return _same_lines(own, other) or _same_numbers(own, other)


def _written(text: str) -> list[str]:
    return [line for line in (line.strip() for line in text.strip().split("\n")) if line]


def _same_lines(printed: Sequence[str], expected: Sequence[str]) -> bool:
    """Compare the words of each line, in any order."""
    return len(printed) == len(expected) and all(
        own == other or _same_words(_sorted(own), _sorted(other))
        for own, other in zip(printed, expected, strict=True)
    )


def _same_numbers(printed: Iterable[str], expected: Iterable[str]) -> bool:
    """Compare words one by one where all are numbers, wherever their lines end."""
    own, other = (" ".join(lines).split() for lines in (printed, expected))
    return all(_finite(word) is not None for word in other) and _same_words(own, other)


def _sorted(line: str) -> list[str]:
    """Sort the words of a line: numbers by their size, behind all others."""
    numbers = {word: _finite(word) for word in line.split()}

    def size(word: str) -> tuple[bool, Decimal | int, str]:
        return numbers[word] is not None, numbers[word] or 0, word

    return sorted(line.split(), key=size)


def _same_words(printed: Sequence[str], expected: Sequence[str]) -> bool:
    return len(printed) == len(expected) and all(map(_same_word, printed, expected))


def _same_word(printed: str, expected: str) -> bool:
    if printed == expected:
        return True
    own, other = _finite(printed), _finite(expected)
    if own is None or other is None:
        return False
    return own == other or (not _FRACTIONAL.isdisjoint(expected) and _are_near(own, other))


def _are_near(own: Decimal, other: Decimal) -> bool:
    """Tell whether a number is near one with decimals: as floats compare, or within what its last
    decimal leaves open."""
    a, b, exponent = float(own), float(other), other.as_tuple().exponent
    if not (math.isfinite(a) and math.isfinite(b) and isinstance(exponent, int)):
        return False
    open_ = min(_ROUNDED, 0.5 * 10.0**exponent) if exponent < 0 else 0.0
    return math.isclose(a, b, rel_tol=_RELATIVE, abs_tol=max(_ABSOLUTE, open_))


def _finite(word: str) -> Decimal | None:
    """Read a number of any length, as tests and most languages write it."""
    return Decimal(word) if _NUMBER.fullmatch(word) else None


def _same_in_parity(printed: str, expected: str) -> bool:
    own, other = _written(printed), _written(expected)
    return (
        own == other
        or _are_close(own, other)
        or any(_sets(own, each) == _sets(other, each) for each in (str, _round))
    )


def _are_close(printed: Iterable[str], expected: Iterable[str]) -> bool:
    try:
        own, other = ([float(word) for word in " ".join(it).split()] for it in (printed, expected))
    except ValueError:
        return False
    return len(own) == len(other) and all(
        math.isclose(a, b, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)
        for a, b in zip(own, other, strict=True)
    )


def _sets(lines: Iterable[str], each: Callable[[str], Any]) -> list[Any]:
    return [frozenset(map(each, line.split())) for line in lines]


def _round(word: str) -> float | str:
    try:
        number = float(word)
    except ValueError:
        return word
    return round(number, _DIGITS) if math.isfinite(number) else word
