"""The tools of scout's own: Glob, Grep and Read, confined to the workspace."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from swarm_bench.core.ports import ToolSpec
from swarm_bench.programs.globs import alternatives
from swarm_bench.programs.scout import grep
from swarm_bench.programs.scout.workspace_files import Files, Refused

MAX_LISTED = 200
MAX_LINE_CHARACTERS = 300
MAX_OUTPUT_CHARACTERS = 30_000
READ_LINES = 200
HEAD_LIMIT = 100

_TEXT = {"type": "string"}
SPECS = (
    ToolSpec(
        name="Glob",
        description="Lists files whose path matches a glob pattern, sorted by path.",
        schema={
            "type": "object",
            "properties": {"pattern": _TEXT, "path": _TEXT},
            "required": ["pattern"],
        },
    ),
    ToolSpec(
        name="Grep",
        description=(
            "Searches file contents for a regular expression, line by line. output_mode: content "
            "gives path:line:text sorted by path; files_with_matches gives paths; count gives "
            "path:lines, most matching lines first."
        ),
        schema={
            "type": "object",
            "properties": {
                "pattern": _TEXT,
                "path": _TEXT,
                "glob": _TEXT,
                "output_mode": {"enum": ["content", "files_with_matches", "count"]},
                "-i": {"type": "boolean"},
                "head_limit": {"type": "integer"},
            },
            "required": ["pattern"],
        },
    ),
    ToolSpec(
        name="Read",
        description="Reads a window of a text file: limit lines from line offset (from 1) on.",
        schema={
            "type": "object",
            "properties": {
                "file_path": _TEXT,
                "offset": {"type": "integer"},
                "limit": {"type": "integer"},
            },
            "required": ["file_path"],
        },
    ),
)


class OwnTools:
    """The three tools. `call` raises `Refused` with a message for the model."""

    def __init__(self, root: Path) -> None:
        self._files = Files(root)
        self._run = {"Glob": self._glob, "Grep": self._grep, "Read": self._read}

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Run a tool and return its text."""
        return _clip(self._run[name](arguments))

    def _glob(self, arguments: Mapping[str, Any]) -> str:
        expression = matcher(_string(arguments, "pattern"))
        paths = self._files.list_below(_optional(arguments, "path"))
        matches = [path for path in paths if expression.match(path)]
        if not matches:
            return "No files found"
        omitted = len(matches) - MAX_LISTED
        return "\n".join(matches[:MAX_LISTED]) + (
            f"\n[{omitted} more files]" if omitted > 0 else ""
        )

    def _grep(self, arguments: Mapping[str, Any]) -> str:
        query = grep.Query.parse(
            _string(arguments, "pattern"), ignore_case=arguments.get("-i") is True
        )
        paths = self._files.list_below(_optional(arguments, "path"))
        if (glob := _optional(arguments, "glob")) is not None:
            expression = matcher(glob)
            paths = [path for path in paths if expression.match(path)]
        limit = _number(arguments, "head_limit", HEAD_LIMIT)
        counts = grep.counts(query, self._files, paths)
        if not counts:
            return "No matches found"
        match arguments.get("output_mode", "files_with_matches"):
            case "content":
                return self._content(query, counts, limit)
            case "count":
                ranked = sorted(counts, key=lambda path: (-counts[path], path))
                return _list([f"{path}:{counts[path]}" for path in ranked], limit, "files")
            case "files_with_matches":
                return _list(list(counts), limit, "files")
            case unknown:
                raise Refused(f"output_mode cannot be {unknown!r}")

    def _content(self, query: grep.Query, counts: Mapping[str, int], limit: int) -> str:
        lines: list[str] = []
        for path in counts:
            for number, line in query.lines(self._files.text(path) or b""):
                if len(lines) == limit:
                    break
                lines.append(f"{path}:{number}:{_line(line)}")
        omitted = sum(counts.values()) - len(lines)
        return "\n".join(lines) + (f"\n[{omitted} more lines]" if omitted > 0 else "")

    def _read(self, arguments: Mapping[str, Any]) -> str:
        path, data = self._files.open_text(_string(arguments, "file_path"))
        lines = data.removesuffix(b"\n").split(b"\n") if data else []
        first = _number(arguments, "offset", 1)
        window = lines[first - 1 : first - 1 + _number(arguments, "limit", READ_LINES)]
        if not window:
            return f"[{path} has {len(lines)} lines]"
        return "\n".join(_number_line(first + index, line) for index, line in enumerate(window))


def _number_line(number: int, line: bytes) -> str:
    text = _line(line.removesuffix(b"\r"))
    return f"{number}\t{text}"


def _line(line: bytes) -> str:
    text = line.decode("utf-8", "replace").replace("\r", " ")
    return text if len(text) <= MAX_LINE_CHARACTERS else text[:MAX_LINE_CHARACTERS] + "[...]"


def _list(lines: list[str], limit: int, noun: str) -> str:
    omitted = len(lines) - limit
    return "\n".join(lines[:limit]) + (f"\n[{omitted} more {noun}]" if omitted > 0 else "")


def _clip(text: str) -> str:
    if len(text) <= MAX_OUTPUT_CHARACTERS:
        return text
    line_end = text.rfind("\n", 0, MAX_OUTPUT_CHARACTERS)
    return text[: line_end if line_end > 0 else MAX_OUTPUT_CHARACTERS] + "\n[output cut]"


def _string(arguments: Mapping[str, Any], name: str) -> str:
    value = arguments.get(name)
    if not isinstance(value, str) or not value:
        raise Refused(f"{name} is missing")
    return value


def _optional(arguments: Mapping[str, Any], name: str) -> str | None:
    return None if arguments.get(name) is None else _string(arguments, name)


def _number(arguments: Mapping[str, Any], name: str, default: int) -> int:
    value = arguments.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise Refused(f"{name} must be a number from 1")
    return value


_PARTS = re.compile(r"\*\*/|\*\*|\*|\?|\[[^\]/]+\]|.", re.DOTALL)
_SEPARATORS = ("*", "**", "**/", "/")
MAX_ALTERNATIVES = 64


def matcher(pattern: str) -> re.Pattern[str]:
    """Compile an expression that matches whole relative paths.

    A pattern without `/` is looked for at any depth, as ripgrep does it. One that stands for more
    than 64 others is taken literally.
    """
    plain = pattern.removeprefix("./")
    try:
        globs = alternatives(plain, MAX_ALTERNATIVES)
    except ValueError:
        globs = [plain]
    return re.compile("|".join(map(_translate, globs)), re.DOTALL)


def _translate(pattern: str) -> str:
    anchored = pattern if "/" in pattern else "**/" + pattern
    return "(?:" + "".join(_pieces(_PARTS.findall(anchored.lstrip("/")))) + r")\Z"


def _pieces(parts: list[str]) -> Iterator[str]:
    """Yield the expression in pieces. A `*` with another one after it in the same name takes as
    little as it can and is not tried again, or many of them would try all combinations."""
    is_open = False
    for index, part in enumerate(parts):
        if part == "*" and is_open:
            yield ")"
        if part == "*":
            next_separator = next((part for part in parts[index + 1 :] if part in _SEPARATORS), "/")
            is_open = next_separator == "*"
            yield "(?>[^/]*?" if is_open else "[^/]*"
        else:
            yield _part(part)


def _part(part: str) -> str:
    match part:
        case "**/":
            return "(?:.*/)?"
        case "**":
            return ".*"
        case "?":
            return "[^/]"
    if len(part) > 2 and part[0] == "[":
        inner = part[1:-1].replace("\\", "\\\\").replace("[", "\\[")
        return f"[^/{inner[1:]}]" if inner[0] in "!^" and len(inner) > 1 else f"[{inner}]"
    return re.escape(part)
