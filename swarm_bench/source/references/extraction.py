"""The files that a text names, with lines and symbols."""

from collections.abc import Iterator
from dataclasses import replace

from swarm_bench.source.references import symbols
from swarm_bench.source.references.decoding import View
from swarm_bench.source.references.documents import Value, values
from swarm_bench.source.references.mentions import MAX_MENTIONS, Mention, find_mention, mentions
from swarm_bench.source.references.passages import prose
from swarm_bench.source.references.reference import Reference
from swarm_bench.source.references.snapshot import Snapshot, snapshot_of
from swarm_bench.source.references.trees import read_tree
from swarm_bench.text import tool_results
from swarm_bench.text.terminal import SEQUENCE

_DEPTH = 4
"""Of texts in JSON in texts."""
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
