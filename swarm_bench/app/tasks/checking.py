"""Compares a task file with the repository, and says how hard its tasks are."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from swarm_bench.analysis.documents.blocks import paragraph
from swarm_bench.analysis.wording import quantify
from swarm_bench.app.tasks.repository import find_commit
from swarm_bench.app.tasks.telling import describe_worth, find_tree, measure_difficulties
from swarm_bench.benchmarks.swarm.scorers import require_known
from swarm_bench.config.located import Located
from swarm_bench.core.errors import UnknownName, WrongFile
from swarm_bench.core.report.document import (
    Document,
    Fact,
    Grid,
    RenderedDocument,
    Section,
    Verbatim,
)
from swarm_bench.core.session.tasks import HARD, Task
from swarm_bench.core.validation import Problem
from swarm_bench.datasets.checking import (
    find_missing_keys,
    idle_facts,
    repeated_prompts,
    wrong_keys,
)
from swarm_bench.datasets.difficulty import DEEPEST, Difficulty
from swarm_bench.datasets.exposure.finder import Finder
from swarm_bench.datasets.exposure.looking_through import LARGEST, Tell, look_through
from swarm_bench.datasets.making.mixture import EASIER
from swarm_bench.datasets.suites import Suite, find_suite, located_suite
from swarm_bench.reports.markdown import write_document, write_lines
from swarm_bench.runtime.workspaces.blobs import find_trees, list_blobs
from swarm_bench.runtime.workspaces.checkout import refuse_missing_objects
from swarm_bench.runtime.workspaces.objects import Objects

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
