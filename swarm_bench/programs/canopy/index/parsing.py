"""Splits the text of a file into nodes.

What no symbol covers becomes chunks, so that everything in a file can be found. A Markdown
section goes from its heading to the next one of any level.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from swarm_bench.programs.canopy.defaults import CHUNK_LINES, CHUNK_OVERLAP, CHUNK_THRESHOLD
from swarm_bench.programs.canopy.index.languages import (
    MARKDOWN,
    Match,
    Syntax,
    matches_in,
    syntax_of,
)
from swarm_bench.programs.canopy.nodes import Node, NodeType
from swarm_bench.source.grammars import PYTHON

ANONYMOUS = "<anonymous>"

_CAPTURES = {
    "function": NodeType.FUNCTION,
    "named": NodeType.FUNCTION,
    "anonymous": NodeType.FUNCTION,
    "class": NodeType.CLASS,
    "struct": NodeType.STRUCT,
    "method": NodeType.METHOD,
    "module": NodeType.SECTION,
    "section": NodeType.SECTION,
    "code_block": NodeType.CODE_BLOCK,
    "paragraph": NodeType.PARAGRAPH,
}
_CONTAINERS = (NodeType.CLASS, NodeType.STRUCT)
_WORD = re.compile(rb"[0-9A-Za-z_\x80-\xff]")


@dataclass(frozen=True, slots=True)
class Lines:
    """The offsets at which the lines of a text begin."""

    starts: list[int]

    @classmethod
    def find(cls, source: bytes) -> "Lines":
        return cls([0, *(match.end() for match in re.finditer(b"\n", source))])

    def number(self, offset: int) -> int:
        """Return the line, counted from 1, that holds the byte at the offset."""
        return bisect_right(self.starts, offset)


def is_text(source: bytes) -> bool:
    if b"\0" in source:
        return False
    try:
        source.decode()
    except UnicodeDecodeError:
        return False
    return True


def parse(path: str, source: bytes) -> list[Node]:
    """Split a text into nodes, in order of their beginning; an empty text has none."""
    lines = Lines.find(source)
    if len(source) > CHUNK_THRESHOLD:
        return list(_chunks(0, len(source), lines))
    syntax = syntax_of(path)
    nodes = [] if syntax is None else _symbols(syntax, source, lines)
    if not nodes:
        return [_node(NodeType.CHUNK, 0, len(source), lines)] if source else []
    nodes += _cut_gaps(source, nodes, lines)
    return sorted(nodes, key=lambda node: (node.start, -node.end))


def _symbols(syntax: Syntax, source: bytes, lines: Lines) -> list[Node]:
    matches = matches_in(source, syntax.grammar, syntax.symbols)
    if syntax is MARKDOWN:
        return _parse_markdown(matches, source, lines)
    nodes: dict[tuple[int, int], Node] = {}
    for match in matches:
        node = _symbol(match, source, lines)
        if node is None:
            continue
        span = (node.start, node.end)
        # A function that is assigned to a name is found twice: keep the one with the name.
        if span not in nodes or nodes[span].name == ANONYMOUS:
            nodes[span] = node
    return _set_parents(sorted(nodes.values(), key=lambda node: (node.start, -node.end)), syntax)


def _symbol(match: Match, source: bytes, lines: Lines) -> Node | None:
    capture = next(name for name in match.spans if name in _CAPTURES)
    start, end = match.spans[capture]
    # `type ( A …; B … )` holds several declarations: each is its own node.
    if "inner" in match.spans and source[start:end].rstrip().endswith(b")"):
        start, end = match.spans["inner"]
    name = match.text(source, "name")
    if capture == "anonymous":
        # One-line callbacks are everywhere and stand in the function around them.
        if lines.number(start) == lines.number(end):
            return None
        name = ANONYMOUS
    if capture == "module":
        name = f"mod {name}"
    node = _node(_CAPTURES[capture], start, end, lines, name)
    parent = match.text(source, "parent")
    return replace(node, parent=parent) if parent else node


def _set_parents(nodes: list[Node], syntax: Syntax) -> list[Node]:
    """Give each node the class or struct around it as its parent."""
    out: list[Node] = []
    containers: list[Node] = []
    for node in nodes:
        while containers and containers[-1].end <= node.start:
            containers.pop()
        inner = node
        if containers and node.parent is None:
            is_method = syntax.grammar is PYTHON and node.type is NodeType.FUNCTION
            type_ = NodeType.METHOD if is_method else node.type
            inner = replace(node, parent=containers[-1].name, type=type_)
        if node.type in _CONTAINERS:
            containers.append(node)
        out.append(inner)
    return out


def _parse_markdown(matches: Iterable[Match], source: bytes, lines: Lines) -> list[Node]:
    headings: list[tuple[int, str]] = []
    nodes: list[Node] = []
    for match in matches:
        capture = next(name for name in match.spans if name in _CAPTURES)
        start, end = match.spans[capture]
        if capture == "section":
            headings.append((start, (match.text(source, "name") or "").strip()))
        elif capture == "code_block" and source[start:end].strip():
            nodes.append(_node(NodeType.CODE_BLOCK, *_trim(source, start, end), lines))
        elif source[start:end].strip():
            start, end = _trim(source, start, end)
            nodes.append(_block(NodeType.PARAGRAPH, start, _line_end(source, end), lines))
    headings.sort()
    ends = [*(start for start, _ in headings), len(source)][1:]
    for (start, name), end in zip(headings, ends, strict=True):
        nodes.append(replace(_block(NodeType.SECTION, start, end, lines), name=name))
    return nodes


def _block(type_: NodeType, start: int, end: int, lines: Lines) -> Node:
    """Make a piece of Markdown up to the beginning of a line, which canopy counts as its last
    one."""
    return replace(_node(type_, start, end, lines), last_line=lines.number(end))


def _line_end(source: bytes, offset: int) -> int:
    """Return the offset behind the line break that ends the line."""
    line_break = source.find(b"\n", offset)
    return len(source) if line_break == -1 else line_break + 1


def _cut_gaps(source: bytes, nodes: list[Node], lines: Lines) -> Iterator[Node]:
    """Cut the text between the nodes into chunks, where it has any words."""
    covered = 0
    for node in sorted(nodes, key=lambda node: node.start):
        yield from _cut_gap(source, covered, node.start, lines)
        covered = max(covered, node.end)
    yield from _cut_gap(source, covered, len(source), lines)


def _cut_gap(source: bytes, start: int, end: int, lines: Lines) -> Iterator[Node]:
    if start < end and _WORD.search(source, start, end):
        yield from _chunks(*_trim(source, start, end), lines)


def _trim(source: bytes, start: int, end: int) -> tuple[int, int]:
    text = source[start:end]
    return start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())


def _chunks(start: int, end: int, lines: Lines) -> Iterator[Node]:
    """Cut a span into pieces of CHUNK_LINES lines that overlap by CHUNK_OVERLAP."""
    first, last = lines.number(start), lines.number(max(start, end - 1))
    for line in range(first, last + 1, CHUNK_LINES - CHUNK_OVERLAP):
        stop = line + CHUNK_LINES
        begin = max(start, lines.starts[line - 1])
        finish = end if stop > last else lines.starts[stop - 1]
        yield _node(NodeType.CHUNK, begin, finish, lines)
        if stop > last:
            return


def _node(type_: NodeType, start: int, end: int, lines: Lines, name: str | None = None) -> Node:
    return Node(
        type=type_,
        start=start,
        end=end,
        first_line=lines.number(start),
        last_line=lines.number(max(start, end - 1)),
        name=name,
    )
