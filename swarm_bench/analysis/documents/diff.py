"""Two sessions side by side, as a document: what they came to, then what differs."""

from collections.abc import Iterator

from swarm_bench.analysis.documents.blocks import choose_scale, paragraph, quote_agent
from swarm_bench.core.metric import Style
from swarm_bench.core.report.diff import Diff, DiffRow, Role, SettingChange
from swarm_bench.core.report.document import (
    Answers,
    Block,
    Bullets,
    Cell,
    Document,
    Grid,
    Scale,
    Section,
    Span,
    Value,
)

_LEGEND = (
    "B against A, paired {case} by {case}: ratios of geometric means, differences of means, in "
    "brackets the 95 % interval over {case}s. p is that of the test that flips the signs of the "
    "{case}s. The hypothesis of {arm} is on its primary metric, whose interval is at the level "
    "that Holm's procedure leaves to it among the {arms}; everything but that and the quality is "
    "exploratory."
)


def make_document(diff: Diff) -> Document:
    """Lay out the comparison."""
    sections = tuple(_make_sections(diff))
    return Document(
        title="Session B against session A",
        banner=None,
        head=(*diff.sides, diff.common),
        sections=sections,
        brief=tuple(block for section in sections for block in _add_title(section)),
    )


def _add_title(section: Section) -> tuple[Block, ...]:
    """Put the title before the blocks, for a terminal."""
    return paragraph((Span(text=section.title, strong=True),)), *section.blocks


def _make_sections(diff: Diff) -> Iterator[Section]:
    answers = Answers(items=tuple(mode.answer for mode in diff.modes))
    caveats = (*_make_caveats(diff), *map(paragraph, diff.caveats))
    yield Section(title="What it came to", blocks=(answers, *caveats))
    changes = Bullets(items=tuple(map(_describe_change, diff.changes)))
    same = paragraph("Nothing that swarm-bench stores of a session.")
    yield Section(title="What differs", blocks=(changes if diff.changes else same,))
    compared_modes = [mode for mode in diff.modes if mode.rows]
    for number, mode in enumerate(compared_modes, start=1):
        headers = ("Metric", "A", "B", "B against A", "p", f"{diff.case.capitalize()}s")
        grid = Grid(headers=headers, labels=1, rows=tuple(map(_make_row, mode.rows)))
        legend = (_write_legend(diff),) if number == len(compared_modes) else ()
        yield Section(title=mode.mode, blocks=(grid, *legend))


def _make_caveats(diff: Diff) -> Iterator[Block]:
    """Say what must be known of each mode in each session, a line for each caveat."""
    items = tuple(
        (Span(text=mode.mode, strong=True), f", {name}: ", quote_agent(caveat.qualification), ".")
        for mode in diff.modes
        for name, caveats in mode.caveats.items()
        for caveat in caveats
    )
    if items:
        yield paragraph("Caveats:")
        yield Bullets(items=items)


def _write_legend(diff: Diff) -> Block:
    article = "an" if diff.arm == "arm" else "a"
    return paragraph(
        _LEGEND.format(case=diff.case, arm=f"{article} {diff.arm}", arms=f"{diff.arm}s")
    )


def _describe_change(change: SettingChange) -> tuple[str | Span, ...]:
    arrow = f"{change.before} → {change.after}" if change.before else change.after
    return Span(text=change.subject, strong=True), ": ", quote_agent(arrow)


def _make_row(row: DiffRow) -> tuple[Cell, ...]:
    title = row.metric.title
    style = row.metric.style
    low, high = row.interval or (None, None)
    against = Value(scale=choose_scale(row.metric), value=row.estimate, low=low, high=high)
    return (
        title if row.role is Role.EXPLORATORY else f"{title}, {row.role}",
        *(Value(scale=style, value=figure) for figure in (row.before, row.after)),
        against,
        None if row.p is None else Value(scale=Scale.PROBABILITY, value=row.p),
        Value(scale=Style.WHOLE, value=row.cases),
    )
