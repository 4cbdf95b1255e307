"""Numbers that are stored, and their sums. Programs of agents import this: it needs no pydantic."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

Number = TypeVar("Number", int, float)
LARGEST = 2**53
"""Limit of the numbers that are stored: whatever is computed with them stays finite and exact."""


class Bounds:
    """Has pydantic refuse a number beyond `LARGEST`, where it checks the annotated type."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return {**handler(source), "ge": -LARGEST, "le": LARGEST}


@dataclass(frozen=True)
class Meaning:
    """What a key of a stored file means, for `docs/metrics.md`."""

    unit: str
    definition: str


Count = Annotated[int, Bounds()]
Amount = Annotated[float, Bounds()]


def total(figures: Iterable[Number | None]) -> Number | None:
    """Return the sum; `None` when one of them is missing, and when there is none at all."""
    summands: list[Number] = []
    for figure in figures:
        if figure is None:
            return None
        summands.append(figure)
    return sum(summands[1:], summands[0]) if summands else None
