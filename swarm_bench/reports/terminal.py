"""What somebody at a terminal sees of a document, in colours."""

from collections.abc import Iterator
from io import StringIO
from typing import Literal

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text as Line

from swarm_bench.core.report.document import (
    Against,
    Answers,
    Block,
    Bullets,
    Cell,
    Document,
    Grid,
    Interval,
    Paragraph,
    Parts,
    Text,
    Tone,
    Value,
)
from swarm_bench.reports.figures import NOT_APPLICABLE, against, figure, interval, parts
from swarm_bench.reports.text import cut, plain

_COLOURS = {Tone.GOOD: "green", Tone.BAD: "red", Tone.OPEN: "yellow", None: ""}
_INDENT = 2


def render_brief(document: Document, width: int, *, colours: bool) -> str:
    """Write the brief in lines of so many columns."""
    stream = StringIO()
    console = Console(
        file=stream,
        width=width,
        force_terminal=colours,
        no_color=not colours,
        color_system="standard" if colours else None,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )
    console.print(Line(plain(document.title), style="bold"))
    if document.banner:
        console.print(Line(plain(document.banner), style="yellow"))
    for block in document.brief:
        for shown in _drawn(block):
            console.print(shown)
    return "".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines())


def _drawn(block: Block) -> Iterator[RenderableType]:
    match block:
        case Grid():
            yield ""
            yield _table(block)
            yield ""
        case Bullets(items=items):
            for item in items:
                line = _line(item)
                line.no_wrap = False
                yield Padding(line, (0, 0, 0, _INDENT))
        case Answers(items=items):
            yield from (_line(item.line) for item in items)
        case Paragraph(lines=lines):
            yield from map(_line, lines)


def _table(grid: Grid) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, _INDENT, 0, 0))
    for number, header in enumerate(grid.headers):
        side: Literal["left", "right"] = "left" if number < grid.labels else "right"
        table.add_column(Line(plain(header)), justify=side, overflow="fold")
    for number, row in enumerate(grid.rows):
        table.add_row(*map(_cell, row), style="bold" if number in grid.marked else "")
    return table


def _cell(cell: Cell) -> Line:
    match cell:
        case None:
            return Line(NOT_APPLICABLE)
        case Value():
            return Line(figure(cell))
        case Interval():
            return Line(interval(cell))
        case Parts():
            return Line(parts(cell))
        case Against():
            return Line(against(cell))
        case _:
            return _line(cell if isinstance(cell, str) else (cell,))


def _line(text: Text) -> Line:
    line = Line()
    for part in (text,) if isinstance(text, str) else text:
        if isinstance(part, str):
            line.append(_printable(part))
        else:
            shown = plain(part.text)
            style = f"{'bold ' if part.strong or part.code else ''}{_COLOURS[part.tone]}".strip()
            line.append(cut(shown, part.longest) if part.longest else shown, style=style or None)
    return line


def _printable(text: str) -> str:
    """Keep the blanks at both ends, which separate the parts of a line."""
    before, after = text[: -len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{before}{plain(text)}{after}" if text.strip() else text
