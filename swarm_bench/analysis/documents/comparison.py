"""The summary of a comparison as a document."""

from collections.abc import Iterator

from swarm_bench.analysis.documents.blocks import (
    NO_WARNING,
    NOT_REPORTED,
    definitions,
    explanation,
    figure,
    named_standing,
    not_reported,
    paragraph,
    quoting,
    ratio,
    table,
    trials,
    warned,
)
from swarm_bench.core.metric import Style
from swarm_bench.core.report.document import (
    Banner,
    Block,
    Bullets,
    Cell,
    Document,
    Grid,
    Parts,
    Section,
    Span,
    Value,
)
from swarm_bench.core.report.report import (
    Column,
    Controls,
    Headline,
    Indexing,
    Line,
    Ratios,
    Report,
    Sheet,
    SpentByRules,
    Split,
    SplitRow,
    TrialColumn,
)
from swarm_bench.core.session.records import TrialRecord

_TASK_LENGTH = 40
_LABELS = ("Mode", "Agent", "Task", "Outcome", "Retrieval")


def document(report: Report) -> Document:
    """Lay out what a comparison says."""
    return Document(
        title=report.title,
        banner=report.banner,
        head=report.head,
        sections=tuple(_sections(report)),
    )


def _sections(report: Report) -> Iterator[Section]:
    if blocks := tuple(_headline(report.headline)):
        yield Section(title="Headline", blocks=blocks)
    yield from warned(report.warnings, report.notes, NO_WARNING)
    if report.spent_by_rules:
        yield _spent(report.spent_by_rules)
    if report.measured:
        yield from map(_controls, report.controls)
        for number, metrics in enumerate(report.tables):
            yield table(metrics, report.modes, () if number else [*explanation(report.runs)])
        yield from (_sheet(sheet) for sheet in (report.tools, report.overhead) if sheet)
    yield _trials(report)


def _headline(headline: Headline) -> Iterator[Block]:
    if headline.no_verdict:
        yield paragraph(
            ("There is ", Span(text="no verdict", strong=True), ": ", quoting(headline.no_verdict))
        )
    if headline.standings:
        yield Bullets(items=tuple(map(named_standing, headline.standings)))
    if headline.remark:
        yield paragraph(headline.remark)
    if headline.ratios:
        yield _ratios(headline.ratios)
        yield from map(paragraph, headline.ratios.legend)


def _spent(spent: SpentByRules) -> Section:
    splits = [_splits(controls) for controls in spent.controls if controls.splits]
    legend = map(paragraph, spent.ratios.legend)
    blocks: tuple[Block, ...] = (Banner(text=spent.banner), _ratios(spent.ratios), *splits, *legend)
    return Section(title=spent.title, blocks=blocks)


def _controls(controls: Controls) -> Section:
    blocks: list[Block] = []
    if controls.splits:
        blocks += [_splits(controls), paragraph(controls.about)]
    if controls.notes:
        blocks.append(Bullets(items=controls.notes))
    return Section(title=controls.title, blocks=tuple(blocks))


def _ratios(ratios: Ratios) -> Grid:
    first = "Metric (range of tasks)" if ratios.tasks > 1 else "Metric"
    return Grid(
        headers=(first, *map(_column, ratios.columns)), labels=1, rows=tuple(_ratio_rows(ratios))
    )


def _ratio_rows(ratios: Ratios) -> Iterator[tuple[Cell, ...]]:
    """Set indexing beside the time that it may be part of."""
    for row in ratios.rows:
        yield (row.metric.title, *(ratio(compared, ratios.tasks) for compared in row.ratios))
        if row.metric.key == "wall_seconds" and ratios.indexing:
            yield (ratios.indexing.metric.title, *map(_indexing, ratios.indexing.cells))


def _column(column: Column) -> str:
    return f"{column.mode}, as used" if column.as_used else column.mode


def _indexing(indexing: Indexing | None) -> Parts | None:
    if indexing is None:
        return None
    parts = [(indexing.before, "before the agents"), (indexing.within, "in their time")]
    counts = [(indexing.missing, "missing"), (indexing.copied, "copied")]
    return Parts(
        style=Style.SECONDS,
        parts=tuple((seconds, when) for seconds, when in parts if seconds is not None),
        notes=tuple(f"{count} {what}" for count, what in counts if count),
    )


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


def _trials(report: Report) -> Section:
    several = report.runs > 1
    labels = ("Run", *_LABELS) if several else _LABELS
    rows = (_trial(report, trial, several=several) for trial in report.trials)
    headers = (*labels, *(column.title for column in report.columns))
    blocks = trials(headers, len(labels), rows, len(report.trials))
    return Section(title="Per-Agent Results", blocks=blocks)


def _trial(report: Report, trial: TrialRecord, *, several: bool) -> tuple[Cell, ...]:
    task = report.titles.get(trial.task_id or "", trial.task)
    return (
        *([_number(trial.run)] if several else []),
        trial.mode,
        _number(trial.agent),
        Span(text=task, longest=_TASK_LENGTH),
        trial.cause or trial.status or NOT_REPORTED,
        trial.retrieval or NOT_REPORTED,
        *(_figure(column, trial) for column in report.columns),
    )


def _number(number: int) -> Value:
    return Value(scale=Style.WHOLE, value=number)


def _figure(column: TrialColumn, trial: TrialRecord) -> Value:
    beside = column.beside and Value(scale=column.style, value=column.beside(trial))
    return Value(scale=column.style, value=column.read(trial), beside=beside or None)
