"""How a summary is laid out: what everybody reads stands open, the rest is folded, and a terminal
shows the verdicts, a table and the gravest that must be known."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from swarm_bench.analysis.documents.blocks import paragraph, quote_agent
from swarm_bench.analysis.wording import join, list_few, quantify
from swarm_bench.core.report.document import (
    Answers,
    Attachment,
    Block,
    Bullets,
    Cell,
    CombinedValue,
    ComparedValue,
    Document,
    Fact,
    Facts,
    Grid,
    Paragraph,
    Part,
    Section,
    Span,
    Step,
    Text,
    Tone,
    Value,
)

_MAX_ITEMS = 8
_MAX_TERMINAL_ROWS = 8
_MAX_CAVEATS = 3
_MAX_STEPS = 2
_MAX_COLUMNS = 4
_MAX_MODES = 12
_QUOTED = 130
"""Characters of a caveat: two lines."""


def make_brief(opening: "Opening") -> Iterator[Block]:
    """Make what a terminal shows; a renderer makes it fit."""
    headline = opening.headline if opening.brief is None else opening.brief
    of_table = opening.table.blocks if opening.table else ()
    same = tuple(block for block in of_table if isinstance(block, Grid | Bullets))
    for block in (*headline, *(same if opening.tables is None else opening.tables)):
        match block:
            case Answers():
                yield from _list_verdicts(block)
            case Bullets():
                yield _cut_bullets(block)
            case Grid():
                yield _shorten(block)
            case _:
                yield block
    if opening.aside:
        yield replace(paragraph(opening.aside), is_spare=True)
    sentences = opening.gravest or opening.warnings
    caveats = [*_merge(sentences)]
    if items := tuple(map(_make_caveat, caveats[:_MAX_CAVEATS])):
        yield Bullets(items=items, is_spare=True)
    notes = len({*opening.notes}.difference(sentences))
    next_lines = _list_next(headline, opening.next_step)
    yield paragraph(*next_lines, _describe_file(len(caveats), notes))


def _list_verdicts(answers: Answers) -> Iterator[Block]:
    """Yield the verdict lines; what comes next stands at the end, once."""
    answer_items = [
        answer
        for answer in answers.items
        if (answer.claim or answer.figures) and not answer.is_aside
    ]
    lines = tuple(replace(answer, next=None).line for answer in answer_items)
    if lines:
        yield _cut_bullets(Bullets(items=lines))


def _list_next(headline: Iterable[Block], next_step: str) -> Iterator[Text]:
    blocks = (block for block in headline if isinstance(block, Answers))
    answers = [answer for block in blocks for answer in block.items]
    steps = [*_select_steps([answer.next for answer in answers if answer.next])]
    for step in steps[:_MAX_STEPS]:
        yield step.line
    settled = [answer.is_settled for answer in answers if answer.figures and not answer.is_aside]
    if next_step:
        yield next_step
    elif settled and all(settled) and not steps:
        yield "The verdict stands: no further run is needed."


def _select_steps(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield each once, and of those for more cases that for the most."""
    max_cases = max((step.cases for step in steps), default=0)
    yield from (step for step in dict.fromkeys(steps) if step.cases in (0, max_cases))


def _cut_bullets(bullets: Bullets) -> Bullets:
    omitted = len(bullets.items) - _MAX_ITEMS
    items = bullets.items[:_MAX_ITEMS]
    return replace(bullets, items=items, omitted=max(0, omitted), is_spare=True)


def _merge(caveats: Sequence[str]) -> Iterator[str]:
    """Yield sentences that are the same of several modes once, with all their names."""
    modes = defaultdict[str, list[str]](list)
    for caveat in caveats:
        mode, _, sentence = caveat.partition(": ")
        modes[sentence].append(mode)
    for sentence, names in modes.items():
        yield f"{list_few(names)}: {sentence}" if sentence else names[0]


def _make_caveat(text: str) -> Text:
    return (Span(text="Caveat:", tone=Tone.OPEN), " ", Span(text=text, longest=_QUOTED))


def _shorten(grid: Grid) -> Grid:
    """Keep the rows that matter most, and put those that the verdicts are on first; with many
    columns, these rows are the columns."""
    marked = sorted(grid.marked)
    unmarked = [*_find_unmarked(grid)]
    ranked = [*marked, *sorted(unmarked, key=lambda at: _rank_row(grid.rows[at]))][
        :_MAX_TERMINAL_ROWS
    ]
    row_numbers = [*marked, *(at for at in unmarked if at in ranked)]
    if len(grid.headers) - grid.labels <= _MAX_COLUMNS or grid.labels != 1:
        first = frozenset(range(len(marked)))
        return replace(grid, rows=tuple(grid.rows[at] for at in row_numbers), marked=first)
    best = ranked[:_MAX_COLUMNS]
    chosen_rows = [grid.rows[at] for at in row_numbers if at in best]
    rows = tuple(
        (name, *(row[at] for row in chosen_rows))
        for at, name in enumerate(grid.headers[1:], start=1)
    )
    headers = (grid.headers[0], *(str(row[0]) for row in chosen_rows))
    none = frozenset[int]()
    return replace(grid, headers=headers, rows=rows[:_MAX_MODES], marked=none, controls=none)


def _find_unmarked(grid: Grid) -> Iterator[int]:
    """Yield the numbers of the rows without a mark that say something, and not the same as the
    last one with a mark: tokens that the cache saved nothing of are reported alike."""
    primary = grid.rows[max(grid.marked)][grid.labels :] if grid.marked else None
    for at, row in enumerate(grid.rows):
        cells = row[grid.labels :]
        if at not in grid.marked and cells != primary and not all(map(_is_missing, cells)):
            yield at


def _is_missing(cell: Cell) -> bool:
    match cell:
        case Value(value=value) | ComparedValue(own=Value(value=value)):
            return value is None
        case CombinedValue(parts=parts):
            return not parts
        case _:
            return cell is None


def _rank_row(row: Sequence[Cell]) -> int:
    """Return how much a row tells: what differs, then what has several parts."""
    if any(isinstance(cell, ComparedValue) and not isinstance(cell.change, str) for cell in row):
        return 0
    return 1 if any(isinstance(cell, CombinedValue) for cell in row) else 2


def _describe_file(caveats: int, notes: int) -> str:
    counts = {"more caveat": caveats - _MAX_CAVEATS, "note": notes}
    parts = [quantify(number, name) for name, number in counts.items() if number > 0]
    return f"summary.md has {join([*parts, 'all figures'])}."


OPEN_LINES = 80
"""Lines that a reader sees without opening anything."""
_MAX_VERDICTS = 12
_MAX_ROWS = 20
_MAX_FOLDED = 30
"""Sentences in a fold."""
_FEWEST_NOTES = 2
_HEADING = 2
_PARTS = {"warnings": Part.WARNINGS}


@dataclass(frozen=True, kw_only=True)
class Opening:
    """What a summary is of, and what stands open in it, in this order."""

    title: str
    banner: str | None = None
    head: tuple[tuple[Fact, ...], ...] = ()
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
    """Gravest warnings and caveats, as a terminal shows them, the gravest first."""
    aside: Text = ()
    """Text that a terminal shows where there is room."""
    next_step: str = ""
    """Next step that a terminal shows, where no verdict says so."""


def make_summary(
    opening: Opening, details: Iterable[Section], details_file: Attachment | None = None
) -> Document:
    """Lay out a summary: the opening, and the details folded. What has no room in the one is the
    first of the other."""
    set_up = Section(title="Set-up", blocks=(Facts(lines=opening.head),), part=Part.SET_UP)
    headline, more_verdicts = _split_verdicts(opening.headline)
    table, more_rows = _split_table(opening.table)
    fixed = [*headline, *table, *opening.further_sections, set_up]
    room = OPEN_LINES - 2 - 2 * bool(opening.banner) - sum(map(_count_lines, fixed))
    note_count = min(len(opening.notes), max(_FEWEST_NOTES, room // 3))
    room -= note_count + (_HEADING + 1) * (bool(opening.warnings) + bool(note_count))
    warnings, more_warnings = _split_sentences("warnings", opening.warnings, max(1, room))
    notes, more_notes = _split_sentences("notes", opening.notes, note_count)
    further = [*more_verdicts, *more_warnings, *more_rows, *more_notes]
    folded = (replace(section, folded=True) for section in (*further, *details))
    return Document(
        title=opening.title,
        banner=opening.banner,
        head=(),
        sections=(*headline, *warnings, *table, *opening.further_sections, *notes, set_up, *folded),
        apart=details_file,
        brief=tuple(make_brief(opening)),
    )


Parted = tuple[list[Section], list[Section]]
"""Sections that stand open, and folded ones."""


def _split_verdicts(blocks: tuple[Block, ...]) -> Parted:
    if not blocks:
        return [], []
    first_blocks = tuple(_take_first(block, _MAX_VERDICTS) for block in blocks)
    answer_blocks = [block for block in blocks if isinstance(block, Answers)]
    remaining = [answer for block in answer_blocks for answer in block.items]
    size = next((block.size for block in answer_blocks), "")
    remaining, further = remaining[_MAX_VERDICTS:], list[Section]()
    if remaining:
        answers = Answers(items=tuple(remaining[:_MAX_FOLDED]), size=size)
        omitted = len(remaining) - _MAX_FOLDED
        omission = [paragraph(f"Not shown: {omitted:,} more.")] if omitted > 0 else []
        title = f"More verdicts ({len(remaining)})"
        further = [Section(title=title, blocks=(answers, *omission), part=Part.HEADLINE)]
    return [Section(title="Headline", blocks=first_blocks, part=Part.HEADLINE)], further


def _take_first(block: Block, number: int) -> Block:
    match block:
        case Bullets(items=items):
            return Bullets(items=items[:number])
        case Answers(items=items):
            return replace(block, items=items[:number])
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
    title, part = name.capitalize(), _PARTS.get(name)
    first_items = Bullets(items=items[:number])
    visible = [Section(title=title, blocks=(first_items,), part=part)] if items else []
    return visible, [*_fold_items(name, items[number:])]


def _fold_items(name: str, items: Sequence[Text]) -> Iterator[Section]:
    if not items:
        return
    blocks: list[Block] = [Bullets(items=tuple(items[:_MAX_FOLDED]))]
    if omitted := len(items) - _MAX_FOLDED:
        blocks += [paragraph(f"Not shown: {omitted:,} more.")] if omitted > 0 else []
    title = f"More {name} ({len(items)})"
    yield Section(title=title, blocks=tuple(blocks), part=_PARTS.get(name))


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
