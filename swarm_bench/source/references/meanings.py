"""What a word means, if it means a file."""

import re
from dataclasses import dataclass
from functools import lru_cache
from posixpath import normpath

from swarm_bench.source.references.marking import has_mark
from swarm_bench.source.references.snapshot import Ambiguous, Snapshot
from swarm_bench.source.references.spelling import Spelling, is_path, is_product, spellings

_BUILD_FILE = re.compile(r"[A-Z][a-z]+file(?:[:#]|\Z)")


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """A file, or what reads as one."""

    text: str
    """The path as it is written."""
    spelling: Spelling
    path: str | None
    """In the repository."""


def can_be_file(word: str, *, is_alone: bool) -> bool:
    """Tell whether it is worth a look: a word without `.` and `/` is none more often than not."""
    if "." in word or "/" in word or "\\" in word:
        return True
    return _BUILD_FILE.match(word) is not None or (is_alone and word[:1].isupper())


@lru_cache(maxsize=20_000)
def meaning_of(word: str, snapshot: Snapshot, *, is_alone: bool) -> Meaning | None:
    """Look a word up. Kept between calls: the answers of a session name the same files."""
    if "*" in word or "://" in word.removeprefix("file://"):
        return None
    candidates = spellings(word)
    try:
        for spelling in candidates:
            name = snapshot.relative(snapshot.marks.unmark(_tidy(spelling.path)))
            if not (has_mark(spelling.path) or can_be_file(name, is_alone=is_alone)):
                continue
            path = snapshot.resolve(name) or snapshot.resolve(name.lstrip("/"))
            if path and not (is_product(name) and not path.endswith(name)):
                return Meaning(text=name, spelling=spelling, path=path)
    except Ambiguous:
        return None
    for spelling in candidates:
        if is_path(snapshot.marks.unmark(spelling.path), is_alone=is_alone):
            text = snapshot.marks.unmark(spelling.path.removeprefix("./"))
            return Meaning(text=text, spelling=spelling, path=None)
    return None


def _tidy(path: str) -> str:
    """Remove `...` before the end of a path, with what stands before it, and what leads up and
    down in it."""
    path = path.rpartition("/.../")[2].removeprefix(".../")
    return normpath(path) if any(part in path for part in ("/../", "/./", "//")) else path
