"""What a terminal shows of a summary: the verdicts, a table, the gravest that must be known, and
where the rest is."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from swarm_bench.analysis.documents.blocks import paragraph
from swarm_bench.analysis.wording import join, list_few, quantify
from swarm_bench.core.report.document import (
    Answers,
    Block,
    Bullets,
    Cell,
    CombinedValue,
    ComparedValue,
    Grid,
    Span,
    Step,
    Text,
    Tone,
    Value,
)

_MAX_ITEMS = 8
_MAX_ROWS = 8
_MAX_CAVEATS = 3
_MAX_STEPS = 2
_MAX_COLUMNS = 4
_MAX_MODES = 12
_QUOTED = 130
"""Characters of a caveat: two lines."""


@dataclass(frozen=True, kw_only=True)
class End:
    """What a terminal shows of a summary."""

    headline: Sequence[Block]
    tables: Sequence[Grid | Bullets]
    caveats: Sequence[str]
    """Warnings and caveats, the gravest first."""
    notes: int
    """That only the file has."""
    aside: Text = ()
    """What is said where there is room."""
    next_step: str = ""


def make_brief(end: End) -> Iterator[Block]:
    """Make what a terminal shows; a renderer makes it fit."""
    for block in (*end.headline, *end.tables):
        match block:
            case Answers():
                yield from _list_verdicts(block)
            case Bullets():
                yield _cut_bullets(block)
            case Grid():
                yield _shorten(block)
            case _:
                yield block
    if end.aside:
        yield replace(paragraph(end.aside), is_spare=True)
    caveats = [*_merge(end.caveats)]
    if items := tuple(map(_make_caveat, caveats[:_MAX_CAVEATS])):
        yield Bullets(items=items, is_spare=True)
    yield paragraph(*_list_next(end), _describe_file(len(caveats), end.notes))


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


def _list_next(end: End) -> Iterator[Text]:
    blocks = (block for block in end.headline if isinstance(block, Answers))
    answers = [answer for block in blocks for answer in block.items]
    steps = [*_select_steps([answer.next for answer in answers if answer.next])]
    for step in steps[:_MAX_STEPS]:
        yield step.line
    settled = [answer.is_settled for answer in answers if answer.figures and not answer.is_aside]
    if end.next_step:
        yield end.next_step
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
    ranked = [*marked, *sorted(unmarked, key=lambda at: _rank_row(grid.rows[at]))][:_MAX_ROWS]
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
