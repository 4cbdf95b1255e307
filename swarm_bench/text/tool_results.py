"""The files and lines that the results of arbitrary tools name.

They come as JSON, several documents in a row or with words around them, as XML, as Markdown, or as
a search on a command line prints them.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Any

from swarm_bench.text.ranking import is_code, is_prose

MAX_LOCATIONS = 2000
"""Locations in one result that are looked at."""
MAX_DEPTH = 20
"""Most levels of JSON in JSON."""
MARKS = 4
"""Lines that a reader may put around a text."""
WINDOW = 8
"""Lines in a row with which a result has shown a part of a file, and not only its lines."""
PATIENCE = 20
"""How many times its own length a text is read for JSON that turns out to be none."""
FALSE_STARTS = 1000
"""Most beginnings of such JSON that a text may have."""

# A server may answer anything: every expression here takes time in proportion to the text.
_NAME = r"[^\s:`'\"<>()\[\]{},;|*]"
_SEGMENT = r"[^\s/:`'\"<>()\[\]{},;|*]"
_HIT = re.compile(r"^([^:]+):(\d{1,9}):(.*)$")
_PATH = re.compile(r"^(?:\[FILE\] |[-*] )?((?:[^\s:]+/)?[^\s:/]+\.\w{1,8})$")
_AT = r"(?::|#L)(\d{1,9})(?:-L?(\d{1,9}))?"
_SPAN = re.compile(rf"`({_NAME}+?)(?:{_AT})?`")
_INLINE = re.compile(rf"(?<!{_NAME})(?<!`)({_NAME}+/{_SEGMENT}*\.\w{{1,8}}){_AT}(?!\w)")
"""Tried once for each word, and once for each `/` in it."""
_ATTRIBUTE = re.compile(r"^\s*<\w+\s[^>]*?\b(?:path|file|filename|src|name)=\"([^\"\n]+)\"")
"""A tag up to the path in it; whether it is closed is checked by who uses it."""
_ELEMENT = re.compile(r"^\s*<(path|file|filename)>([^<]+)</\1>\s*$")
_CLOSED = re.compile(r"^\s*</\w+>\s*$")
_NUMBERED = re.compile(r"^[ >]*(\d{1,9})(?:\t|→| ?\| ?|: ?)(.*)$")
_PADDED = re.compile(r"^ *(\d{1,9})(?: (.*))?$")
"""A line with its number before a blank, which only counts where code is quoted."""
_CONTENT = re.compile(r"^\s*(\d{1,9})(?:\t|→| \| |: )(.*)$")
_VISIBLE = re.compile(r"\S")
SCHEME = re.compile(r"\Afile://(?:localhost(?=/))?")
"""Text before the path in the address of a file of this machine."""
_DECODER = json.JSONDecoder()

PATHS = ("path", "file", "file_path", "filePath", "relative_path", "relativePath", "filename")
_LINES = ("line", "line_number", "lineNumber", "start_line", "startLine", "lineno", "line_start")
_LASTS = ("end_line", "endLine", "line_end", "last_line")
_NESTED = ("range", "location", "body_location", "span", "position", "start")
TEXTS = ("lines", "line_text", "text", "content", "snippet", "match", "preview", "signature")


@dataclass(frozen=True, kw_only=True)
class Location:
    """A file that a result names, perhaps with a line of it."""

    path: str
    """Below the workspace."""
    line: int | None = None
    last: int | None = None
    """The last line, where a part of the file is named."""
    text: str = ""


@lru_cache(maxsize=32)
def locations(text: str, workspace: str) -> tuple[Location, ...]:
    """Return the locations below the workspace that a result names, in its order."""
    pairs = ((location, make_relative(location.path, workspace)) for location in _locations(text))
    inside = (replace(location, path=path) for location, path in pairs if path)
    return tuple(islice(inside, MAX_LOCATIONS))


def windows(visible: Sequence[Location]) -> list[tuple[str, int, list[str]]]:
    """Collect path, first line and lines of the parts of files that a result has shown."""
    runs: list[list[Location]] = []
    for location in visible:
        previous = runs[-1][-1] if runs else None
        follows = previous and previous.line and (previous.path, previous.line + 1)
        if follows == (location.path, location.line) and location.last is None:
            runs[-1].append(location)
        else:
            runs.append([location])
    return [
        (run[0].path, run[0].line, [location.text for location in run])
        for run in runs
        if run[0].line and len(run) >= WINDOW
    ]


def make_relative(path: str, workspace: str) -> str | None:
    """Make a path relative to the workspace; `None` for one outside of it."""
    path = SCHEME.sub("", path).strip()
    path = path.removeprefix(workspace.rstrip("/") + "/").removeprefix("./")
    return None if not path or path.startswith(("/", "../")) else path


def read_content(text: str, first: int) -> tuple[int, list[str]] | None:
    """Read what a reading tool gave: its first line and its lines, by their numbers where it writes
    them, else from the line asked for. `None` when there is no text."""
    lines = [line.rstrip("\r") for line in text.removesuffix("\n").split("\n")]
    if not text.strip() or (len(lines) == 1 and "error" in text[:20].lower()):
        return None
    run = _longest_run([_CONTENT.match(line) for line in lines])
    # A heading may stand above the text, and marks around it.
    min_numbered = max(2, len(lines) - MARKS, len(lines) // 2)
    if len(run) >= min(min_numbered, len(lines)):
        return max(1, int(run[0][1])), [match[2] for match in run]
    return first, lines


def _longest_run(matches: Sequence[re.Match[str] | None]) -> list[re.Match[str]]:
    """Find the longest series of numbered lines that follow each other."""
    runs: list[list[re.Match[str]]] = [[]]
    for match in matches:
        last = runs[-1][-1] if runs[-1] else None
        if match and last and int(match[1]) == int(last[1]) + 1:
            runs[-1].append(match)
        else:
            runs.append([match] if match else [])
    return max(runs, key=len)


def _locations(text: str, path: str = "", depth: int = MAX_DEPTH) -> Iterator[Location]:
    """Yield the locations in a text. `path` is that of the file it is about, if any."""
    for _, document in documents(text):
        if isinstance(document, str):
            yield from _search_text(document, path)
        else:
            yield from _search_value(document, path, depth)


def documents(text: str) -> Iterator[tuple[int, object]]:
    """Split a text into its JSON documents and what stands between them, with their positions."""
    begin, at, patience = 0, 0, PATIENCE * len(text)
    while at < len(text):
        visible = _VISIBLE.search(text, at)
        start = visible.start() if visible else len(text)
        end = None
        if patience > 0 and text.startswith(("{", "["), start):
            try:
                document, end = _DECODER.raw_decode(text, start)
            except (ValueError, RecursionError) as error:
                patience -= _estimate_effort(error, text, start)
        if end is None:
            at = text.find("\n", start) + 1 or len(text)
            continue
        if begin < at:
            yield begin, text[begin:at]
        yield start, document
        begin = at = end
    yield begin, text[begin:]


def _estimate_effort(error: Exception, text: str, start: int) -> int:
    """Estimate how many characters were read before the error; locating its line is work as
    well."""
    consumed = error.pos - start if isinstance(error, json.JSONDecodeError) else len(text)
    return consumed + PATIENCE * len(text) // FALSE_STARTS


def _search_value(value: object, path: str, depth: int) -> Iterator[Location]:
    """Yield the locations in a value of JSON. `path` is that of the file it is about, if any."""
    match value:
        case _ if depth == 0:
            return
        case str() as text:
            yield from _locations(text, path, depth - 1)
        case list() as items if items and all(isinstance(item, str) for item in items):
            yield from _search_text("\n".join(items), path)
        case list() as items:
            for item in items:
                yield from _search_value(item, path, depth - 1)
        case dict() as entries:
            yield from _search_entries(entries, path, depth)


def _search_entries(entries: Mapping[str, Any], path: str, depth: int) -> Iterator[Location]:
    if own_path := _text(entries, PATHS):
        line, last = lines_of(entries)
        if line or not path:
            text = _text(entries, TEXTS).split("\n")[0]
            yield Location(path=own_path, line=line, last=last, text=text)
        if not line:
            for value in entries.values():
                if isinstance(value, list | dict):
                    yield from _search_value(value, own_path, depth - 1)
        return
    line, last = lines_of(entries) if path else (None, None)
    if line:
        text = _text(entries, TEXTS).split("\n")[0]
        yield Location(path=path, line=line, last=last, text=text)
        return
    for key, value in entries.items():
        subject = path
        if key_path := _path_of(key):
            yield Location(path=key_path)
            subject = key_path
        yield from _search_value(value, subject, depth - 1)


def lines_of(entries: Mapping[str, Any], depth: int = MAX_DEPTH) -> tuple[int | None, int | None]:
    """Read the first and the last line that an object names."""
    for name in _NESTED:
        inner = entries.get(name)
        if isinstance(inner, dict) and depth:
            lines = lines_of(inner, depth - 1)
            if lines[0] is not None:
                return lines
    # Positions of the language server protocol count from 0, and have a column.
    zero = 1 if any(key in entries for key in ("column", "character")) else 0
    first, last = _number(entries, _LINES), _number(entries, _LASTS)
    if first is None:
        match entries.get("line_range", entries.get("lines")):
            case [int(first), int(last)]:
                pass
    if first is None or first + zero < 1:
        return None, None
    return first + zero, last + zero if last is not None and last >= first else None


def _search_text(text: str, path: str = "") -> Iterator[Location]:
    """Yield the locations in lines of text. `path` is that of the file whose lines they may be."""
    is_quoted = False
    for line in (line.rstrip("\r") for line in text.split("\n") if line.strip()):
        if line.lstrip().startswith("```"):
            is_quoted = not is_quoted
        elif tag_path := _find_tag_path(line):
            path, is_quoted = tag_path, True
            yield Location(path=path)
        elif is_quoted and _CLOSED.match(line):
            path, is_quoted = "", False
        elif path and (numbered := _parse_numbered(line, is_quoted=is_quoted)):
            yield Location(path=path, line=numbered[0], text=numbered[1])
        elif not is_quoted:
            mentioned = list(_search_line(line))
            yield from mentioned
            paths = {location.path for location in mentioned}
            path = paths.pop() if len(paths) == 1 else ""


def _find_tag_path(line: str) -> str | None:
    """Return the path in a tag that opens what is quoted."""
    match = _ATTRIBUTE.match(line)
    return match[1] if match and ">" in line[match.end() :] else None


def _parse_numbered(line: str, *, is_quoted: bool) -> tuple[int, str] | None:
    match = _NUMBERED.match(line) or (_PADDED.match(line) if is_quoted else None)
    return (int(match[1]), match[2] or "") if match and int(match[1]) else None


def _search_line(line: str) -> Iterator[Location]:
    if (hit := _HIT.match(line)) and "`" not in hit[1]:
        yield Location(path=hit[1], line=int(hit[2]), text=hit[3])
        return
    if path := _path_of(line.strip()):
        yield Location(path=path)
        return
    if element := _ELEMENT.match(line):
        yield Location(path=element[2])
        return
    if line.startswith("/"):
        yield Location(path=line)
        return
    for match in sorted([*_SPAN.finditer(line), *_INLINE.finditer(line)], key=re.Match.start):
        first, last = match[2], match[3]
        if first or _is_file(match[1]):
            last_line = int(last) if last and int(last) >= int(first) else None
            yield Location(path=match[1], line=int(first) if first else None, last=last_line)


def _path_of(text: str) -> str | None:
    """Return the path that a text consists of; `None` when it holds anything else."""
    match = _PATH.match(text)
    return match[1] if match else None


def _is_file(name: str) -> bool:
    """Tell a file's name in quotes from `object.attribute`."""
    return is_code(name) or is_prose(name)


def _text(entries: Mapping[str, Any], names: Sequence[str]) -> str:
    values = (entries.get(name) for name in names)
    return next((value for value in values if isinstance(value, str) and value), "")


def _number(entries: Mapping[str, Any], names: Sequence[str]) -> int | None:
    values = (entries.get(name) for name in names)
    return next((value for value in values if type(value) is int), None)
