"""The plan of a session: what runs, and in which order, as plain data. A pure function of the
experiment, so it can be shown, compared and continued."""

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, Self, TypeVar


class Trial(Protocol):
    """What is run once, and has one record in the end."""

    @property
    def id(self) -> str:
        """Stable: the same run, arm and case have the same one in every session."""
        ...


class Group(Protocol):
    """The trials of one arm in one run that run together. A frozen dataclass."""

    @property
    def run(self) -> int: ...
    @property
    def arm(self) -> str: ...
    @property
    def trials(self) -> Sequence[Trial]: ...

    def without(self, finished: Collection[str]) -> Self:
        """Return the group with the trials that are still to run."""
        ...


G = TypeVar("G", bound=Group)


@dataclass(frozen=True, kw_only=True)
class Block(Generic[G]):
    """Every arm once, close together in time."""

    run: int
    order: tuple[str, ...]
    groups: tuple[G, ...]


def draw_order(
    arms: Sequence[str], runs: int, seed: int, drawn: Sequence[Sequence[str]] = ()
) -> tuple[tuple[str, ...], ...]:
    """Draw the order of the arms in every run. What was `drawn` before stays; new arms come after.

    Each run has a draw of its own from the seed, so more runs do not change earlier ones.
    """
    orders = []
    for run in range(1, runs + 1):
        old = tuple(drawn[run - 1]) if run <= len(drawn) else ()
        new = [arm for arm in arms if arm not in old]
        random.Random(f"{seed}:{run}").shuffle(new)
        orders.append((*old, *new))
    return tuple(orders)


def remaining(blocks: Sequence[Block[G]], finished: Collection[str]) -> tuple[Block[G], ...]:
    """Return the blocks without finished trials and without groups that have none left."""
    return tuple(rest for block in blocks if (rest := _remaining(block, finished)).groups)


def groups_of(blocks: Sequence[Block[G]]) -> Iterator[G]:
    """Yield all groups, in the order they run."""
    return (group for block in blocks for group in block.groups)


def _remaining(block: Block[G], finished: Collection[str]) -> Block[G]:
    groups = (group.without(finished) for group in block.groups)
    return replace(block, groups=tuple(group for group in groups if group.trials))
