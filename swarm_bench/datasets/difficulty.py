"""How hard a task is: where plain BM25 ranks the first file of its key, whether one grep for the
names in its prompt lists it, and what one for its words does."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

from swarm_bench.core.ports import Tree
from swarm_bench.core.session.tasks import Task
from swarm_bench.datasets.making.messages import telling_words
from swarm_bench.source.files import is_line
from swarm_bench.text.bm25 import Bm25
from swarm_bench.text.ranking import is_code

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
_TERM = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True)
class Difficulty:
    """Ranks from 1; `None` where nothing is asked, `DEEPEST + 1` for any that is deeper."""

    sentence: int | None
    """Rank of the first right file, when the prompt is searched for."""
    keywords: int | None
    """Rank by the keywords; `None` also where that is not wanted."""
    is_listed: bool
    """Whether one grep for the names in the prompt lists a right file, whatever else it lists."""

    @property
    def is_hard(self) -> bool:
        """Tell whether neither search answers it."""
        return not self.is_listed and self.sentence is not None and self.sentence > FIRST


@dataclass(frozen=True, kw_only=True)
class Grep:
    """What one grep for all words of a prompt shows, in whatever case."""

    files: int
    """Files of code in which one of them stands."""
    rank: int | None
    """Rank of the first right file, where those with most of the words come first, and it comes
    behind those with as many; `None` where no right one is listed."""


@contextmanager
def build_index(tree: Tree) -> Iterator[Bm25]:
    """Index the code of a tree."""
    paths = (path for path in sorted(tree.files) if is_code(path) and is_line(path))
    texts = ((path, tree.read(path)) for path in paths)
    with closing(
        Bm25((path, (text or b"").decode("utf-8", "replace")) for path, text in texts)
    ) as index:
        yield index


def difficulty(index: Bm25, tree: Tree, task: Task, *, by_keywords: bool = False) -> Difficulty:
    """Search the code for a task whose key names files, and if wanted for its keywords too."""
    files = frozenset(task.key.files if task.key else ())
    return Difficulty(
        sentence=_rank(index, task.prompt, files),
        keywords=_rank(index, task.keywords if by_keywords else "", files),
        is_listed=any(_has_one_of(identifiers(task.prompt), tree.read(path)) for path in files),
    )


def greps(tree: Tree, tasks: Sequence[Task]) -> dict[str, Grep]:
    """Grep the code of a tree for the words of each prompt that say what it is about."""
    words_of = {task.id: {word.lower() for word in telling_words(task.prompt)} for task in tasks}
    all_words = frozenset().union(*words_of.values())
    terms_of = dict[str, frozenset[str]]()
    for path in filter(is_code, tree.files):
        text = (tree.read(path) or b"").decode("utf-8", "replace")
        terms_of[path] = all_words.intersection(_TERM.findall(text.lower()))
    return {task.id: _grep(terms_of, task, words_of[task.id]) for task in tasks}


def _grep(terms_of: Mapping[str, frozenset[str]], task: Task, terms: set[str]) -> Grep:
    hits = {path: len(terms & words_in_file) for path, words_in_file in terms_of.items()}
    files = task.key.files if task.key else ()
    best = max((hits.get(path, 0) for path in files), default=0)
    return Grep(
        files=sum(map(bool, hits.values())),
        rank=sum(number >= best for number in hits.values()) if best else None,
    )


def identifiers(prompt: str) -> frozenset[str]:
    """Return the names in a prompt that one would grep for: what is in backquotes, and what is not
    written as a plain word."""
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
