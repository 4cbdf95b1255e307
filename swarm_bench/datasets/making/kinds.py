"""All kinds of tasks that are made of a repository, by their names."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from swarm_bench.core.ports import Tree
from swarm_bench.core.session.tasks import Task
from swarm_bench.datasets.making.callers import make_callers
from swarm_bench.datasets.making.changes import Changes, make_changes
from swarm_bench.datasets.making.made import GeneratedTasks, Looked, ignore_progress
from swarm_bench.datasets.making.passages import Passages, find_passages
from swarm_bench.datasets.making.symbols import make_symbols
from swarm_bench.runtime.workspaces.checkout import count_missing_objects
from swarm_bench.runtime.workspaces.history import read_history
from swarm_bench.runtime.workspaces.objects import Objects, read_attributes
from swarm_bench.source.definitions import is_supported
from swarm_bench.source.files import UNDECLARED, Declared, Files, Purpose, is_line
from swarm_bench.text.languages import language_of

ANSWER_FORMAT = (
    "Answer with the paths of the files, relative to the root of the repository, one on a line, "
    "the most certain one first; then name the functions and classes in them. Tests, examples, "
    "benchmarks, documentation and build files do not count. Name nothing that you did not "
    "see in the repository."
)
CHANGES = "changes"
_OF_A_TREE: Mapping[str, Callable[..., GeneratedTasks]] = {
    "symbols": make_symbols,
    "callers": make_callers,
}
_DECLARED = {"generated": "linguist-generated", "vendored": "linguist-vendored"}
"""Attributes that forges read, by the part of `Declared`."""
KINDS = (CHANGES, *_OF_A_TREE)


@dataclass(frozen=True, kw_only=True)
class Source:
    """Source of tasks, and how they are made."""

    objects: Objects
    repository: Path
    commit: str
    """The whole hash of the one whose history counts."""
    tree: Tree
    """Files of the commit."""
    count: int
    """Number of tasks of each kind."""
    seed: int
    since: date | None = None
    """Changes that are older make no tasks."""
    on_commit: bool = False
    """Whether changes too are asked about on the commit itself, as finished ones."""
    newest: int | None = None
    """Commits of the history that are looked at; `None` for all."""
    looked: Looked = ignore_progress


def make(kind: str, source: Source) -> GeneratedTasks:
    """Make the tasks of a kind, each with its commit."""
    if kind != CHANGES:
        files = _files(source, source.tree.files)
        generated = _OF_A_TREE[kind](source.tree, source.count, source.seed, files, source.looked)
    elif count_missing_objects(source.repository, [source.commit], history=True):
        generated = GeneratedTasks(
            tasks=(), dropped={"a partial clone lacks files of the history": 1}
        )
    else:
        history = read_history(source.repository, source.commit, source.newest)
        all_changes = (change for commit in history for change in commit.changes)
        paths = {path for change in all_changes for path in (change.path, change.target)}
        changes = Changes(
            count=source.count,
            seed=source.seed,
            since=source.since,
            on=source.tree if source.on_commit else None,
            files=_files(source, paths),
            looked=source.looked,
        )
        generated = make_changes(source.objects, history, changes)
    tasks = tuple(_set_commit(task, source.commit) for task in generated.tasks)
    return GeneratedTasks(tasks=tasks, dropped=generated.dropped, looked_at=generated.looked_at)


def passages_of(source: Source) -> Passages:
    """Find what a model can write questions about."""
    files = _files(source, source.tree.files)
    return find_passages(source.tree, source.commit, source.seed, files)


def count_excluded_by_files(source: Source) -> Counter[str]:
    """Count the source files of languages whose symbols are not read, by language."""
    files = _files(source, source.tree.files)
    return Counter(
        language_of(path) or ""
        for path in source.tree.files
        if files.purpose_of(path) is Purpose.SOURCE and not is_supported(path)
    )


def count_unnamed(tree: Tree) -> int:
    """Count the source files whose names are no text on one line."""
    return sum(language_of(path) is not None and not is_line(path) for path in tree.files)


def _files(source: Source, paths: Collection[str]) -> Files:
    """Read what the commit declares of files, of which some may be of its history."""
    names = (path for path in source.tree.files if f"/{path}".endswith("/.gitattributes"))
    texts = [source.tree.read(name) for name in names]
    texts.append(source.objects.read(f"{source.commit}:.gitattributes"))  # above the folder
    if not any(b"linguist-" in (text or b"") for text in texts):
        return UNDECLARED
    declared = read_attributes(source.repository, source.commit, sorted(paths), _DECLARED.values())
    values = (
        {part: of_path.get(name) for part, name in _DECLARED.items()}
        for of_path in declared.values()
    )
    return Files(
        declared={
            path: Declared(**declaration)
            for path, declaration in zip(declared, values, strict=True)
        }
    )


def _set_commit(task: Task, commit: str) -> Task:
    return task if task.commit else task.model_copy(update={"commit": commit})
