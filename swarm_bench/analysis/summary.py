"""A session's records turned into a report."""

from collections.abc import Iterable, Iterator

from swarm_bench.analysis.adherence.calls import tools
from swarm_bench.analysis.adherence.uses import exercised
from swarm_bench.analysis.comparison.compared import billed, of_headline
from swarm_bench.analysis.comparison.controls import controls
from swarm_bench.analysis.comparison.correctness import RECALL
from swarm_bench.analysis.comparison.headline import headline
from swarm_bench.analysis.comparison.judging import judging, matches
from swarm_bench.analysis.comparison.legend import explained
from swarm_bench.analysis.comparison.spent import spent_by_rules
from swarm_bench.analysis.metrics.aggregates import aggregate, over_runs, table_of
from swarm_bench.analysis.missed import missed
from swarm_bench.analysis.readings import all_by_task
from swarm_bench.analysis.sections.head import banner, head, notes
from swarm_bench.analysis.sections.overhead import overhead
from swarm_bench.analysis.sections.rehearsal import rehearsed
from swarm_bench.analysis.sections.warnings import gravest, warnings
from swarm_bench.analysis.selection import Selection
from swarm_bench.core.metric import Metric, Metrics, Style
from swarm_bench.core.report.report import Figure, Missed, Report, Row, Table, TrialColumn
from swarm_bench.core.session.records import SessionData


def summarise(data: SessionData, metrics: Metrics) -> Report:
    """Compute everything that a summary of the session says. Any session has one, an empty one
    too."""
    selection = Selection(data, metrics)
    warned = warnings(selection)
    answer = explained(selection, headline(selection))
    report = Report(
        title=_title(selection),
        banner=banner(selection),
        head=head(selection),
        warnings=warned,
        gravest=gravest(selection, warned),
        notes=notes(selection),
        modes=selection.modes,
        runs=selection.runs,
        headline=answer,
        controls=controls(selection, answer, of_headline(selection)),
        spent_by_rules=spent_by_rules(selection, answer),
        tables=_tables(selection),
        tools=tools(selection),
        overhead=overhead(selection),
        judging=judging(matches(selection), data.verdicts, next(iter(selection.modes), None)),
        rehearsed=rehearsed(selection),
        missed=tuple(_missed(selection)),
        trials=selection.trials,
        columns=_columns(selection),
        titles={task.id: task.title for task in data.experiment.tasks},
        measured=sum(len(selection.arm(mode).measured) for mode in selection.modes),
        retrieval_exercised=exercised(selection),
    )
    # What it remembers refers back to it: all records would wait for the collection of cycles.
    selection.memory.clear()
    return report


def _title(selection: Selection) -> str:
    kind = "Rehearsal" if selection.rehearsal else "Summary"
    return f"{selection.data.experiment.design.title} {kind}"


def _missed(selection: Selection) -> Iterator[Missed]:
    """Yield what modes missed of the keys that the headline is over."""
    read = selection.metrics[RECALL].read if selection.keyed else None
    if read is None:
        return
    titles = {task.id: task.title or task.id for task in selection.keyed_tasks}
    reference, *others = selection.modes
    yield from missed(
        {mode: all_by_task(selection, mode, read) for mode in (*others, reference)},
        {task: title for task, title in titles.items() if task in selection.keyed},
    )


def _columns(selection: Selection) -> tuple[TrialColumn, ...]:
    metrics = selection.metrics
    return tuple(
        TrialColumn(
            title=column.title,
            style=column.style or metric.style,
            read=metric.read,
            beside=metrics[column.beside].read if column.beside else None,
        )
        for metric in billed(metrics, selection)
        if (column := metric.column) and metric.read and (selection.keyed or not metric.keyed)
    )


def _tables(selection: Selection) -> tuple[Table, ...]:
    listed = {
        title: billed(of_table, selection) for title, of_table in selection.metrics.tables.items()
    }
    metrics = [metric for of_table in listed.values() for metric in of_table]
    modes = [_figures(metrics, selection, mode) for mode in selection.modes]
    estimated = any(trial.cost_estimated for trial in selection.various)
    rows = {
        metric.key: Row(
            metric=metric,
            figures=tuple(figures.get(metric.key) for figures in modes),
            estimated=estimated and metric.style is Style.DOLLARS,
        )
        for metric in metrics
    }
    tables = (
        table_of(title, [rows[metric.key] for metric in of_table])
        for title, of_table in listed.items()
    )
    return tuple(table for table in tables if table.rows or table.unknown)


def _figures(metrics: Iterable[Metric], selection: Selection, mode: str) -> dict[str, Figure]:
    """Compute the figures that apply to the mode, by key. Of each run all are computed at once, as
    long as its records are in the processor's cache."""
    applying = [metric for metric in metrics if _applies(metric, selection, mode)]
    runs = [[aggregate(metric, part) for metric in applying] for part in selection.slices(mode)]
    return {
        metric.key: over_runs(run[number] for run in runs) for number, metric in enumerate(applying)
    }


def _applies(metric: Metric, selection: Selection, mode: str) -> bool:
    return not (
        (metric.probe and metric.probe not in selection.probes(mode))
        or (metric.rehearsal_only and not selection.rehearsal)
        or (metric.tool_only and not selection.has_tool(mode))
        or (metric.keyed and not selection.keyed)
    )
