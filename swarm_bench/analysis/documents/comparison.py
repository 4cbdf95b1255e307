"""The summary of a comparison as a document."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from swarm_bench.analysis.documents.blocks import (
    describe_not_reported,
    explain_table,
    extend_answer,
    make_definitions,
    make_figure,
    make_ratio,
    make_rules_section,
    make_table,
    paragraph,
    quote_agent,
)
from swarm_bench.analysis.documents.effects import (
    make_as_used,
    make_effects,
    make_found_chart,
    make_per_right_answer,
    make_ratio_chart,
    make_ratio_grid,
)
from swarm_bench.analysis.documents.opening import Opening, make_summary
from swarm_bench.analysis.documents.pictures import make_cost_chart
from swarm_bench.analysis.documents.trials import make_trials_section
from swarm_bench.analysis.missed_tasks import describe_most_missed, make_missed_section
from swarm_bench.analysis.sections.overhead import NEXT_STEP
from swarm_bench.core.metric import Style
from swarm_bench.core.report.document import (
    Answers,
    Attachment,
    Block,
    Bullets,
    Cell,
    Document,
    Grid,
    Section,
    Span,
    Tone,
    Value,
)
from swarm_bench.core.report.pictures import RowChart, make_picture
from swarm_bench.core.report.ratios import Ratios
from swarm_bench.core.report.report import (
    Controls,
    Figure,
    Headline,
    Line,
    Report,
    Sheet,
    SpentByRules,
    Table,
    Tagged,
)

_DETAILS = Span(text="details.md", address="details.md")
_IN_DETAILS = (
    " has how the effects are to be read, their statistics, all tables with what each figure is, "
    "the calls of each tool and what it takes to have it."
)
_IN_THOSE_OF_REHEARSALS = (
    " has all tables with what each figure is, the calls of each tool and what it takes to have it."
)
_MAX_TASK_PICTURES = 6
_EFFECTS = "Figures are those of a typical task. What no verdict names is exploratory."


def make_document(report: Report) -> Document:
    """Lay out what a comparison says."""
    opening = Opening(
        title=report.title,
        banner=report.banner,
        head=report.head,
        headline=(),
        warnings=report.warnings,
        notes=report.notes,
        gravest=report.gravest,
    )
    details_file = _make_details_file(report)
    if report.rehearsed is not None:  # of what the modes are worth it says nothing
        opening = replace(opening, table=report.rehearsed, next_step=NEXT_STEP)
        return make_summary(opening, (make_trials_section(report),), details_file)
    headline, remark = tuple(_make_headline(report.headline)), report.headline.remark
    opening = replace(
        opening,
        headline=(*headline, paragraph(remark)) if remark else headline,
        table=_make_effects(report),
        brief=headline,
        aside=describe_most_missed(report.missed, report.modes[:1]),
    )
    return make_summary(opening, _make_details(report), details_file)


def _make_details(report: Report) -> Iterator[Section]:
    if report.by_task:
        yield _make_tasks(report.by_task)
    correctness = report.headline.correctness
    if correctness and correctness.tags:
        yield _make_tags(correctness.tags, report.modes)
    if section := make_missed_section(report.missed):
        yield section
    if report.measured:
        yield from map(_make_controls, report.controls)
        if report.judging:
            yield report.judging
    yield make_trials_section(report)


def _make_details_file(report: Report) -> Attachment:
    has = _IN_DETAILS if report.rehearsed is None else _IN_THOSE_OF_REHEARSALS
    instead = [Section(title="Details", blocks=(paragraph((_DETAILS, has)),))]
    rows = tuple(row for of_table in report.tables for row in of_table.rows if not row.metric.keyed)
    if report.measured and rows:
        all_rows = Table(title="Figures by mode", rows=rows)
        section = make_table(all_rows, report.modes, [*explain_table(report.runs)], digest=True)
        instead.append(replace(section, folded=True))
    title = f"{report.title}: Details"
    return Attachment(title=title, sections=tuple(_make_further(report)), instead=tuple(instead))


def _make_further(report: Report) -> Iterator[Section]:
    """Yield what few readers want: how the figures are to be read, further ones, and what each
    is."""
    if report.rehearsed is None:
        yield from _make_comparison(report)
    if report.measured:
        for number, metrics in enumerate(report.tables):
            yield make_table(metrics, report.modes, () if number else [*explain_table(report.runs)])
        yield from (_make_sheet(sheet) for sheet in (report.tools, report.overhead) if sheet)


def _make_comparison(report: Report) -> Iterator[Section]:
    headline = report.headline
    if headline.ratios:
        yield _make_reading(headline.ratios)
    if headline.details:
        yield headline.details
    if report.spent_by_rules:
        yield _make_spending(report.spent_by_rules, report.modes)


def _make_headline(headline: Headline) -> Iterator[Block]:
    if headline.no_verdict:
        strong = Span(text="no verdict", strong=True, tone=Tone.OPEN)
        yield paragraph(("There is ", strong, ": ", quote_agent(headline.no_verdict)))
    if headline.standings:
        answers = tuple(map(extend_answer, headline.standings))
        yield Answers(items=answers, size=headline.size)


def _make_effects(report: Report) -> Section | None:
    grid = make_effects(report.headline, report.modes)
    if grid is None:
        return None
    pictures = _draw_effects(report)
    return Section(title="Effects", blocks=(grid, paragraph(_EFFECTS), *pictures))


def _draw_effects(report: Report) -> Iterator[Block]:
    """Yield the pictures that stand below the table."""
    headline, modes = report.headline, report.modes
    charts = {
        "found": make_found_chart(headline, modes),
        "effects": make_ratio_chart(headline, modes),
        "cost": make_cost_chart(headline, modes),
    }
    yield from (make_picture(name, chart) for name, chart in charts.items() if chart)


def _make_tasks(charts: Sequence[RowChart]) -> Section:
    """Make the section of the single tasks, with the modes that it does not show."""
    pictures: list[Block] = [
        make_picture(f"tasks-{number}", chart)
        for number, chart in enumerate(charts[:_MAX_TASK_PICTURES], start=1)
    ]
    if omitted := charts[_MAX_TASK_PICTURES:]:
        pictures.append(paragraph(f"Not drawn: {'; '.join(chart.title for chart in omitted)}."))
    return Section(title="Effects by task", blocks=tuple(pictures))


def _make_reading(ratios: Ratios) -> Section:
    used = make_as_used(ratios)
    blocks = (*((used,) if used else ()), *map(paragraph, ratios.legend))
    return Section(title="How to read the effects", blocks=blocks)


def _make_tags(tags: Sequence[Tagged], modes: Sequence[str]) -> Section:
    rows = tuple(
        (tag.tag, _make_number(tag.tasks), *map(_make_recall, tag.recall, tag.right))
        for tag in tags
    )
    return Section(
        title="What was found by tag",
        blocks=(
            Grid(headers=("Tag", "Tasks", *modes), labels=2, rows=rows),
            paragraph("Recall (files), and in brackets the right answers."),
        ),
    )


def _make_recall(recall: Figure | None, right: Figure | None) -> Value | None:
    cell = make_figure(Style.FRACTION, recall)
    if cell is None or right is None or right.value is None:
        return cell
    return replace(cell, beside=Value(scale=Style.PERCENT, value=right.value))


def _make_spending(spending: SpentByRules, modes: Sequence[str]) -> Section:
    ratios = make_ratio_grid(spending.ratios)
    blocks: list[Block] = [ratios] if ratios else []
    blocks += [_make_splits(controls) for controls in spending.controls if controls.splits]
    blocks += map(paragraph, spending.ratios.legend)
    if spending.per_right_answer:
        rows = tuple(make_per_right_answer(spending.per_right_answer))
        blocks.append(Grid(headers=("Metric", *modes), labels=1, rows=rows))
    return make_rules_section(*blocks)


def _make_controls(controls: Controls) -> Section:
    blocks: list[Block] = []
    if controls.splits:
        blocks += [_make_splits(controls), paragraph(controls.about)]
    if controls.notes:
        blocks.append(Bullets(items=controls.notes))
    return Section(title=controls.title, blocks=tuple(blocks))


def _make_splits(controls: Controls) -> Grid:
    rows: list[tuple[Cell, ...]] = [
        (split.mode, metric.title, *(make_ratio(ratio, split.tasks) for ratio in ratios))
        for split in controls.splits
        for metric, ratios in split.rows
    ]
    return Grid(headers=("Mode", "Metric", *controls.steps), labels=2, rows=tuple(rows))


def _make_sheet(sheet: Sheet) -> Section:
    rows = tuple(tuple(_make_line(sheet, line)) for line in sheet.lines)
    headers = (*sheet.labels, *(metric.title for metric in sheet.metrics))
    blocks = (
        Grid(headers=headers, labels=len(sheet.labels), rows=rows),
        paragraph(sheet.about, *describe_not_reported(sheet.unknown, "session")),
        *(paragraph((quote_agent(note),)) for note in sheet.notes),
        *make_definitions(sheet.metrics),
    )
    return Section(title=sheet.title, blocks=blocks)


def _make_line(sheet: Sheet, line: Line) -> Iterator[Cell]:
    yield from line.labels
    for metric, median in zip(sheet.metrics, line.figures, strict=True):
        yield make_figure(metric.style, median)


def _make_number(number: int) -> Value:
    return Value(scale=Style.WHOLE, value=number)
