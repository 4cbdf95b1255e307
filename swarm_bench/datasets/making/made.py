"""What a maker of tasks gives."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import TypeVar

from swarm_bench.core.session.tasks import Task

Candidate = TypeVar("Candidate")
LONGEST_ID = 60


@dataclass(frozen=True, kw_only=True)
class Made:
    """Tasks made from a repository, and what no task was made of."""

    tasks: tuple[Task, ...]
    """Drawn by the seed, in an order that the seed determines. Those about a tree have no commit:
    whoever has the tree knows it."""
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Candidates that were omitted, by why: a clause such as `ambiguous name`; the commonest first.
    """
    looked_at: int = 0
    """Candidates, with those that became tasks or were omitted."""
    how: str = ""
    """Who wrote the questions, and what that took: a clause; empty for fixed rules."""


class Unfit(Exception):
    """A candidate of which no task is made; its text says why."""


def made_of(
    candidates: Iterable[Candidate], most: int, make: Callable[[Candidate, Sequence[Task]], Task]
) -> Made:
    """Make a task of each candidate, until there are enough. `make` gets the tasks that there are,
    and raises `Unfit`."""
    tasks, dropped = list[Task](), Counter[str]()
    for candidate in candidates:
        if len(tasks) == most:
            break
        try:
            tasks.append(make(candidate, tasks))
        except Unfit as why:
            dropped[str(why)] += 1
    return Made(
        tasks=tuple(tasks),
        dropped=dict(dropped.most_common()),
        looked_at=len(tasks) + dropped.total(),
    )


def new_id(parts: Iterable[str], tasks: Iterable[Task]) -> str:
    """Join parts to an id that none of the tasks has."""
    id, ids = "-".join(parts)[:LONGEST_ID].rstrip("-"), {task.id for task in tasks}
    numbered = (f"{id}-{number}" for number in count(2))
    return next(free for free in chain([id], numbered) if free not in ids)
