"""The summary of a series of growing swarms as a document."""

from collections.abc import Iterator

from swarm_bench.analysis.documents.blocks import (
    NOT_REPORTED,
    definitions,
    not_reported,
    paragraph,
    quoting,
    standing_answer,
)
from swarm_bench.analysis.documents.opening import About, Opening, summary
from swarm_bench.analysis.wording import amount, joined
from swarm_bench.core.metric import Metric
from swarm_bench.core.report import document as parts
from swarm_bench.core.report.document import (
    Answers,
    Banner,
    Block,
    Bullets,
    Document,
    Grid,
    Scale,
    Section,
    Span,
    Value,
)
from swarm_bench.core.report.series import Cell, ModeSeries, Series, SeriesRow, Sizes

_LEGEND = (
    "In brackets: against the smallest swarms, the median over tasks of a task's median by that in "
    "the smallest; of indexing, the ratio of the medians; nothing where one of the two sizes has "
    "no verdict. Every size has the same trials, cut into swarms that share a workspace and its "
    "services."
)


def document(series: Series) -> Document:
    """Lay out what a series says."""
    sharing = Section(title="What sharing costs or brings", blocks=tuple(_sentences(series)))
    opening = Opening(
        headline=tuple(_headline(series)),
        warnings=series.warnings,
        table=sharing,
        notes=series.notes,
        more=(Section(title="Sessions", blocks=(_sessions(series),)),),
    )
    about = About(title=series.title, banner=series.banner, head=series.head)
    return summary(about, opening, _details(series))


def _details(series: Series) -> Iterator[Section]:
    for mode in series.modes:
        yield Section(title=mode.mode, blocks=tuple(_table(mode, series)))
    if spent := _spent(series):
        blocks = (Banner(text=series.banner_of_spent), spent)
        yield Section(title=series.title_of_spent, blocks=blocks)
    yield Section(title="How to read the tables", blocks=tuple(_legend(series)))


def _headline(series: Series) -> Iterator[Block]:
    verdict = Span(text="no verdict", strong=True)
    if nothing := tuple(
        (f"{_at(sizes)}: there is ", verdict, ": ", quoting(why))
        for why, sizes in series.no_verdict.items()
    ):
        yield Bullets(items=nothing)
    if answers := tuple(
        standing_answer(standing, f" ({_at(sizes)})")
        for mode in series.modes
        for standing, sizes in mode.standings.items()
    ):
        yield Answers(items=answers)
    if caveats := tuple(
        (Span(text=mode.mode, strong=True), f", {_at(sizes)}, with caveats: ", quoting(why), ".")
        for mode in series.modes
        for why, sizes in mode.qualifications.items()
    ):
        yield Bullets(items=caveats)


def _at(sizes: Sizes) -> str:
    return f"{joined([*map(str, sizes)])} at a time"


def _sentences(series: Series) -> Iterator[Block]:
    items = tuple(
        mode.sentence
        or f"{mode.mode}: nothing can be said; there is no verdict on it with "
        f"{_at(mode.no_verdict)}."
        for mode in series.modes
        if mode.sentence or mode.no_verdict
    )
    none = "Nothing can be said yet: it takes two sizes that have figures."
    yield Bullets(items=items) if items else paragraph(none)
    yield paragraph(series.remark)


def _table(mode: ModeSeries, series: Series) -> Iterator[Block]:
    headers = ("Metric", *_sizes(series))
    yield Grid(headers=headers, labels=1, rows=tuple(map(_row, mode.rows)))
    if mode.excluded:
        yield paragraph(f"Left out of the times and tokens: {'; '.join(mode.excluded)}.")
    yield from map(paragraph, not_reported(mode.unknown, "series"))


def _spent(series: Series) -> Grid | None:
    """Make the table of what fixed rules spent; `None` when a model decided."""
    rows = [(mode.mode, *_row(row)) for mode in series.modes for row in mode.spent_by_rules]
    headers = ("Mode", "Metric", *_sizes(series))
    return Grid(headers=headers, labels=2, rows=tuple(rows)) if rows else None


def _sizes(series: Series) -> list[str]:
    return [f"{size} at a time" for size in series.sizes]


def _row(row: SeriesRow) -> tuple[parts.Cell, ...]:
    return (row.metric.title, *(_cell(row.metric, cell) for cell in row.cells))


def _cell(metric: Metric, cell: Cell) -> parts.Cell:
    if cell.value is None:
        return "left out" if cell.excluded else NOT_REPORTED
    if cell.of is not None:
        return f"{cell.value:g} of {cell.of}"
    ratio = None if cell.ratio is None else Value(scale=Scale.RATIO, value=cell.ratio)
    return Value(scale=metric.style, value=cell.value, beside=ratio)


def _legend(series: Series) -> Iterator[Block]:
    rows = (row for mode in series.modes for row in (*mode.rows, *mode.spent_by_rules))
    yield paragraph(_LEGEND)
    yield from definitions({row.metric.key: row.metric for row in rows}.values())


def _sessions(series: Series) -> Bullets:
    texts = {size: f"{amount(size, 'agent')} in a workspace" for size in series.sizes}
    return Bullets(
        items=tuple(
            (Span(text=text, address=f"agents-{size}/summary.md"),) for size, text in texts.items()
        )
    )
