"""File of a repository that a text means by a path, by the end of one, or by a bare name."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import PurePosixPath

from swarm_bench.source.references.marking import Marks, marks_of

_DOT_SLASHES = re.compile(r"\A(?:\./)+")
_MAX_PATH = 4096


class Snapshot:
    """The files of a repository, and where its copy lies."""

    def __init__(self, files: frozenset[str], workspace: str = "") -> None:
        self._files = files
        self.root = workspace.rstrip("/")

    @property
    def marks(self) -> Marks:
        """Return the marks for its names that are no words."""
        return marks_of(self._files)

    def mark(self, text: str, *, repeated: bool = False) -> str:
        """Replace names of files that are no words by marks of the same lengths; `again` in a part
        of a text that was marked."""
        return self.marks.mark(text, self.root, repeated=repeated)

    def spell(self, path: str) -> str:
        """Put a path that stands by itself as the repository spells it."""
        return self.marks.unmark(self.mark(path))

    def find_repository_path(self, path: str) -> str:
        """Return a whole path as the repository spells it; as it is where that has none."""
        if path in self._files:
            return path
        spelled = self.spell(path)
        return spelled if spelled in self._files and spelled.count("/") == path.count("/") else path

    def __contains__(self, path: object) -> bool:
        return path in self._files

    def relative(self, mention: str) -> str:
        """Remove what may stand before a path."""
        if self.root:
            mention = mention.removeprefix(self.root + "/")
        return _DOT_SLASHES.sub("", mention)

    def has_folder(self, path: str) -> bool:
        """Tell whether a file lies below a folder with this whole path."""
        return path in _folders(self._files)

    def has(self, path: str) -> bool:
        """Tell whether a file has this path, or one that ends so from a `/` on."""
        return path in self._files or any(self._ending(path, exact=True))

    def resolve(self, path: str) -> str | None:
        """Find the only file that is meant. Raises `Ambiguous` when there are several."""
        if path in self._files:
            return path
        if path.rpartition("/")[2].casefold() not in _names(self._files):
            return None
        for name in (path, path.removeprefix(PurePosixPath(self.root).name + "/")):
            for is_exact in (True, False):
                candidates = list(self._ending(name, exact=is_exact))
                if len(candidates) == 1:
                    return candidates[0]
                if candidates:
                    raise Ambiguous
        return None

    def _ending(self, path: str, *, exact: bool) -> Iterator[str]:
        """Yield at most two files that are this path or end with it."""
        if not path or len(path) > _MAX_PATH:
            return
        endings = _endings(self._files, str if exact else str.casefold)
        backwards = (path if exact else path.casefold())[::-1]
        position = bisect_left(endings, (backwards,))
        exact_matches = [
            file for ending, file in endings[position : position + 2] if ending == backwards
        ]
        if exact_matches:
            yield from exact_matches
            return
        position = bisect_left(endings, (backwards + "/",))
        for ending, file in endings[position : position + 2]:
            if ending.startswith(backwards + "/"):
                yield file


class Ambiguous(Exception):
    """Several files have this name."""


@lru_cache(maxsize=8)
def snapshot_of(files: frozenset[str], workspace: str) -> Snapshot:
    """Return the same snapshot for the same files, so that what was looked up is kept."""
    return Snapshot(files, workspace)


@lru_cache(maxsize=8)
def _names(files: frozenset[str]) -> frozenset[str]:
    return frozenset(path.rpartition("/")[2].casefold() for path in files)


@lru_cache(maxsize=8)
def _folders(files: frozenset[str]) -> frozenset[str]:
    return frozenset(str(folder) for path in files for folder in PurePosixPath(path).parents)


@lru_cache(maxsize=8)
def _endings(files: frozenset[str], fold: Callable[[str], str]) -> list[tuple[str, str]]:
    """Sort the paths backwards: all that end alike stand together. Kept between calls, since all
    trials of a session have one snapshot."""
    return sorted((fold(path)[::-1], path) for path in files)
