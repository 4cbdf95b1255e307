"""Growing swarms: each size against the smallest one, task by task."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from swarm_bench.analysis.comparison.legend import NO_KEYS
from swarm_bench.analysis.comparison.spent import BANNER, TITLE
from swarm_bench.analysis.metrics.aggregates import finite
from swarm_bench.analysis.metrics.measure import metric
from swarm_bench.analysis.selection import Selection, compares, counts
from swarm_bench.analysis.summary import summarise
from swarm_bench.analysis.sweep.sentences import DESCRIPTIVE, facts, sentence, warnings
from swarm_bench.analysis.sweep.verdicts import Verdicts, left_out
from swarm_bench.core.report.report import Metric, Style
from swarm_bench.core.report.series import Cell, ModeSeries, Series, SeriesRow, Sizes
from swarm_bench.core.session.records import SessionData, SwarmRecord, TrialRecord
from swarm_bench.core.status import Status
from swarm_bench.retrieval.witnesses.treatment import calls_of_servers, is_of_server


def series(sessions: Mapping[int, SessionData]) -> Series:
    """What the sessions of a series say, by size. At least one is there, and each has an
    experiment."""
    sizes = tuple(sorted(sessions))
    selections = {size: Selection(sessions[size]) for size in sizes}
    verdicts = Verdicts(selections)
    reports = [summarise(sessions[size]) for size in sizes]
    return Series(
        title="Growing Swarms",
        banner=reports[0].banner,
        head=facts(selections),
        warnings=warnings(selections, reports),
        notes=reports[0].notes,
        sizes=sizes,
        no_verdict=verdicts.nothing(),
        modes=tuple(_mode(mode, selections, verdicts) for mode in selections[sizes[0]].modes),
        remark=f"{DESCRIPTIVE} {NO_KEYS}",
        title_of_spent=TITLE,
        banner_of_spent=BANNER,
    )


@dataclass(frozen=True, kw_only=True)
class _Part:
    """One mode in swarms of one size."""

    trials: tuple[TrialRecord, ...]
    swarms: tuple[SwarmRecord, ...]
    servers: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _Measure:
    metric: Metric
    cells: Callable[[Sequence[_Part]], tuple[Cell, ...]]
    tool_only: bool = False
    probe: str | None = None
    """The counter that it is read from; it applies to modes that have it."""
    spent: bool = False
    """Whoever thinks decides it: a model, or fixed rules in the place of one."""


def _mode(mode: str, selections: Mapping[int, Selection], verdicts: Verdicts) -> ModeSeries:
    parts = [
        _Part(trials=one.of(mode), swarms=one.swarms_of(mode), servers=one.servers(mode))
        for one in selections.values()
    ]
    sizes, barred = tuple(selections), verdicts.barred(mode)
    rows = [
        SeriesRow(metric=one.metric, cells=_judged(one.cells(parts), sizes, barred))
        for one in _measures(parts)
    ]
    known = tuple(
        row for row in rows if any(cell.value is not None or cell.left_out for cell in row.cells)
    )
    by_rules = _BY_RULES if any(one.fixed_rules for one in selections.values()) else set()
    shown = tuple(row for row in known if row.metric.key not in by_rules)
    qualifications = verdicts.qualifications(mode)
    ends = (sizes[0], sizes[-1])
    return ModeSeries(
        mode=mode,
        rows=shown,
        spent_by_rules=tuple(row for row in known if row not in shown),
        unknown=tuple(row.metric for row in rows if row not in known),
        standings=verdicts.standings(mode),
        qualifications=qualifications,
        no_verdict=barred,
        left_out=left_out(mode, selections),
        sentence=""
        if set(ends) & set(barred)
        else sentence(
            mode, shown, sizes, qualified=any(set(ends) & set(of) for of in qualifications.values())
        ),
    )


def _measures(parts: Sequence[_Part]) -> list[_Measure]:
    """Those that apply to the mode."""
    has_tool = any(part.servers for part in parts)
    probes = {probe for part in parts for swarm in part.swarms for probe in swarm.difference}
    return [
        one
        for one in _MEASURES
        if (has_tool or not one.tool_only) and (one.probe is None or one.probe in probes)
    ]


def _judged(cells: Sequence[Cell], sizes: Sizes, barred: Sizes) -> tuple[Cell, ...]:
    """Without the ratios of sizes that are not to be compared."""
    return tuple(
        replace(cell, ratio=None) if {size, sizes[0]} & set(barred) else cell
        for size, cell in zip(sizes, cells, strict=True)
    )


_Read = Callable[[TrialRecord, tuple[str, ...]], float | None]
"""A figure of a trial whose mode has these servers."""


def _per_trial(read: _Read) -> Callable[[Sequence[_Part]], tuple[Cell, ...]]:
    """The median over trials; against the smallest size, the median over tasks of the ratios of
    the tasks' medians: every size has the same tasks."""

    def cells(parts: Sequence[_Part]) -> tuple[Cell, ...]:
        by_task = [_by_task(part, read) for part in parts]
        return tuple(
            Cell(
                value=median(value for values in found.values() for value in values)
                if found
                else None,
                ratio=_ratio(found, by_task[0]) if number else None,
                left_out=bool(part.trials) and not any(map(compares, part.trials)),
            )
            for number, (part, found) in enumerate(zip(parts, by_task, strict=True))
        )

    return cells


def _by_task(part: _Part, read: _Read) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for trial in part.trials:
        value = read(trial, part.servers) if compares(trial) else None
        if value is not None:
            found[trial.task_key].append(value)
    return found


def _ratio(found: Mapping[str, list[float]], smallest: Mapping[str, list[float]]) -> float | None:
    pairs = [(median(found[task]), median(smallest[task])) for task in found if task in smallest]
    ratios = [one / other for one, other in pairs if other]
    return median(ratios) if ratios else None


def _seconds_per_call(trial: TrialRecord, servers: tuple[str, ...]) -> float | None:
    """Over the calls whose time is known."""
    timed = {
        tool: s for tool, s in (trial.tool_seconds or {}).items() if is_of_server(tool, servers)
    }
    calls = sum((trial.tool_calls or {}).get(tool, 0) for tool in timed)
    return sum(timed.values()) / calls if calls else None


def _failed_calls(parts: Sequence[_Part]) -> tuple[Cell, ...]:
    return tuple(_failed_in(part) for part in parts)


def _failed_in(part: _Part) -> Cell:
    counted = [one for one in part.trials if counts(one)]
    shown = [one for one in counted if one.tool_calls is not None]
    if not shown:
        return Cell(value=None, left_out=bool(part.trials) and not counted)
    return Cell(
        value=sum(calls_of_servers(one.tool_failures, part.servers) for one in shown),
        of=sum(calls_of_servers(one.tool_calls, part.servers) for one in shown),
    )


def _unanswered(parts: Sequence[_Part]) -> tuple[Cell, ...]:
    return tuple(
        Cell(
            value=sum(one.status is not Status.COMPLETED for one in part.trials),
            of=len(part.trials),
        )
        for part in parts
    )


def _index_seconds(parts: Sequence[_Part]) -> tuple[Cell, ...]:
    known = [
        [s.index_seconds for s in part.swarms if s.index_seconds is not None] for part in parts
    ]
    values = [median(seconds) if seconds else None for seconds in known]
    smallest = values[0]
    return tuple(
        Cell(value=value, ratio=value / smallest if number and value and smallest else None)
        for number, value in enumerate(values)
    )


def _hit_rate(parts: Sequence[_Part]) -> tuple[Cell, ...]:
    return tuple(Cell(value=_hits_in(part.swarms)) for part in parts)


def _hits_in(swarms: Iterable[SwarmRecord]) -> float | None:
    hits = asked = 0.0
    for swarm in swarms:
        counted = swarm.difference.get("service") or {}
        hit, miss = (finite(counted.get(f"query_cache_{key}")) for key in ("hits", "misses"))
        if hit is not None and miss is not None:
            hits, asked = hits + hit, asked + hit + miss
    return hits / asked if asked else None


_MEASURES = (
    _Measure(
        metric=metric(
            "call_seconds",
            "Time per call",
            "seconds",
            Style.SECONDS,
            "Of the mode's tools, from a call to its result; the median over trials.",
        ),
        cells=_per_trial(_seconds_per_call),
        tool_only=True,
    ),
    _Measure(
        metric=metric(
            "failed_calls",
            "Failed calls",
            "calls",
            Style.WHOLE,
            "Of the mode's tools, in all trials but contaminated ones.",
        ),
        cells=_failed_calls,
        tool_only=True,
    ),
    _Measure(
        metric=metric(
            "wall_seconds",
            "Wall time",
            "seconds",
            Style.SECONDS,
            "wall_seconds of an agent; the median over trials.",
        ),
        cells=_per_trial(lambda trial, _: trial.wall_seconds),
    ),
    _Measure(
        metric=metric(
            "index_seconds",
            "Indexing",
            "seconds",
            Style.SECONDS,
            "index_seconds of a swarm; the median over swarms.",
        ),
        cells=_index_seconds,
        tool_only=True,
    ),
    _Measure(
        metric=metric(
            "unanswered",
            "Trials without an answer",
            "trials",
            Style.WHOLE,
            "Trials that did not complete, for whatever reason.",
        ),
        cells=_unanswered,
    ),
    _Measure(
        metric=metric(
            "effective_tokens",
            "Effective tokens",
            "tokens",
            Style.WHOLE,
            "effective_tokens of an agent; the median over trials.",
        ),
        spent=True,
        cells=_per_trial(
            lambda trial, _: (
                None if trial.effective_tokens is None else float(trial.effective_tokens)
            )
        ),
    ),
    _Measure(
        metric=metric(
            "hit_rate",
            "Query cache hits",
            "percent",
            Style.PERCENT,
            "Of the queries that the service counted, those it answered from its cache.",
        ),
        cells=_hit_rate,
        probe="service",
    ),
)
_BY_RULES = {one.metric.key for one in _MEASURES if one.spent}
