"""The files that a text names, with lines and symbols."""

from collections.abc import Iterator
from dataclasses import replace

from swarm_bench.models.lexical import tool_results
from swarm_bench.models.lexical.terminal import SEQUENCE
from swarm_bench.source.references import symbols
from swarm_bench.source.references.decoding import View
from swarm_bench.source.references.documents import Value, values
from swarm_bench.source.references.mentions import MAX_MENTIONS, Mention, meant, mentions
from swarm_bench.source.references.passages import prose
from swarm_bench.source.references.reference import Reference
from swarm_bench.source.references.snapshot import Snapshot, snapshot_of
from swarm_bench.source.references.trees import drawn

_DEPTH = 4
"""Of texts in JSON in texts."""
_PATIENCE = 20
"""Strings of a document that may be written otherwise than they read, before none is looked for."""


def references(text: str, files: frozenset[str], workspace: str = "") -> tuple[Reference, ...]:
    """Return what names files of a repository, or reads so, in the order of the text."""
    snapshot = snapshot_of(files, workspace)
    if "\x1b" not in text:
        return tuple(_references(snapshot.marked(text), snapshot, _DEPTH))
    view = View(text, lambda position: position).decoded(SEQUENCE, lambda _: "")
    listed = _references(snapshot.marked(view.text), snapshot, _DEPTH)
    return tuple(replace(each, position=view.at(each.position)) for each in listed)


def _references(text: str, snapshot: Snapshot, depth: int) -> list[Reference]:
    result: list[Reference] = []
    rest: list[str] = []
    parts = list(tool_results.documents(text))
    ends = [*(start for start, _ in parts[1:]), len(text)]
    for (start, part), end in zip(parts, ends, strict=True):
        if isinstance(part, str):
            rest.append(part)
        else:
            rest.append("\0" * (end - start))
            if depth:
                result += _in_document(part, text, start, snapshot, depth)
    result += _in_prose("".join(rest), snapshot)
    return sorted(result, key=lambda reference: reference.position)


def _in_prose(text: str, snapshot: Snapshot) -> Iterator[Reference]:
    text = prose(text, snapshot)
    trees: list[Mention] = []
    pieces: list[str] = []
    at = 0
    for start, end, mention in drawn(text, snapshot):
        pieces += [text[at:start], "\0" * (end - start - 1), "\n"]
        trees += [mention] if mention and len(trees) < MAX_MENTIONS else []
        at = end
    text = "".join([*pieces, text[at:]])
    listed = mentions(text, snapshot)
    for mention, tied in zip(listed, symbols.ties(text, listed), strict=True):
        yield from _of_mention(mention, tied)
    for mention in trees:
        yield from _of_mention(mention, [])


def _of_mention(mention: Mention, tied: list[str]) -> Iterator[Reference]:
    alone: list[str | None] = [mention.spelling.symbol]
    for symbol in tied or alone:
        yield Reference(
            mention=mention.text,
            path=mention.path,
            first_line=mention.spelling.first_line,
            last_line=mention.spelling.last_line,
            symbol=symbol,
            position=mention.start,
        )


def _in_document(
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
        yield from _in_value(value, at_value, snapshot, depth)


def _in_value(value: Value, at: int, snapshot: Snapshot, depth: int) -> Iterator[Reference]:
    text = SEQUENCE.sub("", value.text) if "\x1b" in value.text else value.text
    text = snapshot.marked(text, again=True)
    if mention := meant(text, at, snapshot, is_alone=True):
        for reference in _of_mention(mention, []):
            yield replace(
                reference,
                first_line=value.first_line or reference.first_line,
                last_line=value.last_line or reference.last_line,
                symbol=value.symbol or reference.symbol,
            )
    elif " " in text or "://" in text:
        for reference in _references(text, snapshot, depth - 1):
            yield replace(reference, position=at + reference.position)
