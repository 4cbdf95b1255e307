"""How hard a task is: where plain BM25 ranks the first file of its key."""

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


@dataclass(frozen=True, kw_only=True)
class Difficulty:
    """Ranks from 1; `None` where nothing is asked, `DEEPEST + 1` for any that is deeper."""

    sentence: int | None
    """Of the first right file, when the prompt is searched for."""
    keywords: int | None
    """The same for the keywords."""

    @property
    def is_easy(self) -> bool:
        """True when a plain search answers it at once."""
        return 1 in (self.sentence, self.keywords)


@contextmanager
def indexed(tree: Tree) -> Iterator[Bm25]:
    """Index the code of a tree."""
    paths = (path for path in sorted(tree.files) if is_code(path) and is_line(path))
    texts = ((path, tree.read(path)) for path in paths)
    with closing(
        Bm25((path, (text or b"").decode("utf-8", "replace")) for path, text in texts)
    ) as index:
        yield index


def difficulty(index: Bm25, task: Task) -> Difficulty:
    """Search the code for a task whose key names files."""
    files = frozenset(task.key.files if task.key else ())
    return Difficulty(
        sentence=_rank(index, task.prompt, files),
        keywords=_rank(index, task.keywords, files),
    )


def _rank(index: Bm25, question: str, files: frozenset[str]) -> int | None:
    if not question:
        return None
    ranked = enumerate(index.search(question, DEEPEST), start=1)
    return next((rank for rank, path in ranked if path in files), DEEPEST + 1)
