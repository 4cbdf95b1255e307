"""The parts of a document as HTML."""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from swarm_bench.core.report.document import (
    Block,
    Cell,
    CombinedValue,
    ComparedValue,
    Grid,
    Interval,
    Picture,
    Span,
    Text,
    Value,
)
from swarm_bench.reports.figures import NOT_APPLICABLE, format_cell
from swarm_bench.reports.html.escaping import load_environment
from swarm_bench.reports.svg import render_effect, render_svg
from swarm_bench.reports.text import cut, plain


def format_inline(text: Text) -> Markup:
    """Write a text within a line."""
    parts = (text,) if isinstance(text, str) else text
    spans = [part if isinstance(part, Span) else Span(text=part) for part in parts]
    return _call("inline", [(span, _cut(span)) for span in spans])


def format_block(block: Block) -> Markup:
    """Write a block."""
    match block:
        case Grid():
            return _call("grid", block, [*map(_format_row, block.rows)], _describe_rest(block))
        case Picture():
            return _call("picture", block, block.chart and Markup(render_inline(block)))
        case _:
            return _call(type(block).__name__.lower(), block)


def render_inline(picture: Picture) -> str:
    """Draw a picture within the page."""
    return render_svg(picture.chart, is_inline=True) if picture.chart else ""


def _cut(span: Span) -> str:
    return cut(plain(span.text), span.longest) if span.longest else span.text


def _call(macro: str, *arguments: Any) -> Markup:
    module = (
        load_environment()
        .get_template("blocks.html.j2")
        .make_module(
            {"format_inline": format_inline, "draw": lambda effect: Markup(render_effect(effect))}
        )
    )
    html: Markup = getattr(module, macro)(*arguments)
    return html


def _describe_rest(grid: Grid) -> str:
    return grid.rest.format(number=f"{grid.omitted:,}") if grid.omitted else ""


def _format_row(row: Sequence[Cell]) -> list[tuple[Any, float | None]]:
    """Write the cells of a row, each with the figure by which it is sorted."""
    return [(_format_cell(cell), _find_figure(cell)) for cell in row]


def _format_cell(cell: Cell) -> Any:
    match cell:
        case None:
            return NOT_APPLICABLE
        case Value() | Interval() | CombinedValue() | ComparedValue():
            return format_cell(cell)
        case Span():
            return format_inline((cell,))
        case str():
            return cell


def _find_figure(cell: Cell) -> float | None:
    match cell:
        case Value(value=value) | ComparedValue(own=Value(value=value)):
            return value
        case Interval(low=low):
            return low
        case _:
            return None
