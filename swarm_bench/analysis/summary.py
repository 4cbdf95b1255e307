"""A session's records turned into a report."""

from collections.abc import Iterable, Iterator

from swarm_bench.analysis.aggregates import aggregate, make_metrics_table, reduce_runs
from swarm_bench.analysis.comparison.controls import compare_rule_spending, make_controls
from swarm_bench.analysis.comparison.correctness import RECALL
from swarm_bench.analysis.comparison.headline import make_headline
from swarm_bench.analysis.comparison.headline_metrics import list_headline_metrics, select_billed
from swarm_bench.analysis.comparison.judging import make_matches
from swarm_bench.analysis.comparison.legend import add_legend
from swarm_bench.analysis.documents.judge import make_judge_section
from swarm_bench.analysis.documents.pictures import make_task_charts
from swarm_bench.analysis.missed_tasks import find_missed
from swarm_bench.analysis.readings import group_all
from swarm_bench.analysis.sections.head import make_head, write_banner, write_notes
from swarm_bench.analysis.sections.overhead import make_overhead, make_rehearsal_section
from swarm_bench.analysis.sections.warnings import list_warnings, sort_warnings
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.tool_use import is_exercised, make_tools_sheet
from swarm_bench.core.metric import Metric, Metrics, Style
from swarm_bench.core.report.report import Figure, Missed, Report, Row, Table, TrialColumn
from swarm_bench.core.session.records import SessionData


def summarise(data: SessionData, metrics: Metrics) -> Report:
    """Compute everything that a summary of the session says. Any session has one, an empty one
    too."""
    selection = Selection(data, metrics)
    warned = list_warnings(selection)
    answer = add_legend(selection, make_headline(selection))
    report = Report(
        title=_choose_title(selection),
        banner=write_banner(selection),
        head=make_head(selection),
        warnings=warned,
        gravest=sort_warnings(selection, warned),
        notes=write_notes(selection),
        modes=selection.modes,
        runs=selection.runs,
        headline=answer,
        controls=make_controls(selection, answer, list_headline_metrics(selection)),
        spent_by_rules=compare_rule_spending(selection, answer),
        tables=_make_tables(selection),
        tools=make_tools_sheet(selection),
        overhead=make_overhead(selection),
        judging=make_judge_section(
            make_matches(selection), data.verdicts, next(iter(selection.modes), None)
        ),
        rehearsed=make_rehearsal_section(selection),
        missed=tuple(_find_missed(selection)),
        by_task=tuple(make_task_charts(selection, answer)),
        trials=selection.trials,
        columns=_list_columns(selection),
        titles={task.id: task.title for task in data.experiment.tasks},
        measured=sum(len(selection.get_arm(mode).measured_trials) for mode in selection.modes),
        retrieval_exercised=is_exercised(selection),
    )
    # What it remembers refers back to it: all records would wait for the collection of cycles.
    selection.memory.clear()
    return report


def _choose_title(selection: Selection) -> str:
    kind = "Rehearsal" if selection.rehearsal else "Summary"
    return f"{selection.data.experiment.design.title} {kind}"


def _find_missed(selection: Selection) -> Iterator[Missed]:
    """Yield what modes missed of the keys that the headline is over."""
    read = selection.metrics[RECALL].read if selection.keyed_weights else None
    if read is None:
        return
    titles = {task.id: task.title or task.id for task in selection.keyed_tasks}
    reference, *other_modes = selection.modes
    yield from find_missed(
        {mode: group_all(selection, mode, read) for mode in (*other_modes, reference)},
        {task: title for task, title in titles.items() if task in selection.keyed_weights},
    )


def _list_columns(selection: Selection) -> tuple[TrialColumn, ...]:
    metrics = selection.metrics
    return tuple(
        TrialColumn(
            title=column.title,
            style=column.style or metric.style,
            read=metric.read,
            beside=metrics[column.beside].read if column.beside else None,
        )
        for metric in select_billed(metrics, selection)
        if (column := metric.column)
        and metric.read
        and (selection.keyed_weights or not metric.keyed)
    )


def _make_tables(selection: Selection) -> tuple[Table, ...]:
    billed_tables = {
        title: select_billed(of_table, selection)
        for title, of_table in selection.metrics.tables.items()
    }
    metrics = [metric for of_table in billed_tables.values() for metric in of_table]
    modes = [_compute_figures(metrics, selection, mode) for mode in selection.modes]
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
        make_metrics_table(title, [rows[metric.key] for metric in of_table])
        for title, of_table in billed_tables.items()
    )
    return tuple(table for table in tables if table.rows or table.unknown)


def _compute_figures(
    metrics: Iterable[Metric], selection: Selection, mode: str
) -> dict[str, Figure]:
    """Compute the figures that apply to the mode, by key. Of each run all are computed at once, as
    long as its records are in the processor's cache."""
    applying = [metric for metric in metrics if _applies(metric, selection, mode)]
    runs = [
        [aggregate(metric, part) for metric in applying] for part in selection.list_slices(mode)
    ]
    return {
        metric.key: reduce_runs(run[number] for run in runs)
        for number, metric in enumerate(applying)
    }


def _applies(metric: Metric, selection: Selection, mode: str) -> bool:
    return not (
        (metric.probe and metric.probe not in selection.find_probes(mode))
        or (metric.rehearsal_only and not selection.rehearsal)
        or (metric.tool_only and not selection.has_tool(mode))
        or (metric.keyed and not selection.keyed_weights)
    )
