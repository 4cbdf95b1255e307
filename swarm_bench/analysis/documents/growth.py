"""The summary of a series of growing swarms as a document, and what it says in words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from swarm_bench.analysis.documents.blocks import (
    NOT_REPORTED,
    describe_not_reported,
    extend_answer,
    list_absent,
    make_definitions,
    make_rules_section,
    paragraph,
    quote_agent,
)
from swarm_bench.analysis.documents.opening import Opening, make_summary
from swarm_bench.analysis.sections.head import describe_repository
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.wording import join, quantify
from swarm_bench.core.metric import Metric, Style
from swarm_bench.core.report import document as parts
from swarm_bench.core.report.document import (
    Answers,
    Block,
    Bullets,
    Document,
    Fact,
    Grid,
    Picture,
    Scale,
    Section,
    Span,
    Value,
)
from swarm_bench.core.report.page import PAGE
from swarm_bench.core.report.pictures import (
    MAX_LINES,
    Axis,
    Line,
    PlaneChart,
    Point,
    make_picture,
)
from swarm_bench.core.report.report import Report
from swarm_bench.core.report.series import Cell, ModeSeries, Series, SeriesRow, Sizes
from swarm_bench.core.session.experiment import Experiment

_LEGEND = (
    "In brackets: against the smallest swarms, the median over tasks of a task's median by that in "
    "the smallest; of indexing, the ratio of the medians; nothing where one of the two sizes has "
    "no verdict. Every size has the same trials, cut into swarms that share a workspace and its "
    "services."
)


def make_document(series: Series) -> Document:
    """Lay out what a series says."""
    blocks = (*_write_sentences(series), *_draw_sizes(series))
    sharing = Section(title="What sharing costs or brings", blocks=blocks)
    opening = Opening(
        title=series.title,
        banner=series.banner,
        head=series.head,
        headline=tuple(_make_headline(series)),
        warnings=series.warnings,
        table=sharing,
        notes=series.notes,
        further_sections=(_list_sessions(dict.fromkeys(series.sizes, False)),),
    )
    return make_summary(opening, _make_details(series))


def _make_details(series: Series) -> Iterator[Section]:
    for mode in series.modes:
        yield Section(title=mode.mode, blocks=tuple(_make_table(mode, series)))
    if spending := _make_spending(series):
        yield make_rules_section(spending)
    yield Section(title="How to read the tables", blocks=tuple(_write_legend(series)))


def _make_headline(series: Series) -> Iterator[Block]:
    verdict = Span(text="no verdict", strong=True)
    if missing_verdicts := tuple(
        (f"{_format_sizes(sizes)}: there is ", verdict, ": ", quote_agent(reason))
        for reason, sizes in series.no_verdict.items()
    ):
        yield Bullets(items=missing_verdicts)
    if answers := tuple(
        extend_answer(standing, f" ({_format_sizes(sizes)})")
        for mode in series.modes
        for standing, sizes in mode.standings.items()
    ):
        yield Answers(items=answers, size=_describe_extents(series))
    if caveats := tuple(
        (
            Span(text=mode.mode, strong=True),
            f", {_format_sizes(sizes)}, with caveats: ",
            quote_agent(reason),
            ".",
        )
        for mode in series.modes
        for reason, sizes in mode.qualifications.items()
    ):
        yield Bullets(items=caveats)


def _describe_extents(series: Series) -> str:
    """Say what has trials, once where that is the same of all sizes."""
    if len(series.extents) == 1:
        return next(iter(series.extents))
    return "; ".join(
        f"{extent} ({_format_sizes(sizes)})" for extent, sizes in series.extents.items()
    )


def _format_sizes(sizes: Sizes) -> str:
    return f"{join([*map(str, sizes)])} at a time"


def _write_sentences(series: Series) -> Iterator[Block]:
    items = tuple(
        mode.sentence
        or f"{mode.mode}: nothing can be said; there is no verdict on it with "
        f"{_format_sizes(mode.no_verdict)}."
        for mode in series.modes
        if mode.sentence or mode.no_verdict
    )
    none = "Nothing can be said yet: it takes two sizes that have figures."
    yield Bullets(items=items) if items else paragraph(none)
    yield paragraph(series.remark)


def _make_table(mode: ModeSeries, series: Series) -> Iterator[Block]:
    headers = ("Metric", *_list_sizes(series))
    yield Grid(headers=headers, labels=1, rows=tuple(map(_make_row, mode.rows)))
    if mode.excluded:
        yield paragraph(f"Left out of the times and tokens: {'; '.join(mode.excluded)}.")
    yield from map(paragraph, describe_not_reported(mode.unknown, "series"))


def _draw_sizes(series: Series) -> Iterator[Picture]:
    """Yield a picture of each metric that a mode has in two sizes."""
    keys = dict.fromkeys(row.metric.key for mode in series.modes for row in mode.rows)
    charts = [chart for key in keys if key in _CURVES and (chart := _make_size_chart(series, key))]
    for number, chart in enumerate(charts, start=1):
        yield make_picture(f"sizes-{number}", chart)


def _make_size_chart(series: Series, key: str) -> PlaneChart | None:
    rows = {mode.mode: row for mode in series.modes for row in mode.rows if row.metric.key == key}
    modes = [mode.mode for mode in series.modes]
    lines = [
        Line(label=mode, shape=number, points=_list_points(series, rows[mode]))
        for number, mode in enumerate(modes[:MAX_LINES])
        if mode in rows
    ]
    visible = [line for line in lines if line.points]
    if not any(len(line.points) > 1 for line in visible):
        return None
    metric = next(iter(rows.values())).metric
    sizes = tuple(map(float, series.sizes))
    low, high = (0, 1) if metric.is_share else (0, None)
    return PlaneChart(
        title=f"{metric.title} by size of the swarms",
        explanation=f"{_OF_SIZES} {metric.definition}{list_absent(modes, visible)}",
        x=Axis(label=_SIZES, style=Style.WHOLE, is_logarithmic=True, ticks=sizes),
        y=Axis(label=f"{metric.title}, {metric.unit}", style=metric.style, low=low, high=high),
        lines=tuple(visible),
    )


def _list_points(series: Series, row: SeriesRow) -> tuple[Point, ...]:
    return tuple(
        Point(x=size, y=cell.value)
        for size, cell in zip(series.sizes, row.cells, strict=True)
        if cell.value is not None
    )


def _make_spending(series: Series) -> Grid | None:
    """Make the table of what fixed rules spent; `None` when a model decided."""
    rows = [(mode.mode, *_make_row(row)) for mode in series.modes for row in mode.spent_by_rules]
    headers = ("Mode", "Metric", *_list_sizes(series))
    return Grid(headers=headers, labels=2, rows=tuple(rows)) if rows else None


def _list_sizes(series: Series) -> list[str]:
    return [f"{size} at a time" for size in series.sizes]


def _make_row(row: SeriesRow) -> tuple[parts.Cell, ...]:
    return (row.metric.title, *(_make_cell(row.metric, cell) for cell in row.cells))


def _make_cell(metric: Metric, cell: Cell) -> parts.Cell:
    if cell.value is None:
        return "left out" if cell.excluded else NOT_REPORTED
    if cell.of is not None:
        return f"{cell.value:g} of {cell.of}"
    ratio = None if cell.ratio is None else Value(scale=Scale.RATIO, value=cell.ratio)
    return Value(scale=metric.style, value=cell.value, beside=ratio)


def _write_legend(series: Series) -> Iterator[Block]:
    rows = (row for mode in series.modes for row in (*mode.rows, *mode.spent_by_rules))
    yield paragraph(_LEGEND)
    yield from make_definitions({row.metric.key: row.metric for row in rows}.values())


def link_pages(document: Document, sizes: Mapping[int, bool]) -> Document:
    """Let the list of the sessions lead to the pages of those that have one."""
    sections = (
        _list_sessions(sizes) if section.title == _SESSIONS and not section.folded else section
        for section in document.sections
    )
    return replace(document, sections=tuple(sections))


def _list_sessions(sizes: Mapping[int, bool]) -> Section:
    """List the sessions of all sizes, each with whether it has a page to lead to."""
    items = tuple(
        (
            Span(
                text=f"{quantify(size, 'agent')} in a workspace",
                address=f"agents-{size}/{PAGE if has_page else 'summary.md'}",
            ),
        )
        for size, has_page in sizes.items()
    )
    sentence = (paragraph(_SESSION_PAGES),) if any(sizes.values()) else ()
    return Section(title=_SESSIONS, blocks=(*sentence, Bullets(items=items)))


_COSTS = {
    "call_seconds": ("a call of the tool takes", "as long"),
    "wall_seconds": ("an agent takes", "as long"),
    "index_seconds": ("indexing takes", "as long"),
    "effective_tokens": ("an agent spends", "the tokens"),
}
DESCRIPTIVE = (
    "This is descriptive: nothing is tested, and the sizes ran one after the other, so whatever "
    "changed meanwhile (a busier machine, a slower provider) is in it too."
)
_QUALITY = {"file_recall": "recall is"}
_CURVES = _COSTS.keys() | _QUALITY.keys()
_SIZES = "Agents that share a workspace"
_SESSIONS = "Sessions"
_SESSION_PAGES = (
    "The trials of each size are on a page of their own: tasks and modes with what each trial "
    "found, two transcripts side by side, and the session in time."
)
_OF_SIZES = "A point for each size that has the figure."
_COUNTS = {"failed_calls": "failed calls", "unanswered": "trials without an answer"}


def write_sentence(mode: str, rows: Sequence[SeriesRow], sizes: Sizes, *, qualified: bool) -> str:
    """Compare the largest swarms with the smallest; empty with one size, or without figures."""
    clauses = [
        f"{_COSTS[row.metric.key][0]} {ratio:.2f} times {_COSTS[row.metric.key][1]}"
        for row in rows
        if row.metric.key in _COSTS and (ratio := row.cells[-1].ratio) is not None
    ]
    clauses += [
        f"there are {row.cells[-1].value:g} {_COUNTS[row.metric.key]} instead of "
        f"{row.cells[0].value:g}"
        for row in rows
        if row.metric.key in _COUNTS
        and None not in (row.cells[0].value, row.cells[-1].value)
        and row.cells[0].value != row.cells[-1].value
    ]
    clauses += [
        f"{title} {row.cells[-1].value:.2f} instead of {row.cells[0].value:.2f}"
        for row in rows
        if (title := _QUALITY.get(row.metric.key))
        and None not in (row.cells[0].value, row.cells[-1].value)
        and row.cells[0].value != row.cells[-1].value
    ]
    if len(sizes) < 2 or not clauses:
        return ""
    return (
        f"{mode}: where {sizes[-1]} agents share a workspace instead of {sizes[0]}, "
        f"{join(clauses)}." + (" Caveats: see the headline." if qualified else "")
    )


def make_facts(selections: Mapping[int, Selection]) -> tuple[tuple[Fact, ...], ...]:
    experiment = next(iter(selections.values())).data.experiment
    sizes = [
        f"{size} (not run)" if size not in selections else str(size)
        for size in _list_planned(selections)
    ]
    return (
        (Fact(label="Repository", value=describe_repository(experiment.repository)),),
        (
            Fact(label="Agents in a workspace", value=", ".join(sizes)),
            Fact(label="Trials", value=f"{experiment.trials_per_mode} per mode and run"),
            Fact(label="Runs", value=", ".join(map(str, _list_runs(selections)))),
        ),
        (
            Fact(label="Agent", value=experiment.agent.label),
            Fact(label="Model", value=experiment.model_label),
            Fact(
                label="Tasks",
                value=f"{experiment.suite} ({experiment.tasks_asked} asked, the same in each size)",
            ),
        ),
    )


def list_warnings(
    selections: Mapping[int, Selection], reports: Sequence[Report]
) -> tuple[str, ...]:
    """Say what is missing, and where each session's own warnings stand."""
    sentences = [
        f"{quantify(size, 'agent')}: not run; --continue runs it."
        for size in _list_planned(selections)
        if size not in selections
    ]
    for (size, selection), report in zip(selections.items(), reports, strict=True):
        absent = sum(selection.data.planned.values()) - len(selection.trials)
        if absent > 0:
            sentences.append(f"Swarms of {size}: trials that have not been run: {absent}.")
        if report.warnings:
            sentences.append(
                f"Swarms of {size}: warnings in the session's own summary: {len(report.warnings)}; "
                f"read agents-{size}/summary.md before its figures."
            )
    if len(_list_runs(selections)) > 1:
        sentences.append(
            "The sizes have different numbers of runs; add the missing ones with --continue."
        )
    return tuple(sentences)


def list_planned_sizes(experiments: Mapping[int, Experiment]) -> list[int]:
    """List the sizes that a series has, and those that any session of it was started with."""
    settings = (experiment.settings.get("agents") for experiment in experiments.values())
    values = (setting.value for setting in settings if setting)
    lists = (value for value in values if isinstance(value, list))
    return sorted({*experiments, *(size for sizes in lists for size in sizes if type(size) is int)})


def _list_planned(selections: Mapping[int, Selection]) -> list[int]:
    return list_planned_sizes(
        {size: selection.data.experiment for size, selection in selections.items()}
    )


def _list_runs(selections: Mapping[int, Selection]) -> list[int]:
    """List the different numbers of runs."""
    runs = (selection.data.experiment.runs for selection in selections.values())
    return list(dict.fromkeys(runs))
