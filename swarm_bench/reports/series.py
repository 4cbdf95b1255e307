"""A series of growing swarms as `summary.md`, and as a plan. It computes nothing."""

from collections.abc import Iterator, Mapping

from swarm_bench.core.metric import Metric
from swarm_bench.core.report.series import Cell, ModeSeries, Series, Sizes
from swarm_bench.reports.figures import NOT_REPORTED, written
from swarm_bench.reports.markdown import standing
from swarm_bench.reports.plan.plan import Planned, cost, hours, render_plan
from swarm_bench.reports.template import fill, pipe_table, sentence
from swarm_bench.reports.text import escaped


def render_series(series: Series) -> str:
    """The document, ending with a line break."""
    rows = [row for mode in series.modes for row in (*mode.rows, *mode.spent_by_rules)]
    metrics = {row.metric.key: row.metric for row in rows}
    return fill(
        "series.md.j2",
        report=series,
        headline=[*_headline(series)],
        tables=[(mode, _table(mode, series)) for mode in series.modes],
        spent=_spent(series),
        metrics=list(metrics.values()),
    )


def _headline(series: Series) -> Iterator[str]:
    for why, sizes in series.no_verdict.items():
        yield f"{_at(sizes)}: there is **no verdict**: {sentence(why)}"
    for mode in series.modes:
        for one, sizes in mode.standings.items():
            yield f"**{escaped(mode.mode)}**, {_at(sizes)}: {standing(one)}"
        for said, sizes in mode.qualifications.items():
            yield f"**{escaped(mode.mode)}**, {_at(sizes)}, with caveats: {sentence(said)}."


def _at(sizes: Sizes) -> str:
    return f"{', '.join(map(str, sizes))} at a time"


def render_series_plan(planned: Mapping[int, Planned]) -> str:
    """The plan of each size, and what they come to."""
    parts = [
        f"Swarms of {size}\n{'-' * len(f'Swarms of {size}')}\n{render_plan(one)}\n"
        for size, one in planned.items()
    ]
    left = sum(one.left for one in planned.values())
    done = sum(len(one.rows) for one in planned.values()) - left
    longest = hours(sum(one.longest for one in planned.values()))
    total = f"All sizes: {left} trials to run, {done} done; at most {longest}\n"
    paid = cost(next(iter(planned.values())), left)
    return "".join([*parts, total, f"Cost:      {paid}\n" if paid else ""])


def _spent(series: Series) -> str:
    """The table of what fixed rules spent; empty when a model decided."""
    rows = [
        [escaped(mode.mode), row.metric.title, *(_cell(row.metric, cell) for cell in row.cells)]
        for mode in series.modes
        for row in mode.spent_by_rules
    ]
    headers = ["Mode", "Metric", *(f"{size} at a time" for size in series.sizes)]
    return pipe_table(headers, rows, words=2) if rows else ""


def _table(mode: ModeSeries, series: Series) -> str:
    headers = ["Metric", *(f"{size} at a time" for size in series.sizes)]
    rows = [
        [row.metric.title, *(_cell(row.metric, cell) for cell in row.cells)] for row in mode.rows
    ]
    return pipe_table(headers, rows, words=1)


def _cell(metric: Metric, cell: Cell) -> str:
    if cell.value is None and cell.left_out:
        return "left out"
    if cell.value is None:
        return NOT_REPORTED
    text = written(metric.style, cell.value)
    if cell.of is not None:
        return f"{text} of {cell.of}"
    return text if cell.ratio is None else f"{text} ({cell.ratio:.2f}×)"
