"""The effect of a card, and a session in time, as pictures within a page."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from swarm_bench.core.metric import Better
from swarm_bench.core.report.document import Scale, ShownEffect, Tone
from swarm_bench.core.report.page import Bar, Lane, Timeline, TimelineLegend
from swarm_bench.reports.escaping import load_environment
from swarm_bench.reports.figures import format_figure
from swarm_bench.reports.letters import fit, measure, shrink
from swarm_bench.reports.text import plain

_EFFECT_WIDTH, _EFFECT_HEIGHT = 320, 60
_EFFECT_EDGE = 12
_EFFECT_SIZE = 12
_FIGURE_ROOM = 220
"""Room for the figure of an effect."""
_LARGEST_RATIO = 10.0
_SIDES = {Better.LOWER: ("better", "worse"), Better.HIGHER: ("worse", "better")}
ARROW = "M0-5.5L10 0L0 5.5z"
"""Head of an arrow to the right: where it is drawn something goes on beyond an axis."""


def turn_arrow(side: int, *, is_vertical: bool = False) -> int:
    """Return by how many degrees the head of an arrow is turned at the lower (-1) or the upper end
    (1) of an axis."""
    return -90 * side if is_vertical else 90 - 90 * side


load_templates = partial(load_environment, "swarm_bench.reports")


def render_effect(effect: ShownEffect, neighbours: Iterable[ShownEffect]) -> str:
    """Write the picture of one effect: its interval, and the band of no importance. It has the
    same axis as those of its kind that stand beside it."""
    figure = format_figure(effect.value)
    width = min(measure(figure, size=_EFFECT_SIZE, is_bold=True), _FIGURE_ROOM)
    metric = fit(effect.metric, _EFFECT_WIDTH - width - _EFFECT_EDGE, size=_EFFECT_SIZE)
    low, high = effect.value.low, effect.value.high
    similar = [shown for shown in neighbours if shown.value.scale is effect.value.scale]
    axis_length = max(map(_measure_reach, [effect, *similar]))

    def position(value: float) -> float:
        share = min(max(_distance(effect, value) / axis_length, -1.0), 1.0)
        return round(_EFFECT_WIDTH / 2 + share * (_EFFECT_WIDTH / 2 - _EFFECT_EDGE), 1)

    return (
        load_templates()
        .get_template("effect.svg.j2")
        .render(
            width=_EFFECT_WIDTH,
            height=_EFFECT_HEIGHT,
            metric=metric,
            figure=figure,
            figure_size=shrink(figure, _FIGURE_ROOM, size=_EFFECT_SIZE, is_bold=True),
            about=f"{plain(effect.metric)}: {figure}",
            band=[position(end) for end in _list_margins(effect)],
            zero=_EFFECT_WIDTH / 2,
            x=position(_get_value(effect)),
            low=None if low is None else position(low),
            high=None if high is None else position(high),
            arrow=ARROW,
            arrows=[
                (_EFFECT_WIDTH / 2 + side * (_EFFECT_WIDTH / 2 - _EFFECT_EDGE), turn_arrow(side))
                for side in _list_sides_beyond(effect)
            ],
            ends=_SIDES[effect.better] if effect.better else ("less", "more"),
            margin_label=effect.margin_label,
        )
    )


def _get_value(effect: ShownEffect) -> float:
    assert effect.value.value is not None
    return effect.value.value


def _distance(effect: ShownEffect, value: float) -> float:
    """Return how far a value is from no difference, on the axis of its picture."""
    return math.log(max(value, 1 / _LARGEST_RATIO)) if _is_ratio(effect) else value


def _is_ratio(effect: ShownEffect) -> bool:
    return effect.value.scale is Scale.RATIO


def _list_margins(effect: ShownEffect) -> tuple[float, float]:
    if _is_ratio(effect):
        return 1 / (1 + effect.margin), 1 + effect.margin
    return -effect.margin, effect.margin


def _measure_reach(effect: ShownEffect) -> float:
    """Return the distance of the ends of the axis: all is on it, as far as it can be told apart."""
    values = (effect.value.low, effect.value.high, effect.value.value, *_list_margins(effect))
    distances = [abs(_distance(effect, value)) for value in values if value is not None]
    largest = math.log(_LARGEST_RATIO) if _is_ratio(effect) else math.inf
    return min(max(distances) * 1.15, largest) or 1.0


def _list_sides_beyond(effect: ShownEffect) -> Iterator[int]:
    """Yield -1 for the left end of the axis and 1 for the right one where figures lie beyond it."""
    figures = (effect.value.low, effect.value.value, effect.value.high)
    values = [value for value in figures if value is not None]
    if _is_ratio(effect) and min(values) < 1 / _LARGEST_RATIO:
        yield -1
    if _is_ratio(effect) and max(values) > _LARGEST_RATIO:
        yield 1


_TIME_WIDTH, _TIME_BEGIN, _TIME_END = 960, 190, 940
_MAX_TIME_HEIGHT = 1_400
_BAR_HEIGHTS = (12, 8, 5, 3, 2)
_LANE_GAP, _LEAST_LANE = 8, 16
_LANE_LABEL_ROOM = 170
_PHASE = 5
"""Height of what stands before and after agents."""
_LEAST_CALLS = (0.2, 1, 4, 16)
"""Least widths of calls: the first with which a page has room for all that are as wide."""
_MOST_CALLS = 50_000
_PAUSE = 1e-6
"""Seconds; less is no pause, as times are rounded."""
_LEGEND_HEIGHT = 26
_CLASSES = {None: "mark", Tone.BAD: "bad hollow", Tone.OPEN: "open dashed"}
_TICK_SECONDS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 43200, 86400)
_MAX_TICKS = 8
_UNITS = ((3600, "h"), (60, "min"), (1, "s"))


CallSpans = Mapping[tuple[int, int], Sequence[tuple[float, float]]]
"""When the calls of a trial were open, in seconds of the epoch, by the numbers of its bar."""


DrawnCalls = Mapping[tuple[int, int] | None, Sequence[tuple[float, float]]]
"""Position and width of what is drawn of them."""


def render_timeline(timeline: Timeline, spans: CallSpans) -> str:
    """Write the picture of when each agent ran: a lane for each swarm, a bar for each agent, and
    its calls within."""
    bar_height = next(filter(partial(_fits, timeline), _BAR_HEIGHTS), _BAR_HEIGHTS[-1])
    calls = _draw_all_calls(timeline, spans)
    lanes, y = list[dict[str, Any]](), _LEGEND_HEIGHT
    for lane in timeline.lanes:
        begin = y + _measure_phases(lane)
        bars = [
            {
                **_draw_bar(timeline, bar),
                "trial": bar.trial,
                "y": begin + track * (bar_height + 1),
                "calls": calls.get(bar.trial, ()),
            }
            for track, bar in zip(_assign_tracks(lane), lane.bars, strict=True)
        ]
        phases = [_draw_bar(timeline, bar) for bar in lane.phases]
        label = fit(lane.label, _LANE_LABEL_ROOM)
        lanes.append({"label": label, "y": y, "bars": bars, "phases": phases})
        y += _measure_lane(lane, bar_height)
    return (
        load_templates()
        .get_template("timeline.svg.j2")
        .render(
            width=_TIME_WIDTH,
            height=y + 24,
            left=_TIME_BEGIN,
            lanes=lanes,
            bar_height=bar_height,
            phase_height=_PHASE,
            top=_LEGEND_HEIGHT - 4,
            ticks=[*_make_ticks(timeline)],
            about=timeline.about,
            legend=[*_make_legend(timeline.legend, lanes)],
            calls_height=max(1, bar_height // 2),
        )
    )


def _make_legend(
    legend: TimelineLegend, lanes: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[float, str, str]]:
    """Yield position, class and label of what is in the picture."""
    bars = [bar for lane in lanes for bar in lane["bars"]]
    present = {bar["css_class"] for bar in bars}
    present |= {"calls"} if any(bar["calls"] for bar in bars) else set()
    present |= {"phase"} if any(lane["phases"] for lane in lanes) else set()
    agents = {_CLASSES[tone]: label for tone, label in legend.agents.items()}
    x = float(_LANE_GAP)
    for css_class, label in {**agents, "calls": legend.calls, "phase": legend.phases}.items():
        if css_class in present:
            yield round(x, 1), css_class, label
            x += 34 + measure(label)


def _draw_all_calls(timeline: Timeline, spans: CallSpans) -> DrawnCalls:
    """Draw the calls of all agents, with the first least width for which a page has room."""
    bars = [bar for lane in timeline.lanes for bar in lane.bars if bar.trial]
    for least in _LEAST_CALLS:
        calls = {bar.trial: [*_draw_calls(timeline, bar, spans, least)] for bar in bars}
        if sum(map(len, calls.values())) <= _MOST_CALLS:
            break
    return calls


def _draw_calls(
    timeline: Timeline, bar: Bar, spans: CallSpans, least: float
) -> Iterator[tuple[float, float]]:
    """Yield position and width of the time in which calls were open, within the bar of their
    agent. Those that are too short to be seen are drawn as one as soon as they are as wide
    together, so that the share of the bar is the true one."""
    per_second = (_TIME_END - _TIME_BEGIN) / timeline.seconds if timeline.seconds else 0.0
    too_short = 0.0
    for first, last in _join_spans(timeline, bar, spans):
        width = (last - first) * per_second
        if width < least:
            too_short += width
            width = least if too_short >= least else 0.0
            too_short -= width
        if width:
            x = min(_time_x(timeline, first), _time_x(timeline, bar.end) - width)
            yield round(x, 1), round(width, 1)


def _join_spans(timeline: Timeline, bar: Bar, spans: CallSpans) -> Sequence[tuple[float, float]]:
    """Return when an agent had a call open, from the beginning of the picture: of calls at the same
    time the time that they took together."""
    joined = list[tuple[float, float]]()
    for begin, end in sorted(spans.get(bar.trial, ())) if bar.trial else ():
        first, last = max(begin - timeline.begin, bar.begin), min(end - timeline.begin, bar.end)
        if joined and first - joined[-1][1] < _PAUSE:
            first, last = joined[-1][0], max(joined.pop()[1], last)
        if first < last:
            joined.append((first, last))
    return joined


def _fits(timeline: Timeline, bar_height: int) -> bool:
    return sum(_measure_lane(lane, bar_height) for lane in timeline.lanes) <= _MAX_TIME_HEIGHT


def _measure_lane(lane: Lane, bar_height: int) -> int:
    tracks = max(_assign_tracks(lane), default=0) + 1
    return max(_LEAST_LANE, _measure_phases(lane) + tracks * (bar_height + 1)) + _LANE_GAP


def _measure_phases(lane: Lane) -> int:
    return _PHASE + 2 if lane.phases else 0


def _assign_tracks(lane: Lane) -> list[int]:
    """Return the line of each bar: the first one that is free when it begins."""
    tracks, end_times = list[int](), list[float]()
    for bar in lane.bars:
        free = (number for number, end in enumerate(end_times) if end <= bar.begin)
        track = next(free, len(end_times))
        end_times[track:] = [bar.end, *end_times[track + 1 :]]
        tracks.append(track)
    return tracks


def _draw_bar(timeline: Timeline, bar: Bar) -> dict[str, Any]:
    x = _time_x(timeline, bar.begin)
    width = max(1.0, round(_time_x(timeline, bar.end) - x, 1))
    return {"x": x, "width": width, "label": bar.label, "css_class": _CLASSES[bar.tone]}


def _time_x(timeline: Timeline, seconds: float) -> float:
    share = seconds / timeline.seconds if timeline.seconds else 0.0
    return round(_TIME_BEGIN + share * (_TIME_END - _TIME_BEGIN), 1)


def _make_ticks(timeline: Timeline) -> Iterator[tuple[float, str]]:
    """Yield positions and labels, all of one unit."""
    seconds = int(timeline.seconds)
    steps = (step for step in _TICK_SECONDS if timeline.seconds / step <= _MAX_TICKS)
    step = next(steps, seconds or 1)
    length, unit = next((length, unit) for length, unit in _UNITS if length <= step)
    for tick in range(0, seconds + 1, step):
        yield _time_x(timeline, tick), f"{round(tick / length, 1):g} {unit}"
