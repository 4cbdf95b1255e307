"""Marks in rows and in a plane, as pictures that can be read on a light and on a dark page."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import Any

from swarm_bench.core.report.document import Picture
from swarm_bench.core.report.pictures import Axis, Line, MarkGroup, MarkRow, PlaneChart, RowChart
from swarm_bench.reports.figures import format_figure, format_number
from swarm_bench.reports.letters import fit, measure, shrink
from swarm_bench.reports.svg import ARROW, load_templates, turn_arrow
from swarm_bench.reports.text import plain

_WIDTH = 860
_ROW, _SHAPE, _LINE = 22, 11, 15
"""Heights of a row, a mark and a line of small text."""
_EDGE = 16
"""Width that stays free beside texts."""
_ROOM = _WIDTH - 2 * _EDGE
_TITLE_BOTTOM = 34
_ROW_BEGIN, _ROW_END, _EXTRA = 320, 680, 70
_PLANE_BEGIN, _PLANE_END, _PLANE_HEIGHT = 90, 820, 300
_FIGURE_BEGIN = _ROW_END + _EDGE
_LEGEND_ROOM, _HEADER_ROOM, _AXIS_ROOM = 230, 250, 600
_SMALL, _LINE_LENGTH = 11, 135
"""Size of the letters of an explanation, and how many of them stand in a line at most."""
_MAX_TICKS = 6
_SPARE = 0.04
"""Share of an axis that stays free at its ends."""
_SHAPES = (
    "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
    "M-4.5-4.5h9v9h-9z",
    "M0-6L6 0L0 6L-6 0z",
    "M0-5.5L5.5 4.5H-5.5z",
)
_COLOURS = 6


def draw(picture: Picture, *, is_inline: bool = False) -> str:
    """Draw a picture, ending with a line break; within a page it has no style of its own."""
    match picture.chart:
        case RowChart() as chart:
            return _draw_rows(chart, is_inline=is_inline)
        case PlaneChart() as chart:
            return _draw_plane(chart, is_inline=is_inline)
        case None:
            return ""


class _Scale:
    """Turns the figures of an axis into positions."""

    def __init__(self, axis: Axis, values: Iterable[float], begin: float, end: float) -> None:
        self.axis = axis
        bounds = [axis.low, axis.high, *values]
        points = [self._project(self._clip(bound)) for bound in bounds if bound is not None]
        low, high = min(points, default=0.0), max(points, default=1.0)
        if low == high == 0 and not axis.is_logarithmic:
            high = 1.0  # so that what is never negative has an axis that is not either
        spare = (high - low) * _SPARE or abs(high) * _SPARE or 1.0
        self._low, self._high = low - spare, high + spare
        self._begin, self._end = begin, end

    def locate(self, value: float) -> float:
        """Return the position of a figure."""
        share = (self._project(self._clip(value)) - self._low) / (self._high - self._low)
        return round(self._begin + share * (self._end - self._begin), 1)

    def list_ends_beyond(self, *values: float | None) -> Iterator[tuple[float, int]]:
        """Yield the ends of the axis beyond which figures lie: where each is, and -1 for the lower
        and 1 for the upper one."""
        least, largest = self.axis.limits or (-math.inf, math.inf)
        known_values = [value for value in values if value is not None]
        if known_values and min(known_values) < least:
            yield self.locate(least), -1
        if known_values and max(known_values) > largest:
            yield self.locate(largest), 1

    def list_ticks(self) -> list[tuple[float, str]]:
        """List positions, each with its label."""
        list_all = self._list_powers if self.axis.is_logarithmic else self._list_steps
        ticks = self.axis.ticks or list_all()
        inside = [tick for tick in ticks if self._low <= self._project(tick) <= self._high]
        return [(self.locate(tick), format_number(self.axis.style, tick)) for tick in inside]

    def _clip(self, value: float) -> float:
        least, largest = self.axis.limits or (-math.inf, math.inf)
        return min(max(value, least), largest)

    def _project(self, value: float) -> float:
        return math.log10(value) if self.axis.is_logarithmic else value

    def _list_powers(self) -> list[float]:
        powers = range(math.floor(self._low), math.ceil(self._high) + 1)
        for factors in ((1, 2, 5), (1, 3), (1,)):
            ticks = [factor * 10.0**power for power in powers for factor in factors]
            inside = sum(self._low <= math.log10(tick) <= self._high for tick in ticks)
            if inside <= _MAX_TICKS:
                return ticks
        return ticks[:: math.ceil(len(ticks) / _MAX_TICKS)]

    def _list_steps(self) -> list[float]:
        raw = (self._high - self._low) / _MAX_TICKS
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)
        numbers = range(math.ceil(self._low / step), math.floor(self._high / step) + 1)
        return [round(number * step, 12) for number in numbers]


def _draw_rows(chart: RowChart, *, is_inline: bool) -> str:
    values = [
        value
        for row in chart.rows
        for mark in row.marks
        for value in (mark.value, *(mark.interval or ()))
        if value is not None
    ]
    end = _ROW_END - _EXTRA * bool(chart.extra_column)
    scale = _Scale(chart.axis, [*values, *(chart.band or ())], _ROW_BEGIN, end)
    labelled_groups = [group for group in chart.groups if group.label]
    legend, top = _lay_out_legend(labelled_groups if len(labelled_groups) > 1 else ())
    first = top + _ROW * (1.5 if chart.extra_column else 1)
    rows = [
        _lay_out_row(chart, row, scale, first + _ROW * number)
        for number, row in enumerate(chart.rows)
    ]
    bottom = first + _ROW * len(rows)
    return _render(
        "rows.svg.j2",
        chart,
        bottom=bottom,
        is_inline=is_inline,
        legend=legend,
        rows=rows,
        top=first - _ROW / 2,
        left=_ROW_BEGIN,
        right=end,
        figure_x=_FIGURE_BEGIN,
        extra=fit(chart.extra_column, _HEADER_ROOM),
        extra_x=_ROW_END - _EXTRA / 3,
        ticks=_lay_out_ticks(scale),
        band=chart.band and [scale.locate(value) for value in chart.band],
    )


def _lay_out_row(chart: RowChart, row: MarkRow, scale: _Scale, y: float) -> dict[str, Any]:
    extra_x = _ROW_END - _EXTRA / 3
    figure = format_figure(row.figure) if row.figure else ""
    xs = [extra_x if mark.value is None else scale.locate(mark.value) for mark in row.marks]
    marks = [
        {
            **_choose_look(chart.groups[mark.group]),
            "x": x,
            "y": mark_y,
            "ends": mark.interval and [scale.locate(end) for end in mark.interval],
            "arrows": [
                (end, mark_y, turn_arrow(side))
                for end, side in scale.list_ends_beyond(mark.value, *(mark.interval or ()))
            ],
        }
        for mark, x, mark_y in zip(row.marks, xs, _spread(xs, y), strict=True)
    ]
    return {
        "label": fit(row.label, _ROW_BEGIN - 2 * _EDGE, is_bold=row.is_emphasised),
        "y": y,
        "marks": marks,
        "link": (min(xs), max(xs)) if chart.is_linked and len({*xs}) > 1 else None,
        "figure": figure,
        "figure_size": shrink(figure, _WIDTH - _FIGURE_BEGIN - 2, is_bold=row.is_emphasised),
        "is_emphasised": row.is_emphasised,
    }


def _spread(xs: Sequence[float], y: float) -> list[float]:
    """Put marks that would hide each other above each other, within their row."""
    totals, counts, ys = Counter(xs), Counter[float](), list[float]()
    for x in xs:
        step = min(_SHAPE, (_ROW - _SHAPE) / max(totals[x] - 1, 1))
        ys.append(round(y + (counts[x] - (totals[x] - 1) / 2) * step, 1))
        counts[x] += 1
    return ys


def _draw_plane(chart: PlaneChart, *, is_inline: bool) -> str:
    points = [point for line in chart.lines for point in line.points]
    groups = [MarkGroup(label=line.label, shape=line.shape) for line in chart.lines]
    legend, top = _lay_out_legend(groups)
    first, bottom = top + _ROW, top + _ROW + _PLANE_HEIGHT
    xs = [value for point in points for value in (point.x, *(point.x_interval or ()))]
    ys = [value for point in points for value in (point.y, *(point.y_interval or ()))]
    x_scale = _Scale(chart.x, xs, _PLANE_BEGIN, _PLANE_END)
    y_scale = _Scale(chart.y, ys, bottom, first)
    lines = [
        [*_lay_out_points(line, group, x_scale, y_scale)]
        for line, group in zip(chart.lines, groups, strict=True)
    ]
    return _render(
        "plane.svg.j2",
        chart,
        bottom=bottom,
        is_inline=is_inline,
        legend=legend,
        lines=lines,
        top=first,
        left=_PLANE_BEGIN,
        right=_PLANE_END,
        x_ticks=_lay_out_ticks(x_scale),
        y_ticks=[
            (y, label, shrink(label, _PLANE_BEGIN - _EDGE)) for y, label in y_scale.list_ticks()
        ],
        y_label=fit(chart.y.label, _ROOM),
    )


def _lay_out_points(
    line: Line, group: MarkGroup, x_scale: _Scale, y_scale: _Scale
) -> Iterator[dict[str, Any]]:
    for point in line.points:
        x, y = x_scale.locate(point.x), y_scale.locate(point.y)
        x_values, y_values = (
            (point.x, *(point.x_interval or ())),
            (point.y, *(point.y_interval or ())),
        )
        x_ends = x_scale.list_ends_beyond(*x_values)
        y_ends = y_scale.list_ends_beyond(*y_values)
        yield {
            **_choose_look(group),
            "x": x,
            "y": y,
            "x_ends": point.x_interval and [x_scale.locate(end) for end in point.x_interval],
            "y_ends": point.y_interval and [y_scale.locate(end) for end in point.y_interval],
            "arrows": [
                *((end, y, turn_arrow(side)) for end, side in x_ends),
                *((x, end, turn_arrow(side, is_vertical=True)) for end, side in y_ends),
            ],
        }


def _lay_out_legend(groups: Sequence[MarkGroup]) -> tuple[list[dict[str, Any]], float]:
    """Put the groups side by side; returns them, and where they end."""
    x, y, entries = 22.0, _TITLE_BOTTOM + 12.0, list[dict[str, Any]]()
    for group in groups:
        label = fit(group.label, _LEGEND_ROOM)
        width = 34 + measure(label)
        if x > 22 and x + width > _WIDTH:
            x, y = 22.0, y + _ROW
        entries.append({**_choose_look(group), "label": label, "x": round(x, 1), "y": y})
        x += width
    return entries, y + _ROW / 2


def _choose_look(group: MarkGroup) -> dict[str, str]:
    colour = group.tone or f"hue-{group.shape % _COLOURS}"
    return {
        "shape": _SHAPES[group.shape % len(_SHAPES)],
        "look": f"{colour} hollow" if group.is_hollow else colour,
    }


def _lay_out_ticks(scale: _Scale) -> list[tuple[float, str, float]]:
    """List positions of the lower axis, each with its label, and the size of its letters
    where that differs."""
    return [(x, label, shrink(label, 2 * (_WIDTH - x) - 4)) for x, label in scale.list_ticks()]


def _break_lines(text: str) -> list[str]:
    """Break a text into lines that have room."""
    for length in range(_LINE_LENGTH, 0, -5):
        lines = wrap(text, length)
        if all(measure(line, size=_SMALL) <= _ROOM for line in lines):
            break
    return lines


def _render(template: str, chart: RowChart | PlaneChart, bottom: float, **parts: Any) -> str:
    axis = chart.axis if isinstance(chart, RowChart) else chart.x
    lines = _break_lines(plain(chart.explanation))
    return (
        load_templates()
        .get_template(template)
        .render(
            title=plain(chart.title),
            heading=fit(chart.title, _ROOM, is_bold=True),
            description=plain(f"{chart.title}. {chart.explanation}"),
            explanation=[(bottom + 54 + _LINE * at, line) for at, line in enumerate(lines)],
            axis=fit(axis.label, _AXIS_ROOM),
            width=_WIDTH,
            height=bottom + 54 + _LINE * len(lines),
            bottom=bottom,
            arrow=ARROW,
            **parts,
        )
    )
