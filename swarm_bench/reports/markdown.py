"""A document as Markdown. It computes nothing, and no sentence is its own."""

from dataclasses import replace
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from swarm_bench.core.report.document import (
    Block,
    Document,
    Grid,
    Paragraph,
    Picture,
    RenderedDocument,
    Section,
)
from swarm_bench.core.report.pictures import MARK
from swarm_bench.reports.charts import draw
from swarm_bench.reports.markdown_parts import format_block, format_inline

MOST_BYTES = 60_000
"""Hosts of Markdown show no more than about that of a file, or of a comment."""
_FEWEST_ROWS = (10, 10, 10, 3, 3, 0, 0)
"""Rows of a folded table that stay in each round: they differ in length, so one may not do."""


def write_document(document: Document) -> RenderedDocument:
    """Write the document in one text without pictures, and keep it beside."""
    return RenderedDocument(document=document, markdown=render(remove_pictures(document)))


def remove_pictures(document: Document) -> Document:
    """Return the document as it is where there are no files beside it."""
    pairs = [
        (section, tuple(block for block in section.blocks if not isinstance(block, Picture)))
        for section in document.sections
    ]
    sections = (replace(section, blocks=blocks) for section, blocks in pairs if blocks)
    return replace(document, sections=tuple(sections))


def write_files(document: Document) -> RenderedDocument:
    """Write the document for several files: its pictures, and a second text if part of it stands
    apart."""
    pictures = {
        block.address: f"{MARK}{draw(block)}"
        for section in document.sections
        for block in section.blocks
        if isinstance(block, Picture)
    }
    if document.apart is None:
        return RenderedDocument(document=document, markdown=render(document), pictures=pictures)
    second_file, sections = document.apart, document.sections
    open_count = sum(not section.folded for section in sections)
    first = (*sections[:open_count], *second_file.instead, *sections[open_count:])
    details = Document(
        title=second_file.title, banner=document.banner, head=(), sections=second_file.sections
    )
    return RenderedDocument(
        document=document,
        markdown=render(replace(document, sections=first, apart=None)),
        details=render(details),
        pictures=pictures,
    )


def write_lines(text: str) -> RenderedDocument:
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
        *first_sections, last = document.sections
        folded = (replace(section, folded=True) for section in document.apart.sections)
        document = replace(document, sections=(*first_sections, *folded, last), apart=None)
    text = _fill_template(document)
    for fewest in _FEWEST_ROWS:
        excess = len(text.encode()) - MOST_BYTES
        if excess <= 0:
            break
        document = _shorten(document, excess, fewest)
        text = _fill_template(document)
    return text


def _fill_template(document: Document) -> str:
    return _load_template().render(document=document)


@cache
def _load_template() -> Template:
    environment = Environment(
        loader=PackageLoader("swarm_bench.reports"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    # The document is Markdown, not HTML: what the template shows passes through these filters.
    environment.filters["inline"] = format_inline
    environment.filters["markdown"] = format_block
    return environment.get_template("document.md.j2")


def _shorten(document: Document, excess: int, fewest: int) -> Document:
    sections: list[Section] = []
    for section in reversed(document.sections):
        blocks: list[Block] = []
        for block in reversed(section.blocks):
            shortened = block
            if section.folded and isinstance(block, Grid) and excess > 0:
                shortened = _drop_rows(block, excess, fewest)
                excess -= _count_bytes(block) - _count_bytes(shortened)
            blocks.append(shortened)
        sections.append(replace(section, blocks=tuple(reversed(blocks))))
    return replace(document, sections=tuple(reversed(sections)))


def _drop_rows(grid: Grid, excess: int, fewest: int) -> Grid:
    """Omit the last rows, as many as take so many bytes; the first ones stay."""
    row_bytes = _count_bytes(grid) // (len(grid.rows) + 2)
    dropped = min(excess // row_bytes + 2, len(grid.rows) - fewest)
    if dropped <= 0:
        return grid
    return replace(grid, rows=grid.rows[:-dropped], omitted=grid.omitted + dropped)


def _count_bytes(block: Block) -> int:
    return len(format_block(block).encode())
