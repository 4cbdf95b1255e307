"""What the tasks of a file can tell apart: how many they are worth, and what finds their answers
without a retrieval tool."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import median_low

from swarm_bench.analysis.documents.blocks import paragraph
from swarm_bench.analysis.statistics.changes import GROUPED, format_worth
from swarm_bench.analysis.statistics.pairing import make_cases
from swarm_bench.analysis.statistics.rule import count_cases
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.errors import HarnessError
from swarm_bench.core.report.document import Block, Grid, Section
from swarm_bench.core.session.designs import QUALITY_MARGIN
from swarm_bench.core.session.tasks import HARD, Task
from swarm_bench.datasets.difficulty import FIRST, Difficulty, Grep, build_index, difficulty, greps
from swarm_bench.datasets.making.made import GeneratedTasks
from swarm_bench.runtime.workspaces.objects import CommitTree, Objects
from swarm_bench.source.constant import constant_recall
from swarm_bench.source.naming import restrict_key

SAME_FILE = "another task asks about its file (--per-file)"
"""Reason why there are no more, where there are too few."""
_TELLS_NOTHING = 0.5
"""Recall of a constant answer, above which hardly anything is left to find."""


def find_tree(objects: Objects, commit: str) -> CommitTree | None:
    """Return the files of a commit; `None` where the repository does not have it."""
    try:
        return objects.tree(commit)
    except HarnessError:
        return None


def measure_difficulties(
    objects: Objects, tasks: Sequence[Task], head: str, *, by_keywords: bool = False
) -> dict[str, Difficulty]:
    """Say how hard tasks are whose keys name files that are there, by their ids; `head` is the
    commit of those that name none."""
    hard = dict[str, Difficulty]()
    for tree, commit_tasks in _group_by_commit(objects, tasks, head):
        with build_index(tree) as index:
            for task in commit_tasks:
                hard[task.id] = difficulty(index, tree, task, by_keywords=by_keywords)
    return hard


def _group_by_commit(
    objects: Objects, tasks: Sequence[Task], head: str
) -> Iterator[tuple[CommitTree, list[Task]]]:
    """Yield the files of each commit, with the tasks on it whose keys name one of them."""
    by_commit = defaultdict[str, list[Task]](list)
    for task in tasks:
        by_commit[task.commit or head].append(task)
    for commit, commit_tasks in by_commit.items():
        if (tree := find_tree(objects, commit)) is not None:
            keyed_tasks = (restrict_key(task, tree.files) for task in commit_tasks)
            measurable = [
                task
                for task in keyed_tasks
                if task.key and not tree.files.isdisjoint(task.key.files)
            ]
            if measurable:
                yield tree, measurable


def tells_nothing(tasks: Sequence[Task]) -> bool:
    """Tell whether a constant answer finds so much that hardly anything is left to find."""
    return (constant_recall(tasks, "files") or 0.0) > _TELLS_NOTHING


def suggest_remedy(count: int, pools: Mapping[str, GeneratedTasks]) -> str:
    """Say what would give tasks about more files, if so many were wanted."""
    if sum(len(pool.tasks) for pool in pools.values()) == count:
        return "give a larger --count"
    if any(pool.dropped for pool in pools.values() if pool.how):
        return "give another --model, as this one wrote few questions that can be asked"
    alternative = "another --kind, or " if len(pools) == 1 else ""
    return f"give {alternative}a repository that has more"


def describe_worth(
    objects: Objects,
    tasks: Sequence[Task],
    head: str,
    hard: Mapping[str, Difficulty],
    cure: str = "",
) -> Iterator[Block]:
    """Say what tasks are worth, and what finds the answers of those that have a difficulty; the
    `cure` says what would give tasks about more files."""
    effect = make_cases(tasks, head).size
    if less := format_worth(effect):
        yield paragraph(f"{effect.cases} tasks{less}: {GROUPED}, and weights count.")
    else:
        yield paragraph(
            "The tasks are worth as many independent ones: no two share a file or a group."
        )
    least = count_cases(0, QUALITY_MARGIN)
    enough = "enough" if effect.independent_cases >= least else "too few"
    yield paragraph(
        f"Where answers are equal, 'helps' takes {least} independent tasks; these are {enough}."
    )
    measured_tasks = [task for task in tasks if task.id in hard]
    yield paragraph(_describe_bm25([hard[task.id] for task in measured_tasks]))
    greps_of = (
        greps(tree, commit_tasks)
        for tree, commit_tasks in _group_by_commit(objects, measured_tasks, head)
    )
    yield paragraph(_describe_greps([grep for results in greps_of for grep in results.values()]))
    constant = constant_recall(measured_tasks, "files")
    assert constant is not None
    yield paragraph(
        f"The best answer that is the same for every task has a recall of {constant:.2f}: to find "
        "that much no question needs to be read."
    )
    if tells_nothing(measured_tasks):
        yield paragraph(
            f"This file tells nothing apart, as that is above {_TELLS_NOTHING:g}; ask about more "
            f"files{cure and f': {cure}'}."
        )


def _describe_bm25(hard: Sequence[Difficulty]) -> str:
    """Say what the searches find that make a task an easier one."""
    first = sum((rating.sentence or 0) <= FIRST for rating in hard)
    return (
        f"Plain BM25, asked the prompt, ranks a right file among its first {FIRST} in {first} of "
        f"{quantify(len(hard), 'task')}; one grep for the names in the prompt lists one in "
        f"{sum(rating.is_listed for rating in hard)}. Hard, with neither of both: "
        f"{sum(rating.is_hard for rating in hard)}."
    )


def _describe_greps(results: Sequence[Grep]) -> str:
    """Say what greps for the words of the prompts find."""
    hits = [grep for grep in results if grep.rank is not None]
    first = sum((grep.rank or 0) <= FIRST for grep in hits)
    return (
        "One grep for any of the words of the prompt, in whatever case, lists a right file in "
        f"{len(hits)}, among {median_low(grep.files for grep in results):,} files at the median; "
        f"of the {FIRST} that have most of the words one is right in {first}."
    )


def build_kind_table(pools: Mapping[str, GeneratedTasks]) -> Grid:
    """Count the tasks of each kind."""
    rows = tuple(
        (
            kind,
            f"{len(pool.tasks):,}",
            f"{sum(HARD in task.tags for task in pool.tasks):,}",
            f"{pool.looked_at:,}" if pool.looked_at else None,
        )
        for kind, pool in pools.items()
    )
    return Grid(headers=("Kind", "Tasks", "Hard", "Looked at"), labels=1, rows=rows)


def describe_shortage(
    pools: Mapping[str, GeneratedTasks], requested: int, per_file: int
) -> Iterator[Block]:
    """Say that there are fewer than are wanted, and which option makes more."""
    number = sum(len(pool.tasks) for pool in pools.values())
    if number >= requested:
        return
    yield paragraph(
        f"The repository gives {number:,} of the {requested:,} that are wanted. The table below "
        "says why."
    )
    if further := sum(pool.dropped.get(SAME_FILE, 0) for pool in pools.values()):
        yield paragraph(
            f"{quantify(further, 'further one')} would share a file with another: --per-file "
            f"{per_file + 2} makes some of them, which tell less each."
        )


def build_omitted_section(pools: Mapping[str, GeneratedTasks]) -> Iterator[Section]:
    """Yield the section that says what became no task, where there is any."""
    rows = tuple(
        (kind, f"{reason[:1].upper()}{reason[1:]}", f"{count:,}")
        for kind, pool in pools.items()
        for reason, count in pool.dropped.items()
    )
    if rows:
        grid = Grid(headers=("Kind", "Omitted because", "Number"), labels=2, rows=rows)
        yield Section(title="Omitted", blocks=(grid,))
