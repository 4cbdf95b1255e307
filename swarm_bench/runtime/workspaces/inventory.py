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
"""What git itself changes when somebody looks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A file or a link, as it was."""

    kind: int
    """Type and permissions."""
    size: int
    modified: int
    """Nanoseconds."""


Inventory = Mapping[str, Entry]
"""By path below the folder, with `/`."""


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What differs between two looks."""

    appeared: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]
    bytes: int
    """How many more there are in what appeared or grew."""
    new_folders: frozenset[str]

    def without(self, expected: Iterable[str]) -> tuple[str, ...]:
        """List paths that the patterns (lines of a `.gitignore`) do not expect. A folder that is
        new and has nothing expected stands for all that is in it."""
        from pathspec import GitIgnoreSpec  # only where something changed

        spec = GitIgnoreSpec.from_lines(expected)
        every = (*self.appeared, *self.changed, *self.gone)
        expects = {path for path in every if spec.match_file(path)}
        held = {str(parent) for path in expects for parent in PurePosixPath(path).parents}
        new = self.new_folders - held
        others = (path for path in every if path not in expects)
        return tuple(dict.fromkeys(_highest(path, new) for path in others))


def inventory(root: Path) -> dict[str, Entry]:
    """List all files and links below a folder; links are not followed."""
    files: dict[str, Entry] = {}
    waiting = [""]
    while waiting:
        below = waiting.pop()
        try:
            entries = list(os.scandir(root / below))
        except OSError:  # it may go while we look
            continue
        for entry in entries:
            path = below + entry.name
            if path in IGNORED:
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(path + "/")
                continue
            try:
                about = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            files[path] = _entry(about)
    return files


def instructions(root: Path) -> dict[str, Entry]:
    """List the files that instruct agents and git, as `inventory` does."""
    hooks = {f"{HOOKS}/{path}": entry for path, entry in inventory(root / HOOKS).items()}
    files: dict[str, Entry] = {}
    for path in INSTRUCTIONS:
        with suppress(OSError):
            files[path] = _entry((root / path).lstat())
    return files | hooks


def changes(before: Inventory, after: Inventory) -> Changes:
    """Compare two looks at the same folder."""
    appeared = sorted(after.keys() - before.keys())
    changed = sorted(path for path in after.keys() & before.keys() if after[path] != before[path])
    old = {path: before[path].size for path in changed}
    more = sum(max(0, after[path].size - old.get(path, 0)) for path in (*appeared, *changed))
    return Changes(
        appeared=tuple(appeared),
        changed=tuple(changed),
        gone=tuple(sorted(before.keys() - after.keys())),
        bytes=more,
        new_folders=frozenset(_folders(appeared) - _folders(before)),
    )


def folders_like(paths: Iterable[str], patterns: Iterable[str]) -> tuple[str, ...]:
    """List the folders above the paths that patterns of folders (lines of a `.gitignore` with `/`
    at the end) name, each with `/` at its end."""
    lines = [pattern for pattern in patterns if pattern.endswith("/")]
    if not lines:
        return ()
    from pathspec import GitIgnoreSpec

    spec = GitIgnoreSpec.from_lines(lines)
    named = (f"{folder}/" for folder in sorted(_folders(paths)) if folder != ".")
    matches = [folder for folder in named if spec.match_file(folder)]
    held = set(matches)
    return tuple(match for match in matches if held.isdisjoint(_above(match)))


def _above(folder: str) -> list[str]:
    return [f"{parent}/" for parent in PurePosixPath(folder).parents]


def copy_below(source: Path, target: Path, paths: Iterable[str]) -> None:
    """Copy files and links from one folder to another, over what is there. What is neither, or
    has gone, is omitted. Raises `StoreError`."""
    for path in paths:
        copy = target / path
        with store_errors(copy):
            try:
                about = (source / path).lstat()
            except FileNotFoundError:
                continue
            if not (stat.S_ISREG(about.st_mode) or stat.S_ISLNK(about.st_mode)):
                continue
            copy.parent.mkdir(parents=True, exist_ok=True)
            remove(copy)
            shutil.copy2(source / path, copy, follow_symlinks=False)


def _entry(about: os.stat_result) -> Entry:
    return Entry(kind=about.st_mode, size=about.st_size, modified=about.st_mtime_ns)


def _folders(paths: Iterable[str]) -> set[str]:
    return {str(parent) for path in paths for parent in PurePosixPath(path).parents}


def _highest(path: str, new_folders: frozenset[str]) -> str:
    """Return the path, or the highest folder above it that is new."""
    above = [str(parent) for parent in PurePosixPath(path).parents]
    new = [folder for folder in above if folder in new_folders]
    return new[-1] + "/" if new else path
