"""A few tasks of all kinds, not all of which a plain search answers."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, zip_longest

from swarm_bench.core.session.tasks import Task

COUNT = 8
HARD = 4
"""Of them at least so many that plain BM25 does not answer at rank 1."""


def mixture(kinds: Sequence[Iterable[Task]], is_easy: Callable[[Task], bool]) -> tuple[Task, ...]:
    """Take from each kind in turn, hard tasks before easy ones. Empty where there are too few of
    all, or of hard ones."""
    easy = {task.id for kind in kinds for task in kind if is_easy(task)}
    in_turn = zip_longest(*(sorted(kind, key=lambda task: task.id in easy) for kind in kinds))
    tasks = [task for task in chain(*in_turn) if task is not None]
    first, others = tasks[:COUNT], tasks[COUNT:]
    hard_others = [task for task in others if task.id not in easy]
    while sum(task.id not in easy for task in first) < HARD and hard_others:
        last = max(number for number, task in enumerate(first) if task.id in easy)
        first[last] = hard_others.pop(0)
    enough = len(first) == COUNT and sum(task.id not in easy for task in first) >= HARD
    return tuple(sorted(first, key=tasks.index)) if enough else ()
