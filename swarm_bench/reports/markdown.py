"""A document as Markdown. It computes nothing, and no sentence is its own."""

from dataclasses import replace
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from swarm_bench.core.report.document import (
    Block,
    Document,
    Grid,
    Paragraph,
    RenderedDocument,
    Section,
)
from swarm_bench.reports.layout import inline, laid_out

MOST_BYTES = 60_000
"""Hosts of Markdown show no more than about that of a file, or of a comment."""
_FEWEST_ROWS = (10, 10, 10, 3, 3, 0, 0)
"""Rows of a folded table that stay in each round: they differ in length, so one may not do."""


def written(document: Document) -> RenderedDocument:
    """Write the document in one text, and keep it beside."""
    return RenderedDocument(document=document, markdown=render(document))


def written_to_files(document: Document) -> RenderedDocument:
    """Write the document for two files, if part of it stands apart."""
    if document.apart is None:
        return written(document)
    apart, sections = document.apart, document.sections
    opened = sum(not section.folded for section in sections)
    first = (*sections[:opened], *apart.instead, *sections[opened:])
    details = Document(title=apart.title, banner=document.banner, head=(), sections=apart.sections)
    return RenderedDocument(
        document=document,
        markdown=render(replace(document, sections=first, apart=None)),
        details=render(details),
    )


def as_lines(text: str) -> RenderedDocument:
    """Keep lines of text as they are; at a terminal they are broken between words."""
    lines = Paragraph(lines=tuple(text.splitlines()))
    return RenderedDocument(
        document=Document(title="", banner=None, head=(), sections=(), brief=(lines,)),
        markdown=text,
    )


def render(document: Document) -> str:
    """Write the document, ending with a line break; it can be encoded as UTF-8. Of folded tables it
    omits what would make it too large, of the last one first."""
    if document.apart:
        *before, last = document.sections
        folded = (replace(section, folded=True) for section in document.apart.sections)
        document = replace(document, sections=(*before, *folded, last), apart=None)
    text = _filled(document)
    for fewest in _FEWEST_ROWS:
        excess = len(text.encode()) - MOST_BYTES
        if excess <= 0:
            break
        document = _shortened(document, excess, fewest)
        text = _filled(document)
    return text


def _filled(document: Document) -> str:
    return _template().render(document=document)


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("swarm_bench.reports"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    # The document is Markdown, not HTML: what the template shows passes through these filters.
    environment.filters["inline"] = inline
    environment.filters["markdown"] = laid_out
    return environment.get_template("document.md.j2")


def _shortened(document: Document, excess: int, fewest: int) -> Document:
    sections: list[Section] = []
    for section in reversed(document.sections):
        blocks: list[Block] = []
        for block in reversed(section.blocks):
            shown = block
            if section.folded and isinstance(block, Grid) and excess > 0:
                shown = _cut(block, excess, fewest)
                excess -= _bytes(block) - _bytes(shown)
            blocks.append(shown)
        sections.append(replace(section, blocks=tuple(reversed(blocks))))
    return replace(document, sections=tuple(reversed(sections)))


def _cut(grid: Grid, excess: int, fewest: int) -> Grid:
    """Omit the last rows, as many as take so many bytes; the first ones stay."""
    each = _bytes(grid) // (len(grid.rows) + 2)
    dropped = min(excess // each + 2, len(grid.rows) - fewest)
    if dropped <= 0:
        return grid
    return replace(grid, rows=grid.rows[:-dropped], omitted=grid.omitted + dropped)


def _bytes(block: Block) -> int:
    return len(laid_out(block).encode())
