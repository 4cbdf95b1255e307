"""What of a text is prose, and what is quoted: source, hunks of a diff, lines with numbers."""

import re
from dataclasses import dataclass, field

from swarm_bench.source.references.meanings import meaning_of
from swarm_bench.source.references.snapshot import Snapshot
from swarm_bench.source.references.spelling import CITED

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
"""What is one word, maybe with marks around it or as the target of a link."""
_OF_NAME = r"[^\s:`()\[\]{}*\"']{1,4096}"
_HIT = re.compile(
    rf"(?:\./|/)?(?:{_OF_NAME}\.\w{{1,12}}|(?:{_OF_NAME}/)?[A-Z][a-z]{{1,20}}file):\d{{1,9}}:(?=.*\S)"
)
"""What a search on a command line prints before the line itself."""
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
    """What closes the block that is open."""
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
