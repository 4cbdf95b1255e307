"""Compares the keys of a task file with the repository."""

from collections.abc import Iterator, Sequence

from swarm_bench.config.located import Located
from swarm_bench.core.ports import Tree
from swarm_bench.core.session.tasks import SYMBOL_MARK, Task
from swarm_bench.core.validation import Problem
from swarm_bench.source.definitions import is_supported
from swarm_bench.source.naming import defined_in


def wrong_keys(located: Located, number: int, task: Task, tree: Tree | None) -> Iterator[Problem]:
    """Yield what of the key of a task is not in the tree of its commit, with the line; the task is
    the one of that number, from 0, in the file. Without a tree its commit is not there."""
    at: tuple[int | str, ...] = ("tasks", number)
    if tree is None:
        yield located.line((*at, "commit")), f"there is no commit {task.commit}"
        return
    if task.key is None:
        return
    for position, path in enumerate(task.key.files):
        if path not in tree.files:
            yield located.line((*at, "key", "files", position)), f"there is no file {path}"
    for position, symbol in enumerate(task.key.symbols):
        if (problem := _problem(tree, symbol)) is not None:
            yield located.line((*at, "key", "symbols", position)), problem


def _problem(tree: Tree, symbol: str) -> str | None:
    """Say what is wrong with a symbol; `None` also where its language is not read."""
    path, _, name = symbol.partition(SYMBOL_MARK)
    if path not in tree.files:
        return f"there is no file {path}"
    by_name = defined_in(tree, path)
    names = {definition.name for listed in by_name.values() for definition in listed}
    if name in names or not is_supported(path):
        return None
    return f"{path} defines no {name}{_hint(name, sorted(names))}"


def _hint(name: str, names: Sequence[str]) -> str:
    """Name what the symbol may be: the same name in a class, or outside of one."""
    last = name.rpartition(".")[2]
    close = [other for other in names if other.rpartition(".")[2] == last]
    return f"; is it {' or '.join(close[:3])}?" if close else ""
