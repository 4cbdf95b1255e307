"""A mode against itself: by how much two identical arms differ, and what could be found."""

import math
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from swarm_bench.analysis.caveats.barred import explain_no_verdict
from swarm_bench.analysis.comparison.compared import select_billed
from swarm_bench.analysis.comparison.pairs import find_groups
from swarm_bench.analysis.comparison.spent import BANNER, TITLE
from swarm_bench.analysis.frame import make_frame
from swarm_bench.analysis.planning.ahead import count_independent
from swarm_bench.analysis.selection import Selection, compares, counts
from swarm_bench.analysis.sentences.noise import NoiseMeasurement, answer_no_floor, answer_noise
from swarm_bench.analysis.statistics.effects import clip_interval
from swarm_bench.analysis.statistics.formulas import (
    compute_detectable,
    compute_difference_sd,
    compute_pooled_sd,
    compute_sd_interval,
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


def compute_calibration(data: SessionData, metrics: Metrics) -> Calibration:
    """Compute what a session of `calibrate` says. Raises `KeyError` for one of another
    number of modes than two."""
    selection = Selection(data, metrics)
    experiment = data.experiment
    if len(experiment.modes) != 2:
        raise KeyError("a calibration has two modes")
    mode, twin = (arm.name for arm in experiment.modes)
    tasks = experiment.tasks_asked
    runs = experiment.runs * experiment.trials_per_mode // tasks
    arms = _Arms(
        first=selection.select(mode), second=selection.select(twin), groups=find_groups(selection)
    )
    planned = (count_independent(experiment).independent_cases, runs)
    noise_rows = [_compute_noise(metric, arms, planned) for metric in _list_metrics(selection)]
    paired_rows = [row for row in noise_rows if row.pairs]
    costs = tuple(row for row in paired_rows if row.metric.spent and selection.fixed_rules)
    rows = tuple(row for row in paired_rows if row not in costs)
    explanation = _explain_no_floor(selection)
    of_rows = NoiseMeasurement(
        mode=mode,
        rows=rows,
        tasks=count_independent(experiment),
        runs=runs,
        experiment=experiment,
        fixed_rules=bool(costs),
    )
    return Calibration(
        mode=mode,
        again=twin,
        tasks=tasks,
        runs=runs,
        excluded=sum(not compares(trial) for trial in selection.trials),
        answers=(answer_no_floor(mode, explanation),) if explanation else answer_noise(of_rows),
        rows=rows,
        spent_by_rules=NoiseByRules(title=TITLE, banner=BANNER, rows=costs) if costs else None,
        unknown=tuple(row.metric for row in noise_rows if not row.pairs),
        sizes=SIZES,
        no_floor=explanation,
    )


def _list_metrics(selection: Selection) -> Iterator[Metric]:
    """Yield the metrics that say something of the session."""
    metrics = selection.metrics
    for metric in select_billed((*metrics.named(_KEYS), *metrics.compared), selection):
        if selection.keyed_weights or not metric.keyed:
            yield metric


def _explain_no_floor(selection: Selection) -> str | None:
    """Say why there is no floor: by the rule that gives a mode no verdict."""
    reasons = ((mode, explain_no_verdict(selection, mode)) for mode in selection.modes)
    return next((f"{mode}: {reason}" for mode, reason in reasons if reason), None)


@dataclass(frozen=True, kw_only=True)
class _Arms:
    first: tuple[TrialRecord, ...]
    second: tuple[TrialRecord, ...]
    groups: Mapping[str, str]
    """Of tasks that are not independent of each other."""


def _compute_noise(metric: Metric, arms: _Arms, planned_size: tuple[float, int]) -> Noise:
    first, second = _read_values(metric, arms.first), _read_values(metric, arms.second)
    pairs = [(first[pairing], second[pairing]) for pairing in first if pairing in second]
    identical = sum(figure == second_figure for figure, second_figure in pairs)
    # There is no ratio to 0, so what stands beside one says nothing either.
    zeros = {pairing for arm in (first, second) for pairing in arm if arm[pairing] == 0}
    excluded = zeros if metric.relative else set()
    scale = math.log if metric.relative else float
    first_values, second_values = (
        _group_by_task(_exclude(arm, excluded), scale) for arm in (first, second)
    )
    by_task = {
        task: median(second_values[task]) - median(first_values[task])
        for task in first_values
        if task in second_values
    }
    effect = Cases(ids=by_task, groups=arms.groups).make_effect(by_task) if by_task else None
    sd, freedom = compute_pooled_sd([*first_values.values(), *second_values.values()])
    write = math.exp if metric.relative else float
    bounds = effect.interval() if effect else None
    max_value = math.inf if metric.relative else metric.most(len(by_task))
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
        interval=_make_range(clip_interval(bounds, max_value) or bounds, write),
        largest=write(max(map(abs, by_task.values()))) if by_task else None,
        spread=None if sd is None else write(sd),
        spread_interval=None
        if sd is None
        else _make_range(compute_sd_interval(sd, freedom), write),
        planned=_compute_findable(sd, planned_size, write),
        grid=tuple(_compute_findable(sd, size, write) for size in SIZES),
    )


_Pairing = tuple[str, int, int]
"""Task, run and agent: equal in both arms."""


def _read_values(metric: Metric, trials: Iterable[TrialRecord]) -> dict[_Pairing, float]:
    belongs = counts if metric.of_failed else compares
    rows = make_frame([trial for trial in trials if belongs(trial)], metric)
    return {
        (row.case, row.run, row.number): float(row.value) for row in rows if row.value is not None
    }


def _exclude(
    values: Mapping[_Pairing, float], excluded: Container[_Pairing]
) -> dict[_Pairing, float]:
    return {pairing: value for pairing, value in values.items() if pairing not in excluded}


def _repeats(arms: Iterable[Mapping[_Pairing, float]]) -> bool:
    """Tell whether there are repetitions, and none differs."""
    groups = [runs for arm in arms for runs in _group_by_task(arm, float).values()]
    return any(len(runs) > 1 for runs in groups) and all(len(set(runs)) == 1 for runs in groups)


def _group_by_task(
    values: Mapping[_Pairing, float], scale: Callable[[float], float]
) -> dict[str, list[float]]:
    by_task: dict[str, list[float]] = defaultdict(list)
    for (task, _, _), value in values.items():
        by_task[task].append(scale(value))
    return by_task


def _compute_findable(
    sd: float | None, size: tuple[float, int], write: Callable[[float], float]
) -> Range | None:
    tasks, runs = size
    difference = None if sd is None else compute_detectable(compute_difference_sd(sd, runs), tasks)
    return None if difference is None else _make_range((-difference, difference), write)


def _make_range(
    values: Sequence[float] | None, write: Callable[[float], float] = float
) -> Range | None:
    return None if values is None else Range(low=write(values[0]), high=write(values[1]))
