"""Growing swarms: each size against the smallest one, task by task."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median

from swarm_bench.analysis.comparison.compared import billed
from swarm_bench.analysis.comparison.correctness import RECALL, RIGHT
from swarm_bench.analysis.comparison.quality import NO_KEYS
from swarm_bench.analysis.comparison.ratios import divide
from swarm_bench.analysis.comparison.spent import BANNER, TITLE
from swarm_bench.analysis.frame import Frame, by_case, frame
from swarm_bench.analysis.metrics.aggregates import aggregate, over_runs
from swarm_bench.analysis.metrics.reading import finite
from swarm_bench.analysis.selection import Selection, compares, counts
from swarm_bench.analysis.slices import Slice, Weights
from swarm_bench.analysis.statistics.pairing import Cases, Figures, paired
from swarm_bench.analysis.summary import summarise
from swarm_bench.analysis.sweep.sentences import DESCRIPTIVE, facts, sentence, warnings
from swarm_bench.analysis.sweep.verdicts import Verdicts, excluded
from swarm_bench.core.figures import total
from swarm_bench.core.metric import Metric, Metrics
from swarm_bench.core.report.ratios import Ratio
from swarm_bench.core.report.series import Cell, ModeSeries, Series, SeriesRow, Sizes
from swarm_bench.core.session.records import SessionData, SwarmRecord, TrialRecord
from swarm_bench.core.status import Status
from swarm_bench.retrieval.probes.service_metrics import ServiceMetricsProbe
from swarm_bench.retrieval.witnesses.treatment import count_server_calls, is_of_server


def series(sessions: Mapping[int, SessionData], metrics: Metrics) -> Series:
    """Compute what the sessions of a series say, by size. At least one is there, and each has an
    experiment."""
    sizes = tuple(sorted(sessions))
    selections = {size: Selection(sessions[size], metrics) for size in sizes}
    verdicts = Verdicts(selections)
    reports = [summarise(sessions[size], metrics) for size in sizes]
    return Series(
        title="Growing Swarms",
        banner=reports[0].banner,
        head=facts(selections),
        warnings=warnings(selections, reports),
        notes=reports[0].notes,
        sizes=sizes,
        no_verdict=verdicts.nothing(),
        modes=tuple(_mode(mode, selections, verdicts) for mode in selections[sizes[0]].modes),
        remark=DESCRIPTIVE if selections[sizes[0]].keyed else f"{DESCRIPTIVE} {NO_KEYS}",
        title_of_spent=TITLE,
        banner_of_spent=BANNER,
    )


@dataclass(frozen=True, kw_only=True)
class _Part:
    """One mode in swarms of one size."""

    trials: tuple[TrialRecord, ...]
    swarms: tuple[SwarmRecord, ...]
    servers: tuple[str, ...]
    slices: tuple[Slice, ...]
    weights: Weights
    """Of the tasks, in means."""


def _part(selection: Selection, mode: str) -> _Part:
    return _Part(
        trials=selection.of(mode),
        swarms=selection.swarms_of(mode),
        servers=selection.servers(mode),
        slices=selection.slices(mode),
        weights=selection.weights,
    )


def _mode(mode: str, selections: Mapping[int, Selection], verdicts: Verdicts) -> ModeSeries:
    parts = [_part(selection, mode) for selection in selections.values()]
    sizes, barred = tuple(selections), verdicts.barred(mode)
    rows = [
        SeriesRow(
            metric=_about(metric),
            cells=_judged(_MEASURES[metric.key](metric, parts), sizes, barred),
        )
        for metric in _measures(parts, selections[sizes[0]])
    ]
    present = tuple(
        row for row in rows if any(cell.value is not None or cell.excluded for cell in row.cells)
    )
    by_rules = any(selection.fixed_rules for selection in selections.values())
    shown = tuple(row for row in present if not (row.metric.spent and by_rules))
    qualifications = verdicts.qualifications(mode)
    ends = (sizes[0], sizes[-1])
    return ModeSeries(
        mode=mode,
        rows=shown,
        spent_by_rules=tuple(row for row in present if row not in shown),
        unknown=tuple(row.metric for row in rows if row not in present),
        standings=verdicts.standings(mode),
        qualifications=qualifications,
        no_verdict=barred,
        excluded=excluded(mode, selections),
        sentence=""
        if set(ends) & set(barred)
        else sentence(
            mode, shown, sizes, qualified=any(set(ends) & set(of) for of in qualifications.values())
        ),
    )


def _measures(parts: Sequence[_Part], selection: Selection) -> list[Metric]:
    """List those that apply to the mode."""
    has_tool = any(part.servers for part in parts)
    probes = {probe for part in parts for swarm in part.swarms for probe in swarm.difference}
    return [
        metric
        for metric in billed(selection.metrics.named(_MEASURES), selection)
        if (has_tool or not metric.tool_only)
        and (metric.probe is None or metric.probe in probes)
        and (selection.keyed or not metric.keyed)
    ]


def _judged(cells: Sequence[Cell], sizes: Sizes, barred: Sizes) -> tuple[Cell, ...]:
    """Remove the ratios of sizes that are not to be compared."""
    return tuple(
        replace(cell, ratio=None) if {size, sizes[0]} & set(barred) else cell
        for size, cell in zip(sizes, cells, strict=True)
    )


def _about(metric: Metric) -> Metric:
    """Say what the cells of a metric are that a trial or a swarm has."""
    if metric.keyed:
        return metric
    if metric.read:
        definition = f"{metric.key} of an agent; the median over trials."
    elif metric.read_swarm:
        definition = f"{metric.key} of a swarm; the median over swarms."
    else:
        return metric
    return replace(metric, definition=definition)


def _per_trial(metric: Metric, parts: Sequence[_Part]) -> tuple[Cell, ...]:
    return _of_tasks(parts, [frame(_compared(part), metric) for part in parts])


def _compared(part: _Part) -> list[TrialRecord]:
    return [trial for trial in part.trials if compares(trial)]


def _call_seconds(metric: Metric, parts: Sequence[_Part]) -> tuple[Cell, ...]:
    """Compute the cells of a figure that depends on which tools are the mode's."""
    reads = [partial(_seconds_per_call, servers=part.servers) for part in parts]
    frames = [frame(_compared(part), metric, read) for part, read in zip(parts, reads, strict=True)]
    return _of_tasks(parts, frames)


def _of_tasks(parts: Sequence[_Part], frames: Iterable[Frame]) -> tuple[Cell, ...]:
    """Compute the median over trials; against the smallest size, the ratio over tasks: every size
    has the same tasks."""
    cases = list(map(by_case, frames))
    ratios = [None, *(_divide(each, cases[0], parts[0]) for each in cases[1:])]
    return tuple(
        Cell(
            value=median(value for values in case.values() for value in values) if case else None,
            ratio=ratio.estimate if ratio else None,
            excluded=bool(part.trials) and not any(map(compares, part.trials)),
        )
        for part, case, ratio in zip(parts, cases, ratios, strict=True)
    )


def _divide(own: Figures, smallest: Figures, part: _Part) -> Ratio | None:
    cases = Cases(ids=tuple(own), weights=part.weights)
    return divide(paired(own, smallest, cases, relative=True))


def _middle(values: Sequence[float]) -> float | None:
    return median(values) if values else None


def _seconds_per_call(trial: TrialRecord, servers: tuple[str, ...]) -> float | None:
    """Divide over the calls whose time is recorded."""
    timed = {
        tool: s for tool, s in (trial.tool_seconds or {}).items() if is_of_server(tool, servers)
    }
    calls = total(map((trial.tool_calls or {}).get, timed))
    return sum(timed.values()) / calls if calls else None


def _failed_calls(_: Metric, parts: Sequence[_Part]) -> tuple[Cell, ...]:
    return tuple(_failed_in(part) for part in parts)


def _failed_in(part: _Part) -> Cell:
    counted = [trial for trial in part.trials if counts(trial)]
    shown = [
        (trial.tool_failures, trial.tool_calls)
        for trial in counted
        if trial.tool_failures is not None and trial.tool_calls is not None
    ]
    if not shown:
        return Cell(value=None, excluded=bool(part.trials) and not counted)
    return Cell(
        value=sum(count_server_calls(failures, part.servers) for failures, _ in shown),
        of=sum(count_server_calls(calls, part.servers) for _, calls in shown),
    )


def _unanswered(_: Metric, parts: Sequence[_Part]) -> tuple[Cell, ...]:
    return tuple(
        Cell(
            value=sum(trial.status is not Status.COMPLETED for trial in part.trials),
            of=len(part.trials),
        )
        for part in parts
    )


def _of_answers(metric: Metric, parts: Sequence[_Part]) -> tuple[Cell, ...]:
    """Compute the means over tasks that a size's own summary has."""
    values = (over_runs(aggregate(metric, of_run) for of_run in part.slices) for part in parts)
    return tuple(Cell(value=figure.value) for figure in values)


def _per_swarm(metric: Metric, parts: Sequence[_Part]) -> tuple[Cell, ...]:
    """Compute the median over swarms; against the smallest size, the ratio of the medians."""
    read = metric.read_swarm
    values = [
        _middle([value for swarm in part.swarms if read and (value := read(swarm)) is not None])
        for part in parts
    ]
    smallest = values[0]
    return tuple(
        Cell(value=value, ratio=value / smallest if number and value and smallest else None)
        for number, value in enumerate(values)
    )


def _hit_rate(_: Metric, parts: Sequence[_Part]) -> tuple[Cell, ...]:
    return tuple(Cell(value=_hits_in(part.swarms)) for part in parts)


def _hits_in(swarms: Iterable[SwarmRecord]) -> float | None:
    hits = asked = 0.0
    for swarm in swarms:
        counted = swarm.difference.get(ServiceMetricsProbe.name) or {}
        hit, miss = (finite(counted.get(f"query_cache_{key}")) for key in ("hits", "misses"))
        if hit is not None and miss is not None:
            hits, asked = hits + hit, asked + hit + miss
    return hits / asked if asked else None


_Cells = Callable[[Metric, Sequence[_Part]], tuple[Cell, ...]]
_MEASURES: Mapping[str, _Cells] = {
    RECALL: _of_answers,
    RIGHT: _of_answers,
    "call_seconds": _call_seconds,
    "failed_calls": _failed_calls,
    "wall_seconds": _per_trial,
    "index_seconds": _per_swarm,
    "unanswered": _unanswered,
    "effective_tokens": _per_trial,
    "hit_rate": _hit_rate,
}
"""How each metric of a sweep becomes a cell for each size, by key."""
