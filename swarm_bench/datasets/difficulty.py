"""How hard a task is: where plain BM25 ranks the first file of its key, and whether one grep for
the names in its prompt lists it."""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

from swarm_bench.core.ports import Tree
from swarm_bench.core.session.tasks import Task
from swarm_bench.models.lexical.bm25 import Bm25
from swarm_bench.models.lexical.ranking import is_code
from swarm_bench.source.files import is_line

DEEPEST = 100
"""Ranks that are looked at."""
FIRST = 5
"""Ranks among which the right file of a hard task is not."""
_QUOTED = re.compile(r"`([^`\n]+)`")
_NAME = re.compile(
    r"(?<![\w-])--[a-z][\w-]*\w|\b(?:[^\W_]*[a-z][A-Z]\w*|\w*[^\W_]_[^\W_]\w*|[^\W\d]\w+(?=\()|"
    r"[^\W\d]\w\w+(?:\.[^\W\d]\w\w+)+)"
)
"""A flag, camel case, underscores, a call, a name with points."""
_WORD = re.compile(r"[^\W\d][\w-]*")


@dataclass(frozen=True, kw_only=True)
class Difficulty:
    """Ranks from 1; `None` where nothing is asked, `DEEPEST + 1` for any that is deeper."""

    sentence: int | None
    """Of the first right file, when the prompt is searched for."""
    keywords: int | None
    """The same for the keywords."""
    is_listed: bool
    """Whether one grep for the names in the prompt lists a right file, whatever else it lists."""

    @property
    def is_hard(self) -> bool:
        """Tell whether neither search answers it."""
        return not self.is_listed and self.sentence is not None and self.sentence > FIRST


@contextmanager
def indexed(tree: Tree) -> Iterator[Bm25]:
    """Index the code of a tree."""
    paths = (path for path in sorted(tree.files) if is_code(path) and is_line(path))
    texts = ((path, tree.read(path)) for path in paths)
    with closing(
        Bm25((path, (text or b"").decode("utf-8", "replace")) for path, text in texts)
    ) as index:
        yield index


def difficulty(index: Bm25, tree: Tree, task: Task) -> Difficulty:
    """Search the code for a task whose key names files."""
    files = frozenset(task.key.files if task.key else ())
    return Difficulty(
        sentence=_rank(index, task.prompt, files),
        keywords=_rank(index, task.keywords, files),
        is_listed=any(_has_one_of(identifiers(task.prompt), tree.read(path)) for path in files),
    )


def identifiers(prompt: str) -> frozenset[str]:
    """Return the names in a prompt that somebody would grep for: what is in backquotes, and what
    is written as no plain word is."""
    names = *_QUOTED.findall(prompt), *_NAME.findall(prompt)
    return frozenset(word for name in names for word in _WORD.findall(name) if len(word) > 2)


def _has_one_of(names: frozenset[str], content: bytes | None) -> bool:
    text = (content or b"").decode("utf-8", "replace")
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names)


def _rank(index: Bm25, question: str, files: frozenset[str]) -> int | None:
    if not question:
        return None
    ranked = enumerate(index.search(question, DEEPEST), start=1)
    return next((rank for rank, path in ranked if path in files), DEEPEST + 1)
