"""A mode against itself: by how much two identical arms differ, and what could be found."""

import math
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from swarm_bench.analysis.comparison.headline import barred_by
from swarm_bench.analysis.comparison.legend import BY_RULES
from swarm_bench.analysis.comparison.spent import BANNER, TITLE
from swarm_bench.analysis.metrics.measure import metric
from swarm_bench.analysis.noise.floor import floor
from swarm_bench.analysis.noise.formulas import detectable, pooled_sd, sd_interval, t_interval
from swarm_bench.analysis.selection import Selection, compares, counts
from swarm_bench.core.report.calibration import Calibration, Noise, NoiseByRules, Range
from swarm_bench.core.report.report import Metric, Style
from swarm_bench.core.session.records import SessionData, TrialRecord
from swarm_bench.core.status import Status

SIZES = tuple((tasks, runs) for tasks in (4, 8, 12, 20) for runs in (3, 5, 10))
Read = Callable[[TrialRecord], float | None]


@dataclass(frozen=True, kw_only=True)
class _Measured:
    metric: Metric
    read: Read
    relative: bool
    spent: bool = False
    """Whoever thinks decides it: a model, or fixed rules in the place of one."""
    includes: Callable[[TrialRecord], bool] = compares


def calibration(data: SessionData) -> Calibration:
    """What a session of `calibrate` says. KeyError when it has no experiment of two modes."""
    selection = Selection(data)
    experiment = data.experiment
    if experiment is None or len(experiment.modes) != 2:
        raise KeyError("a calibration has two modes")
    mode, again = (one.name for one in experiment.modes)
    tasks = experiment.tasks_asked
    runs = experiment.runs * experiment.trials_per_mode // tasks
    arms = _Arms(first=selection.of(mode), second=selection.of(again))
    measured = [_noise(one, arms, (tasks, runs)) for one in _METRICS]
    known = [row for row in measured if row.pairs]
    by_rules = {one.metric.key for one in _METRICS if one.spent and selection.fixed_rules}
    rows = tuple(row for row in known if row.metric.key not in by_rules)
    spent = tuple(row for row in known if row.metric.key in by_rules)
    no_floor = _no_floor(selection)
    return Calibration(
        mode=mode,
        again=again,
        tasks=tasks,
        runs=runs,
        left_out=sum(not compares(trial) for trial in selection.trials),
        headline=() if no_floor else (*floor(rows, tasks, runs), *([BY_RULES] if spent else [])),
        rows=rows,
        spent_by_rules=NoiseByRules(title=TITLE, banner=BANNER, rows=spent) if spent else None,
        unknown=tuple(row.metric for row in measured if not row.pairs),
        sizes=SIZES,
        no_floor=no_floor,
    )


def _no_floor(selection: Selection) -> str | None:
    """By the rule that leaves a mode without a verdict."""
    found = ((mode, barred_by(selection, mode)) for mode in selection.modes)
    return next((f"{mode}: {reason}" for mode, reason in found if reason), None)


@dataclass(frozen=True, kw_only=True)
class _Arms:
    first: tuple[TrialRecord, ...]
    second: tuple[TrialRecord, ...]


def _noise(measured: _Measured, arms: _Arms, planned: tuple[int, int]) -> Noise:
    first, second = _values(measured, arms.first), _values(measured, arms.second)
    pairs = [(first[place], second[place]) for place in first if place in second]
    identical = sum(one == other for one, other in pairs)
    # There is no ratio to 0, so what stands beside one says nothing either.
    zeros = {place for arm in (first, second) for place in arm if arm[place] == 0}
    left_out = zeros if measured.relative else set()
    scale = math.log if measured.relative else float
    ones, others = (_by_task(_without(arm, left_out), scale) for arm in (first, second))
    differences = [median(others[task]) - median(ones[task]) for task in ones if task in others]
    sd, freedom = pooled_sd([*ones.values(), *others.values()])
    write = math.exp if measured.relative else float
    return Noise(
        metric=measured.metric,
        relative=measured.relative,
        pairs=len(pairs),
        identical=identical,
        zeros=len(left_out & first.keys() & second.keys()),
        still=identical == len(pairs) > 0 and _repeats((first, second)),
        missing=len(arms.first) + len(arms.second) - len(first) - len(second),
        tasks=len(differences),
        effect=write(fmean(differences)) if differences else None,
        interval=_range(t_interval(differences), write),
        largest=write(max(map(abs, differences))) if differences else None,
        spread=None if sd is None else write(sd),
        spread_interval=None if sd is None else _range(sd_interval(sd, freedom), write),
        planned=_findable(sd, planned, write),
        grid=tuple(_findable(sd, size, write) for size in SIZES),
    )


_Place = tuple[str, int, int]
"""Task, run and agent: equal in both arms."""


def _values(measured: _Measured, trials: Iterable[TrialRecord]) -> dict[_Place, float]:
    found = {}
    for trial in trials:
        value = measured.read(trial) if measured.includes(trial) else None
        if value is not None:
            found[trial.task_key, trial.run, trial.agent] = value
    return found


def _without(values: Mapping[_Place, float], left_out: Container[_Place]) -> dict[_Place, float]:
    return {place: value for place, value in values.items() if place not in left_out}


def _repeats(arms: Iterable[Mapping[_Place, float]]) -> bool:
    """Whether there are repetitions, and none differs."""
    groups = [runs for arm in arms for runs in _by_task(arm, float).values()]
    return any(len(runs) > 1 for runs in groups) and all(len(set(runs)) == 1 for runs in groups)


def _by_task(
    values: Mapping[_Place, float], scale: Callable[[float], float]
) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for (task, _, _), value in values.items():
        found[task].append(scale(value))
    return found


def _findable(
    sd: float | None, size: tuple[int, int], write: Callable[[float], float]
) -> Range | None:
    difference = None if sd is None else detectable(sd, *size)
    return None if difference is None else _range((-difference, difference), write)


def _range(values: Sequence[float] | None, write: Callable[[float], float] = float) -> Range | None:
    return None if values is None else Range(low=write(values[0]), high=write(values[1]))


def _of(key: str) -> Read:
    def read(trial: TrialRecord) -> float | None:
        value = getattr(trial, key)
        return None if value is None else float(value)

    return read


def _sum_of(key: str) -> Read:
    """Over the tools; `None` when one of them that was called is not in it."""

    def read(trial: TrialRecord) -> float | None:
        by_tool = getattr(trial, key)
        if by_tool is None or not (trial.tool_calls or {}).keys() <= by_tool.keys():
            return None
        return float(sum(by_tool.values()))

    return read


def _time(key: str, title: str, read: Callable[[str], Read] = _of) -> _Measured:
    about = metric(key, title, "seconds", Style.SECONDS, f"{key} of a trial")
    return _Measured(metric=about, read=read(key), relative=True)


def _spent(
    key: str, title: str, unit: str, read: Callable[[str], Read] = _of, style: Style = Style.WHOLE
) -> _Measured:
    about = metric(key, title, unit, style, f"{key} of a trial")
    return _Measured(metric=about, read=read(key), relative=True, spent=True)


def _score(key: str, title: str, unit: str) -> _Measured:
    about = metric(key, title, unit, Style.AVERAGE, f"{key} of a trial")
    return _Measured(metric=about, read=_of(key), relative=False)


def _completed(trial: TrialRecord) -> float:
    return float(trial.status is Status.COMPLETED)


_METRICS = (
    _time("wall_seconds", "Wall time"),
    _time("duration_s", "Agent's own time"),
    _time("api_seconds", "Time waiting for the model"),
    _time("tool_seconds", "Time in tools", _sum_of),
    _time("cpu_seconds", "CPU time"),
    _Measured(
        metric=metric("peak_memory_bytes", "Peak memory", "bytes", Style.WHOLE, "of a trial"),
        read=_of("peak_memory_bytes"),
        relative=True,
    ),
    _spent("num_turns", "Turns", "turns"),
    _spent("requests", "Requests", "requests"),
    _spent("tool_calls", "Tool calls", "calls", _sum_of),
    _spent("tool_result_tokens", "Tool result tokens", "tokens", _sum_of),
    _spent("total_tokens", "Reported tokens", "tokens"),
    _spent("effective_tokens", "Effective tokens", "tokens"),
    _spent("all_in_tokens", "All-in tokens", "tokens"),
    _spent("output_tokens", "Output tokens", "tokens"),
    _spent("cost", "Cost", "US dollars", style=Style.DOLLARS),
    _spent("result_lines", "Output lines", "lines"),
    _score("references", "File references", "mentions"),
    _score("references_existing", "Existing files named", "files"),
    _score("grounded", "Grounded answer", "0 or 1"),
    _score("structured", "Structured answer", "0 or 1"),
    _Measured(
        metric=metric("completed", "Completed", "0 or 1", Style.AVERAGE, "status is completed"),
        read=_completed,
        relative=False,
        includes=counts,
    ),
)
