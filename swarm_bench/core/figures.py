"""Numbers that are stored, their sums, and what the keys of stored files mean. Programs of agents
import this: it needs no pydantic."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
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


@contextmanager
def allow_any_length() -> Iterator[None]:
    """Read and write whole numbers of any length in the block, as rows of a data set have them.
    What servers and programs say stays limited: to read such a number takes long."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(limit)
