"""Choice of the files of a repository that are indexed.

A git checkout is listed by git itself, a plain folder by a walk that honours `.gitignore`
files. Symbolic links are never followed: they may leave the tree.
"""

import fnmatch
import os
import re
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from swarm_bench.programs.canopy.defaults import DEFAULT_GLOB, EXTENSIONS, IGNORED
from swarm_bench.programs.canopy.git import ask_git
from swarm_bench.programs.globs import compile_glob

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_IGNORED_NAMES = frozenset(name for name in IGNORED if "*" not in name)
_IGNORED_GLOBS = re.compile("|".join(fnmatch.translate(name) for name in IGNORED if "*" in name))


@dataclass(frozen=True, slots=True)
class Stamp:
    """The size and time by which a file counts as unchanged without being read."""

    size: int
    mtime_ns: int


def discover(root: Path, glob: str | None, indexed: Collection[str]) -> dict[str, Stamp]:
    """List the files to index by relative path: those that fit the glob, and indexed ones that
    still exist.

    Raises:
        ToolError: the glob cannot be read.
    """
    stamps: dict[str, Stamp] = {}
    for path in _list_paths(root):
        if path not in indexed and not _fits(path, glob):
            continue
        try:
            status = os.lstat(f"{root}/{path}")
        except OSError:
            continue  # Listed by git and deleted, or deleted while we look.
        if stat.S_ISREG(status.st_mode):
            stamps[path] = Stamp(status.st_size, status.st_mtime_ns)
    return stamps


def _fits(path: str, glob: str | None) -> bool:
    if glob is None or glob == DEFAULT_GLOB:
        return path.rpartition(".")[2] in EXTENSIONS
    return compile_glob(glob).match(path) is not None


def _list_paths(root: Path) -> Iterator[str]:
    paths = _git_files(root) if (root / ".git").exists() else None
    for path in _walk(root) if paths is None else paths:
        if not any(is_ignored(name) for name in path.split("/")) and _is_unicode(path):
            yield path


def _is_unicode(path: str) -> bool:
    """Tell whether the path can be written in JSON and SQLite; other names are skipped."""
    return path.isascii() or path.encode("utf-8", "replace").decode() == path


def is_ignored(name: str) -> bool:
    return name in _IGNORED_NAMES or _IGNORED_GLOBS.match(name) is not None


def _git_files(root: Path) -> list[str] | None:
    """List tracked and untracked files that are not ignored; None when git cannot tell."""
    output = ask_git(root, "ls-files", "-z", "-co", "--exclude-standard")
    if output is None:
        return None
    # A conflicted file is listed once per side.
    return list(dict.fromkeys(name for name in output.split("\0") if name))


def _walk(root: Path) -> Iterator[str]:
    """Yield every file that no `.gitignore` excludes; an excluded folder is not entered."""
    pending: list[tuple[str, tuple[tuple[str, GitIgnoreSpec], ...]]] = [("", ())]
    while pending:
        folder, specs = pending.pop()
        try:
            entries = sorted(os.scandir(f"{root}/{folder}"), key=lambda entry: entry.name)
        except OSError:
            continue
        specs = _add_ignore_file(root, folder, specs)
        for entry in entries:
            path = folder + entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_ignored(entry.name) or _is_excluded(path + "/" * is_folder, specs):
                continue
            if is_folder:
                pending.append((f"{path}/", specs))
            else:
                yield path


def _add_ignore_file(
    root: Path, folder: str, specs: "tuple[tuple[str, GitIgnoreSpec], ...]"
) -> "tuple[tuple[str, GitIgnoreSpec], ...]":
    file = root / folder / ".gitignore"
    if file.is_symlink() or not file.is_file():
        return specs
    from pathspec import GitIgnoreSpec

    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    spec = GitIgnoreSpec.from_lines(line for line in lines if _is_pattern(line))
    return (*specs, (folder, spec))


def _is_pattern(line: str) -> bool:
    """Tell whether a line of a `.gitignore` means anything; git passes over one that does not."""
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True


def _is_excluded(path: str, specs: "tuple[tuple[str, GitIgnoreSpec], ...]") -> bool:
    """Tell whether the deepest `.gitignore` that matches the path excludes it."""
    for folder, spec in reversed(specs):
        verdict = spec.check_file(path[len(folder) :]).include
        if verdict is not None:
            return verdict
    return False
