"""What a terminal shows of a summary: the verdicts, a table, the gravest that must be known, and
where the rest is."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from swarm_bench.analysis.documents.blocks import paragraph
from swarm_bench.analysis.wording import amount, joined, listed
from swarm_bench.core.report.document import (
    Against,
    Answers,
    Block,
    Bullets,
    Cell,
    Grid,
    Parts,
    Span,
    Step,
    Text,
    Tone,
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
    lines = tuple(replace(it, next=None).line for it in answers.items if it.claim or it.figures)
    if lines:
        yield _first(Bullets(items=lines))


def _next(end: End) -> Iterator[Text]:
    blocks = (block for block in end.headline if isinstance(block, Answers))
    answers = [answer for block in blocks for answer in block.items]
    steps = [*_steps([it.next for it in answers if it.next])]
    for step in steps[:_MOST_NEXT]:
        yield step.line
    tones = {it.tone for it in answers}
    if end.next_step:
        yield end.next_step
    elif not steps and tones & {Tone.GOOD, Tone.BAD} and Tone.OPEN not in tones:
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
    """Keep the rows that matter most; with many columns, these rows are the columns."""
    others = (at for at in range(len(grid.rows)) if at not in grid.marked)
    ranked = [*sorted(grid.marked), *sorted(others, key=lambda at: _rank(grid.rows[at]))]
    kept = sorted(ranked[:_MOST_ROWS])
    if len(grid.headers) - grid.labels <= _MOST_COLUMNS or grid.labels != 1:
        marked = frozenset(at for at, row in enumerate(kept) if row in grid.marked)
        return replace(grid, rows=tuple(grid.rows[at] for at in kept), marked=marked)
    chosen = [grid.rows[at] for at in sorted(ranked[:_MOST_COLUMNS])]
    rows = tuple(
        (name, *(row[at] for row in chosen)) for at, name in enumerate(grid.headers[1:], start=1)
    )
    headers = (grid.headers[0], *(str(row[0]) for row in chosen))
    return replace(grid, headers=headers, rows=rows[:_MOST_MODES], marked=frozenset())


def _rank(row: Sequence[Cell]) -> int:
    """Return how much a row tells: what differs, then what has several parts."""
    if any(isinstance(cell, Against) and not isinstance(cell.change, str) for cell in row):
        return 0
    return 1 if any(isinstance(cell, Parts) for cell in row) else 2


def _elsewhere(caveats: int, notes: int) -> str:
    counts = {"more caveat": caveats - _MOST_CAVEATS, "note": notes}
    parts = [amount(number, name) for name, number in counts.items() if number > 0]
    return f"summary.md has {joined([*parts, 'all figures'])}."
