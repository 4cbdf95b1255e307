"""The parts of a document as Markdown."""

from tabulate import tabulate

from swarm_bench.core.report.document import (
    Answer,
    Answers,
    Banner,
    Block,
    Bullets,
    Cell,
    CombinedValue,
    ComparedValue,
    Fact,
    Facts,
    Grid,
    Interval,
    Paragraph,
    Picture,
    Span,
    Text,
    Value,
    Verbatim,
)
from swarm_bench.reports.figures import (
    NOT_APPLICABLE,
    format_cell,
)
from swarm_bench.reports.text import cut, escape, format_code_block, keep_blanks, plain


def format_inline(text: Text) -> str:
    """Write a text in one line."""
    if isinstance(text, str):
        return escape(text)
    return "".join(
        keep_blanks(part, escape) if isinstance(part, str) else _format_span(part) for part in text
    )


def _format_span(span: Span) -> str:
    text = escape(cut(plain(span.text), span.longest) if span.longest else span.text)
    if span.code:
        return f"`{plain(span.text).replace('`', '')}`"
    if span.address:
        return f"[{text}]({span.address})"
    return f"**{text}**" if span.strong else text


def format_block(content: Block) -> str:
    """Write a block, without a line break behind it."""
    match content:
        case Grid():
            return _format_table(content)
        case Paragraph(lines=lines):
            return "\n".join(map(format_inline, lines))
        case Bullets():
            return "\n".join(f"- {format_inline(item)}" for item in list_items(content))
        case Answers(items=items):
            return "\n".join(map(_format_answer, items))
        case Banner(text=text):
            return f"> {escape(text)}"
        case Verbatim(text=text):
            return format_code_block(text)
        case Picture(address=address, about=about):
            return f"![{escape(about)}]({address})"
        case Facts(lines=lines):
            return "  \n".join(" | ".join(map(_format_fact, line)) for line in lines)


def _format_answer(answer: Answer) -> str:
    return "\n  - ".join([f"- {format_inline(answer.line)}", *map(format_inline, answer.further)])


def list_items(bullets: Bullets) -> tuple[Text, ...]:
    """Return the items of a list, and how many are not in it."""
    omission = bullets.rest.format(number=bullets.omitted)
    return (*bullets.items, omission) if bullets.omitted else bullets.items


def _format_fact(fact: Fact) -> str:
    return f"**{escape(fact.label)}:** {escape(fact.value)}"


def _format_table(grid: Grid) -> str:
    """Write a table with its figures set to the right, and where the omitted rows are."""
    omission = grid.rest.format(number=f"{grid.omitted:,}")
    if grid.omitted and not grid.rows:
        return omission
    caption = "; ".join(filter(None, (grid.about, grid.ranges)))
    heading = f"{escape(caption)}.\n\n" if caption else ""
    table = tabulate(
        [[*map(_format_cell, row)] for row in grid.rows],
        headers=[*map(escape, grid.headers)],
        tablefmt="pipe",
        disable_numparse=True,
        colalign=["left"] * grid.labels + ["right"] * (len(grid.headers) - grid.labels),
    )
    return f"{heading}{table}\n\n{omission}" if grid.omitted else f"{heading}{table}"


def _format_cell(cell: Cell) -> str:
    match cell:
        case None:
            return NOT_APPLICABLE
        case Value() | Interval() | CombinedValue() | ComparedValue():
            return format_cell(cell)
        case Span():
            return _format_span(cell)
        case str():
            return escape(cell)
