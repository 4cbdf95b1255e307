"""Which of the tasks that can be made are asked: hard ones first, and few about one file."""

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import zip_longest

from swarm_bench.core.session.tasks import HARD, Task, relevant_files

COUNT = 36
"""Tasks of a session that names none."""
FEWEST = 8
"""Of them; a repository that gives fewer has the shipped suite instead."""
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
