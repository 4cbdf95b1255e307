"""How a summary is laid out: what everybody reads stands open, and the rest is folded."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from swarm_bench.analysis.documents.blocks import paragraph, quoting
from swarm_bench.analysis.documents.brief import End, brief
from swarm_bench.core.report.document import (
    Answers,
    Attachment,
    Block,
    Bullets,
    Document,
    Fact,
    Facts,
    Grid,
    Paragraph,
    Section,
    Text,
)

OPEN_LINES = 80
"""What a reader sees without opening anything."""
_MOST_VERDICTS = 12
_MOST_ROWS = 20
_MOST_FOLDED = 30
"""Sentences in a fold."""
_FEWEST_NOTES = 2
_HEADING = 2


@dataclass(frozen=True, kw_only=True)
class Opening:
    """What stands open in a summary, in this order."""

    headline: tuple[Block, ...]
    """The verdicts, and what must be known beside them."""
    warnings: Sequence[str]
    table: Section | None = None
    notes: Sequence[str] = ()
    more: tuple[Section, ...] = ()
    brief: tuple[Block, ...] | None = None
    """The headline as a terminal shows it; `None` where it is the same."""
    tables: tuple[Grid, ...] | None = None
    """The table as a terminal shows it; `None` where it is the same."""
    gravest: Sequence[str] = ()
    """What a terminal shows of warnings and caveats, the gravest first."""
    aside: Text = ()
    """What a terminal shows where there is room."""
    next_step: str = ""
    """What a terminal shows of what comes next, where no verdict says so."""


@dataclass(frozen=True, kw_only=True)
class About:
    """What the summary is of."""

    title: str
    banner: str | None
    head: tuple[tuple[Fact, ...], ...]


def summary(
    about: About, opening: Opening, details: Iterable[Section], apart: Attachment | None = None
) -> Document:
    """Lay out a summary: the opening, and the details folded. What has no room in the one is the
    first of the other."""
    set_up = Section(title="Set-up", blocks=(Facts(lines=about.head),))
    headline, more_verdicts = _verdicts(opening.headline)
    table, more_rows = _table(opening.table)
    fixed = [*headline, *table, *opening.more, set_up]
    room = OPEN_LINES - 2 - 2 * bool(about.banner) - sum(map(_lines, fixed))
    noted = min(len(opening.notes), max(_FEWEST_NOTES, room // 3))
    room -= noted + (_HEADING + 1) * (bool(opening.warnings) + bool(noted))
    warnings, more_warnings = _listed("warnings", opening.warnings, max(1, room))
    notes, more_notes = _listed("notes", opening.notes, noted)
    further = [*more_verdicts, *more_warnings, *more_rows, *more_notes]
    folded = (replace(section, folded=True) for section in (*further, *details))
    return Document(
        title=about.title,
        banner=about.banner,
        head=(),
        sections=(*headline, *warnings, *table, *opening.more, *notes, set_up, *folded),
        apart=apart,
        brief=tuple(brief(_end(opening))),
    )


def _end(opening: Opening) -> End:
    of_table = opening.table.blocks if opening.table else ()
    same = tuple(block for block in of_table if isinstance(block, Grid | Bullets))
    caveats = opening.gravest or opening.warnings
    return End(
        headline=opening.headline if opening.brief is None else opening.brief,
        tables=same if opening.tables is None else opening.tables,
        caveats=caveats,
        notes=len({*opening.notes}.difference(caveats)),
        aside=opening.aside,
        next_step=opening.next_step,
    )


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
        case Grid(rows=rows, about=about):
            return len(rows) + 2 + 2 * bool(about)
        case Bullets(items=items):
            return len(items)
        case Answers(items=items):
            return sum(1 + bool(item.evidence) + bool(item.caveats) for item in items)
        case Paragraph(lines=lines) | Facts(lines=lines):
            return len(lines)
        case _:
            return 1
