"""Compares a task file with the repository, and says how hard its tasks are, and what they can tell
apart: how many they are worth, and what finds their answers without a retrieval tool."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median_low

import anyio

from swarm_bench.analysis.documents.blocks import paragraph
from swarm_bench.analysis.statistics.changes import GROUPED, format_worth
from swarm_bench.analysis.statistics.pairing import make_cases
from swarm_bench.analysis.statistics.verdict_rule import count_cases
from swarm_bench.analysis.wording import quantify
from swarm_bench.benchmarks.swarm.scorers import require_known
from swarm_bench.config.located import Located
from swarm_bench.core.errors import HarnessError, UnknownName, UsageError, WrongFile
from swarm_bench.core.report.document import (
    Block,
    Document,
    Fact,
    Grid,
    RenderedDocument,
    Section,
    Verbatim,
)
from swarm_bench.core.session.designs import QUALITY_MARGIN
from swarm_bench.core.session.tasks import HARD, Task
from swarm_bench.core.validation import Problem
from swarm_bench.datasets.checking import (
    find_missing_keys,
    idle_facts,
    repeated_prompts,
    wrong_keys,
)
from swarm_bench.datasets.difficulty import (
    DEEPEST,
    FIRST,
    Difficulty,
    Grep,
    build_index,
    difficulty,
    greps,
)
from swarm_bench.datasets.exposure.finder import Finder
from swarm_bench.datasets.exposure.scanning import LARGEST, Tell, look_through
from swarm_bench.datasets.making.made import EASIER, GeneratedTasks
from swarm_bench.datasets.suites import Suite, find_suite, located_suite
from swarm_bench.reports.markdown import write_document, write_lines
from swarm_bench.runtime.workspaces.blobs import find_trees, list_blobs
from swarm_bench.runtime.workspaces.checkout import commit_of, refuse_missing_objects
from swarm_bench.runtime.workspaces.git import try_git
from swarm_bench.runtime.workspaces.objects import CommitTree, Objects
from swarm_bench.source.key_measures import constant_recall
from swarm_bench.source.naming import restrict_key

_MOST_LINES = 50
_WHAT_TO_DO = (
    "Nothing has to be done: these files are in no clone that agents or tools of a session get. If "
    "they need one of them, keep the questions or the answers somewhere else."
)


_COLUMNS = (
    "The columns: the rank of the first right file when plain BM25 searches the code for the "
    "prompt, and for the keywords; whether one grep for the names in the prompt lists a right file."
)


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """Result of checking a task file."""

    page: RenderedDocument
    is_right: bool


def check_tasks(name: str, repo: Path, tell: Tell) -> CheckResult:
    """Compare a task file with the repository. Raises `UsageError` for a file that cannot be read,
    and a folder that is no git checkout."""
    try:
        suite = find_suite(name)
    except WrongFile as error:
        text = "".join(f"{problem}\n" for problem in error.problems)
        return CheckResult(page=write_lines(text), is_right=False)
    located = located_suite(Path(suite.source))
    head = find_commit(repo, None)
    refuse_missing_objects(repo, {head, *(task.commit for task in suite.tasks if task.commit)})
    problems = list(_find_unknown_scorers(suite, located))
    problems += repeated_prompts(located, suite.tasks, head)
    problems += find_missing_keys(located, suite.tasks)
    by_commit = defaultdict[str, list[tuple[int, Task]]](list)
    for number, task in enumerate(suite.tasks):
        by_commit[task.commit or head].append((number, task))
    with Objects(repo) as objects:
        for commit, tasks in by_commit.items():
            tell(f"commit {commit[:12]}: {quantify(len(tasks), 'task')}")
            tree = find_tree(objects, commit)
            for number, task in tasks:
                problems += wrong_keys(located, number, task, tree)
                problems += idle_facts(located, number, task, tree) if tree else ()
        hard = measure_difficulties(objects, suite.tasks, head, by_keywords=True)
        worth_blocks = tuple(describe_worth(objects, suite.tasks, head, hard)) if hard else ()
    lines = [f"{suite.source}:{line}: {problem}" for line, problem in sorted(problems)]
    sections = list(_find_exposed_keys(suite.tasks, repo, head, tell))
    if hard:
        blocks = (_build_difficulty_table(suite.tasks, hard), *worth_blocks)
        sections.append(Section(title="Difficulty", blocks=(*blocks, paragraph(_COLUMNS))))
    return CheckResult(
        page=write_document(_build_page(suite, lines, sections)), is_right=not problems
    )


def _find_unknown_scorers(suite: Suite, located: Located) -> Iterator[Problem]:
    for position, name in enumerate(suite.scorers or ()):
        try:
            require_known(name)
        except UnknownName as error:
            yield located.line(("scorers", position)), str(error)


def _find_exposed_keys(
    tasks: Sequence[Task], repo: Path, head: str, tell: Tell
) -> Iterator[Section]:
    """Yield a section with a line for each such file, at the commit `head` or at one that a task
    names. Raises `HarnessError`."""
    finder = Finder(tasks)
    if not finder:
        return
    trees = find_trees(repo, {head, *(task.commit for task in tasks if task.commit)})
    keys = look_through(finder, [(repo, set(trees.values()))], tell)
    if not keys.exposed and not keys.unread:
        return
    now = {blob.hash for blob in list_blobs(repo, [trees[head]])}
    lines = []
    for blob, exposed in sorted(keys.exposed.items()):
        when = "" if blob.hash in now else ", at an older commit"
        lines.append(f"{blob.path}:{exposed[0].line}: {_describe_keys(len(exposed))}{when}")
    size = f"more than {LARGEST // 1_000_000} MB, not looked through"
    lines += [f"{blob.path}: {size}" for blob in sorted(keys.unread)]
    omitted = len(lines) - _MOST_LINES
    lines[_MOST_LINES:] = [f"and {omitted} more"] if omitted > 0 else []
    printable = [line.encode("utf-8", "replace").decode() for line in lines]
    blocks = (Verbatim(text="\n".join(printable)), paragraph(_WHAT_TO_DO))
    yield Section(title="Keys in the repository", blocks=blocks)


def _describe_keys(number: int) -> str:
    return "the answer key of 1 task" if number == 1 else f"the answer keys of {number} tasks"


def _build_page(
    suite: Suite, problems: Sequence[str], other_sections: Sequence[Section]
) -> Document:
    without = sum(task.key is None for task in suite.tasks)
    block = Verbatim(text="\n".join(problems)) if problems else paragraph("None.")
    return Document(
        title=f"{quantify(len(suite.tasks), 'task')} of {suite.source}",
        banner=None,
        head=((Fact(label="Without a key", value=str(without)),),) if without else (),
        sections=(Section(title="Problems", blocks=(block,)), *other_sections),
    )


def _build_difficulty_table(tasks: Sequence[Task], hard: Mapping[str, Difficulty]) -> Grid:
    rows = tuple(
        (
            task.id,
            ", ".join(tag for tag in task.tags if tag not in (HARD, EASIER)),
            _format_rank(hard[task.id].sentence),
            _format_rank(hard[task.id].keywords),
            "yes" if hard[task.id].is_listed else "no",
            HARD if hard[task.id].is_hard else "",
        )
        for task in tasks
        if task.id in hard
    )
    headers = ("Task", "Tags", "By the prompt", "By the keywords", "By grep", "")
    return Grid(headers=headers, labels=2, rows=rows)


def _format_rank(rank: int | None) -> str | None:
    if rank is None:
        return None
    return str(rank) if rank <= DEEPEST else f"over {DEEPEST}"


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


def find_commit(repo: Path, revision: str | None) -> str:
    """Return the whole hash of a commit; without a revision that of the checkout. Raises
    `UsageError` for a folder without commits, and for a revision that is not there."""
    return anyio.run(_find_commit, repo, revision)


def is_shallow(repo: Path) -> bool:
    """Tell whether the history of a clone ends before that of the repository it was made from."""
    return anyio.run(_is_shallow, repo)


async def _is_shallow(repo: Path) -> bool:
    done = await try_git("rev-parse", "--is-shallow-repository", cwd=repo)
    return done.stdout.strip() == b"true"


async def _find_commit(repo: Path, revision: str | None) -> str:
    head = await commit_of(repo)
    if head is None:
        raise UsageError(
            f"{repo} is no git checkout, and answers are looked for in commits; 'git init' it and "
            "commit its files, or give another folder with --repo PATH"
        )
    if revision is None:
        return head
    done = await try_git(
        "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", cwd=repo
    )
    if done.returncode != 0:
        raise UsageError(
            f"{repo} has no commit {revision}; give a hash, a branch or a tag of it, or fetch it "
            "first"
        )
    return done.stdout.decode().strip()
