"""A calibration as `summary.md`. It computes nothing."""

from collections.abc import Sequence

from swarm_bench.core.calibration import Calibration, Noise, Range
from swarm_bench.core.report import Report
from swarm_bench.reports.figures import NOT_REPORTED
from swarm_bench.reports.template import fill, pipe_table


def render_calibration(report: Report, found: Calibration) -> str:
    """The document, ending with a line break; `report` has what stands before the figures."""
    moving = [row for row in found.rows if not row.still and any((row.planned, *row.grid))]
    return fill(
        "calibration.md.j2",
        report=report,
        found=found,
        noise=_noise(found),
        grid=_grid(found, moving) if moving else "",
        zeros=any(row.zeros for row in found.rows if not row.still),
        still=[row.metric.title for row in found.rows if row.still],
        apart=[row.metric.title for row in found.rows if row.apart],
    )


def _noise(found: Calibration) -> str:
    rows = [
        [
            row.metric.title,
            _with_range(row, row.effect, row.interval),
            _value(row, row.largest),
            _spread(row),
            _pairs(row),
        ]
        for row in found.rows
    ]
    headers = ["Metric", "Second arm", "Largest task", "Spread of runs", "Identical"]
    return pipe_table(headers, rows, words=1)


def _grid(found: Calibration, rows: Sequence[Noise]) -> str:
    sizes = [(found.tasks, found.runs), *found.sizes]
    cells = [
        [row.metric.title, *(_range(row, one) for one in (row.planned, *row.grid))] for row in rows
    ]
    return pipe_table(["Metric", *(f"{tasks} × {runs}" for tasks, runs in sizes)], cells, words=1)


def _pairs(row: Noise) -> str:
    if row.still:
        return f"0: identical in all {row.pairs} pairs"
    parts = {"missing": row.missing, "with 0": row.zeros}
    said = ", ".join(f"{number} {what}" for what, number in parts.items() if number)
    return f"{row.identical} of {row.pairs}" + (f" ({said})" if said else "")


def _spread(row: Noise) -> str:
    text = _with_range(row, row.spread, row.spread_interval)
    return f"× {text}" if row.relative and row.spread is not None and not row.still else text


def _with_range(row: Noise, value: float | None, interval: Range | None) -> str:
    if row.still or interval is None:
        return _value(row, value)
    return f"{_value(row, value)} ({_range(row, interval)})"


def _value(row: Noise, value: float | None) -> str:
    if row.still:
        return "0"
    if value is None:
        return NOT_REPORTED
    return f"{value:.3f}" if row.relative else f"{value:+.3g}"


def _range(row: Noise, found: Range | None) -> str:
    if found is None:
        return "-"
    return f"{_bare(row, found.low)} to {_bare(row, found.high)}"


def _bare(row: Noise, value: float) -> str:
    return f"{value:.3g}" if row.relative else f"{value:+.3g}"
