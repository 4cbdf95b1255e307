"""The summary of a comparison as a document."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from swarm_bench.analysis.documents import judge
from swarm_bench.analysis.documents.blocks import (
    definitions,
    explanation,
    figure,
    not_reported,
    paragraph,
    quoting,
    ratio,
    standing_answer,
    table,
)
from swarm_bench.analysis.documents.details import details_section
from swarm_bench.analysis.documents.effects import as_used, effects, per_right_answer, ratio_grid
from swarm_bench.analysis.documents.opening import About, Opening, summary
from swarm_bench.analysis.documents.rehearsal import NEXT_STEP, rehearsal_section
from swarm_bench.analysis.documents.trials import trials_section
from swarm_bench.analysis.missed import missed_section, most_missed
from swarm_bench.core.metric import Style
from swarm_bench.core.report.document import (
    Answers,
    Attachment,
    Banner,
    Block,
    Bullets,
    Cell,
    Document,
    Grid,
    Picture,
    Section,
    Span,
    Tone,
    Value,
)
from swarm_bench.core.report.ratios import Ratios
from swarm_bench.core.report.report import (
    Controls,
    Figure,
    Headline,
    Line,
    Rehearsed,
    Report,
    Sheet,
    SpentByRules,
    Split,
    SplitRow,
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
_EFFECTS = "Figures are those of a typical task. What no verdict names is exploratory."


def document(report: Report, picture: Picture | None = None) -> Document:
    """Lay out what a comparison says; the picture stands below the table."""
    about = About(title=report.title, banner=report.banner, head=report.head)
    if report.rehearsed is not None:
        details = (trials_section(report),)
        return summary(about, _rehearsal(report, report.rehearsed), details, _apart(report))
    effects = _effects(report.headline, report.modes, picture)
    opening = Opening(
        headline=tuple(_headline(report.headline)),
        warnings=report.warnings,
        table=effects,
        notes=report.notes,
        brief=tuple(_brief(report.headline)),
        gravest=report.gravest,
        aside=most_missed(report.missed, report.modes[:1]),
    )
    return summary(about, opening, _details(report), _apart(report))


def _rehearsal(report: Report, modes: Sequence[Rehearsed]) -> Opening:
    """Begin with what a rehearsal is for; of what the modes are worth it says nothing."""
    return Opening(
        headline=(),
        warnings=report.warnings,
        table=rehearsal_section(modes),
        notes=report.notes,
        gravest=report.gravest,
        next_step=NEXT_STEP,
    )


def _details(report: Report) -> Iterator[Section]:
    correctness = report.headline.correctness
    if correctness and correctness.tags:
        yield _tags(correctness.tags, report.modes)
    if section := missed_section(report.missed):
        yield section
    if report.measured:
        yield from map(_controls, report.controls)
        if report.judging:
            yield judge.section(report.judging)
    yield trials_section(report)


def _apart(report: Report) -> Attachment:
    has = _IN_DETAILS if report.rehearsed is None else _IN_THOSE_OF_REHEARSALS
    instead = [Section(title="Details", blocks=(paragraph((_DETAILS, has)),))]
    rows = tuple(row for of_table in report.tables for row in of_table.rows if not row.metric.keyed)
    if report.measured and rows:
        whole = Table(title="Figures by mode", rows=rows)
        section = table(whole, report.modes, [*explanation(report.runs)], digest=True)
        instead.append(replace(section, folded=True))
    title = f"{report.title}: Details"
    return Attachment(title=title, sections=tuple(_further(report)), instead=tuple(instead))


def _further(report: Report) -> Iterator[Section]:
    """Yield what few readers want: how the figures are to be read, further ones, and what each
    is."""
    if report.rehearsed is None:
        yield from _compared(report)
    if report.measured:
        for number, metrics in enumerate(report.tables):
            yield table(metrics, report.modes, () if number else [*explanation(report.runs)])
        yield from (_sheet(sheet) for sheet in (report.tools, report.overhead) if sheet)


def _compared(report: Report) -> Iterator[Section]:
    headline = report.headline
    if headline.ratios:
        yield _reading(headline.ratios)
    if headline.details:
        yield details_section(headline.details)
    if report.spent_by_rules:
        yield _spent(report.spent_by_rules, report.modes)


def _headline(headline: Headline) -> Iterator[Block]:
    if headline.no_verdict:
        yield paragraph(
            ("There is ", Span(text="no verdict", strong=True), ": ", quoting(headline.no_verdict))
        )
    if headline.standings:
        yield Answers(items=tuple(map(standing_answer, headline.standings)))
    if headline.remark:
        yield paragraph(headline.remark)


def _brief(headline: Headline) -> Iterator[Block]:
    if headline.no_verdict:
        strong = Span(text="no verdict", strong=True, tone=Tone.OPEN)
        yield paragraph(("There is ", strong, ": ", quoting(headline.no_verdict)))
    if headline.standings:
        yield Answers(items=tuple(map(standing_answer, headline.standings)))


def _effects(headline: Headline, modes: Sequence[str], picture: Picture | None) -> Section | None:
    grid = effects(headline, modes)
    if grid is None:
        return None
    pictures = (picture,) if picture else ()
    return Section(title="Effects", blocks=(grid, paragraph(_EFFECTS), *pictures))


def _reading(ratios: Ratios) -> Section:
    used = as_used(ratios)
    blocks = (*((used,) if used else ()), *map(paragraph, ratios.legend))
    return Section(title="How to read the effects", blocks=blocks)


def _tags(tags: Sequence[Tagged], modes: Sequence[str]) -> Section:
    rows = tuple(
        (tag.tag, _number(tag.tasks), *map(_recall, tag.recall, tag.right)) for tag in tags
    )
    return Section(
        title="What was found by tag",
        blocks=(
            Grid(headers=("Tag", "Tasks", *modes), labels=2, rows=rows),
            paragraph("Recall (files), and in brackets the right answers."),
        ),
    )


def _recall(recall: Figure | None, right: Figure | None) -> Value | None:
    cell = figure(Style.FRACTION, recall)
    if cell is None or right is None or right.value is None:
        return cell
    return replace(cell, beside=Value(scale=Style.PERCENT, value=right.value))


def _spent(spent: SpentByRules, modes: Sequence[str]) -> Section:
    ratios = ratio_grid(spent.ratios)
    blocks: list[Block] = [Banner(text=spent.banner), *([ratios] if ratios else [])]
    blocks += [_splits(controls) for controls in spent.controls if controls.splits]
    blocks += map(paragraph, spent.ratios.legend)
    if spent.per_right_answer:
        rows = tuple(per_right_answer(spent.per_right_answer))
        blocks.append(Grid(headers=("Metric", *modes), labels=1, rows=rows))
    return Section(title=spent.title, blocks=tuple(blocks))


def _controls(controls: Controls) -> Section:
    blocks: list[Block] = []
    if controls.splits:
        blocks += [_splits(controls), paragraph(controls.about)]
    if controls.notes:
        blocks.append(Bullets(items=controls.notes))
    return Section(title=controls.title, blocks=tuple(blocks))


def _splits(controls: Controls) -> Grid:
    rows: list[tuple[Cell, ...]] = [
        (split.mode, row.metric.title, *_steps(split, row))
        for split in controls.splits
        for row in split.rows
    ]
    return Grid(headers=("Mode", "Metric", *controls.steps), labels=2, rows=tuple(rows))


def _steps(split: Split, row: SplitRow) -> list[Value]:
    return [ratio(step, split.tasks) for step in (row.control, row.tool, row.together)]


def _sheet(sheet: Sheet) -> Section:
    rows = tuple(tuple(_line(sheet, line)) for line in sheet.lines)
    headers = (*sheet.labels, *(metric.title for metric in sheet.metrics))
    blocks = (
        Grid(headers=headers, labels=len(sheet.labels), rows=rows),
        paragraph(sheet.about, *not_reported(sheet.unknown, "session")),
        *(paragraph((quoting(note),)) for note in sheet.notes),
        *definitions(sheet.metrics),
    )
    return Section(title=sheet.title, blocks=blocks)


def _line(sheet: Sheet, line: Line) -> Iterator[Cell]:
    yield from line.labels
    for metric, median in zip(sheet.metrics, line.figures, strict=True):
        yield figure(metric.style, median)


def _number(number: int) -> Value:
    return Value(scale=Style.WHOLE, value=number)
