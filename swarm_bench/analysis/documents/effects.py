"""The table of the headline: what each mode came to, and how that stands against the reference."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from swarm_bench.analysis.documents.blocks import figure, metric_row, ratio
from swarm_bench.analysis.wording import amount
from swarm_bench.core.metric import Better, Metric, Style
from swarm_bench.core.report.document import Cell, CombinedValue, ComparedValue, Grid, Scale, Value
from swarm_bench.core.report.ratios import Column, Difference, Indexing, Ratio, RatioRow, Ratios
from swarm_bench.core.report.report import FoundRow, Headline, Row

_PRIMARY = ", primary"


def effects(headline: Headline, modes: Sequence[str]) -> Grid | None:
    """Make the table; `None` where nothing was found or compared. The headers name the modes
    without a verdict: a column may be quoted alone."""
    barred = {mode.mode for mode in headline.standings if mode.no_verdict}
    judged = {mode.mode for mode in headline.standings if mode.concluded is not None} - barred
    rows = (*_found_rows(headline), *_divided(headline.ratios, modes, barred))
    shown = [mode for mode in modes if headline.correctness or mode not in barred]
    headers = [f"{mode} (no verdict)" if mode in barred else mode for mode in shown]
    places = [0, *(1 + modes.index(mode) for mode in shown)]
    cells = tuple(tuple(row[at] for at in places) for row in rows)
    if not rows:
        return None
    return Grid(
        headers=("Metric", *headers),
        labels=1,
        rows=cells,
        about=_over(headline),
        ranges="in brackets the 95 % interval over tasks" if headline.ratios else "",
        marked=_marked(headline, [row[0] for row in rows]),
        controls=frozenset(at for at, mode in enumerate(shown, start=1) if mode not in judged),
    )


def _over(headline: Headline) -> str:
    """Say what the figures are over, and what stands beside them."""
    ratios, correctness = headline.ratios, headline.correctness
    if ratios is None:
        return ""
    size = f"Over {amount(ratios.tasks, 'task')} and {amount(ratios.runs, 'run')}"
    differences = (
        it for row in (correctness.rows if correctness else ()) for it in row.differences
    )
    judged = max((it.tasks for it in differences if it), default=0)
    if 0 < judged < ratios.tasks:
        size += f", what was found over {judged} of the tasks"
    return f"{size}; beside each figure, how it stands against {ratios.reference}"


def _marked(headline: Headline, titles: Sequence[Cell]) -> frozenset[int]:
    """Return the numbers of the rows that the verdicts are on: the first one on what was
    found, and the primary metric."""
    marked = {0} if headline.correctness else set()
    return frozenset(marked | {at for at, title in enumerate(titles) if _is_primary(title)})


def as_used(ratios: Ratios | None) -> Grid | None:
    """Make the table of the trials that used their mode's tool; `None` where all did."""
    return ratio_grid(ratios, as_used=True) if ratios else None


def ratio_grid(ratios: Ratios, *, as_used: bool = False) -> Grid | None:
    """Make a table of ratios alone."""
    places = [at for at, column in enumerate(ratios.columns) if column.as_used >= as_used]
    headers = [_column(ratios.columns[at]) for at in places]
    rows = tuple(
        (row.metric.title, *(shown_ratio(ratios, row, at) for at in places)) for row in ratios.rows
    )
    return Grid(headers=("Metric", *headers), labels=1, rows=rows) if places else None


def per_right_answer(rows: Iterable[Row]) -> Iterator[tuple[Cell, ...]]:
    """Make the rows of what a right answer took; where there is none, the cells say so."""
    for row in rows:
        title, *cells = metric_row(row)
        yield (
            title,
            *(
                "no right answer" if figure and figure.value is None and figure.runs else cell
                for figure, cell in zip(row.figures, cells, strict=True)
            ),
        )


def _found_rows(headline: Headline) -> Iterator[tuple[Cell, ...]]:
    if headline.correctness:
        yield from map(_found_row, headline.correctness.rows)
        yield from per_right_answer(headline.correctness.spent)


def _found_row(row: FoundRow) -> tuple[Cell, ...]:
    style = row.metric.style
    cells = (
        _against(figure(style, own), _difference(style, change))
        for own, change in zip(row.figures, row.differences, strict=True)
    )
    return (row.metric.title, *cells)


def _difference(style: Style, difference: Difference | None) -> Value | str | None:
    if difference is None:
        return None
    if difference.estimate == 0 and difference.interval in (None, (0, 0)):
        return "same"
    low, high = difference.interval or (None, None)
    scale = Scale.POINTS if style is Style.PERCENT else Scale.DIFFERENCE
    return Value(scale=scale, value=difference.estimate, low=low, high=high)


def _against(own: Value | None, change: Value | str | None) -> Cell:
    return ComparedValue(own=own, change=change) if own and change else own


def _divided(
    ratios: Ratios | None, modes: Sequence[str], barred: Collection[str]
) -> Iterator[tuple[Cell, ...]]:
    """Yield what was spent, nothing of modes without a verdict. Indexing stands beside the time
    that it may be part of."""
    if ratios is None:
        return
    columns = {column.mode: at for at, column in enumerate(ratios.columns) if not column.as_used}
    for row in ratios.rows:
        title, style = row.metric.title, row.metric.style
        title = f"{title}{_PRIMARY}" if row.metric.key == ratios.primary else title
        typical = (
            None if mode in barred else Value(scale=style, value=value)
            for mode, value in zip(modes, row.typical, strict=True)
        )
        changes = [
            shown_ratio(ratios, row, columns[mode]) if mode in columns else None for mode in modes
        ]
        yield (title, *map(_against, typical, changes))
        if row.metric.key == "wall_seconds" and (indexing := ratios.indexing):
            cells = (indexing.cells[columns[mode]] if mode in columns else None for mode in modes)
            yield (indexing.metric.title, *map(_indexing, cells))


def _is_primary(title: Cell) -> bool:
    return isinstance(title, str) and title.endswith(_PRIMARY)


def shown_ratio(ratios: Ratios, row: RatioRow, at: int) -> Value | str | None:
    """Make the cell of a ratio; of a mode that found less, none that would be a saving."""
    compared = row.ratios[at]
    if _saves(row.metric, compared) and ratios.columns[at].mode in ratios.found_less:
        return "found less"
    return ratio(compared, ratios.tasks)


def _saves(metric: Metric, compared: Ratio | None) -> bool:
    """Tell whether the mode would seem to save."""
    return bool(compared and compared.estimate < 1 and metric.better is Better.LOWER)


def _column(column: Column) -> str:
    return f"{column.mode}, as used" if column.as_used else column.mode


def _indexing(indexing: Indexing | None) -> CombinedValue | None:
    if indexing is None:
        return None
    parts = [(indexing.before, "before the agents"), (indexing.within, "in their time")]
    counts = [(indexing.missing, "missing"), (indexing.copied, "copied")]
    return CombinedValue(
        style=Style.SECONDS,
        parts=tuple((seconds, when) for seconds, when in parts if seconds is not None),
        notes=tuple(f"{count} {what}" for count, what in counts if count),
    )
