"""A mode against itself: by how much two identical arms differ, and what could be found."""

import math
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from swarm_bench.analysis.caveats.barred import barred_by
from swarm_bench.analysis.comparison.compared import billed
from swarm_bench.analysis.comparison.pairs import groups
from swarm_bench.analysis.comparison.spent import BANNER, TITLE
from swarm_bench.analysis.frame import frame
from swarm_bench.analysis.planning.ahead import asked
from swarm_bench.analysis.selection import Selection, compares, counts
from swarm_bench.analysis.sentences.noise import Measured, no_floor, noise_answers
from swarm_bench.analysis.statistics.effects import within
from swarm_bench.analysis.statistics.formulas import (
    detectable,
    difference_sd,
    pooled_sd,
    sd_interval,
)
from swarm_bench.analysis.statistics.pairing import Cases
from swarm_bench.core.metric import Metric, Metrics
from swarm_bench.core.report.calibration import Calibration, Noise, NoiseByRules, Range
from swarm_bench.core.session.records import SessionData, TrialRecord

SIZES = tuple((tasks, runs) for tasks in (4, 8, 12, 20) for runs in (3, 5, 10))


_KEYS = (
    "wall_seconds", "duration_s", "api_seconds", "tool_seconds", "cpu_seconds", "peak_memory_bytes",
    "num_turns", "requests", "tool_calls", "tool_result_tokens", "total_tokens", "effective_tokens",
    "all_in_tokens", "output_tokens", "cost", "result_lines", "references", "references_existing",
    "grounded", "structured", "completed", "invented_share", "file_recall", "file_precision",
    "right_answer",
)  # fmt: skip


def calibration(data: SessionData, metrics: Metrics) -> Calibration:
    """Compute what a session of `calibrate` says. Raises `KeyError` for one of another
    number of modes than two."""
    selection = Selection(data, metrics)
    experiment = data.experiment
    if len(experiment.modes) != 2:
        raise KeyError("a calibration has two modes")
    mode, again = (arm.name for arm in experiment.modes)
    tasks = experiment.tasks_asked
    runs = experiment.runs * experiment.trials_per_mode // tasks
    arms = _Arms(first=selection.of(mode), second=selection.of(again), groups=groups(selection))
    planned = (asked(experiment).independent, runs)
    measured = [_noise(metric, arms, planned) for metric in _shown(selection)]
    paired = [row for row in measured if row.pairs]
    spent = tuple(row for row in paired if row.metric.spent and selection.fixed_rules)
    rows = tuple(row for row in paired if row not in spent)
    barred = _barred(selection)
    of_rows = Measured(
        mode=mode,
        rows=rows,
        tasks=asked(experiment),
        runs=runs,
        experiment=experiment,
        fixed_rules=bool(spent),
    )
    return Calibration(
        mode=mode,
        again=again,
        tasks=tasks,
        runs=runs,
        excluded=sum(not compares(trial) for trial in selection.trials),
        answers=(no_floor(mode, barred),) if barred else noise_answers(of_rows),
        rows=rows,
        spent_by_rules=NoiseByRules(title=TITLE, banner=BANNER, rows=spent) if spent else None,
        unknown=tuple(row.metric for row in measured if not row.pairs),
        sizes=SIZES,
        no_floor=barred,
    )


def _shown(selection: Selection) -> Iterator[Metric]:
    """Yield the metrics that say something of the session."""
    metrics = selection.metrics
    for metric in billed((*metrics.named(_KEYS), *metrics.compared), selection):
        if selection.keyed or not metric.keyed:
            yield metric


def _barred(selection: Selection) -> str | None:
    """Say why there is no floor: by the rule that gives a mode no verdict."""
    reasons = ((mode, barred_by(selection, mode)) for mode in selection.modes)
    return next((f"{mode}: {reason}" for mode, reason in reasons if reason), None)


@dataclass(frozen=True, kw_only=True)
class _Arms:
    first: tuple[TrialRecord, ...]
    second: tuple[TrialRecord, ...]
    groups: Mapping[str, str]
    """Of tasks that are not independent of each other."""


def _noise(metric: Metric, arms: _Arms, planned: tuple[float, int]) -> Noise:
    first, second = _values(metric, arms.first), _values(metric, arms.second)
    pairs = [(first[pairing], second[pairing]) for pairing in first if pairing in second]
    identical = sum(figure == other for figure, other in pairs)
    # There is no ratio to 0, so what stands beside one says nothing either.
    zeros = {pairing for arm in (first, second) for pairing in arm if arm[pairing] == 0}
    excluded = zeros if metric.relative else set()
    scale = math.log if metric.relative else float
    ones, others = (_by_task(_without(arm, excluded), scale) for arm in (first, second))
    by_task = {task: median(others[task]) - median(ones[task]) for task in ones if task in others}
    effect = Cases(ids=by_task, groups=arms.groups).effect(by_task) if by_task else None
    sd, freedom = pooled_sd([*ones.values(), *others.values()])
    write = math.exp if metric.relative else float
    bounds = effect.interval() if effect else None
    most = math.inf if metric.relative else metric.most(len(by_task))
    return Noise(
        metric=metric,
        relative=metric.relative,
        pairs=len(pairs),
        identical=identical,
        zeros=len(excluded & first.keys() & second.keys()),
        still=identical == len(pairs) > 0 and _repeats((first, second)),
        missing=len(arms.first) + len(arms.second) - len(first) - len(second),
        tasks=len(by_task),
        effect=write(effect.estimate) if effect else None,
        interval=_range(within(bounds, most) or bounds, write),
        largest=write(max(map(abs, by_task.values()))) if by_task else None,
        spread=None if sd is None else write(sd),
        spread_interval=None if sd is None else _range(sd_interval(sd, freedom), write),
        planned=_findable(sd, planned, write),
        grid=tuple(_findable(sd, size, write) for size in SIZES),
    )


_Pairing = tuple[str, int, int]
"""Task, run and agent: equal in both arms."""


def _values(metric: Metric, trials: Iterable[TrialRecord]) -> dict[_Pairing, float]:
    belongs = counts if metric.of_failed else compares
    rows = frame([trial for trial in trials if belongs(trial)], metric)
    return {
        (row.case, row.run, row.number): float(row.value) for row in rows if row.value is not None
    }


def _without(
    values: Mapping[_Pairing, float], excluded: Container[_Pairing]
) -> dict[_Pairing, float]:
    return {pairing: value for pairing, value in values.items() if pairing not in excluded}


def _repeats(arms: Iterable[Mapping[_Pairing, float]]) -> bool:
    """Tell whether there are repetitions, and none differs."""
    groups = [runs for arm in arms for runs in _by_task(arm, float).values()]
    return any(len(runs) > 1 for runs in groups) and all(len(set(runs)) == 1 for runs in groups)


def _by_task(
    values: Mapping[_Pairing, float], scale: Callable[[float], float]
) -> dict[str, list[float]]:
    by_task: dict[str, list[float]] = defaultdict(list)
    for (task, _, _), value in values.items():
        by_task[task].append(scale(value))
    return by_task


def _findable(
    sd: float | None, size: tuple[float, int], write: Callable[[float], float]
) -> Range | None:
    tasks, runs = size
    difference = None if sd is None else detectable(difference_sd(sd, runs), tasks)
    return None if difference is None else _range((-difference, difference), write)


def _range(values: Sequence[float] | None, write: Callable[[float], float] = float) -> Range | None:
    return None if values is None else Range(low=write(values[0]), high=write(values[1]))
