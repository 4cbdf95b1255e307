"""Rendering of a document for a terminal, in colours."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from itertools import chain
from typing import Literal

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text as Line

from swarm_bench.core.report.document import (
    Answers,
    Banner,
    Block,
    Bullets,
    Cell,
    CombinedValue,
    ComparedValue,
    Document,
    Fact,
    Facts,
    Grid,
    Interval,
    Paragraph,
    Span,
    Text,
    Tone,
    Value,
    Verbatim,
)
from swarm_bench.reports.figures import (
    NOT_APPLICABLE,
    format_cell,
)
from swarm_bench.reports.markdown_parts import list_items
from swarm_bench.reports.text import cut, encodable, keep_blanks, plain, visible

MOST_LINES = 24
"""Most lines of the brief; the caller adds where the files are."""

_COLOURS = {Tone.GOOD: "green", Tone.BAD: "red", Tone.OPEN: "yellow", None: ""}
_INDENT = 2
_FEWEST_ROWS = 3
_USUAL_WIDTH = 80
_UNBOUNDED = 10_000
"""Columns."""


def render_brief(document: Document, width: int, *, colours: bool) -> str:
    """Write the brief in lines of so many columns, and in as many lines as a screen has; a narrow
    one scrolls. A document without a brief is written whole."""
    max_lines = MOST_LINES * max(1, _USUAL_WIDTH / width)
    page = _Page(document=document, width=width, colours=colours)
    if not document.brief:
        return page.draw([*_list_blocks(document)])
    blocks: Sequence[Block] = document.brief
    text = page.draw(blocks)
    while text.count("\n") > max_lines and (shorter := _shorten(blocks)):
        blocks = shorter
        text = page.draw(blocks)
    return text


@dataclass(frozen=True, kw_only=True)
class _Page:
    """What the brief is written on."""

    document: Document
    width: int
    colours: bool

    def draw(self, blocks: Sequence[Block]) -> str:
        stream = StringIO()
        console = Console(
            file=stream,
            width=self.width,
            force_terminal=self.colours,
            no_color=not self.colours,
            color_system="standard" if self.colours else None,
            highlight=False,
            emoji=False,
            legacy_windows=False,
        )
        if self.document.title:
            console.print(Line(plain(self.document.title), style="bold"))
        if self.document.banner:
            console.print(Line(plain(self.document.banner), style="yellow"))
        for block in blocks:
            for renderable in _draw_block(block, console):
                is_unwrapped = isinstance(renderable, Line) and bool(renderable.no_wrap)
                console.print(renderable, soft_wrap=is_unwrapped)
        lines = [line.rstrip() for line in stream.getvalue().rstrip().splitlines()]
        doubled = zip(lines, [None, *lines], strict=False)
        return "".join(f"{line}\n" for line, previous in doubled if line or previous)


def _list_blocks(document: Document) -> Iterator[Block]:
    """Yield the head and all sections, each below its title."""
    if document.head:
        yield Facts(lines=document.head)
    for section in document.sections:
        if section.title:
            yield Paragraph(lines=("", (Span(text=section.title, strong=True),)))
        yield from section.blocks


def _shorten(blocks: Sequence[Block]) -> Sequence[Block] | None:
    """Omit what matters least of what there is; `None` where all of it matters."""
    for at, block in enumerate(blocks):
        if isinstance(block, Paragraph) and block.is_spare:
            return [*blocks[:at], *blocks[at + 1 :]]
    for has_spare in (_has_spare_rows, _has_spare_items):
        if places := [at for at, block in enumerate(blocks) if has_spare(block)]:
            last = places[-1]
            return [*blocks[:last], _cut(blocks[last]), *blocks[last + 1 :]]
    return None


def _has_spare_rows(block: Block) -> bool:
    return isinstance(block, Grid) and len(block.rows) > _FEWEST_ROWS


def _has_spare_items(block: Block) -> bool:
    return isinstance(block, Bullets) and block.is_spare and len(block.items) > 1


def _cut(block: Block) -> Block:
    """Omit the last item of a list, or the last row that is not marked of a table."""
    if isinstance(block, Bullets):
        return replace(block, items=block.items[:-1], omitted=block.omitted + 1)
    assert isinstance(block, Grid)
    unmarked = [at for at in range(len(block.rows)) if at not in block.marked]
    last = max(unmarked or block.marked)
    rows = (*block.rows[:last], *block.rows[last + 1 :])
    marked = frozenset(at - (at > last) for at in block.marked if at != last)
    return replace(block, rows=rows, marked=marked, omitted=block.omitted + 1)


def _draw_block(block: Block, console: Console) -> Iterator[RenderableType]:
    match block:
        case Grid():
            yield from _draw_table(_fit_width(block, console))
        case Bullets():
            for item in list_items(block):
                line = _format_line(item)
                line.no_wrap = False
                yield Padding(line, (0, 0, 0, _INDENT))
        case Answers(items=items):
            yield from (_format_line(item.line) for item in items)
        case Paragraph(lines=lines):
            yield from chain.from_iterable(
                _split_command(text_line, console.width) for text_line in lines
            )
        case Facts(lines=lines):
            yield from (Line(plain("; ".join(map(_format_fact, line)))) for line in lines)
        case Verbatim(text=text):
            yield Line(encodable(visible(text)))
        case Banner(text=text):
            yield Line(plain(text), style="yellow")


def _draw_table(grid: Grid) -> Iterator[RenderableType]:
    yield ""
    if caption := "; ".join(filter(None, (grid.about, grid.ranges))):
        yield Line(f"{plain(caption)}:", style="dim")
    yield _build_table(grid)
    if grid.omitted:
        yield Line(f"{grid.omitted} more row{'s' * (grid.omitted > 1)}.", style="dim")
    yield ""


def _split_command(text: Text, width: int) -> Iterator[Line]:
    """Put a command that ends a line, and that would be broken, on a line of its own, which a
    terminal may fold: it is copied whole."""
    *start, last = (text,) if isinstance(text, str) else text
    is_broken = isinstance(last, Span) and last.code and len(_format_line(text)) > width
    if not is_broken:
        yield _format_line(text)
        return
    yield _format_line(tuple(start))
    command = _format_line(("  ", last))
    command.no_wrap = True
    yield command


def _format_fact(fact: Fact) -> str:
    return f"{fact.label}: {fact.value}"


def _fit_width(grid: Grid, console: Console) -> Grid:
    """Omit the ranges of a table that would have to wrap: those of controls first."""
    unbounded = console.options.update(max_width=_UNBOUNDED)
    for form in (grid, *_list_narrower(grid)):
        if Measurement.get(console, unbounded, _build_table(form)).maximum <= console.width:
            return form
    return replace(_drop_ranges(grid, range(len(grid.headers))), ranges="")


def _list_narrower(grid: Grid) -> Iterator[Grid]:
    """Yield forms in which the columns that verdicts are on have their ranges."""
    if grid.controls:
        yield (without := _drop_ranges(grid, grid.controls))
        yield replace(
            without, headers=tuple(header.replace(" (", "\n(") for header in grid.headers)
        )


def _drop_ranges(grid: Grid, columns: Collection[int]) -> Grid:
    rows = (
        tuple(_drop_range(cell) if at in columns else cell for at, cell in enumerate(row))
        for row in grid.rows
    )
    return replace(grid, rows=tuple(rows))


def _drop_range(cell: Cell) -> Cell:
    match cell:
        case Value():
            return replace(cell, low=None, high=None)
        case ComparedValue(own=own, change=Value() as change):
            no_range = replace(change, low=None, high=None)
            return ComparedValue(own=replace(own, low=None, high=None), change=no_range)
        case _:
            return cell


def _build_table(grid: Grid) -> Table:
    table = Table(
        box=None,
        pad_edge=False,
        header_style="dim",
        padding=(0, _INDENT, 0, 0),
        show_header=any(grid.headers),
    )
    for number, header in enumerate(grid.headers):
        side: Literal["left", "right"] = "left" if number < grid.labels else "right"
        lines = "\n".join(map(plain, header.splitlines()))
        table.add_column(Line(lines), justify=side, overflow="fold")
    for number, row in enumerate(grid.rows):
        table.add_row(*map(_format_cell, row), style="bold" if number in grid.marked else "")
    return table


def _format_cell(cell: Cell) -> Line:
    match cell:
        case None:
            return Line(NOT_APPLICABLE)
        case Value() | Interval() | CombinedValue() | ComparedValue():
            return Line(format_cell(cell))
        case _:
            return _format_line(cell if isinstance(cell, str) else (cell,))


def _format_line(text: Text) -> Line:
    line = Line()
    for part in (text,) if isinstance(text, str) else text:
        if isinstance(part, str):
            line.append(keep_blanks(part, plain))
        else:
            printable = plain(part.text)
            style = f"{'bold ' if part.strong or part.code else ''}{_COLOURS[part.tone]}".strip()
            line.append(
                cut(printable, part.longest) if part.longest else printable, style=style or None
            )
    return line
