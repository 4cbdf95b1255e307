"""Pictures of a comparison: single tasks, and what was found against what it cost."""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from statistics import fmean

from swarm_bench.analysis.comparison.correctness import RIGHT
from swarm_bench.analysis.comparison.pairs import RECALLS, MetricPairs, group_metric
from swarm_bench.analysis.comparison.verdicts import conclude, list_hypotheses
from swarm_bench.analysis.documents.blocks import choose_scale, list_absent, make_axis
from swarm_bench.analysis.documents.effects import make_ratio_cell, number_columns
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.effects import exponentiate
from swarm_bench.analysis.wording import lowercase, quantify
from swarm_bench.core.metric import Better
from swarm_bench.core.report.document import Tone, Value
from swarm_bench.core.report.pictures import (
    MAX_LINES,
    Axis,
    Line,
    MarkGroup,
    MarkRow,
    PlaneChart,
    Point,
    RowChart,
    RowMark,
)
from swarm_bench.core.report.ratios import Ratio, RatioRow, Ratios
from swarm_bench.core.report.report import FoundRow, Headline

_COSTS = "cost", "effective_tokens"
"""Figures of what was spent; the first one that is measured is shown."""
_SHOWN_TASKS = 20
"""Tasks at each end of the order."""
_OUTCOMES: tuple[tuple[str, Tone | None], ...] = (
    *(("right", Tone.GOOD), ("wrong", Tone.BAD), ("right in some runs", Tone.OPEN)),
    ("not judged", None),
)
"""What the answers to a task are, each with its tone; its number is that of a shape."""
_NOT_JUDGED = 3


def make_task_charts(selection: Selection, headline: Headline) -> Iterator[RowChart]:
    """Make the charts of the modes with a verdict."""
    if headline.no_verdict is None:
        excluded = {standing.mode for standing in headline.standings if standing.no_verdict}
        modes = [mode for mode in list_hypotheses(selection) if mode not in excluded]
        yield from filter(None, (_make_task_chart(selection, mode) for mode in modes))


def _make_task_chart(selection: Selection, mode: str) -> RowChart | None:
    """Make the chart of a mode and the reference task by task, in the primary metric; `None` where
    nothing is compared."""
    conclusion, reference = conclude(selection, mode), selection.modes[0]
    comparison = (conclusion.cost or conclusion.quality) if conclusion else None
    if comparison is None or not comparison.pairs.cases:
        return None
    tasks = _choose_tasks(comparison)
    outcomes = [_find_outcomes(selection, side, tasks) for side in (reference, mode)]
    styles = sorted({(side, number) for side in (0, 1) for number in outcomes[side]})
    titles = {task.id: task.title for task in selection.data.experiment.tasks}
    return RowChart(
        title=f"{comparison.metric.title} by task: {mode} against {reference}",
        explanation=_explain_tasks(comparison, len(tasks)),
        axis=make_axis(comparison.metric),
        groups=tuple(_make_group((reference, mode)[side], side, number) for side, number in styles),
        rows=tuple(
            _make_task_row(
                titles.get(task) or task,
                _read_sides(comparison, task),
                [styles.index((side, outcomes[side][at])) for side in (0, 1)],
                _read_change(comparison, task),
            )
            for at, task in enumerate(tasks)
        ),
        is_linked=True,
    )


def _choose_tasks(comparison: MetricPairs) -> list[str]:
    """Order the tasks by what they show, the greatest gain first; of many, both ends."""
    differences = comparison.pairs.differences
    sign = -1 if comparison.metric.better is Better.HIGHER else 1
    tasks = sorted(differences, key=lambda task: sign * differences[task])
    if len(tasks) <= 2 * _SHOWN_TASKS:
        return tasks
    return [*tasks[:_SHOWN_TASKS], *tasks[-_SHOWN_TASKS:]]


def _find_outcomes(selection: Selection, mode: str, tasks: Iterable[str]) -> list[int]:
    """Return for each task what the answers of a mode are."""
    values = group_metric(selection, mode, selection.metrics[RIGHT])
    shares = (fmean(values[task]) if values.get(task) else None for task in tasks)
    numbers: dict[float | None, int] = {1.0: 0, 0.0: 1, None: _NOT_JUDGED}
    return [numbers.get(share, 2) for share in shares]


def _make_group(mode: str, side: int, number: int) -> MarkGroup:
    outcome, tone = _OUTCOMES[number]
    return MarkGroup(label=f"{mode}, {outcome}", shape=number, tone=tone, is_hollow=side == 0)


def _read_sides(comparison: MetricPairs, task: str) -> list[float]:
    pairs = comparison.pairs
    values = [pairs.reference_values[task], pairs.arm_values[task]]
    return [*map(exponentiate, values)] if pairs.relative else values


def _read_change(comparison: MetricPairs, task: str) -> Value:
    difference = comparison.pairs.differences[task]
    value = exponentiate(difference) if comparison.pairs.relative else difference
    return Value(scale=choose_scale(comparison.metric), value=value)


def _make_task_row(
    label: str, sides: Sequence[float], groups: Sequence[int], change: Value
) -> MarkRow:
    marks = (RowMark(group=group, value=side) for group, side in zip(groups, sides, strict=True))
    return MarkRow(label=label, marks=tuple(marks), figure=change)


def _explain_tasks(comparison: MetricPairs, visible: int) -> str:
    pairs = comparison.pairs
    sentences = [
        "Each task with both modes, the greatest gain first; hollow marks are the reference."
    ]
    if len(pairs.cases) > visible:
        sentences.append(
            f"{visible} of {len(pairs.cases):,} tasks are shown, {_SHOWN_TASKS} at each end."
        )
    lacking = {
        "lacking the figure in a mode": pairs.unpaired,
        "with a figure of 0": pairs.zeros,
    }
    parts = [
        f"{quantify(len(tasks), 'task')} {clause}" for clause, tasks in lacking.items() if tasks
    ]
    return " ".join([*sentences, *([f"Not in it: {', '.join(parts)}."] if parts else [])])


def make_cost_chart(headline: Headline, modes: Sequence[str]) -> PlaneChart | None:
    """Make the chart of what modes found against what they spent; `None` where fewer than two have
    both."""
    quality, cost = _find_quality(headline), _find_cost(headline)
    if headline.ratios is None or quality is None or cost is None:
        return None
    columns = number_columns(headline.ratios)
    points = {
        mode: _locate_mode(quality, cost, at, _read_ratio(headline.ratios, cost, columns.get(mode)))
        for at, mode in enumerate(modes[:MAX_LINES])
        if mode in columns or at == 0
    }
    lines = [
        Line(label=mode, shape=modes.index(mode), points=(point,))
        for mode, point in points.items()
        if point
    ]
    if len(lines) < 2:
        return None
    reading = (
        "Up is better, and left is cheaper. Bars: the 95 % intervals of the difference and of the "
        f"ratio, set off from {headline.ratios.reference}."
    )
    return PlaneChart(
        title=f"{quality.metric.title} against {lowercase(cost.metric.title)}",
        explanation=f"{reading}{list_absent(modes, lines)}",
        x=Axis(label=f"{cost.metric.title} of a typical task", style=cost.metric.style),
        y=make_axis(quality.metric),
        lines=tuple(lines),
    )


def _find_quality(headline: Headline) -> FoundRow | None:
    rows = headline.correctness.rows if headline.correctness else ()
    return next((row for row in rows if row.metric.key in RECALLS), None)


def _find_cost(headline: Headline) -> RatioRow | None:
    rows = headline.ratios.rows if headline.ratios else ()
    by_key = {row.metric.key: row for row in rows if any(row.typical)}
    return next((by_key[key] for key in _COSTS if key in by_key), None)


def _read_ratio(ratios: Ratios, row: RatioRow, column: int | None) -> Ratio | None:
    """Return the ratio that the table shows too."""
    if column is None or not isinstance(make_ratio_cell(ratios, row, column), Value):
        return None
    return row.ratios[column]


def _locate_mode(quality: FoundRow, cost: RatioRow, at: int, ratio: Ratio | None) -> Point | None:
    """Make the point of a mode; `None` without both figures. An interval is moved to where its
    mode stands, and omitted where it is over other tasks than the figures."""
    values = [figure.value if figure else None for figure in quality.figures]
    x, y, first, base = cost.typical[at], values[at], cost.typical[0], values[0]
    if x is None or y is None:
        return None
    change = quality.differences[at]
    x_interval = y_interval = None
    is_same = partial(math.isclose, rel_tol=1e-6)
    if ratio and ratio.interval and first and is_same(first * ratio.estimate, x):
        x_interval = first * ratio.interval[0], first * ratio.interval[1]
    if change and change.interval and base is not None and is_same(base + change.estimate, y):
        y_interval = base + change.interval[0], base + change.interval[1]
    return Point(x=x, y=y, x_interval=x_interval, y_interval=y_interval)
