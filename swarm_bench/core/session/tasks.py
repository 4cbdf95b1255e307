"""What agents are asked, and what a right answer names."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Annotated

from pydantic import Field

from swarm_bench.core.session.base import Case
from swarm_bench.core.stored import Stored

SYMBOL_MARK = "::"
"""Separator of path and name in a symbol of an answer key."""

DONE_ALREADY = "done-already"
"""Tag of a task that stands apart from the others, as its key is less certain. Earlier versions
gave it to those that ask for a change which their commit has already."""

HARD = "hard"
"""Tag of a task that neither plain BM25 answers nor one grep for the names in its prompt."""
TASK_FILE = "# A task file of swarm-bench."
"""Beginning of a task file that was made."""

_WORD = re.compile(r"\w[\w+#]*")
"""A word with the marks that make another one: C, C++ and C#."""

Weight = Annotated[float, Field(ge=1e-6, le=1e6)]
"""A weight within the bounds in which means can be computed."""


class AnswerKey(Stored):
    """What a right answer names. Empty parts are not asked for."""

    files: tuple[str, ...] = ()
    """Paths below the root of the repository, with `/`."""
    symbols: tuple[str, ...] = ()
    """Functions, classes and methods, as `path/of/file.py::Class.method`."""
    facts: tuple[str, ...] = ()
    """Regular expressions that a right answer matches, whatever the case of letters."""


class Task(Case):
    """One piece of work for one agent."""

    prompt: str
    keywords: str = ""
    """The question in a few words, as one types them into a search box."""
    commit: str | None = None
    """The whole hash of the commit that it is asked on; `None` for that of the session."""
    written: date | None = None
    """Date when the answer came into the repository: a model trained later may have seen it."""
    key: AnswerKey | None = None
    """Key of the right answer; `None` where it is unknown."""
    weight: Weight = 1.0
    """Weight of the task in means over tasks."""
    tags: tuple[str, ...] = ()
    group: str | None = None
    """Tasks of one group are not independent of each other; `None`: that of the file that its key
    names first, or of its first fact, where it names none."""


def build_question(task: Task) -> str:
    """Return the words that a task asks with: prompts that differ only in white space, case, marks
    or invisible characters have the same."""
    visible = visible_text(task)
    folded = unicodedata.normalize("NFKC", visible).casefold()
    return " ".join(_WORD.findall(folded)) or visible


def visible_text(task: Task) -> str:
    """Return the prompt without invisible characters and with single spaces."""
    visible = "".join(char for char in task.prompt if unicodedata.category(char) != "Cf")
    return " ".join(visible.split())


def relevant_files(task: Task) -> tuple[str, ...]:
    """Return the files that a right answer names: those of the key, else those of its symbols."""
    if task.key is None:
        return ()
    of_symbols = (symbol.partition(SYMBOL_MARK)[0] for symbol in task.key.symbols)
    return task.key.files or tuple(dict.fromkeys(of_symbols))


def group_tasks(tasks: Iterable[Task], commit: str | None) -> dict[str, str]:
    """Return the group of each task, by their ids; a group is called as one of its tasks.

    Tasks belong together that name the same group, or the same file first, or the same fact where
    they name no file, or that ask the same on one commit. `commit` is that of those that name none.
    """
    parents, first_with = dict[str, str](), dict[tuple[str | None, ...], str]()
    for task in tasks:
        parents[task.id] = task.id
        for shared in _iterate_shared(task, commit):
            parent = first_with.setdefault(shared, task.id)
            parents[_find_root(parents, task.id)] = _find_root(parents, parent)
    return {id: _find_root(parents, id) for id in parents}


def _iterate_shared(task: Task, commit: str | None) -> Iterator[tuple[str | None, ...]]:
    """Yield what makes a task one of a group."""
    yield build_question(task), task.commit or commit
    first = (task.group or "", *relevant_files(task), *(task.key.facts if task.key else ()))
    if name := next(filter(None, first), ""):
        yield (name,)


def _find_root(parents: dict[str, str], id: str) -> str:
    while parents[id] != id:
        id = parents[id]
    return id
