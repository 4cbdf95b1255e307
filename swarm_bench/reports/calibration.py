"""A calibration as `summary.md`. It computes nothing."""

from collections.abc import Sequence

from swarm_bench.core.report.calibration import Calibration, Noise, Range
from swarm_bench.core.report.report import Headline, Report
from swarm_bench.reports.figures import NOT_APPLICABLE, NOT_REPORTED
from swarm_bench.reports.markdown import standing
from swarm_bench.reports.template import fill, pipe_table
from swarm_bench.reports.text import escaped

_LARGEST = 10.0


def render_calibration(report: Report, found: Calibration) -> str:
    """The document, ending with a line break; `report` has what stands before the figures."""
    moving = [row for row in found.rows if not row.still and any((row.planned, *row.grid))]
    spent = found.spent_by_rules
    return fill(
        "calibration.md.j2",
        report=report,
        found=found,
        qualified=_qualified(report.headline),
        noise=_noise(found.rows),
        spent=_noise(spent.rows) if spent else "",
        grid=_grid(found, moving) if moving else "",
        zeros=any(row.zeros for row in found.rows if not row.still),
        still=[row.metric.title for row in found.rows if row.still],
    )


def _qualified(headline: Headline) -> list[str]:
    """The standings of the modes that are, as a comparison has them."""
    qualified = [one for one in headline.standings if one.qualifications]
    return [f"**{escaped(one.mode)}**: {standing(one)}" for one in qualified]


def _noise(noise: Sequence[Noise]) -> str:
    rows = [
        [
            row.metric.title,
            _effect(row),
            _size(row, row.largest),
            _spread(row),
            _pairs(row),
        ]
        for row in noise
    ]
    headers = ["Metric", "Second arm", "Largest task", "Spread of runs", "Identical"]
    return pipe_table(headers, rows, words=1)


def _grid(found: Calibration, rows: Sequence[Noise]) -> str:
    sizes = [(found.tasks, found.runs), *found.sizes]
    cells = [
        [row.metric.title, *(_findable(row, one) for one in (row.planned, *row.grid))]
        for row in rows
    ]
    return pipe_table(["Metric", *(f"{tasks} × {runs}" for tasks, runs in sizes)], cells, words=1)


def _findable(row: Noise, found: Range | None) -> str:
    if found is None:
        return NOT_APPLICABLE
    if row.relative and found.high > _LARGEST:
        return f"beyond {_LARGEST:g}×"
    return _range(row, found)


def _pairs(row: Noise) -> str:
    if row.still:
        return f"all {row.pairs}"
    parts = {"missing": row.missing, "with 0": row.zeros}
    said = ", ".join(f"{number} {what}" for what, number in parts.items() if number)
    return f"{row.identical} of {row.pairs}" + (f" ({said})" if said else "")


def _effect(row: Noise) -> str:
    if row.still:
        return _written(row, row.nothing)
    if row.effect is None:
        return NOT_REPORTED
    interval = f" ({_range(row, row.interval)})" if row.interval else ""
    return _written(row, row.effect) + interval


def _spread(row: Noise) -> str:
    interval = None if row.still else row.spread_interval
    if interval is None:
        return _size(row, row.spread)
    return f"{_size(row, row.spread)} ({_range(row, interval).replace('+', '')})"


def _size(row: Noise, value: float | None) -> str:
    """Without a direction. Of what is 0 throughout there is no ratio, and it never differed."""
    if row.still:
        value = row.nothing
    if value is None:
        return NOT_REPORTED
    return _written(row, value).removeprefix("+")


def _range(row: Noise, found: Range) -> str:
    low, high = _number(row, found.low), _number(row, found.high)
    return f"{low}–{high}" if row.relative else f"{low} to {high}"


def _written(row: Noise, value: float) -> str:
    return f"{_number(row, value)}×" if row.relative else _number(row, value)


def _number(row: Noise, value: float) -> str:
    """A ratio, or a difference; a ratio beyond reason is named no closer."""
    if not row.relative:
        return f"{value:+.2f}" if value else "0"
    if not 1 / _LARGEST <= value <= _LARGEST:
        return f">{_LARGEST:g}" if value > 1 else f"<{1 / _LARGEST:g}"
    return f"{value:.2f}"
