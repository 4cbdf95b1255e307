"""A chart of ratios as a picture that can be read on a light and on a dark page."""

import math
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from swarm_bench.core.report.document import Scale, Value
from swarm_bench.core.report.ratios import Chart, Mark
from swarm_bench.reports.figures import format_figure
from swarm_bench.reports.text import cut, plain

_TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10)
_LEAST, _LARGEST = 0.5, 2.0
"""Least range of the axis."""
_WIDTH, _AXIS_BEGIN, _AXIS_END = 860, 320, 680
_TOP, _ROW = 62, 22
_LONGEST = 44
"""Characters of a label."""


def render_svg(chart: Chart) -> str:
    """Write the picture, ending with a line break."""
    environment = Environment(
        loader=PackageLoader("swarm_bench.reports"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    axis = _axis(chart)
    return environment.get_template("effects.svg.j2").render(
        title=plain(chart.title),
        about=chart.about,
        rows=[_row(mark, number, axis) for number, mark in enumerate(chart.marks)],
        ticks=[(f"{tick:g}×", _x(tick, axis)) for tick in _TICKS if axis[0] <= tick <= axis[1]],
        one=_x(1, axis),
        band=(_x(1 / (1 + chart.margin), axis), _x(1 + chart.margin, axis)),
        width=_WIDTH,
        top=_TOP - _ROW,
        bottom=_TOP + _ROW * len(chart.marks),
        left=_AXIS_BEGIN,
        right=_AXIS_END,
    )


def _axis(chart: Chart) -> tuple[float, float]:
    """Return the ends of the axis; what lies beyond them is drawn at the end."""
    bounds = [end for mark in chart.marks for end in (mark.estimate, *(mark.interval or ()))]
    return max(_TICKS[0], min(_LEAST, *bounds)), min(_TICKS[-1], max(_LARGEST, *bounds))


def _x(ratio: float, axis: tuple[float, float]) -> float:
    low, high = map(math.log, axis)
    inside = min(max(ratio, axis[0]), axis[1])
    return round(
        _AXIS_BEGIN + (math.log(inside) - low) / (high - low) * (_AXIS_END - _AXIS_BEGIN), 1
    )


def _row(mark: Mark, number: int, axis: tuple[float, float]) -> dict[str, Any]:
    low, high = mark.interval or (None, None)
    value = Value(scale=Scale.RATIO, value=mark.estimate, low=low, high=high)
    return {
        "label": cut(plain(f"{mark.mode}: {mark.metric}"), _LONGEST),
        "figure": format_figure(value),
        "is_primary": mark.is_primary,
        "y": _TOP + _ROW * number,
        "x": _x(mark.estimate, axis),
        "low": None if low is None else _x(low, axis),
        "high": None if high is None else _x(high, axis),
    }
