"""Growing swarms: each size against the smallest one, task by task."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import median
from typing import TypeVar

from swarm_bench.analysis.aggregates import aggregate, group_figures, read_finite, reduce_runs
from swarm_bench.analysis.caveats.omitted_trials import count_reasons
from swarm_bench.analysis.comparison.correctness import RECALL, RIGHT
from swarm_bench.analysis.comparison.headline import make_headline
from swarm_bench.analysis.comparison.headline_metrics import select_billed
from swarm_bench.analysis.comparison.quality import NO_KEYS
from swarm_bench.analysis.comparison.ratios import divide
from swarm_bench.analysis.documents.growth import (
    DESCRIPTIVE,
    list_warnings,
    make_facts,
    write_sentence,
)
from swarm_bench.analysis.mode_trials import ModeTrials, get_mode_trials
from swarm_bench.analysis.selection import Selection, compares, counts
from swarm_bench.analysis.statistics.pairing import Cases, Figures, pair_figures
from swarm_bench.analysis.summary import summarise
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.figures import total
from swarm_bench.core.metric import Metric, Metrics, ReadTrial
from swarm_bench.core.report.ratios import Ratio
from swarm_bench.core.report.report import Headline
from swarm_bench.core.report.series import Cell, ModeSeries, Series, SeriesRow, Sizes
from swarm_bench.core.report.standing import Standing
from swarm_bench.core.session.records import SessionData, SwarmRecord, TrialRecord
from swarm_bench.core.status import Status
from swarm_bench.retrieval.probes.service_metrics import ServiceMetricsProbe
from swarm_bench.retrieval.witnesses.treatment import count_server_calls, is_of_server

Subject = TypeVar("Subject")


Headlines = Mapping[int, Headline]
"""Headlines of sessions by size, the smallest first."""


def _list_standings(headlines: Headlines, mode: str) -> list[tuple[Standing, int]]:
    return [
        (standing, size)
        for size, headline in headlines.items()
        for standing in headline.standings
        if standing.mode == mode
    ]


def _find_excluded(headlines: Headlines, mode: str) -> Sizes:
    """Return the sizes for which there is no verdict on the mode."""
    by_itself = {size for standing, size in _list_standings(headlines, mode) if standing.no_verdict}
    return tuple(
        size for size, headline in headlines.items() if headline.no_verdict or size in by_itself
    )


def _group_standings(headlines: Headlines, mode: str) -> dict[Standing, Sizes]:
    """Return the standings without what qualifies them, and without those that say nothing then."""
    unqualified = (
        (replace(standing, qualifications=()), size)
        for standing, size in _list_standings(headlines, mode)
    )
    return _group_sizes(
        (standing, size)
        for standing, size in unqualified
        if standing.concluded is not None or replace(standing, answer=None) != Standing(mode=mode)
    )


def _describe_excluded(sizes: Iterable[int], parts: Iterable[ModeTrials]) -> Iterator[str]:
    """Say `1 at a time: 2 of 4 trials (2 contaminated)`."""
    for size, part in zip(sizes, parts, strict=True):
        if reasons := count_reasons(part):
            clauses = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
            count_text = f"{sum(reasons.values())} of {quantify(len(part.all), 'trial')}"
            yield f"{size} at a time: {count_text} ({clauses})"


def _group_sizes(subjects: Iterable[tuple[Subject, int]]) -> dict[Subject, Sizes]:
    sizes = dict[Subject, Sizes]()
    for subject, size in subjects:
        sizes[subject] = (*sizes.get(subject, ()), size)
    return sizes


def compute_series(sessions: Mapping[int, SessionData], metrics: Metrics) -> Series:
    """Compute what the sessions of a series say, by size. At least one is there, and each has an
    experiment."""
    sizes = tuple(sorted(sessions))
    selections = {size: Selection(sessions[size], metrics) for size in sizes}
    headlines = {size: make_headline(selection) for size, selection in selections.items()}
    reports = [summarise(sessions[size], metrics) for size in sizes]
    return Series(
        title="Growing Swarms",
        banner=reports[0].banner,
        head=make_facts(selections),
        warnings=list_warnings(selections, reports),
        notes=reports[0].notes,
        sizes=sizes,
        extents=_group_sizes((headline.size, size) for size, headline in headlines.items()),
        no_verdict=_group_sizes(
            (headline.no_verdict, size)
            for size, headline in headlines.items()
            if headline.no_verdict
        ),
        modes=tuple(_make_mode(mode, selections, headlines) for mode in selections[sizes[0]].modes),
        remark=DESCRIPTIVE if selections[sizes[0]].keyed_weights else f"{DESCRIPTIVE} {NO_KEYS}",
    )


def _make_mode(mode: str, selections: Mapping[int, Selection], headlines: Headlines) -> ModeSeries:
    parts = [get_mode_trials(selection, mode) for selection in selections.values()]
    sizes, excluded_sizes = tuple(selections), _find_excluded(headlines, mode)
    rows = [
        SeriesRow(
            metric=_define(metric),
            cells=_remove_excluded(_MEASURES[metric.key](metric, parts), sizes, excluded_sizes),
        )
        for metric in _list_measures(parts)
    ]
    present = tuple(
        row for row in rows if any(cell.value is not None or cell.excluded for cell in row.cells)
    )
    by_rules = any(selection.fixed_rules for selection in selections.values())
    visible_rows = tuple(row for row in present if not (row.metric.spent and by_rules))
    qualifications = _group_sizes(
        (qualification, size)
        for standing, size in _list_standings(headlines, mode)
        for qualification in standing.qualifications
    )
    outer_sizes = {sizes[0], sizes[-1]}
    is_qualified = any(outer_sizes & {*of_one} for of_one in qualifications.values())
    return ModeSeries(
        mode=mode,
        rows=visible_rows,
        spent_by_rules=tuple(row for row in present if row not in visible_rows),
        unknown=tuple(row.metric for row in rows if row not in present),
        standings=_group_standings(headlines, mode),
        qualifications=qualifications,
        no_verdict=excluded_sizes,
        excluded=tuple(_describe_excluded(selections, parts)),
        sentence=""
        if outer_sizes & set(excluded_sizes)
        else write_sentence(mode, visible_rows, sizes, qualified=is_qualified),
    )


def _list_measures(parts: Sequence[ModeTrials]) -> list[Metric]:
    """List those that apply to the mode."""
    selection = parts[0].selection
    has_tool = any(part.servers for part in parts)
    probes = {probe for part in parts for swarm in part.swarms for probe in swarm.difference}
    return [
        metric
        for metric in select_billed(selection.metrics.named(_MEASURES), selection)
        if (has_tool or not metric.tool_only)
        and (metric.probe is None or metric.probe in probes)
        and (selection.keyed_weights or not metric.keyed)
    ]


def _remove_excluded(
    cells: Sequence[Cell], sizes: Sizes, excluded_sizes: Sizes
) -> tuple[Cell, ...]:
    """Remove the ratios of sizes that are not to be compared."""
    return tuple(
        replace(cell, ratio=None) if {size, sizes[0]} & set(excluded_sizes) else cell
        for size, cell in zip(sizes, cells, strict=True)
    )


def _define(metric: Metric) -> Metric:
    """Say what the cells of a metric are that a trial or a swarm has."""
    if metric.keyed:
        return metric
    if metric.read:
        return replace(metric, definition=f"{metric.definition} The median over trials.")
    if metric.read_swarm:
        return replace(metric, definition=f"{metric.definition} The median over swarms.")
    return metric


def _measure_trials(metric: Metric, parts: Sequence[ModeTrials]) -> tuple[Cell, ...]:
    return _measure_tasks(parts, [metric.reader] * len(parts))


def _measure_call_seconds(_: Metric, parts: Sequence[ModeTrials]) -> tuple[Cell, ...]:
    """Compute the cells of a figure that depends on which tools are the mode's."""
    reads = [partial(_compute_seconds_per_call, servers=part.servers) for part in parts]
    return _measure_tasks(parts, reads)


def _measure_tasks(parts: Sequence[ModeTrials], reads: Iterable[ReadTrial]) -> tuple[Cell, ...]:
    """Compute the median over trials; against the smallest size, the ratio over tasks: every size
    has the same tasks."""
    cases = [
        group_figures([trial for trial in part.all if compares(trial)], read)
        for part, read in zip(parts, reads, strict=True)
    ]
    ratios = [None, *(_divide(figures, cases[0], parts[0]) for figures in cases[1:])]
    return tuple(
        Cell(
            value=median(value for values in case.values() for value in values) if case else None,
            ratio=ratio.estimate if ratio else None,
            excluded=bool(part.all) and not any(map(compares, part.all)),
        )
        for part, case, ratio in zip(parts, cases, ratios, strict=True)
    )


def _divide(figures: Figures, smallest: Figures, part: ModeTrials) -> Ratio | None:
    cases = Cases(ids=tuple(figures), weights=part.selection.weights)
    return divide(pair_figures(figures, smallest, cases, relative=True))


def _compute_median(values: Sequence[float]) -> float | None:
    return median(values) if values else None


def _compute_seconds_per_call(trial: TrialRecord, servers: tuple[str, ...]) -> float | None:
    """Divide over the calls whose time is recorded."""
    timed = {
        tool: s for tool, s in (trial.tool_seconds or {}).items() if is_of_server(tool, servers)
    }
    calls = total(map((trial.tool_calls or {}).get, timed))
    return sum(timed.values()) / calls if calls else None


def _measure_failed_calls(_: Metric, parts: Sequence[ModeTrials]) -> tuple[Cell, ...]:
    return tuple(_count_failed(part) for part in parts)


def _count_failed(part: ModeTrials) -> Cell:
    counted_trials = [trial for trial in part.all if counts(trial)]
    call_counts = [
        (trial.tool_failures, trial.tool_calls)
        for trial in counted_trials
        if trial.tool_failures is not None and trial.tool_calls is not None
    ]
    if not call_counts:
        return Cell(value=None, excluded=bool(part.all) and not counted_trials)
    return Cell(
        value=sum(count_server_calls(failures, part.servers) for failures, _ in call_counts),
        of=sum(count_server_calls(calls, part.servers) for _, calls in call_counts),
    )


def _count_unanswered(_: Metric, parts: Sequence[ModeTrials]) -> tuple[Cell, ...]:
    return tuple(
        Cell(
            value=sum(trial.status is not Status.COMPLETED for trial in part.all),
            of=len(part.all),
        )
        for part in parts
    )


def _measure_answers(metric: Metric, parts: Sequence[ModeTrials]) -> tuple[Cell, ...]:
    """Compute the means over tasks that a size's own summary has."""
    runs = (part.selection.list_slices(part.mode) for part in parts)
    figures = (reduce_runs(aggregate(metric, of_run) for of_run in of_part) for of_part in runs)
    return tuple(Cell(value=figure.value) for figure in figures)


def _measure_swarms(metric: Metric, parts: Sequence[ModeTrials]) -> tuple[Cell, ...]:
    """Compute the median over swarms; against the smallest size, the ratio of the medians."""
    read = metric.read_swarm
    values = [
        _compute_median(
            [value for swarm in part.swarms if read and (value := read(swarm)) is not None]
        )
        for part in parts
    ]
    smallest = values[0]
    return tuple(
        Cell(value=value, ratio=value / smallest if number and value and smallest else None)
        for number, value in enumerate(values)
    )


def _measure_hit_rate(_: Metric, parts: Sequence[ModeTrials]) -> tuple[Cell, ...]:
    return tuple(Cell(value=_compute_hit_rate(part.swarms)) for part in parts)


def _compute_hit_rate(swarms: Iterable[SwarmRecord]) -> float | None:
    hits = requests = 0.0
    for swarm in swarms:
        counters = swarm.difference.get(ServiceMetricsProbe.name) or {}
        hit, miss = (read_finite(counters.get(f"query_cache_{key}")) for key in ("hits", "misses"))
        if hit is not None and miss is not None:
            hits, requests = hits + hit, requests + hit + miss
    return hits / requests if requests else None


_Cells = Callable[[Metric, Sequence[ModeTrials]], tuple[Cell, ...]]
_MEASURES: Mapping[str, _Cells] = {
    RECALL: _measure_answers,
    RIGHT: _measure_answers,
    "call_seconds": _measure_call_seconds,
    "failed_calls": _measure_failed_calls,
    "wall_seconds": _measure_trials,
    "index_seconds": _measure_swarms,
    "unanswered": _count_unanswered,
    "effective_tokens": _measure_trials,
    "hit_rate": _measure_hit_rate,
}
"""How each metric of a sweep becomes a cell for each size, by key."""
