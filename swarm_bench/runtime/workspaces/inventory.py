"""What appears in a folder, changes or goes: two looks at its files, without reading them."""

import os
import shutil
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from swarm_bench.runtime.files import remove, store_errors

INSTRUCTIONS = (
    *("AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "QWEN.md", ".cursorrules"),
    *(".mcp.json", ".claude/settings.json", ".claude/settings.local.json"),
)
"""Files at the top of a repository that agents read or obey without being asked."""
HOOKS = ".git/hooks"
"""Programs that git runs."""
IGNORED = (".git/index", ".git/objects")
"""Files that git itself changes when it is only asked to read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A file or a link, as it was."""

    kind: int
    """Type and permissions."""
    size: int
    modified: int
    """Nanoseconds."""


Inventory = Mapping[str, Entry]
"""Entries by path below the folder, with `/`."""


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What differs between two looks."""

    appeared: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    bytes: int
    """Bytes that were added by what appeared or grew."""
    new_folders: frozenset[str]

    def list_unexpected(self, expected: Iterable[str]) -> tuple[str, ...]:
        """List paths that the patterns (lines of a `.gitignore`) do not expect. A folder that is
        new and has nothing expected stands for all that is in it."""
        from pathspec import GitIgnoreSpec  # only where something changed

        spec = GitIgnoreSpec.from_lines(expected)
        paths = (*self.appeared, *self.changed, *self.removed)
        expects = {path for path in paths if spec.match_file(path)}
        parents = {str(parent) for path in expects for parent in PurePosixPath(path).parents}
        new = self.new_folders - parents
        unexpected = (path for path in paths if path not in expects)
        return tuple(dict.fromkeys(_find_highest(path, new) for path in unexpected))


def take_inventory(root: Path) -> dict[str, Entry]:
    """List all files and links below a folder; links are not followed."""
    files: dict[str, Entry] = {}
    pending = [""]
    while pending:
        prefix = pending.pop()
        try:
            entries = list(os.scandir(root / prefix))
        except OSError:  # it may go while we look
            continue
        for entry in entries:
            path = prefix + entry.name
            if path in IGNORED:
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append(path + "/")
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            files[path] = _build_entry(status)
    return files


def instructions(root: Path) -> dict[str, Entry]:
    """List the files that instruct agents and git, as `take_inventory` does."""
    hooks = {f"{HOOKS}/{path}": entry for path, entry in take_inventory(root / HOOKS).items()}
    files: dict[str, Entry] = {}
    for path in INSTRUCTIONS:
        with suppress(OSError):
            files[path] = _build_entry((root / path).lstat())
    return files | hooks


def compare_inventories(old: Inventory, new: Inventory) -> Changes:
    """Compare two looks at the same folder."""
    appeared = sorted(new.keys() - old.keys())
    changed = sorted(path for path in new.keys() & old.keys() if new[path] != old[path])
    old_sizes = {path: old[path].size for path in changed}
    added_bytes = sum(
        max(0, new[path].size - old_sizes.get(path, 0)) for path in (*appeared, *changed)
    )
    return Changes(
        appeared=tuple(appeared),
        changed=tuple(changed),
        removed=tuple(sorted(old.keys() - new.keys())),
        bytes=added_bytes,
        new_folders=frozenset(_list_folders(appeared) - _list_folders(old)),
    )


def find_folders(paths: Iterable[str], patterns: Iterable[str]) -> tuple[str, ...]:
    """List the folders above the paths that patterns of folders (lines of a `.gitignore` with `/`
    at the end) name, each with `/` at its end."""
    lines = [pattern for pattern in patterns if pattern.endswith("/")]
    if not lines:
        return ()
    from pathspec import GitIgnoreSpec

    spec = GitIgnoreSpec.from_lines(lines)
    folders = (f"{folder}/" for folder in sorted(_list_folders(paths)) if folder != ".")
    matches = [folder for folder in folders if spec.match_file(folder)]
    all_matches = set(matches)
    return tuple(match for match in matches if all_matches.isdisjoint(_list_parents(match)))


def _list_parents(folder: str) -> list[str]:
    return [f"{parent}/" for parent in PurePosixPath(folder).parents]


def copy_paths(source: Path, target: Path, paths: Iterable[str]) -> None:
    """Copy files and links from one folder to another, over what is there. What is neither, or
    has gone, is omitted. Raises `StoreError`."""
    for path in paths:
        copy = target / path
        with store_errors(copy):
            try:
                status = (source / path).lstat()
            except FileNotFoundError:
                continue
            if not (stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)):
                continue
            copy.parent.mkdir(parents=True, exist_ok=True)
            remove(copy)
            shutil.copy2(source / path, copy, follow_symlinks=False)


def _build_entry(status: os.stat_result) -> Entry:
    return Entry(kind=status.st_mode, size=status.st_size, modified=status.st_mtime_ns)


def _list_folders(paths: Iterable[str]) -> set[str]:
    return {str(parent) for path in paths for parent in PurePosixPath(path).parents}


def _find_highest(path: str, new_folders: frozenset[str]) -> str:
    """Return the path, or the highest folder above it that is new."""
    parents = [str(parent) for parent in PurePosixPath(path).parents]
    new = [folder for folder in parents if folder in new_folders]
    return new[-1] + "/" if new else path
