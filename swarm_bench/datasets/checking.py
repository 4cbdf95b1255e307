"""Compares the tasks of a file with the repository, and with each other."""

from collections.abc import Iterator, Sequence

from swarm_bench.config.located import Located
from swarm_bench.core.ports import Tree
from swarm_bench.core.session.tasks import SYMBOL_MARK, Task, visible_text
from swarm_bench.core.validation import Problem
from swarm_bench.datasets.suites import find_unjudged
from swarm_bench.source.definitions import is_supported
from swarm_bench.source.facts import SECONDS, matching
from swarm_bench.source.naming import find_definitions, restrict_key

SAYS_NOTHING = (
    "I do not know.",
    "There is no such thing in this repository.",
    "Nothing was found, and the question remains open.",
)
"""Answers without a fact in them."""
_FEW, _PATHS = 20, 200
"""Paths of a repository, at least and about at most, of which a fact may match half."""
_FEWEST, _NEARLY_ALL = 4, 0.7
"""Paths of a smaller one, at least, of which a fact may match that share."""


def repeated_prompts(located: Located, tasks: Sequence[Task], head: str) -> Iterator[Problem]:
    """Yield the tasks that ask on one commit what an earlier one asks, with the line; `head` is the
    commit of those that name none."""
    earlier = dict[tuple[str, str], Task]()
    for number, task in enumerate(tasks):
        first = earlier.setdefault((visible_text(task), task.commit or head), task)
        if first is not task:
            which = ": they count as one" if first.key == task.key else ", and the keys differ"
            line = located.line(("tasks", number, "prompt"))
            yield line, f"the prompt is that of the task {first.id}{which}"


def find_missing_keys(located: Located, tasks: Sequence[Task]) -> Iterator[Problem]:
    """Yield the tasks without a key, with the line, where others have one."""
    without = {task.id for task in find_unjudged(tasks)}
    for number, task in enumerate(tasks):
        if task.id in without:
            yield located.line(("tasks", number)), f"{task.id} has no key, and other tasks have one"


def idle_facts(located: Located, number: int, task: Task, tree: Tree) -> Iterator[Problem]:
    """Yield the facts of a task that tell no answer from another, with the line."""
    paths = sorted(tree.files)
    paths = paths[:: 1 + len(paths) // _PATHS]
    for position, fact in enumerate(task.key.facts if task.key else ()):
        if problem := _describe_idle(fact, task.prompt, paths):
            yield located.line(("tasks", number, "key", "facts", position)), problem


def _describe_idle(fact: str, prompt: str, paths: Sequence[str]) -> str:
    """Say why a fact tells nothing; empty where it may."""
    try:
        if all(matching([fact], text) for text in SAYS_NOTHING):
            return f"the fact {fact} matches any answer"
        if matching([fact], prompt):
            return f"the fact {fact} matches the prompt, so it does not count"
        matched = sum(bool(matching([fact], path)) for path in paths)
        max_share = 0.5 if len(paths) >= _FEW else _NEARLY_ALL
        if len(paths) >= _FEWEST and matched > max_share * len(paths):
            return f"the fact {fact} matches most paths of the repository"
    except TimeoutError:
        return f"the fact {fact} takes longer than {SECONDS:g} s"
    return ""


def wrong_keys(located: Located, number: int, task: Task, tree: Tree | None) -> Iterator[Problem]:
    """Yield what of the key of a task is not in the tree of its commit, with the line; the task is
    the one of that number, from 0, in the file. Without a tree its commit is not there."""
    at: tuple[int | str, ...] = ("tasks", number)
    if tree is None:
        yield located.line((*at, "commit")), f"there is no commit {task.commit}"
        return
    task = restrict_key(task, tree.files)
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
    by_name = find_definitions(tree, path)
    names = {definition.name for same_named in by_name.values() for definition in same_named}
    if name in names or not is_supported(path):
        return None
    return f"{path} defines no {name}{_hint(name, sorted(names))}"


def _hint(name: str, names: Sequence[str]) -> str:
    """Name what the symbol may be: the same name in a class, or outside of one."""
    last = name.rpartition(".")[2]
    close = [candidate for candidate in names if candidate.rpartition(".")[2] == last]
    return f"; is it {' or '.join(close[:3])}?" if close else ""
