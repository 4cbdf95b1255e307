"""The files that the tools may see: regular text files below the workspace, in a fixed order.

The workspace may be hostile: links, pipes, paths with `..` and huge files are met here and
nowhere else. What counts as a file does not depend on whether ripgrep is installed.
"""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MAX_FILE_BYTES = 2 * 1024 * 1024
SKIPPED_FOLDERS = frozenset({".git", ".canopy", ".hg", ".svn"})
_PROBE_BYTES = 8192
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


class Refused(Exception):
    """A tool call that cannot be done; the message goes to the model."""


@dataclass(frozen=True)
class _Rules:
    """One `.gitignore` and the folder it governs, relative to the root with a final `/`."""

    base: str
    spec: "GitIgnoreSpec"

    def verdict(self, path: str) -> bool | None:
        """Return True for ignored, False for explicitly kept, `None` for not mentioned."""
        return self.spec.check_file(path.removeprefix(self.base)).include


@dataclass
class Files:
    """Regular files below `root`, as paths relative to it with `/`, sorted.

    Omitted: links, names that cannot be printed on one line, what `.gitignore` files exclude,
    and the folders of version control and of the retrieval index. The listing is made once: a
    file that another agent adds meanwhile would otherwise change the answer.
    """

    root: Path
    _real: Path = field(init=False)
    _top: str = field(init=False)

    def __post_init__(self) -> None:
        self._real = self.root.resolve()
        self._top = str(self._real)

    @cached_property
    def paths(self) -> tuple[str, ...]:
        return tuple(sorted(self._walk("", ())))

    def list_below(self, path: str | None) -> list[str]:
        """List the files below a folder, or the one file that `path` names.

        Raises `Refused` for a path outside the workspace or one that is not there.
        """
        if path is None or path in ("", "."):
            return list(self.paths)
        real = self._inside(path)
        relative = real.relative_to(self._real).as_posix()
        if real.is_dir():
            prefix = "" if relative == "." else relative + "/"
            return [name for name in self.paths if name.startswith(prefix)]
        return [relative]

    def text(self, path: str) -> bytes | None:
        """Read a text file; `None` when it is binary, too large, or not a readable file."""
        try:
            data = self._content(path)
        except OSError:
            return None
        return None if data is None or b"\0" in data[:_PROBE_BYTES] else data

    def _content(self, path: str) -> bytes | None:
        # Not pathlib: this runs for every file in every search, and took as long as the reading.
        # Not blocking, because a file may have become a pipe since it was listed.
        file = os.open(f"{self._top}/{path}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES:
                return None
            parts = []
            remaining = status.st_size
            # Some file systems give less than they are asked for.
            while remaining > 0 and (part := os.read(file, remaining)):
                parts.append(part)
                remaining -= len(part)
            return b"".join(parts)
        finally:
            os.close(file)

    def open_text(self, path: str) -> tuple[str, bytes]:
        """Read the file that a model names: relative path and content. Raises `Refused`."""
        real = self._inside(path)
        if real.is_dir():
            raise Refused(f"{path} is a folder; use Glob to list it")
        relative = real.relative_to(self._real).as_posix()
        data = self.text(relative)
        if data is None:
            raise Refused(f"{path} is not a text file of at most {MAX_FILE_BYTES} bytes")
        return relative, data

    def _inside(self, path: str) -> Path:
        try:
            real = (self._real / path).resolve(strict=True)
        except (OSError, ValueError, RuntimeError) as error:
            raise Refused(f"{path} does not exist") from error
        if not real.is_relative_to(self._real):
            raise Refused(f"{path} is outside the workspace")
        return real

    def _walk(self, base: str, rules: tuple[_Rules, ...]) -> Iterator[str]:
        try:
            with os.scandir(self._real / base) as scanned:
                entries = list(scanned)
        except OSError:
            return
        if any(entry.name == ".gitignore" for entry in entries):
            rules = (*rules, *self._read_rules(base))
        for entry in entries:
            path = base + entry.name
            if _UNPRINTABLE.search(entry.name):
                continue
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in SKIPPED_FOLDERS and not _is_ignored(path + "/", rules):
                    yield from self._walk(path + "/", rules)
            elif entry.is_file(follow_symlinks=False) and not _is_ignored(path, rules):
                yield path

    def _read_rules(self, base: str) -> list[_Rules]:
        # 50 ms to import, and many workspaces have no such file.
        from pathspec import GitIgnoreSpec

        data = self.text(base + ".gitignore")
        if data is None:
            return []
        lines = data.decode("utf-8", "replace").splitlines()
        try:
            return [_Rules(base, GitIgnoreSpec.from_lines(lines))]
        except ValueError:
            return []


def _is_ignored(path: str, rules: tuple[_Rules, ...]) -> bool:
    """Let the nearest `.gitignore` that mentions the path decide."""
    for rule in reversed(rules):
        verdict = rule.verdict(path)
        if verdict is not None:
            return verdict
    return False
