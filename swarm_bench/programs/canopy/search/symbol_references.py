"""Calls and imports of a name.

They are not stored: the full-text index knows which files mention the name, and those are
parsed when somebody asks. Few do, and finding all of them added two seconds to the three that
parsing 25 MB of Python takes.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from swarm_bench.programs.canopy.defaults import CHUNK_THRESHOLD, REFERENCE_PREVIEW_BYTES
from swarm_bench.programs.canopy.index.languages import Match, matches_in, syntax_of
from swarm_bench.programs.canopy.index.loading import load
from swarm_bench.programs.canopy.index.parsing import Lines, is_text
from swarm_bench.programs.canopy.nodes import Handle, preview

MAX_FILES = 100
"""Files parsed for one question; the best ones by rank come first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reference:
    """A call or an import of a name. Offsets are bytes, lines count from 1."""

    path: str
    start: int
    end: int
    first_line: int
    last_line: int
    name: str
    qualifier: str | None
    type: str
    preview: str
    holder: Handle | None
    """The smallest node that holds it."""


def find_references(
    root: str,
    name: str,
    mentions: Iterable[Handle],
    nodes_of: Callable[[str], list[Handle]],
) -> Iterator[Reference]:
    """Yield the references in the files of these handles, file by file in their order."""
    paths: set[str] = set()
    for mention in mentions:
        if mention.path in paths:
            continue
        paths.add(mention.path)
        if len(paths) > MAX_FILES:
            return
        yield from _find_in_file(root, mention.path, name, nodes_of)


def _find_in_file(
    root: str, path: str, name: str, nodes_of: Callable[[str], list[Handle]]
) -> Iterator[Reference]:
    syntax = syntax_of(path)
    if syntax is None or not syntax.calls:
        return
    try:
        source = load(root, path)
    except OSError:
        return
    if source is None or len(source) > CHUNK_THRESHOLD or not is_text(source):
        return
    nodes: list[Handle] | None = None
    lines = Lines.find(source)
    for match in matches_in(source, syntax.grammar, syntax.calls):
        if _read_name(match, source) == name:
            nodes = nodes_of(path) if nodes is None else nodes
            yield _build_reference(path, match, source, lines, nodes)


def _read_name(match: Match, source: bytes) -> str:
    return (match.text(source, "name") or "").strip("\"'`")


def _build_reference(
    path: str, match: Match, source: bytes, lines: Lines, nodes: list[Handle]
) -> Reference:
    type_ = "call" if "call" in match.spans else "import"
    start, end = match.spans[type_]
    line_start = lines.starts[lines.number(start) - 1]
    line_end = source.find(b"\n", line_start)
    holders = [handle for handle in nodes if handle.node.start <= start and end <= handle.node.end]
    return Reference(
        path=path,
        start=start,
        end=end,
        first_line=lines.number(start),
        last_line=lines.number(max(start, end - 1)),
        name=_read_name(match, source),
        qualifier=(match.text(source, "qualifier") or "").strip("\"'`") or None,
        type=type_,
        preview=preview(
            source,
            line_start,
            len(source) if line_end < 0 else line_end,
            REFERENCE_PREVIEW_BYTES,
        ),
        holder=min(holders, key=lambda handle: handle.node.end - handle.node.start, default=None),
    )
