"""A report as `summary.md`. It computes nothing."""

from collections.abc import Iterator, Sequence

from swarm_bench.core.metric import Style
from swarm_bench.core.report.report import (
    Column,
    Controls,
    Headline,
    Indexing,
    Ratios,
    Report,
    Row,
    Sheet,
    SpentByRules,
    Standing,
    Table,
    TrialColumn,
)
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.reports.figures import NOT_APPLICABLE, NOT_REPORTED, figure, ratio, written
from swarm_bench.reports.template import fill, pipe_table, sentence
from swarm_bench.reports.text import cut, escaped, plain

_TASK_LENGTH = 40
MOST_TRIALS = 5000
"""Rows of the table of trials; nobody reads more, and they would take most of the time."""


def render(report: Report) -> str:
    """The document, ending with a line break; it can be encoded as UTF-8."""
    return fill(
        "summary.md.j2",
        report=report,
        standings=_standings(report.headline),
        ratios=report.headline.ratios and _ratios(report.headline.ratios),
        controls=[(one, _splits(one)) for one in report.controls],
        spent=_spent(report.spent_by_rules),
        sheets=[(one, _sheet(one)) for one in (report.tools, report.overhead) if one],
        tables=[(table, _metrics(report, table)) for table in report.tables],
        trials=_trials(report, report.trials[:MOST_TRIALS]),
        omitted=_omitted(len(report.trials) - MOST_TRIALS),
    )


def _standings(headline: Headline) -> list[str]:
    return [f"**{escaped(one.mode)}**: {standing(one)}" for one in headline.standings]


def standing(one: Standing) -> str:
    """What is said of a mode, as Markdown."""
    said = [sentence(one.treatment)] if one.treatment else []
    if one.no_verdict:
        said.append(f"**no verdict**: {sentence(one.no_verdict)}")
    if one.qualifications:
        word = "Caveats" if len(one.qualifications) > 1 else "Caveat"
        said.append(f"{word}: {sentence('; '.join(one.qualifications))}.")
    return " ".join(said)


def _ratios(ratios: Ratios) -> str:
    first = "Metric (range of tasks)" if ratios.tasks > 1 else "Metric"
    headers = [first, *map(_column, ratios.columns)]
    return pipe_table(headers, [*_ratio_rows(ratios)], words=1)


def _ratio_rows(ratios: Ratios) -> Iterator[list[str]]:
    """Indexing stands with the time that it may be part of."""
    for row in ratios.rows:
        yield [row.metric.title, *(ratio(value, ratios.tasks) for value in row.ratios)]
        if row.metric.key == "wall_seconds" and ratios.indexing:
            yield [ratios.indexing.metric.title, *map(_indexing, ratios.indexing.cells)]


def _indexing(one: Indexing | None) -> str:
    """`60.30s before the agents`."""
    if one is None:
        return NOT_APPLICABLE
    parts = [(one.before, "before the agents"), (one.within, "in their time")]
    said = [f"{written(Style.SECONDS, part)} {when}" for part, when in parts if part is not None]
    counts = [(one.missing, "missing"), (one.copied, "copied")]
    some = [f"{count} {what}" for count, what in counts if count]
    return "; ".join([*said, *some]) if said else NOT_REPORTED


def _spent(spent: SpentByRules | None) -> list[str]:
    """The tables of what fixed rules spent."""
    if spent is None:
        return []
    return [_ratios(spent.ratios), *(_splits(one) for one in spent.controls if one.splits)]


def _column(column: Column) -> str:
    return escaped(column.mode) + (", as used" if column.as_used else "")


def _splits(controls: Controls) -> str:
    rows = [
        [
            escaped(split.mode),
            row.metric.title,
            *(ratio(one, split.tasks) for one in (row.control, row.tool, row.together)),
        ]
        for split in controls.splits
        for row in split.rows
    ]
    return pipe_table(["Mode", "Metric", *controls.steps], rows, words=2)


def _sheet(sheet: Sheet) -> str:
    return pipe_table(
        [*sheet.labels, *(metric.title for metric in sheet.metrics)],
        [
            [
                *map(escaped, line.labels),
                *map(figure, sheet.metrics, line.figures),
            ]
            for line in sheet.lines
        ],
        words=len(sheet.labels),
    )


def _metrics(report: Report, table: Table) -> str:
    return pipe_table(
        ["Metric", *map(escaped, report.modes)],
        [
            [_title(row), *(figure(row.metric, value) for value in row.figures)]
            for row in table.rows
        ],
        words=1,
    )


def _title(row: Row) -> str:
    return f"{row.metric.title} (estimate)" if row.estimated else row.metric.title


def _trials(report: Report, trials: Sequence[TrialRecord]) -> str:
    several = report.runs > 1
    headers = ["Mode", "Agent", "Task", "Outcome", "Retrieval"]
    rows = [_trial(trial, report.titles.get(trial.task_id or "", trial.task)) for trial in trials]
    if several:
        headers = ["Run", *headers]
        rows = [[str(trial.run), *row] for trial, row in zip(trials, rows, strict=True)]
    words = len(headers)
    for column in report.columns:
        headers.append(column.title)
        for trial, row in zip(trials, rows, strict=True):
            row.append(_cell(column, trial))
    return pipe_table(headers, rows, words=words)


def _omitted(number: int) -> str:
    """Where the other trials are, if there are any."""
    if number <= 0:
        return ""
    trials = "1 more trial is" if number == 1 else f"{number:,} more trials are"
    return f"{trials} not shown; metrics.jsonl has a line of each."


def _trial(trial: TrialRecord, task: str) -> list[str]:
    return [
        escaped(trial.mode),
        str(trial.agent),
        escaped(cut(plain(task), _TASK_LENGTH)),
        escaped(trial.cause or trial.status or NOT_REPORTED),
        escaped(trial.retrieval or NOT_REPORTED),
    ]


def _cell(column: TrialColumn, trial: TrialRecord) -> str:
    """`12 (9)`, or only the first figure."""
    text = _formatted(column.style, column.read(trial))
    if column.beside is None or text == NOT_REPORTED:
        return text
    return f"{text} ({_formatted(column.style, column.beside(trial))})"


def _formatted(style: Style, value: float | None) -> str:
    return NOT_REPORTED if value is None else written(style, value)
