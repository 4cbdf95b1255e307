"""What a maker of tasks gives, and which of it is asked: hard tasks first, and few about one
file."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TypeVar

from swarm_bench.core.session.tasks import HARD, Task, relevant_files

Candidate = TypeVar("Candidate")
Looked = Callable[[int, int], None]
"""Is told how many candidates were looked at, and of how many at most."""
LONGEST_ID = 60


@dataclass(frozen=True, kw_only=True)
class GeneratedTasks:
    """Tasks made from a repository, and what no task was made of."""

    tasks: tuple[Task, ...]
    """Tasks drawn by the seed, in an order that the seed determines. Tasks about a tree have no
    commit: the caller, who has the tree, knows it."""
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Candidates that were omitted, by why: a clause such as `ambiguous name`; the commonest first.
    """
    looked_at: int = 0
    """Candidates, with those that became tasks or were omitted."""
    how: str = ""
    """Who wrote the questions, and what that took: a clause; empty for fixed rules."""


class UnsuitableCandidate(Exception):
    """A candidate of which no task is made; its text says why."""


def ignore_progress(number: int, total: int) -> None:
    """Ignore the progress."""


def generate_tasks(
    candidates: Sequence[Candidate],
    count: int,
    make: Callable[[Candidate], Task],
    looked: Looked = ignore_progress,
) -> GeneratedTasks:
    """Make a task of each candidate, until there are enough. Candidates of which `make` raises
    `UnsuitableCandidate` are counted."""
    tasks, dropped, ids = list[Task](), Counter[str](), Ids()
    for number, candidate in enumerate(candidates):
        if len(tasks) == count:
            break
        looked(number, len(candidates))
        try:
            tasks.append(ids.distinct(make(candidate)))
        except UnsuitableCandidate as reason:
            dropped[str(reason)] += 1
    return GeneratedTasks(
        tasks=tuple(tasks),
        dropped=dict(dropped.most_common()),
        looked_at=len(tasks) + dropped.total(),
    )


class Ids:
    """The ids of tasks, none of them twice."""

    def __init__(self) -> None:
        self._every = set[str]()
        self._tasks_of = Counter[str]()

    def distinct(self, task: Task) -> Task:
        """Return the task, with a number behind its id where another one has that."""
        id = task.id
        while id in self._every:
            self._tasks_of[task.id] += 1
            id = f"{task.id}-{self._tasks_of[task.id] + 1}"
        self._every.add(id)
        return task if id == task.id else task.model_copy(update={"id": id})


def joined_id(*parts: str) -> str:
    """Join parts to an id, which other tasks may have too."""
    return "-".join(parts)[:LONGEST_ID].rstrip("-")


COUNT = 36
"""Tasks of a session that names none."""
FEWEST = 8
"""Fewest tasks of a session; a repository that gives fewer has the shipped suite instead."""
POOL = 3
"""Tasks to choose from for each that is wanted: few are hard, and several are about one file."""
EASIER = "easier"
"""Tag of a task that is not hard."""


def hard_first(tasks: Iterable[Task], is_hard: Callable[[Task], bool]) -> list[Task]:
    """Put hard tasks before the others, and tag both."""
    tagged = [
        task.model_copy(update={"tags": (*task.tags, HARD if is_hard(task) else EASIER)})
        for task in tasks
    ]
    return sorted(tagged, key=lambda task: HARD not in task.tags)


def interleave(kinds: Iterable[Iterable[Task]]) -> list[Task]:
    """Mix tasks of several kinds evenly: the hard ones of all, and then the others."""
    mixed = [task for turn in zip_longest(*kinds) for task in turn if task is not None]
    return sorted(mixed, key=lambda task: HARD not in task.tags)


def pick(
    tasks: Iterable[Task], count: int, counts_by_file: Counter[str], per_file: int = 1
) -> list[Task]:
    """Take the first tasks whose files are not asked about so often already. `asked` counts the
    files of the keys, and is brought up to date."""
    picked = list[Task]()
    for task in tasks:
        files = relevant_files(task)
        if len(picked) < count and all(counts_by_file[file] < per_file for file in files):
            picked.append(task)
            counts_by_file.update(files)
    return picked
