"""Reads what searches print, in any of the forms that programs have for it."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from swarm_bench.programs.rehearsal.thinking.shell import expand_braces

NOTHING = "No matches found"
NO_FILES = "No files found"

_OUTPUT = re.compile(r"^Output: (?=\.?/)")
_FILE = re.compile(r"^File: (.+)$")
_HEADING = re.compile(r"^(/.+|[^\s:](?:[^:]*[^\s:])?):$")
_NUMBERED = re.compile(r"^(?:\s*(?:L|[Ll]ine )(\d{1,9}): ?|(\d{1,9}):)(.*)$")
_HIT = re.compile(r"^(.+?):(\d{1,9}):(.*)$")
_COUNT = re.compile(r"^(.+):(\d{1,9})$")
_NOTE = re.compile(r"^(?:Found \d|No (?:files|matches)|---|[\[(<]|\s*$)|: \S|:$", re.IGNORECASE)
_NONE = re.compile(
    r"\bno (?:matches|files|results)\b|\bfound 0\b|\(empty\)|no output", re.IGNORECASE
)

_LONG = re.compile(r":\d{10,}:")

Hit = tuple[str, int, str]


@dataclass(frozen=True, kw_only=True)
class Scope:
    """The folder or file that was searched; it makes the paths of the output relative to the
    workspace."""

    workspace: str | None
    path: str = ""
    """The file that was searched; empty when everything was."""

    def relative(self, path: str) -> str:
        """Make a path relative to the workspace."""
        if self.workspace and path.startswith(self.workspace.rstrip("/") + "/"):
            path = path[len(self.workspace.rstrip("/")) + 1 :]
        path = path.removeprefix("./")
        # AgentRequest to search a folder, some programs print what they find relative to it.
        folder, _, name = self.path.rpartition("/")
        return f"{folder}/{name}" if folder and path == name else path


def format_counts(
    text: str, arguments: Mapping[str, Any], scope: Scope, *, is_count: bool = True
) -> str:
    """List `path:lines` by file, most lines first. `is_count` says whether the tool was asked to
    count; otherwise it showed the lines, and what looks like a count is the end of one."""
    counts = Counter(
        {
            scope.relative(match[1]): int(match[2])
            for line in _lines(text)
            if is_count and (match := _COUNT.match(line)) and not _HIT.match(line)
        }
    )
    if not counts:
        counts = Counter(path for path, _, _ in _matching(text, arguments, scope))
    ranked = sorted(counts, key=lambda path: (-counts[path], path))
    return _join([f"{path}:{counts[path]}" for path in ranked], arguments)


def format_hits(text: str, arguments: Mapping[str, Any], scope: Scope) -> str:
    """List `path:line:text`, sorted by path, of the lines that really match: some programs ignore
    case or show lines around a match."""
    lines = sorted(
        {(path, number): line for path, number, line in _matching(text, arguments, scope)}.items()
    )
    return _join([f"{path}:{number}:{line}" for (path, number), line in lines], arguments)


def format_paths(text: str, arguments: Mapping[str, Any], scope: Scope) -> str:
    """List paths, sorted, each on a line of its own."""
    patterns = expand_braces(str(arguments.get("pattern", "")).removeprefix("**/"))
    paths = {scope.relative(line.strip()) for line in _lines(text) if not _NOTE.search(line)}
    matching = {path for path in paths if any(_fits(path, pattern) for pattern in patterns)}
    return "\n".join(sorted(matching)) or NO_FILES


def says_nothing(text: str) -> bool:
    """Tell a search that reports no match from one that could not be done."""
    return not text.strip() or _NONE.search(text) is not None


def _matching(text: str, arguments: Mapping[str, Any], scope: Scope) -> Iterator[Hit]:
    expression = re.compile(str(arguments.get("pattern", "")))
    for path, number, line in _hits(text, scope):
        if _LONG.search(path):  # rules read the line again, and would take this for its number
            continue
        if expression.search(line) and scope.path in ("", path):
            yield path, number, line


def _hits(text: str, scope: Scope) -> Iterator[Hit]:
    current = scope.path
    for line in _lines(text):
        if heading := _FILE.match(line):
            current = scope.relative(heading[1])
        elif current and (numbered := _NUMBERED.match(line)):
            yield current, int(numbered[1] or numbered[2]), numbered[3]
        elif hit := _HIT.match(line):
            yield scope.relative(hit[1]), int(hit[2]), hit[3]
        elif heading := _HEADING.match(line):
            current = scope.relative(heading[1])


def _fits(path: str, pattern: str) -> bool:
    """Tell whether a path can be an answer to a glob. Patterns with folders are up to the tool."""
    return "/" in pattern or fnmatchcase(path.rpartition("/")[2], pattern)


def _lines(text: str) -> list[str]:
    return [_OUTPUT.sub("", line).rstrip("\r") for line in text.split("\n")]


def _join(lines: Sequence[str], arguments: Mapping[str, Any]) -> str:
    limit = arguments.get("head_limit")
    return "\n".join(lines[:limit] if isinstance(limit, int) else lines) or NOTHING
