"""What the tasks of a file can tell apart: how many they are worth, and what finds their answers
without a retrieval tool."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from swarm_bench.analysis.documents.blocks import paragraph
from swarm_bench.analysis.statistics.changes import GROUPED, worth
from swarm_bench.analysis.statistics.pairing import cases_of
from swarm_bench.core.errors import HarnessError
from swarm_bench.core.report.document import Block
from swarm_bench.core.session.tasks import Task
from swarm_bench.datasets.difficulty import FIRST, Difficulty, difficulty, indexed
from swarm_bench.runtime.workspaces.objects import CommitTree, Objects
from swarm_bench.source.constant import constant_recall
from swarm_bench.source.naming import with_key_of

_TELLS_NOTHING = 0.5
"""Recall of a constant answer, above which hardly anything is left to find."""


def tree_at(objects: Objects, commit: str) -> CommitTree | None:
    """Return the files of a commit; `None` where the repository does not have it."""
    try:
        return objects.tree(commit)
    except HarnessError:
        return None


def difficulties(objects: Objects, tasks: Sequence[Task], head: str) -> dict[str, Difficulty]:
    """Say how hard tasks are whose keys name files that are there, by their ids; `head` is the
    commit of those that name none."""
    by_commit = defaultdict[str, list[Task]](list)
    for task in tasks:
        by_commit[task.commit or head].append(task)
    hard = dict[str, Difficulty]()
    for commit, some in by_commit.items():
        if (tree := tree_at(objects, commit)) is not None:
            hard |= _difficulties(tree, some)
    return hard


def _difficulties(tree: CommitTree, tasks: Sequence[Task]) -> dict[str, Difficulty]:
    asked = [
        task
        for task in (with_key_of(task, tree.files) for task in tasks)
        if task.key and not tree.files.isdisjoint(task.key.files)
    ]
    if not asked:
        return {}
    with indexed(tree) as index:
        return {task.id: difficulty(index, tree, task) for task in asked}


def what_tells(tasks: Sequence[Task], head: str, hard: Mapping[str, Difficulty]) -> Iterator[Block]:
    """Say what tasks are worth, and what finds the answers of those that have a difficulty."""
    effect = cases_of(tasks, head).size
    if less := worth(effect):
        yield paragraph(f"{effect.cases} tasks{less}: {GROUPED}, and weights count.")
    else:
        yield paragraph(
            "The tasks are worth as many independent ones: no two share a file or a group."
        )
    measured = [task for task in tasks if task.id in hard]
    number = len(measured)
    several = "task" if number == 1 else "tasks"
    listed = sum(hard[task.id].is_listed for task in measured)
    first = sum((hard[task.id].sentence or 0) <= FIRST for task in measured)
    are_hard = sum(hard[task.id].is_hard for task in measured)
    yield paragraph(
        f"Of {number} {several} plain BM25 has a right file among the first {FIRST} for the prompt "
        f"of {first}, and one grep for the names in the prompt lists a right file for {listed}. "
        f"Hard, neither of both: {are_hard}."
    )
    constant = constant_recall(measured, "files")
    assert constant is not None
    yield paragraph(
        f"The best answer that is the same for every task has a recall of {constant:.2f}: to find "
        "that much no question needs to be read."
    )
    if constant > _TELLS_NOTHING:
        yield paragraph(
            f"This file tells nothing apart, as that is above {_TELLS_NOTHING:g}: ask about more "
            "files, with a larger --count or a repository that has more."
        )
