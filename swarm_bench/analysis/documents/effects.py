"""The table of the headline, and its charts: what each mode came to, and how that stands against
the reference."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from math import isclose

from swarm_bench.analysis.documents.blocks import make_figure, make_metric_row, make_ratio
from swarm_bench.analysis.wording import join, lowercase, quantify
from swarm_bench.core.metric import Better, Metric, Style
from swarm_bench.core.report.document import Cell, CombinedValue, ComparedValue, Grid, Scale, Value
from swarm_bench.core.report.pictures import Axis, MarkGroup, MarkRow, RowChart, RowMark
from swarm_bench.core.report.ratios import Column, Difference, Indexing, Ratio, RatioRow, Ratios
from swarm_bench.core.report.report import FoundRow, Headline, Row

_MAX_ROWS = 40
"""Rows; more cannot be told apart."""
_BOLD = "Bold: the primary metric."
_TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10)
_RATIO_AXIS = Axis(
    label="Ratio",
    style=Scale.RATIO,
    is_logarithmic=True,
    low=0.5,
    high=2,
    ticks=_TICKS,
    limits=(_TICKS[0], _TICKS[-1]),
)
_DIFFERENCE_AXIS = Axis(label="Difference", style=Scale.DIFFERENCE)


def make_found_chart(headline: Headline, modes: Sequence[str]) -> RowChart | None:
    """Make the chart of what was found; `None` where nothing of it is compared."""
    correctness = headline.correctness
    if correctness is None:
        return None
    return _make_forest(
        title=f"What was found, against {modes[0]}",
        axis=_DIFFERENCE_AXIS,
        modes=modes,
        rows=[*_make_found_marks(correctness.rows, modes)],
        band=(-correctness.margin, 0, correctness.margin),
    )


def make_ratio_chart(headline: Headline, modes: Sequence[str]) -> RowChart | None:
    """Make the chart of the ratios; `None` where none can be shown."""
    ratios = headline.ratios
    if ratios is None:
        return None
    return _make_forest(
        title=f"What was spent, against {ratios.reference}",
        axis=_RATIO_AXIS,
        modes=modes,
        rows=[*_make_ratio_marks(ratios, modes)],
        band=(1 / (1 + ratios.margin), 1, 1 + ratios.margin),
    )


def _make_forest(
    *,
    title: str,
    axis: Axis,
    modes: Sequence[str],
    rows: Sequence[tuple[Metric, MarkRow]],
    band: tuple[float, float, float],
) -> RowChart | None:
    """Make a chart of effects and their intervals; `None` without rows."""
    if not rows:
        return None
    visible, omitted = rows[:_MAX_ROWS], len(rows) - _MAX_ROWS
    sentences = (
        f"{axis.label} and its 95 % interval over tasks. Band: the margin.",
        _describe_sides({metric.key: metric for metric, _ in visible}.values()),
        _BOLD if any(row.is_emphasised for _, row in visible) else "",
        f"{quantify(omitted, 'more row')} only in the table." if omitted > 0 else "",
    )
    return RowChart(
        title=title,
        explanation=" ".join(filter(None, sentences)),
        axis=axis,
        groups=tuple(MarkGroup(label="", shape=number) for number in range(len(modes))),
        rows=tuple(row for _, row in visible),
        band=band,
    )


def _describe_sides(metrics: Collection[Metric]) -> str:
    """Say on which side better figures are; nothing where a metric has no better."""
    less = [metric.title for metric in metrics if metric.better is Better.LOWER]
    if not all(metric.better for metric in metrics):
        return ""
    if len(less) in (0, len(metrics)):
        return "Left is better." if less else "Right is better."
    return f"Right is better; for {join([*map(lowercase, less)])}, left."


def _make_found_marks(
    rows: Sequence[FoundRow], modes: Sequence[str]
) -> Iterator[tuple[Metric, MarkRow]]:
    """Yield the differences of the table, mode by mode."""
    for at, mode in enumerate(modes):
        for row in rows:
            if (change := row.differences[at]) is not None:
                low, high = change.interval or (None, None)
                figure = Value(scale=Scale.DIFFERENCE, value=change.estimate, low=low, high=high)
                yield row.metric, _make_mark_row(f"{mode}: {row.metric.title}", at, figure)


def _make_ratio_marks(ratios: Ratios, modes: Sequence[str]) -> Iterator[tuple[Metric, MarkRow]]:
    """Yield the ratios of the table, mode by mode."""
    for at, column in enumerate(ratios.columns):
        group = modes.index(column.mode)
        for row in () if column.as_used else ratios.rows:
            figure = make_ratio_cell(ratios, row, at)
            if isinstance(figure, Value) and figure.value:
                mark_row = _make_mark_row(f"{column.mode}: {row.metric.title}", group, figure)
                is_primary = row.metric.key == ratios.primary
                yield row.metric, replace(mark_row, is_emphasised=is_primary)


def _make_mark_row(label: str, group: int, figure: Value) -> MarkRow:
    low, high = figure.low, figure.high
    interval = None if low is None or high is None else (low, high)
    mark = RowMark(group=group, value=figure.value, interval=interval)
    return MarkRow(label=label, marks=(mark,), figure=replace(figure, notes=()))


_PRIMARY = ", primary"


def make_effects(headline: Headline, modes: Sequence[str]) -> Grid | None:
    """Make the table; `None` where nothing was found or compared. The headers name the modes
    without a verdict: a column may be quoted alone."""
    excluded = {mode.mode for mode in headline.standings if mode.no_verdict}
    decided = {mode.mode for mode in headline.standings if mode.concluded is not None} - excluded
    rows = (*_make_found_rows(headline), *_make_ratio_rows(headline.ratios, modes, excluded))
    columns = [mode for mode in modes if headline.correctness or mode not in excluded]
    headers = [f"{mode} (no verdict)" if mode in excluded else mode for mode in columns]
    positions = [0, *(1 + modes.index(mode) for mode in columns)]
    cells = tuple(tuple(row[at] for at in positions) for row in rows)
    if not rows:
        return None
    return Grid(
        headers=("Metric", *headers),
        labels=1,
        rows=cells,
        about=_describe_tasks(headline),
        ranges=_describe_ranges(headline, modes) if headline.ratios else "",
        marked=_find_marked(headline, [row[0] for row in rows]),
        controls=frozenset(at for at, mode in enumerate(columns, start=1) if mode not in decided),
    )


def _describe_ranges(headline: Headline, modes: Sequence[str]) -> str:
    """Say what the intervals are, and where verdicts rest on others: on wider ones of several
    verdicts, on narrower ones of no difference."""
    text = "in brackets the 95 % interval over tasks"
    for standing in headline.standings:
        effect = standing.answer.effect if standing.answer else None
        low, high = (effect.value.low, effect.value.high) if effect else (None, None)
        if low is None or high is None or low == high:
            continue
        intervals = _list_intervals(headline, modes, standing.mode)
        if not any(isclose(low, least) and isclose(high, most) for least, most in intervals):
            return f"{text}; verdicts rest on others, as their evidence says"
    return text


def _list_intervals(
    headline: Headline, modes: Sequence[str], mode: str
) -> Iterator[tuple[float, float]]:
    """Yield the intervals that the table has of a mode."""
    effects: list[Difference | Ratio | None] = []
    if headline.correctness:
        at = modes.index(mode)
        effects += [row.differences[at] for row in headline.correctness.rows]
    if headline.ratios and (column := number_columns(headline.ratios).get(mode)) is not None:
        effects += [row.ratios[column] for row in headline.ratios.rows]
    for effect in effects:
        if effect and effect.interval:
            yield effect.interval


def _describe_tasks(headline: Headline) -> str:
    """Say what the figures are over, and what stands beside them."""
    ratios, correctness = headline.ratios, headline.correctness
    if ratios is None:
        return ""
    size = f"Over {quantify(ratios.tasks, 'task')} and {quantify(ratios.runs, 'run')}"
    differences = (
        change for row in (correctness.rows if correctness else ()) for change in row.differences
    )
    judged_tasks = max((change.tasks for change in differences if change), default=0)
    if 0 < judged_tasks < ratios.tasks:
        size += f", what was found over {judged_tasks} of the tasks"
    return f"{size}; beside each figure, how it stands against {ratios.reference}"


def _find_marked(headline: Headline, titles: Sequence[Cell]) -> frozenset[int]:
    """Return the numbers of the rows that the verdicts are on: the first one on what was
    found, and the primary metric."""
    numbers = {0} if headline.correctness else set()
    return frozenset(numbers | {at for at, title in enumerate(titles) if _is_primary(title)})


def make_as_used(ratios: Ratios | None) -> Grid | None:
    """Make the table of the trials that used their mode's tool; `None` where all did."""
    return make_ratio_grid(ratios, as_used=True) if ratios else None


def make_ratio_grid(ratios: Ratios, *, as_used: bool = False) -> Grid | None:
    """Make a table of ratios alone."""
    places = [at for at, column in enumerate(ratios.columns) if column.as_used >= as_used]
    headers = [_name_column(ratios.columns[at]) for at in places]
    rows = tuple(
        (row.metric.title, *(make_ratio_cell(ratios, row, at) for at in places))
        for row in ratios.rows
    )
    return Grid(headers=("Metric", *headers), labels=1, rows=rows) if places else None


def make_per_right_answer(rows: Iterable[Row]) -> Iterator[tuple[Cell, ...]]:
    """Make the rows of what a right answer took; where there is none, the cells say so."""
    for row in rows:
        title, *cells = make_metric_row(row)
        yield (
            title,
            *(
                "no right answer" if figure and figure.value is None and figure.runs else cell
                for figure, cell in zip(row.figures, cells, strict=True)
            ),
        )


def _make_found_rows(headline: Headline) -> Iterator[tuple[Cell, ...]]:
    if headline.correctness:
        yield from map(_make_found_row, headline.correctness.rows)
        yield from make_per_right_answer(headline.correctness.spent)


def _make_found_row(row: FoundRow) -> tuple[Cell, ...]:
    style = row.metric.style
    cells = (
        _add_change(make_figure(style, estimate), _make_difference(style, change))
        for estimate, change in zip(row.figures, row.differences, strict=True)
    )
    return (row.metric.title, *cells)


def _make_difference(style: Style, difference: Difference | None) -> Value | str | None:
    if difference is None:
        return None
    if difference.estimate == 0 and difference.interval in (None, (0, 0)):
        return "same"
    low, high = difference.interval or (None, None)
    scale = Scale.POINTS if style is Style.PERCENT else Scale.DIFFERENCE
    return Value(scale=scale, value=difference.estimate, low=low, high=high)


def _add_change(value: Value | None, change: Value | str | None) -> Cell:
    return ComparedValue(own=value, change=change) if value and change else value


def _make_ratio_rows(
    ratios: Ratios | None, modes: Sequence[str], excluded: Collection[str]
) -> Iterator[tuple[Cell, ...]]:
    """Yield what was spent, nothing of modes without a verdict. Indexing stands beside the time
    that it may be part of."""
    if ratios is None:
        return
    columns = number_columns(ratios)
    for row in ratios.rows:
        title, style = row.metric.title, row.metric.style
        title = f"{title}{_PRIMARY}" if row.metric.key == ratios.primary else title
        typical = (
            None if mode in excluded else Value(scale=style, value=value)
            for mode, value in zip(modes, row.typical, strict=True)
        )
        changes = [
            make_ratio_cell(ratios, row, columns[mode]) if mode in columns else None
            for mode in modes
        ]
        yield (title, *map(_add_change, typical, changes))
        if row.metric.key == "wall_seconds" and (indexing := ratios.indexing):
            cells = (indexing.cells[columns[mode]] if mode in columns else None for mode in modes)
            yield (indexing.metric.title, *map(_make_indexing, cells))


def number_columns(ratios: Ratios) -> dict[str, int]:
    """Return the numbers of the columns of all trials, by mode."""
    return {column.mode: at for at, column in enumerate(ratios.columns) if not column.as_used}


def _is_primary(title: Cell) -> bool:
    return isinstance(title, str) and title.endswith(_PRIMARY)


def make_ratio_cell(ratios: Ratios, row: RatioRow, at: int) -> Value | str | None:
    """Make the cell of a ratio; of a mode that found less, none that would be a saving."""
    estimate = row.ratios[at]
    if _saves(row.metric, estimate) and ratios.columns[at].mode in ratios.found_less:
        return "found less"
    return make_ratio(estimate, ratios.tasks)


def _saves(metric: Metric, estimate: Ratio | None) -> bool:
    """Tell whether the mode would seem to save."""
    return bool(estimate and estimate.estimate < 1 and metric.better is Better.LOWER)


def _name_column(column: Column) -> str:
    return f"{column.mode}, as used" if column.as_used else column.mode


def _make_indexing(indexing: Indexing | None) -> CombinedValue | None:
    if indexing is None:
        return None
    parts = [(indexing.before, "before the agents"), (indexing.within, "in their time")]
    counts = [(indexing.missing, "missing"), (indexing.copied, "copied")]
    return CombinedValue(
        style=Style.SECONDS,
        parts=tuple((seconds, when) for seconds, when in parts if seconds is not None),
        notes=tuple(f"{count} {label}" for count, label in counts if count),
    )
