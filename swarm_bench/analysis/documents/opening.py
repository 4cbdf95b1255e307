"""How a summary is laid out: what everybody reads stands open, and the rest is folded."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from swarm_bench.analysis.documents.blocks import paragraph, quote_agent
from swarm_bench.analysis.documents.brief import End, make_brief
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
_MAX_VERDICTS = 12
_MAX_ROWS = 20
_MAX_FOLDED = 30
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
    further_sections: tuple[Section, ...] = ()
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
class SummaryHead:
    """What the summary is of."""

    title: str
    banner: str | None
    head: tuple[tuple[Fact, ...], ...]


def make_summary(
    summary_head: SummaryHead,
    opening: Opening,
    details: Iterable[Section],
    details_file: Attachment | None = None,
) -> Document:
    """Lay out a summary: the opening, and the details folded. What has no room in the one is the
    first of the other."""
    set_up = Section(title="Set-up", blocks=(Facts(lines=summary_head.head),))
    headline, more_verdicts = _split_verdicts(opening.headline)
    table, more_rows = _split_table(opening.table)
    fixed = [*headline, *table, *opening.further_sections, set_up]
    room = OPEN_LINES - 2 - 2 * bool(summary_head.banner) - sum(map(_count_lines, fixed))
    note_count = min(len(opening.notes), max(_FEWEST_NOTES, room // 3))
    room -= note_count + (_HEADING + 1) * (bool(opening.warnings) + bool(note_count))
    warnings, more_warnings = _split_sentences("warnings", opening.warnings, max(1, room))
    notes, more_notes = _split_sentences("notes", opening.notes, note_count)
    further = [*more_verdicts, *more_warnings, *more_rows, *more_notes]
    folded = (replace(section, folded=True) for section in (*further, *details))
    return Document(
        title=summary_head.title,
        banner=summary_head.banner,
        head=(),
        sections=(*headline, *warnings, *table, *opening.further_sections, *notes, set_up, *folded),
        apart=details_file,
        brief=tuple(make_brief(_make_end(opening))),
    )


def _make_end(opening: Opening) -> End:
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


def _split_verdicts(blocks: tuple[Block, ...]) -> Parted:
    if not blocks:
        return [], []
    first_blocks = tuple(_take_first(block, _MAX_VERDICTS) for block in blocks)
    remaining = [answer for block in blocks if isinstance(block, Answers) for answer in block.items]
    remaining, further = remaining[_MAX_VERDICTS:], list[Section]()
    if remaining:
        answers = Answers(items=tuple(remaining[:_MAX_FOLDED]))
        omitted = len(remaining) - _MAX_FOLDED
        omission = [paragraph(f"Not shown: {omitted:,} more.")] if omitted > 0 else []
        further = [Section(title=f"More verdicts ({len(remaining)})", blocks=(answers, *omission))]
    return [Section(title="Headline", blocks=first_blocks)], further


def _take_first(block: Block, number: int) -> Block:
    match block:
        case Bullets(items=items):
            return Bullets(items=items[:number])
        case Answers(items=items):
            return Answers(items=items[:number])
        case _:
            return block


def _split_table(section: Section | None) -> Parted:
    if section is None:
        return [], []
    further: list[Section] = []
    blocks: list[Block] = []
    for block in section.blocks:
        if isinstance(block, Grid) and len(block.rows) > _MAX_ROWS:
            first, remaining = block.rows[:_MAX_ROWS], block.rows[_MAX_ROWS:]
            blocks.append(replace(block, rows=first))
            grid = replace(block, rows=remaining, marked=frozenset())
            further.append(Section(title=f"More {section.title.lower()}", blocks=(grid,)))
        else:
            blocks.append(block)
    return [replace(section, blocks=tuple(blocks))], further


def _split_sentences(name: str, sentences: Sequence[str], number: int) -> Parted:
    """Make the list of what can quote an agent."""
    items = tuple((quote_agent(sentence),) for sentence in sentences)
    title = name.capitalize()
    visible = [Section(title=title, blocks=(Bullets(items=items[:number]),))] if items else []
    return visible, [*_fold_items(name, items[number:])]


def _fold_items(name: str, items: Sequence[Text]) -> Iterator[Section]:
    if not items:
        return
    blocks: list[Block] = [Bullets(items=tuple(items[:_MAX_FOLDED]))]
    if omitted := len(items) - _MAX_FOLDED:
        blocks += [paragraph(f"Not shown: {omitted:,} more.")] if omitted > 0 else []
    yield Section(title=f"More {name} ({len(items)})", blocks=tuple(blocks))


def _count_lines(section: Section) -> int:
    return _HEADING + sum(_count_block_lines(block) + 1 for block in section.blocks)


def _count_block_lines(block: Block) -> int:
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
