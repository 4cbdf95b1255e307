"""What the results of tools that nobody here has heard of say of files and lines."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MAX_PLACES = 400
"""Places of one result that are looked at."""

_HIT = re.compile(r"^(.+?):(\d{1,9}):(.*)$")
_PATH = re.compile(r"^(?:\[FILE\] |[-*] )?((?:[^\s:]+/)?[^\s:/]+\.\w{1,8})$")
_NUMBERED = re.compile(r"^\s*(\d{1,9})(?:\t|→|\| |: )(.*)$")
_PATHS = ("path", "file", "file_path", "filePath", "relative_path", "relativePath", "filename")
_LINES = ("line", "line_number", "lineNumber", "start_line", "startLine", "lineno")
_TEXTS = ("text", "line_text", "content", "snippet", "match", "preview")


@dataclass(frozen=True, kw_only=True)
class Place:
    """A file that a result names, perhaps with a line of it."""

    path: str
    """Below the workspace."""
    line: int | None = None
    text: str = ""


def places(text: str, workspace: str) -> list[Place]:
    """The files below the workspace that a result names, in its order."""
    found: list[Place] = []
    for path, line, said in _named(text):
        relative = below(path, workspace)
        if relative and len(found) < MAX_PLACES:
            found.append(Place(path=relative, line=line or None, text=said))
    return found


def below(path: str, workspace: str) -> str | None:
    """A path below the workspace; `None` for one outside of it."""
    path = path.removeprefix("file://").strip()
    path = path.removeprefix(workspace.rstrip("/") + "/").removeprefix("./")
    return None if not path or path.startswith(("/", "../")) else path


def content(text: str, first: int) -> tuple[int, list[str]] | None:
    """First line and lines of what a reading tool gave: by their numbers where it writes them,
    else from the line asked for. `None` when there is no text."""
    lines = [line.rstrip("\r") for line in text.removesuffix("\n").split("\n")]
    if not text.strip() or (len(lines) == 1 and "error" in text[:20].lower()):
        return None
    matches = [match for line in lines if (match := _NUMBERED.match(line))]
    numbers = [int(match[1]) for match in matches]
    if len(numbers) == len(lines) and numbers == list(range(numbers[0], numbers[0] + len(lines))):
        return max(1, numbers[0]), [match[2] for match in matches]
    return first, lines


def _named(text: str) -> Iterator[tuple[str, int, str]]:
    """Path, line (0 for none) and text of everything that looks like a place."""
    try:
        waiting: list[object] = [json.loads(text)]
    except (ValueError, RecursionError):
        waiting = [text]
    while waiting:
        match waiting.pop():
            case str() as said:
                yield from filter(None, map(_in_line, said.split("\n")))
            case list() as items:
                waiting += reversed(items)
            case dict() as entries:
                if path := _text(entries, _PATHS):
                    lines = (entries.get(name) for name in _LINES)
                    line = next((line for line in lines if isinstance(line, int)), 0)
                    yield path, max(0, line), _text(entries, _TEXTS).split("\n")[0]
                else:
                    waiting += reversed([*entries, *entries.values()])


def _in_line(line: str) -> tuple[str, int, str] | None:
    line = line.rstrip("\r")
    if hit := _HIT.match(line):
        return hit[1], int(hit[2]), hit[3]
    if path := _PATH.match(line.strip()):
        return path[1], 0, ""
    return (line, 0, "") if line.startswith("/") else None


def _text(entries: Mapping[str, Any], names: Sequence[str]) -> str:
    found = (entries.get(name) for name in names)
    return next((text for text in found if isinstance(text, str)), "")
