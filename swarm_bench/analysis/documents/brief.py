"""What a terminal shows of a summary: the verdicts, a table, the gravest that must be known, and
where the rest is."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from swarm_bench.analysis.documents.blocks import paragraph
from swarm_bench.analysis.wording import amount, joined, listed
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

_MOST_ITEMS = 8
_MOST_ROWS = 8
_MOST_CAVEATS = 3
_MOST_NEXT = 2
_MOST_COLUMNS = 4
_MOST_MODES = 12
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


def brief(end: End) -> Iterator[Block]:
    """Make what a terminal shows; a renderer makes it fit."""
    for block in (*end.headline, *end.tables):
        match block:
            case Answers():
                yield from _verdicts(block)
            case Bullets():
                yield _first(block)
            case Grid():
                yield _short(block)
            case _:
                yield block
    if end.aside:
        yield replace(paragraph(end.aside), is_spare=True)
    caveats = [*_merged(end.caveats)]
    if items := tuple(map(_caveat, caveats[:_MOST_CAVEATS])):
        yield Bullets(items=items, is_spare=True)
    yield paragraph(*_next(end), _elsewhere(len(caveats), end.notes))


def _verdicts(answers: Answers) -> Iterator[Block]:
    """Yield the verdict lines; what comes next stands at the end, once."""
    shown = [it for it in answers.items if (it.claim or it.figures) and not it.is_aside]
    lines = tuple(replace(it, next=None).line for it in shown)
    if lines:
        yield _first(Bullets(items=lines))


def _next(end: End) -> Iterator[Text]:
    blocks = (block for block in end.headline if isinstance(block, Answers))
    answers = [answer for block in blocks for answer in block.items]
    steps = [*_steps([it.next for it in answers if it.next])]
    for step in steps[:_MOST_NEXT]:
        yield step.line
    settled = [it.is_settled for it in answers if it.figures and not it.is_aside]
    if end.next_step:
        yield end.next_step
    elif settled and all(settled) and not steps:
        yield "The verdict stands: no further run is needed."


def _steps(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield each once, and of those for more cases that for the most."""
    most = max((step.cases for step in steps), default=0)
    yield from (step for step in dict.fromkeys(steps) if step.cases in (0, most))


def _first(bullets: Bullets) -> Bullets:
    omitted = len(bullets.items) - _MOST_ITEMS
    items = bullets.items[:_MOST_ITEMS]
    return replace(bullets, items=items, omitted=max(0, omitted), is_spare=True)


def _merged(caveats: Sequence[str]) -> Iterator[str]:
    """Yield sentences that are the same of several modes once, with all their names."""
    modes = defaultdict[str, list[str]](list)
    for caveat in caveats:
        mode, _, sentence = caveat.partition(": ")
        modes[sentence].append(mode)
    for sentence, names in modes.items():
        yield f"{listed(names)}: {sentence}" if sentence else names[0]


def _caveat(text: str) -> Text:
    return (Span(text="Caveat:", tone=Tone.OPEN), " ", Span(text=text, longest=_QUOTED))


def _short(grid: Grid) -> Grid:
    """Keep the rows that matter most, and put those that the verdicts are on first; with many
    columns, these rows are the columns."""
    marked = sorted(grid.marked)
    others = [*_others(grid)]
    ranked = [*marked, *sorted(others, key=lambda at: _rank(grid.rows[at]))][:_MOST_ROWS]
    kept = [*marked, *(at for at in others if at in ranked)]
    if len(grid.headers) - grid.labels <= _MOST_COLUMNS or grid.labels != 1:
        first = frozenset(range(len(marked)))
        return replace(grid, rows=tuple(grid.rows[at] for at in kept), marked=first)
    best = ranked[:_MOST_COLUMNS]
    chosen = [grid.rows[at] for at in kept if at in best]
    rows = tuple(
        (name, *(row[at] for row in chosen)) for at, name in enumerate(grid.headers[1:], start=1)
    )
    headers = (grid.headers[0], *(str(row[0]) for row in chosen))
    none = frozenset[int]()
    return replace(grid, headers=headers, rows=rows[:_MOST_MODES], marked=none, controls=none)


def _others(grid: Grid) -> Iterator[int]:
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


def _rank(row: Sequence[Cell]) -> int:
    """Return how much a row tells: what differs, then what has several parts."""
    if any(isinstance(cell, ComparedValue) and not isinstance(cell.change, str) for cell in row):
        return 0
    return 1 if any(isinstance(cell, CombinedValue) for cell in row) else 2


def _elsewhere(caveats: int, notes: int) -> str:
    counts = {"more caveat": caveats - _MOST_CAVEATS, "note": notes}
    parts = [amount(number, name) for name, number in counts.items() if number > 0]
    return f"summary.md has {joined([*parts, 'all figures'])}."
