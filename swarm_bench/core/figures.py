"""Figures that can be missing."""

from collections.abc import Iterable
from typing import TypeVar

Number = TypeVar("Number", int, float)


def total(figures: Iterable[Number | None]) -> Number | None:
    """Return the sum; `None` when one of them is missing, and when there is none at all."""
    summands: list[Number] = []
    for figure in figures:
        if figure is None:
            return None
        summands.append(figure)
    return sum(summands[1:], summands[0]) if summands else None
