"""The files that a text names, with lines and symbols. It may be prose or quoted (source, hunks of
a diff, lines with numbers), a JSON document, or a drawn tree or list of folders, where a name
stands below the folders above it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from swarm_bench.source.references import symbols
from swarm_bench.source.references.decoding import View
from swarm_bench.source.references.meanings import CITED, meaning_of
from swarm_bench.source.references.mentions import MAX_MENTIONS, Mention, find_mention, mentions
from swarm_bench.source.references.snapshot import Snapshot, snapshot_of
from swarm_bench.text import tool_results
from swarm_bench.text.terminal import SEQUENCE


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A file that a text names, with the lines and the symbol that it gives for it. A place that
    names several symbols of a file is as many references, with one position."""

    mention: str
    """Mention as the text writes it, without lines and symbol."""
    path: str | None
    """Path of the file in the repository; `None` for an invented or a foreign file."""
    first_line: int | None = None
    last_line: int | None = None
    symbol: str | None = None
    """Symbol as the text writes it: `Class.method`, `method`."""
    position: int
    """Position in the text, in characters."""


_PATHS = (*tool_results.PATHS, "uri", "filepath", "fileName", "file_name")
_NAMES = ("name", "symbol", "qualified_name", "qualifiedName", "name_path", "function")
_QUOTED = frozenset({*tool_results.TEXTS, "docstring", "doc", "body", "source", "code"})


@dataclass(frozen=True, kw_only=True)
class Value:
    """A string of a document."""

    text: str
    first_line: int | None = None
    last_line: int | None = None
    symbol: str | None = None
    is_again: bool = False
    """Whether it stands further above: a part of a file has its symbol and its lines."""


def values(
    document: object, subject: str = "", depth: int = tool_results.MAX_DEPTH
) -> Iterator[Value]:
    """Yield the strings of a document in its order, but for quoted source. `about` is the path of
    the file that it is about, if any."""
    match document:
        case _ if depth == 0:
            return
        case str() as text:
            yield Value(text=text)
        case list() as items:
            for item in items:
                yield from values(item, subject, depth - 1)
        case dict() as entries:
            yield from _entries(entries, subject, depth)


def _entries(entries: Mapping[str, Any], subject: str, depth: int) -> Iterator[Value]:
    path_key = next(
        (key for key in _PATHS if isinstance(entries.get(key), str) and entries[key]), None
    )
    first, last = tool_results.lines_of(entries)
    symbol = next((entries[key] for key in _NAMES if isinstance(entries.get(key), str)), None)
    if subject and not path_key and first and symbol:
        yield Value(text=subject, first_line=first, last_line=last, symbol=symbol, is_again=True)
    path = entries[path_key] if path_key else subject
    for key, value in entries.items():
        if key == path_key:
            yield Value(text=value, first_line=first, last_line=last, symbol=symbol)
        elif isinstance(value, list | dict):
            yield Value(text=key)
            yield from values(value, path, depth - 1)
        elif isinstance(value, str) and not (path and key in _QUOTED):
            yield from values(value, path, depth - 1)


_DEPTH = 4
"""Most levels of texts in JSON in texts."""
_PATIENCE = 20
"""Strings of a document that may be written otherwise than they read, before none is looked for."""


def references(text: str, files: frozenset[str], workspace: str = "") -> tuple[Reference, ...]:
    """Return what names files of a repository, or reads so, in the order of the text."""
    snapshot = snapshot_of(files, workspace)
    if "\x1b" not in text:
        return tuple(_references(snapshot.mark(text), snapshot, _DEPTH))
    view = View(text, lambda position: position).decode(SEQUENCE, lambda _: "")
    found_references = _references(snapshot.mark(view.text), snapshot, _DEPTH)
    return tuple(
        replace(reference, position=view.at(reference.position)) for reference in found_references
    )


def _references(text: str, snapshot: Snapshot, depth: int) -> list[Reference]:
    result: list[Reference] = []
    remaining: list[str] = []
    parts = list(tool_results.documents(text))
    part_ends = [*(start for start, _ in parts[1:]), len(text)]
    for (start, part), end in zip(parts, part_ends, strict=True):
        if isinstance(part, str):
            remaining.append(part)
        else:
            remaining.append("\0" * (end - start))
            if depth:
                result += _read_document(part, text, start, snapshot, depth)
    result += _read_prose("".join(remaining), snapshot)
    return sorted(result, key=lambda reference: reference.position)


def _read_prose(text: str, snapshot: Snapshot) -> Iterator[Reference]:
    text = prose(text, snapshot)
    trees: list[Mention] = []
    pieces: list[str] = []
    at = 0
    for start, end, mention in read_tree(text, snapshot):
        pieces += [text[at:start], "\0" * (end - start - 1), "\n"]
        trees += [mention] if mention and len(trees) < MAX_MENTIONS else []
        at = end
    text = "".join([*pieces, text[at:]])
    found_mentions = mentions(text, snapshot)
    for mention, tied in zip(
        found_mentions, symbols.find_associated_names(text, found_mentions), strict=True
    ):
        yield from _read_mention(mention, tied)
    for mention in trees:
        yield from _read_mention(mention, [])


def _read_mention(mention: Mention, tied: list[str]) -> Iterator[Reference]:
    symbols: list[str | None] = [mention.spelling.symbol]
    for symbol in tied or symbols:
        yield Reference(
            mention=mention.text,
            path=mention.path,
            first_line=mention.spelling.first_line,
            last_line=mention.spelling.last_line,
            symbol=symbol,
            position=mention.start,
        )


def _read_document(
    document: object, text: str, start: int, snapshot: Snapshot, depth: int
) -> Iterator[Reference]:
    """Yield what a JSON document names. A string stands where its text is next seen."""
    at, patience = start, _PATIENCE
    positions: dict[str, int] = {}
    for value in values(document):
        if value.is_again:
            at_value = positions.get(value.text, at)
        else:
            position = text.find(value.text, at) if patience and len(value.text) < 1000 else -1
            patience -= position < 0
            at_value = max(at, position)
            at = position + len(value.text) if position >= 0 else at
            positions[value.text] = at_value
        yield from _read_value(value, at_value, snapshot, depth)


def _read_value(value: Value, at: int, snapshot: Snapshot, depth: int) -> Iterator[Reference]:
    text = SEQUENCE.sub("", value.text) if "\x1b" in value.text else value.text
    text = snapshot.mark(text, repeated=True)
    if mention := find_mention(text, at, snapshot, is_alone=True):
        for reference in _read_mention(mention, []):
            yield replace(
                reference,
                first_line=value.first_line or reference.first_line,
                last_line=value.last_line or reference.last_line,
                symbol=value.symbol or reference.symbol,
            )
    elif " " in text or "://" in text:
        for reference in _references(text, snapshot, depth - 1):
            yield replace(reference, position=at + reference.position)


_BRANCH = re.compile(r"[\s│|]{0,200}(?:├|└|\|--|`--|\+--)[─-]*[ \t]*(?=\S)(?P<name>[^\s#(├└│]*)")
_MARKS = ("├", "└", "|--", "`--", "+--")
_ROOT = re.compile(r"\s*([\w./-]+/|\.)\s*$")
_HEADING = re.compile(r"^(\S[^\n]{0,1000}):[ \t]*\r?$", re.MULTILINE)
_ENTRY = re.compile(
    r"(?:[-bcdlps][-rwxsStT]{9}[.+@]?\s.{1,200}?(?:\d{1,2}:\d\d|\s\d{4})\s)?[\"']?(.{1,300}?)[\"'*]?\s*$"
)
"""A name below a heading, which a long list has its size and its date before."""


def read_tree(text: str, snapshot: Snapshot) -> Iterator[tuple[int, int, Mention | None]]:
    """Yield the start and the end of each line of a tree, and the file that it names, if any."""
    has_lists = any(_folder(heading, snapshot) for heading in _HEADING.finditer(text))
    if not has_lists and not any(mark in text for mark in _MARKS):
        return
    folders: list[tuple[int, str]] = []
    root = last_path = ""
    at = 0
    for line in text.splitlines(keepends=True):
        branch = _BRANCH.match(line)
        if branch:
            column, name = branch.start("name"), branch["name"].rstrip("/")
            name = snapshot.marks.segment_at_start(line[column:]) or name
            while folders and folders[-1][0] >= column:
                folders.pop()
            path = "/".join([*(folder for _, folder in folders), name])
            start = at + column
            yield at, at + len(line), _file([root + path, path, name], start, snapshot)
            folders.append((column, name))
        else:
            folders.clear()
            match = _ROOT.match(line)
            root = match[1].removeprefix("./").removeprefix(".") if match else ""
            last_path = _read_line(line, last_path, snapshot)
            entry = _ENTRY.match(line) if last_path else None
            if entry and (path := f"{last_path}/{entry[1]}") in snapshot:
                yield at, at + len(line), _file([path], at + entry.start(1), snapshot)
        at += len(line)


def _read_line(line: str, last_path: str, snapshot: Snapshot) -> str:
    """Return the folder whose files are listed behind a line, if any: `src/shop:` is a heading."""
    if heading := _HEADING.match(line):
        return _folder(heading, snapshot)
    return last_path if line.strip() else ""


def _folder(heading: re.Match[str], snapshot: Snapshot) -> str:
    folder = snapshot.relative(heading[1].strip("\"'").rstrip("/"))
    return folder if snapshot.has_folder(folder) else ""


def _file(candidates: list[str], start: int, snapshot: Snapshot) -> Mention | None:
    candidates = [snapshot.mark(candidate, repeated=True) for candidate in candidates]
    for candidate in candidates:
        mention = find_mention(candidate, start, snapshot, is_alone=False)
        if mention and mention.path:
            return mention
    return find_mention(candidates[0], start, snapshot, is_alone=True)


_FENCE = re.compile(r"\s*(?:>\s*)?(`{3,}|~{3,})(.*)$")
_LANGUAGE = re.compile(
    r"(?:py(?:thon)?3?|javascript|[jt]sx?|mjs|typescript|rs|rust|go(?:lang)?|java|kotlin|rb|ruby|php"
    r"|c|cpp|c\+\+|cs|csharp|swift|scala|lua|sql|html|css|md|markdown|rst|ya?ml|toml|vue|proto)"
    r"(?:[\s:{,]|\Z)",
    re.IGNORECASE,
)
"""Languages of which a block is quoted source; others are commands, traces or lists."""
_COMMENT = re.compile(r"\s*(?://|#|--|/\*|<!--)\s*(\S+\.\w+\S*)\s*(?:\*/|-->)?\s*$")
_TRACE = re.compile(r"\s*(?:File \"|at |Traceback )")
_NUMBERED = re.compile(r"\s*\d{1,9}(?:\t|→| \| )")
_BAR = re.compile(r"[\t|]")
_CELL = re.compile(r"[\s\"'`*]*(?:\[[^\[\]]{0,400}\]\(<?)?([^\s\"'`*)>]{1,400})[\s\"'`*)>]*\Z")
"""Cell with one word, maybe with marks around it or as the target of a link."""
_OF_NAME = r"[^\s:`()\[\]{}*\"']{1,4096}"
_HIT = re.compile(
    rf"(?:\./|/)?(?:{_OF_NAME}\.\w{{1,12}}|(?:{_OF_NAME}/)?[A-Z][a-z]{{1,20}}file):\d{{1,9}}:(?=.*\S)"
)
"""Text that a search on a command line prints before the line itself."""
_MOST_CELLS = 30
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")
_HEADER = re.compile(r"(?:--- |\+\+\+ |diff --git |Binary files |rename (?:from|to) )")
_DIFF_BEGINS = frozenset("-+@drB \\")
_SIDES = re.compile(r"(?<=[\s\"])[ab]/(?=\S)")
_QUOTING = re.compile(
    r"\s*<(file|document|match|snippet|code|source)\s[^>]*\b(?:path|file|filename|src|name)="
    r"[\"'][^\"'>]+[\"'][^>/]*>\s*$"
)


_BLANKED = re.compile(r"[^\r\n]")


@dataclass
class _State:
    snapshot: Snapshot
    fence: str = ""
    """Fence that closes the open block."""
    is_source: bool = False
    is_first: bool = False
    """Whether the block's first line comes."""
    in_hunk: bool = False
    closing: str = ""
    """The tag that ends what an element quotes."""
    never: set[str] = field(default_factory=set)
    """Tags that are not closed any more."""


def prose(text: str, snapshot: Snapshot) -> str:
    """Replace what is quoted by blanks, so that positions stay."""
    state = _State(snapshot)
    lines: list[str] = []
    at = 0
    for line in text.splitlines(keepends=True):
        at += len(line)
        prose_text = _keep_prose(line, text, at, state)
        lines.append(
            line if prose_text is line else prose_text + _BLANKED.sub("\0", line[len(prose_text) :])
        )
    return "".join(lines)


def _keep_prose(line: str, text: str, following: int, state: _State) -> str:
    """Return as much of a line as is prose, or a line of the same length in its stead."""
    if state.closing:
        if line.strip() == state.closing:
            state.closing = ""
        return ""
    if ("```" in line or "~~~" in line) and (fence := _FENCE.match(line)):
        return _read_fenced(line, fence, state)
    if state.fence and state.is_source:
        is_first, state.is_first = state.is_first, False
        return line if (is_first and _COMMENT.match(line)) or _TRACE.match(line) else ""
    if (hunk := _read_diff_line(line, state)) is not None:
        return hunk
    if "<" in line and (quoting := _QUOTING.match(line)):
        _open(quoting[1], text, following, state)
        return line
    if numbered := _NUMBERED.match(line):
        return line if _is_row(line[numbered.end() :], state.snapshot) else ""
    match = _HIT.match(line) if ":" in line else None
    return match[0] if match else line


def _is_row(line_rest: str, snapshot: Snapshot) -> bool:
    """Tell whether what stands behind a number is a row of a table, of which one cell is the name
    of a file, and no line of source, which may be indented."""
    if line_rest[:1].isspace() and "|" not in line_rest:
        return False
    cells = (_CELL.match(cell) for cell in _BAR.split(line_rest)[:_MOST_CELLS])
    return any(cell and meaning_of(cell[1], snapshot, is_alone=True) for cell in cells)


def _read_fenced(line: str, fence: re.Match[str], state: _State) -> str:
    marks, info = fence[1], fence[2].strip()
    if state.fence:
        if marks.startswith(state.fence) and not info:
            state.fence, state.is_source, state.in_hunk = "", False, False
        return ""
    state.fence, state.is_first, state.in_hunk = marks, True, False
    state.is_source = (_LANGUAGE.match(info) or CITED.match(info)) is not None
    return line.replace("`", " ").replace("~", " ")


def _read_diff_line(line: str, state: _State) -> str | None:
    """Read a line of a diff; `None` when it is none."""
    if line[:1] not in _DIFF_BEGINS:
        state.in_hunk = False
        return None
    if _HEADER.match(line) and ("/" in line or "." in line):
        state.in_hunk = False
        return _SIDES.sub("./", line)
    if _HUNK.match(line):
        state.in_hunk = True
        return ""
    if state.in_hunk and line[:1] in (" ", "+", "-", "\\"):
        return ""
    state.in_hunk = False
    return None


def _open(tag: str, text: str, following: int, state: _State) -> None:
    closing = f"</{tag}>"
    if closing in state.never:
        return
    if text.find(f"\n{closing}", following - 1) < 0:
        state.never.add(closing)
    else:
        state.closing = closing
