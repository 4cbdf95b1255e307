"""How a summary is laid out: what everybody reads stands open, and the rest is folded."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from swarm_bench.analysis.documents.blocks import paragraph, quoting
from swarm_bench.analysis.wording import amount, joined
from swarm_bench.core.report.document import (
    Answers,
    Block,
    Bullets,
    Document,
    Fact,
    Facts,
    Grid,
    Paragraph,
    Section,
    Span,
    Text,
    Tone,
)

OPEN_LINES = 80
"""What a reader sees without opening anything."""
NO_WARNING = "None: every planned trial ran to completion."
NO_WARNING_OF_MODES = (
    "None: every planned trial ran to completion, and no mode got what it should not have."
)
_MOST_VERDICTS = 12
_MOST_ROWS = 20
_MOST_FOLDED = 30
"""Sentences in a fold."""
_FEWEST_NOTES = 2
_HEADING = 2
_MOST_BRIEF = 8
"""Verdicts, and rows of the table, on a terminal."""
_MOST_COLUMNS = 4
_MOST_MODES = 12


@dataclass(frozen=True, kw_only=True)
class Opening:
    """What stands open in a summary, in this order."""

    headline: tuple[Block, ...]
    """The verdicts, and what must be known beside them."""
    warnings: Sequence[str]
    no_warning: str = NO_WARNING
    table: Section | None = None
    notes: Sequence[str] = ()
    more: tuple[Section, ...] = ()
    brief: tuple[Block, ...] | None = None
    """The headline as a terminal shows it; `None` where it is the same."""


@dataclass(frozen=True, kw_only=True)
class About:
    """What the summary is of."""

    title: str
    banner: str | None
    head: tuple[tuple[Fact, ...], ...]


def summary(about: About, opening: Opening, details: Iterable[Section]) -> Document:
    """Lay out a summary: the opening, and the details folded. What has no room in the one is the
    first of the other."""
    set_up = Section(title="Set-up", blocks=(Facts(lines=about.head),))
    headline, more_verdicts = _verdicts(opening.headline)
    table, more_rows = _table(opening.table)
    fixed = [*headline, *table, *opening.more, set_up]
    room = OPEN_LINES - 2 - 2 * bool(about.banner) - sum(map(_lines, fixed))
    noted = min(len(opening.notes), max(_FEWEST_NOTES, room // 3))
    room -= noted + (_HEADING + 1) * (1 + bool(noted))
    warnings, more_warnings = _listed("warnings", opening.warnings, max(1, room))
    notes, more_notes = _listed("notes", opening.notes, noted)
    if not warnings:
        warnings = [Section(title="Warnings", blocks=(paragraph(opening.no_warning),))]
    further = [*more_verdicts, *more_warnings, *more_rows, *more_notes]
    folded = (replace(section, folded=True) for section in (*further, *details))
    return Document(
        title=about.title,
        banner=about.banner,
        head=(),
        sections=(*headline, *warnings, *table, *opening.more, *notes, set_up, *folded),
        brief=tuple(_brief(opening)),
    )


def _brief(opening: Opening) -> Iterator[Block]:
    """Make what a terminal shows: the verdicts, the table, and what stands elsewhere."""
    blocks = opening.headline if opening.brief is None else opening.brief
    for block in blocks:
        yield _first_few(block, _MOST_BRIEF)
    for block in opening.table.blocks if opening.table else ():
        if isinstance(block, Grid):
            yield _short(block)
        elif isinstance(block, Bullets):
            yield replace(block, items=block.items[:_MOST_BRIEF])
    tone = Tone.OPEN if opening.warnings else None
    yield paragraph((Span(text=_elsewhere(opening), tone=tone),))


def _short(grid: Grid) -> Grid:
    """Keep the rows that matter most; with many columns, these rows are the columns."""
    others = (at for at in range(len(grid.rows)) if at not in grid.marked)
    kept = sorted([*grid.marked, *others][:_MOST_BRIEF])
    if len(grid.headers) - grid.labels <= _MOST_COLUMNS or grid.labels != 1:
        marked = frozenset(at for at, row in enumerate(kept) if row in grid.marked)
        return replace(grid, rows=tuple(grid.rows[at] for at in kept), marked=marked)
    first = sorted([*sorted(grid.marked), *kept][:_MOST_COLUMNS])
    chosen = [grid.rows[at] for at in dict.fromkeys(first)]
    rows = tuple(
        (name, *(row[at] for row in chosen)) for at, name in enumerate(grid.headers[1:], start=1)
    )
    headers = (grid.headers[0], *(str(row[0]) for row in chosen))
    return Grid(headers=headers, labels=1, rows=rows[:_MOST_MODES])


def _elsewhere(opening: Opening) -> str:
    counts = {"warning": len(opening.warnings), "note": len(opening.notes)}
    parts = [amount(number, name) for name, number in counts.items() if number]
    return f"Also in summary.md: {joined([*parts, 'all figures with their definitions'])}."


Parted = tuple[list[Section], list[Section]]
"""Sections that stand open, and folded ones."""


def _verdicts(blocks: tuple[Block, ...]) -> Parted:
    if not blocks:
        return [], []
    shown = tuple(_first_few(block, _MOST_VERDICTS) for block in blocks)
    rest = [it for block in blocks if isinstance(block, Answers) for it in block.items]
    rest, more = rest[_MOST_VERDICTS:], list[Section]()
    if rest:
        answers = Answers(items=tuple(rest[:_MOST_FOLDED]))
        omitted = len(rest) - _MOST_FOLDED
        left_out = [paragraph(f"Not shown: {omitted:,} more.")] if omitted > 0 else []
        more = [Section(title=f"More verdicts ({len(rest)})", blocks=(answers, *left_out))]
    return [Section(title="Headline", blocks=shown)], more


def _first_few(block: Block, most: int) -> Block:
    match block:
        case Bullets(items=items):
            return Bullets(items=items[:most])
        case Answers(items=items):
            return Answers(items=items[:most])
        case _:
            return block


def _table(section: Section | None) -> Parted:
    if section is None:
        return [], []
    more: list[Section] = []
    blocks: list[Block] = []
    for block in section.blocks:
        if isinstance(block, Grid) and len(block.rows) > _MOST_ROWS:
            first, rest = block.rows[:_MOST_ROWS], block.rows[_MOST_ROWS:]
            blocks.append(replace(block, rows=first))
            grid = replace(block, rows=rest, marked=frozenset())
            more.append(Section(title=f"More {section.title.lower()}", blocks=(grid,)))
        else:
            blocks.append(block)
    return [replace(section, blocks=tuple(blocks))], more


def _listed(name: str, sentences: Sequence[str], most: int) -> Parted:
    """Make the list of what can quote an agent."""
    items = tuple((quoting(sentence),) for sentence in sentences)
    title = name.capitalize()
    shown = [Section(title=title, blocks=(Bullets(items=items[:most]),))] if items else []
    return shown, [*_more(name, items[most:])]


def _more(name: str, items: Sequence[Text]) -> Iterator[Section]:
    if not items:
        return
    blocks: list[Block] = [Bullets(items=tuple(items[:_MOST_FOLDED]))]
    if omitted := len(items) - _MOST_FOLDED:
        blocks += [paragraph(f"Not shown: {omitted:,} more.")] if omitted > 0 else []
    yield Section(title=f"More {name} ({len(items)})", blocks=tuple(blocks))


def _lines(section: Section) -> int:
    return _HEADING + sum(_lines_of(block) + 1 for block in section.blocks)


def _lines_of(block: Block) -> int:
    match block:
        case Grid(rows=rows):
            return len(rows) + 2
        case Bullets(items=items):
            return len(items)
        case Answers(items=items):
            return sum(1 + bool(item.evidence) + bool(item.caveats) for item in items)
        case Paragraph(lines=lines) | Facts(lines=lines):
            return len(lines)
        case _:
            return 1
