"""History of version control: recognized by what a folder or a file is, whatever its name."""

import os
import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

_NAMES = frozenset((".git", ".hg", ".sl", ".jj", ".svn", ".bzr", "_darcs", ".pijul"))
"""Names of folders with history, also where the files that the signs below ask for are missing."""
_SIGNS = tuple(
    frozenset(names.split())
    for names in (
        *("HEAD objects", "HEAD refs", "HEAD commondir", "multi-pack-index"),  # git
        *("requires store", "requires sharedpath", "00changelog.i"),  # Mercurial, Sapling
        *("wc.db", "entries text-base", "fs-type", "format db locks hooks"),  # Subversion
        *("repo working_copy", "store op_store", "op_store op_heads"),  # Jujutsu
        *("branch-format", "pack-names packs"),  # Bazaar
        *(
            "hashed_inventory",
            "patches inventories prefs",
            "pristine changes config",
        ),  # Darcs, Pijul
        *("Root Repository Entries", "CVSROOT"),  # CVS
    )
)
"""Names that stand together in a folder that is one: of a checkout, of a server, and parts of
both."""
_PACK = re.compile(r"pack-[0-9a-f]{40}([0-9a-f]{24})?\.(pack|idx)")
_SHARD = re.compile(r"[0-9a-f]{2}")
_LOOSE = re.compile(r"[0-9a-f]{38}([0-9a-f]{24})?")
_BEGINNINGS = (
    *(b"gitdir: ", b"# v2 git bundle", b"# v3 git bundle", b"PACK\0\0\0"),
    *(b"HG10", b"HG20", b"SVN-fs-dump-format-version:"),
)
"""Names of files that hold history, or lead git to it."""
_CONTENTS = re.compile(rb"SQLite format 3\0.{52}\x0f\x05\x51|head\s+[\d.]+;\s", re.DOTALL)
"""Beginnings of files of Fossil, a database that says so at a fixed place, and of RCS."""
BEGINNING = 72
"""Bytes of a file that tell what it is."""


def is_store(path: Path, names: Collection[str]) -> bool:
    """Tell whether a folder, in which there are these names, holds history."""
    if path.name.lower() in _NAMES:
        return True
    all_names = frozenset(names)
    if any(sign <= all_names for sign in _SIGNS) or any(map(_PACK.fullmatch, all_names)):
        return True
    shards = filter(_SHARD.fullmatch, sorted(all_names))
    return any(_LOOSE.fullmatch(name) for shard in shards for name in _list_names(path / shard))


def holds_history(beginning: bytes) -> bool:
    """Tell by its first bytes whether a file holds history, or names where some lies."""
    return beginning.startswith(_BEGINNINGS) or _CONTENTS.match(beginning) is not None


class Stores:
    """The folders that hold history, in and around one folder."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._highest = dict[Path, Path | None]()

    def find_enclosing(self, path: Path) -> Path | None:
        """Return the highest one that is a folder, or that it lies in; those that the root lies in
        do not count for what lies in it."""
        if path in self._highest:
            return self._highest[path]
        is_highest = path in (self._root, path.parent)
        outer = None if is_highest else self.find_enclosing(path.parent)
        is_own_store = path != self._root and is_store(path, _list_names(path))
        self._highest[path] = outer or (path if is_own_store else None)
        return self._highest[path]

    def is_behind(self, link: Path) -> bool:
        """Tell whether a link leads to one, or into one."""
        return self.find_enclosing(Path(os.path.realpath(link))) is not None


def _list_names(folder: Path) -> list[str]:
    """List the names in a folder; none when it cannot be read."""
    with suppress(OSError):
        return [child.name for child in folder.iterdir()]
    return []
