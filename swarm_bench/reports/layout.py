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
from swarm_bench.reports.figures import NOT_APPLICABLE, against, figure, interval, parts
from swarm_bench.reports.text import block, cut, escaped, plain


def inline(text: Text) -> str:
    """Write a text in one line."""
    return escaped(text) if isinstance(text, str) else "".join(map(_part, text))


def _part(part: str | Span) -> str:
    if isinstance(part, Span):
        return _span(part)
    # Blanks between the parts stay.
    before, after = part[: -len(part.lstrip())], part[len(part.rstrip()) :]
    return f"{before}{escaped(part)}{after}" if part.strip() else part


def _span(span: Span) -> str:
    text = escaped(cut(plain(span.text), span.longest) if span.longest else span.text)
    if span.code:
        return f"`{plain(span.text).replace('`', '')}`"
    if span.address:
        return f"[{text}]({span.address})"
    return f"**{text}**" if span.strong else text


def laid_out(shown: Block) -> str:
    """Write a block, without a line break behind it."""
    match shown:
        case Grid():
            return _table(shown)
        case Paragraph(lines=lines):
            return "\n".join(map(inline, lines))
        case Bullets():
            return "\n".join(f"- {inline(item)}" for item in listed(shown))
        case Answers(items=items):
            return "\n".join(map(_answer, items))
        case Banner(text=text):
            return f"> {escaped(text)}"
        case Verbatim(text=text):
            return block(text)
        case Picture(address=address, about=about):
            return f"![{escaped(about)}]({address})"
        case Facts(lines=lines):
            return "  \n".join(" | ".join(map(_fact, line)) for line in lines)


def _answer(answer: Answer) -> str:
    return "\n  - ".join([f"- {inline(answer.line)}", *map(inline, answer.further)])


def listed(bullets: Bullets) -> tuple[Text, ...]:
    """Return the items of a list, and how many are not in it."""
    rest = bullets.rest.format(number=bullets.omitted)
    return (*bullets.items, rest) if bullets.omitted else bullets.items


def _fact(fact: Fact) -> str:
    return f"**{escaped(fact.label)}:** {escaped(fact.value)}"


def _table(grid: Grid) -> str:
    """Write a table with its figures set to the right, and where the omitted rows are."""
    rest = grid.rest.format(number=f"{grid.omitted:,}")
    if grid.omitted and not grid.rows:
        return rest
    about = "; ".join(filter(None, (grid.about, grid.ranges)))
    begins = f"{escaped(about)}.\n\n" if about else ""
    table = tabulate(
        [[*map(_cell, row)] for row in grid.rows],
        headers=[*map(escaped, grid.headers)],
        tablefmt="pipe",
        disable_numparse=True,
        colalign=["left"] * grid.labels + ["right"] * (len(grid.headers) - grid.labels),
    )
    return f"{begins}{table}\n\n{rest}" if grid.omitted else f"{begins}{table}"


def _cell(cell: Cell) -> str:
    match cell:
        case None:
            return NOT_APPLICABLE
        case Value():
            return figure(cell)
        case Interval():
            return interval(cell)
        case CombinedValue():
            return parts(cell)
        case ComparedValue():
            return against(cell)
        case Span():
            return _span(cell)
        case str():
            return escaped(cell)
