"""Whether what a program printed is what was expected, as APPS compares it."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

_DIGITS = 3
_RELATIVE, _ABSOLUTE = 1e-5, 1e-8
"""Tolerances of numpy's `allclose`, which the original uses."""


def same_output(printed: str, expected: str, *, parity: bool = False) -> bool:
    """Tell whether one of several comparisons holds, from the strictest on. The words of a line may
    have any order; with `parity`, as in the original, also any number of times."""
    bag = frozenset if parity else Counter
    return any(compare(printed, expected) for compare in _COMPARISONS) or any(
        _bags(printed, bag, each) == _bags(expected, bag, each) for each in (str, _round)
    )


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().split("\n")]


def _written(text: str) -> list[str]:
    return [line for line in _lines(text) if line]


def _numbers(lines: Sequence[str]) -> list[float] | None:
    try:
        return [float(word) for line in lines for word in line.split()]
    except ValueError:
        return None


def _close(printed: str, expected: str) -> bool:
    own, other = _numbers(_written(printed)), _numbers(_written(expected))
    if own is None or other is None or len(own) != len(other):
        return False
    return all(
        math.isclose(a, b, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)
        for a, b in zip(own, other, strict=True)
    )


def _bags(text: str, bag: Callable[[Iterable[Any]], Any], each: Callable[[str], Any]) -> list[Any]:
    return [bag(map(each, line.split())) for line in _written(text)]


def _round(word: str) -> float | str:
    try:
        number = float(word)
    except ValueError:
        return word
    return round(number, _DIGITS) if math.isfinite(number) else word


_COMPARISONS: tuple[Callable[[str, str], bool], ...] = (
    lambda a, b: a.strip() == b.strip(),
    lambda a, b: _lines(a) == _lines(b),
    lambda a, b: _written(a) == _written(b),
    _close,
)
