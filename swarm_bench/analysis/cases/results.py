"""The figures of a session that compares models: per arm and part, with intervals over cases."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from swarm_bench.analysis.cases.caveats import is_empty
from swarm_bench.analysis.cases.models import ModelSession
from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.documents.blocks import list_absent, make_axis, make_definitions
from swarm_bench.analysis.statistics.effects import Effect, compute_wilson
from swarm_bench.analysis.wording import lowercase, quantify
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.document import Answer, Block, Cell, Grid, Picture, Section, Value
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
    make_picture,
)
from swarm_bench.core.session.models import ModelRecord

_COSTS = "cost", "output_tokens"
"""Figures of what answers cost; the first one that is measured is shown."""
_MAX_ROWS = 40


@dataclass(frozen=True, kw_only=True)
class ResultFigure:
    """One measure of an arm."""

    metric: Metric
    value: float | None
    """`None` when no case has it."""
    interval: tuple[float, float] | None
    """Interval, without values that the figure cannot have; `None` where there is none."""
    cases: int
    """Number of cases that have the figure."""
    expected_cases: int
    """Number of cases that the figure covers; 0 if it is for another part of the data."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """What an arm came to in a part of the data set."""

    arm: str
    part: str | None
    """`None`: in all of it."""
    cases: int
    """Number of cases that were asked in the part."""
    figures: tuple[ResultFigure, ...]
    empty: str = ""
    """How many of its answers are, since the server put its text elsewhere; empty where none is."""


def list_measures(session: ModelSession) -> list[Metric]:
    """Return the benchmark's own measures: those that are compared, and others of cases."""
    return [
        metric
        for metric in session.metrics
        if metric.is_of_trials
        and (metric.compared or metric.of_case or metric.counts or metric.of_groups)
    ]


def compute_results(session: ModelSession) -> Iterator[Result]:
    """Yield the figures of each arm: over all cases, and over each part where there are several and
    figures that are not of one part anyway."""
    part_of = session.parts_by_case
    divided = any(metric.part is None for metric in list_measures(session))
    parts = sorted(set(part_of.values())) if divided else []
    for arm in session.experiment.arms:
        for part in (None, *(parts if len(parts) > 1 else ())):
            cases = [case.id for case in session.experiment.cases]
            part_cases = {case for case in cases if part is None or part_of.get(case) == part}
            figures = tuple(
                _compute_figure(session, arm, metric, part_cases)
                for metric in list_measures(session)
            )
            yield Result(
                arm=arm,
                part=part,
                cases=len(part_cases),
                figures=figures,
                empty=_describe_empty(
                    [record for record in session.list_answers(arm) if record.case in part_cases]
                ),
            )


def answer_without_reference(session: CaseSession, metric: Metric | None) -> Iterator[Answer]:
    """Say what each arm came to, where none is held against another."""
    if session.references or metric is None:
        return
    for arm in session.experiment.arms:
        figure = _compute_figure(session, arm, metric, set(session.select_cases(metric).ids))
        runs = quantify(session.experiment.runs, "run")
        size = f", {quantify(figure.cases, 'case')} × {runs}" if figure.cases else ""
        yield Answer(
            subject=arm,
            claim=f": {lowercase(metric.title)} {_format_figure(metric, figure)}{size}",
            caveats=tuple(caveat.qualification for caveat in session.caveats(arm)),
        )


def _format_figure(metric: Metric, figure: ResultFigure) -> str:
    """Write `0.55 (0.45 to 0.65)`."""
    if figure.value is None:
        return "is known of no case"
    digits = ".2f" if metric.is_share else ".3g"
    low, high = (f"{bound:{digits}}" for bound in figure.interval or (0, 0))
    interval = f" ({low} to {high})" if low != high else ""
    return f"{figure.value:{digits}}{interval}"


def make_result_section(session: ModelSession) -> Section:
    """Make the table of them."""
    rows = list(compute_results(session))
    parts = any(row.part for row in rows)
    metrics = [
        metric
        for at, metric in enumerate(list_measures(session))
        if any(row.figures[at].value is not None for row in rows)
    ]
    headers = ("Arm", *(("Part",) if parts else ()), "Cases", *(metric.title for metric in metrics))
    grid = Grid(
        headers=headers,
        labels=2 if parts else 1,
        about=describe_cases(session),
        rows=tuple(
            (
                row.arm,
                *((row.part or "all",) if parts else ()),
                str(row.cases),
                *(
                    "by part"
                    if row.part is None and session.is_by_part(figure.metric)
                    else _make_cell(figure, row)
                    for figure in row.figures
                    if figure.metric in metrics
                ),
            )
            for row in rows
        ),
    )
    blocks: tuple[Block, ...] = (grid, *_draw_results(session, rows))
    return Section(title=f"Results (95 % interval over {session.intervals_over})", blocks=blocks)


def _draw_results(session: ModelSession, rows: Sequence[Result]) -> Iterator[Picture]:
    """Yield the picture of the figures with the unit of the first one, metric by metric."""
    parts = [
        (row, row.figures[at])
        for at in range(len(list_measures(session)))
        for row in rows
        if row.figures[at].expected_cases
        and not (row.part is None and session.is_by_part(row.figures[at].metric))
    ]
    metrics = [figure.metric for _, figure in parts if figure.value is not None]
    same_unit = {
        it.key for it in metrics if (it.unit, it.style) == (metrics[0].unit, metrics[0].style)
    }
    figures = {
        _name_row(row, figure, same_unit): (session.experiment.arms.index(row.arm), figure)
        for row, figure in parts
        if figure.metric.key in same_unit
    }
    values = {name: entry for name, entry in figures.items() if entry[1].value is not None}
    if len(values) < 2:
        return
    sentences = [f"Bars: the 95 % interval over {session.intervals_over}, where there is one."]
    if absent := [name for name in figures if name not in values]:
        sentences.append(f"Not shown: {', '.join(absent)}, without the figure.")
    if len(values) > _MAX_ROWS:
        sentences.append(f"The first {_MAX_ROWS} of {len(values)} rows are shown.")
    chart = RowChart(
        title="Results" if len(same_unit) > 1 else metrics[0].title,
        explanation=" ".join(sentences),
        axis=replace(make_axis(metrics[0]), label=metrics[0].unit, is_logarithmic=False),
        groups=tuple(
            MarkGroup(label="", shape=number) for number in range(len(session.experiment.arms))
        ),
        rows=tuple(_make_row(name, *values[name]) for name in [*values][:_MAX_ROWS]),
    )
    yield make_picture("results", chart)


def _name_row(row: Result, figure: ResultFigure, keys: Collection[str]) -> str:
    name = row.arm if row.part is None else f"{row.arm}, {row.part}"
    return f"{figure.metric.title}: {name}" if len(keys) > 1 else name


def _make_row(name: str, group: int, figure: ResultFigure) -> MarkRow:
    low, high = figure.interval or (None, None)
    value = Value(scale=figure.metric.style, value=figure.value, low=low, high=high)
    mark = RowMark(group=group, value=figure.value, interval=figure.interval)
    return MarkRow(label=name, marks=(mark,), figure=value)


def draw_costs(session: CaseSession, metric: Metric | None) -> Iterator[Picture]:
    """Yield the picture of the metric against what the answers cost, where several arms have
    both."""
    costs = [session.metrics[key] for key in _COSTS if key in session.metrics]
    if metric is None or metric.relative:
        return
    for cost in costs:
        lines = [*_list_arms(session, metric, cost)]
        if len(lines) < 2 or not any(line.points[0].x for line in lines):
            continue
        reading = f"Bars: the 95 % interval over {session.intervals_over}, where there is one."
        chart = PlaneChart(
            title=f"{metric.title} against {lowercase(cost.title)}",
            explanation=f"{reading}{list_absent(session.experiment.arms, lines)}",
            x=Axis(label=f"{cost.title}, mean over cases", style=cost.style),
            y=make_axis(metric),
            lines=tuple(lines),
        )
        yield make_picture("cost", chart)
        return


def _list_arms(session: CaseSession, metric: Metric, cost: Metric) -> Iterator[Line]:
    """Yield the points of the arms that have both figures, and asked a model for the cost."""
    cases = set(session.select_cases(metric).ids)
    for number, arm in enumerate(session.experiment.arms[:MAX_LINES]):
        figure, price = (_compute_figure(session, arm, it, cases) for it in (metric, cost))
        is_billed = any(record.is_billed for record in session.list_records(arm))
        if figure.value is None or price.value is None or session.is_rehearsed(arm):
            continue
        if is_billed or cost.key != "cost":
            point = Point(x=price.value, y=figure.value, y_interval=figure.interval)
            yield Line(label=arm, shape=number, points=(point,))


def describe_cases(session: CaseSession) -> str:
    """Say what the figures of a session are over."""
    cases, runs = quantify(session.case_count, "case"), quantify(session.run_count, "run")
    return f"Over {cases} and {runs}; in brackets the 95 % interval over {session.intervals_over}"


def make_definition_section(session: ModelSession) -> Section:
    """Say what the figures of that table are."""
    return Section(title="Figures", blocks=tuple(make_definitions(list_measures(session))))


def _compute_figure(
    session: CaseSession, arm: str, metric: Metric, cases: set[str]
) -> ResultFigure:
    figures = {
        case: fmean(values)
        for case, values in session.figures(arm, metric, cases).items()
        if values
    }
    effect = session.select_cases(metric).make_effect(figures) if figures else None
    return ResultFigure(
        metric=metric,
        value=_round_estimate(metric, effect) if effect else None,
        interval=_compute_interval(metric, effect) if effect else None,
        cases=len(figures),
        expected_cases=len(cases.intersection(session.select_cases(metric).ids)),
    )


def _round_estimate(metric: Metric, effect: Effect) -> float:
    """Return the estimate; rounding takes no share out of its range."""
    return min(1.0, max(0.0, effect.estimate)) if metric.is_share else effect.estimate


def _compute_interval(metric: Metric, effect: Effect) -> tuple[float, float] | None:
    bounds, upper_limit = effect.interval(), metric.most(effect.units)
    if not bounds:
        return None
    if bounds[0] == bounds[1]:  # that all cases are equal says little of others
        return _compute_equal_interval(metric, effect)
    least = metric.least(min(effect.differences))
    return max(bounds[0], least), min(bounds[1], upper_limit)


def _compute_equal_interval(metric: Metric, effect: Effect) -> tuple[float, float] | None:
    """Compute the interval of a share that is nothing, or all, in every case; `None` elsewhere."""
    share = _round_estimate(metric, effect)
    if not metric.is_share or metric.is_of_many or share not in (0, 1):
        return None
    return compute_wilson(share * effect.independent_cases, effect.independent_cases)


def _make_cell(figure: ResultFigure, row: Result) -> Cell:
    if not figure.expected_cases:
        return None
    low, high = figure.interval or (None, None)
    partial_note = (
        (f"{figure.cases} of {figure.expected_cases} cases",)
        if 0 < figure.cases < figure.expected_cases
        else ()
    )
    notes = (*partial_note, row.empty) if row.empty and figure.value is not None else partial_note
    return Value(scale=figure.metric.style, value=figure.value, low=low, high=high, notes=notes)


def _describe_empty(answers: Sequence[ModelRecord]) -> str:
    empty = sum(map(is_empty, answers))
    return f"{empty} of {quantify(len(answers), 'answer')} empty" if empty else ""
