"""A session's records turned into a report."""

from collections.abc import Iterable

from swarm_bench.analysis.adherence.calls import tools
from swarm_bench.analysis.adherence.uses import exercised
from swarm_bench.analysis.comparison.compared import of_headline
from swarm_bench.analysis.comparison.controls import controls
from swarm_bench.analysis.comparison.headline import headline
from swarm_bench.analysis.comparison.legend import explained
from swarm_bench.analysis.comparison.spent import spent_by_rules
from swarm_bench.analysis.metrics.aggregates import aggregate, over_runs, table_of
from swarm_bench.analysis.sections.head import banner, head, notes
from swarm_bench.analysis.sections.overhead import overhead
from swarm_bench.analysis.sections.warnings import warnings
from swarm_bench.analysis.selection import Selection, is_inconclusive
from swarm_bench.core.metric import Metric, Metrics, Style
from swarm_bench.core.report.report import Figure, Report, Row, Table, TrialColumn
from swarm_bench.core.session.designs import COMPARE
from swarm_bench.core.session.records import SessionData


def summarise(data: SessionData, metrics: Metrics) -> Report:
    """Compute everything that a summary of the session says. Any session has one, an empty one
    too."""
    selection = Selection(data, metrics)
    warned = warnings(selection)
    answer = explained(selection, headline(selection), warned=bool(warned))
    return Report(
        title=_title(selection),
        banner=banner(selection),
        head=head(selection),
        warnings=warned,
        notes=notes(selection),
        modes=selection.modes,
        runs=selection.runs,
        headline=answer,
        controls=controls(selection, answer, of_headline(selection)),
        spent_by_rules=spent_by_rules(selection, answer),
        tables=_tables(selection),
        tools=tools(selection),
        overhead=overhead(selection),
        trials=selection.trials,
        columns=_columns(metrics),
        titles=_titles(data),
        measured=sum(1 for trial in selection.trials if not is_inconclusive(trial)),
        retrieval_exercised=exercised(selection),
    )


def _title(selection: Selection) -> str:
    experiment = selection.data.experiment
    kind = "Rehearsal" if selection.rehearsal else "Summary"
    return f"{(experiment.design if experiment else COMPARE).title} {kind}"


def _titles(data: SessionData) -> dict[str, str]:
    return {task.id: task.title for task in data.experiment.tasks} if data.experiment else {}


def _columns(metrics: Metrics) -> tuple[TrialColumn, ...]:
    return tuple(
        TrialColumn(
            title=column.title,
            style=column.style or metric.style,
            read=metric.read,
            beside=metrics[column.beside].read if column.beside else None,
        )
        for metric in metrics
        if (column := metric.column) and metric.read
    )


def _tables(selection: Selection) -> tuple[Table, ...]:
    listed = selection.metrics.tables.items()
    tables = (_table(title, metrics, selection) for title, metrics in listed)
    return tuple(table for table in tables if table.rows or table.unknown)


def _table(title: str, metrics: Iterable[Metric], selection: Selection) -> Table:
    return table_of(title, [_row(metric, selection) for metric in metrics])


def _row(metric: Metric, selection: Selection) -> Row:
    return Row(
        metric=metric,
        figures=tuple(_figure(metric, selection, mode) for mode in selection.modes),
        estimated=metric.style is Style.DOLLARS
        and any(trial.cost_estimated for trial in selection.trials),
    )


def _figure(metric: Metric, selection: Selection, mode: str) -> Figure | None:
    if metric.probe and metric.probe not in selection.probes(mode):
        return None
    if metric.rehearsal_only and not selection.rehearsal:
        return None
    if metric.tool_only and not selection.has_tool(mode):
        return None
    return over_runs(aggregate(metric, part) for part in selection.slices(mode))
