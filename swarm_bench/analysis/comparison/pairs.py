"""One metric of a mode and of the reference, paired task by task."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from swarm_bench.analysis.caching import once
from swarm_bench.analysis.losses import Part
from swarm_bench.analysis.readings import (
    STATUS,
    TASK,
    group_all,
    group_values,
    read_column,
    select_results,
)
from swarm_bench.analysis.selection import Selection, is_inconclusive
from swarm_bench.analysis.statistics.censoring import (
    Censored,
    MeasuredFigures,
    compare_censored,
    compare_ratios_at_worst,
    compare_scores_at_worst,
)
from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.pairing import Cases, Pairs, pair_figures
from swarm_bench.analysis.statistics.swarms import Swarm, Times, compare_swarms
from swarm_bench.analysis.statistics.verdict_rule import Change
from swarm_bench.core.metric import Metric
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.session.tasks import group_tasks
from swarm_bench.core.status import Status

Side = tuple[Selection, str]
"""A mode of a session."""
RECALLS = ("file_recall", "symbol_recall", "fact_share")
"""Metrics that answers are judged by: by the first of them that they have."""
SUCCESS = "success_rate"
"""The quality, where there are no keys."""


@dataclass(frozen=True, kw_only=True)
class MetricPairs:
    """One metric of a mode and of the reference, task by task."""

    metric: Metric
    pairs: Pairs

    @property
    def effect(self) -> Effect | None:
        """What the pairs say; `None` where too few tasks are paired."""
        return self.pairs.effect if self.pairs.suffice else None


@once
def pair_metric(
    selection: Selection, mode: str, metric: Metric, reference: str | None = None
) -> MetricPairs:
    """Pair what counts of a mode for this metric with what counts of another one, which is the
    reference of the session where none is named."""
    sides = (mode, reference or selection.modes[0])
    mode_values, reference_values = (group_metric(selection, side, metric) for side in sides)
    pairs = pair_figures(
        mode_values,
        reference_values,
        select_planned_tasks(selection, metric),
        relative=metric.relative,
    )
    return MetricPairs(metric=metric, pairs=pairs)


def list_stopped(selection: Selection, mode: str) -> list[TrialRecord]:
    """List the trials in the ratios that a limit ended."""
    trials, statuses = selection.get_arm(mode).counted_trials, read_column(selection, mode, STATUS)
    rows = (row for row, status in enumerate(statuses) if status is Status.BUDGET_REACHED)
    return [trials[row] for row in rows]


@once
def compare_over_swarms(selection: Selection, mode: str, metric: Metric) -> Effect | None:
    """Compare a mode with the reference by a value for each swarm; `None` where none has the
    figure in both."""
    mode_times, reference_times = (
        _group_by_swarm(selection, side, metric) for side in (mode, selection.modes[0])
    )
    return compare_swarms(
        mode_times, reference_times, selection.weights, at_every_look=is_at_every_look(selection)
    )


def _group_by_swarm(selection: Selection, mode: str, metric: Metric) -> Times:
    """Group figures by the swarm, which is the block of a run, and the task."""
    blocks = selection.block_of_agent
    times: dict[tuple[Swarm, str], list[float]] = defaultdict(list)
    for trial in select_trials(selection, mode, metric):
        if (value := metric.reader(trial)) is not None:
            swarm = trial.run, blocks.get(trial.agent, trial.agent)
            times[swarm, trial.task_key].append(value)
    return dict(times)


@once
def group_metric(selection: Selection, mode: str, metric: Metric) -> dict[str, list[float]]:
    """Group the figures of the trials that count for this metric."""
    values = read_column(selection, mode, metric.reader)
    figures = group_values(selection, mode, _select_rows(selection, mode, metric), values)
    if metric.relative:  # for medians, of which there are many, and what is sorted sorts fast
        for of_task in figures.values():
            of_task.sort()
    return figures


@once
def list_judged(selection: Selection, mode: str) -> list[TrialRecord]:
    """List the trials of the mode whose task has a key that counts, failed ones too."""
    trials = selection.get_arm(mode).counted_trials
    return [trials[row] for row in select_judged_rows(selection, mode)]


def select_trials(selection: Selection, mode: str, metric: Metric) -> Sequence[TrialRecord]:
    """Return the trials that count: for what was found also those that failed."""
    if metric.keyed:
        return list_judged(selection, mode)
    arm = selection.get_arm(mode)
    return arm.counted_trials if metric.of_failed or metric.key == SUCCESS else arm.compared_trials


def _select_rows(selection: Selection, mode: str, metric: Metric) -> Sequence[int]:
    """Return the numbers of these trials, among all those of the mode that count."""
    if metric.keyed:
        return select_judged_rows(selection, mode)
    if metric.of_failed or metric.key == SUCCESS:
        return range(len(selection.get_arm(mode).counted_trials))
    return select_results(selection, mode)


@once
def select_judged_rows(selection: Selection, mode: str) -> list[int]:
    """Return the numbers of the judged trials, among all those of the mode that count."""
    tasks = read_column(selection, mode, TASK)
    return [row for row, task in enumerate(tasks) if task in selection.keyed_weights]


@once
def select_planned_tasks(selection: Selection, metric: Metric) -> Cases:
    """Return the tasks that can have the figure, also those that no trial was recorded of."""
    tasks = _list_tasks(selection)
    if metric.keyed:
        keyed = selection.tasks_by_part[metric.keyed] & selection.keyed_weights.keys()
        tasks = tuple(task for task in tasks if task in keyed)
    return Cases(
        ids=tasks,
        weights=selection.weights,
        groups=find_groups(selection),
        at_every_look=is_at_every_look(selection),
    )


def is_at_every_look(selection: Selection) -> bool:
    """Tell whether the session was to end when its verdict stands, so that it was looked at."""
    return selection.data.experiment.until_clear


@once
def find_groups(selection: Selection) -> dict[str, str]:
    """Return the group of each task: those of one are not independent of each other."""
    experiment = selection.data.experiment
    return group_tasks(experiment.tasks, experiment.repository.clean_commit)


@once
def _list_tasks(selection: Selection) -> tuple[str, ...]:
    """Name the tasks that were asked, and those that should have been."""
    experiment = selection.data.experiment
    planned_entries = experiment.tasks[: experiment.tasks_asked]
    recorded_tasks = (trial.task_key for trial in selection.trials)
    return tuple(dict.fromkeys([*recorded_tasks, *(task.id for task in planned_entries)]))


@once
def list_lost(selection: Selection, mode: str) -> tuple[TrialRecord, ...]:
    """List the trials that did not run to their own end, and were not run again: lost to the
    infrastructure, or interrupted, which takes those that last long."""
    return tuple(filter(is_inconclusive, selection.get_arm(mode).uncounted_trials))


@once
def list_unmeasured(selection: Selection, mode: str, metric: Metric) -> tuple[TrialRecord, ...]:
    """List the trials that a comparison by this metric lacks: lost ones, contaminated ones, and
    those that do not tell the figure. What agents failed is a result, unless it does not tell;
    what a limit stopped is the worst in ratios, and no part of these."""
    arm, tasks = selection.get_arm(mode), set(select_planned_tasks(selection, metric).ids)
    without = [trial for trial in arm.uncounted_trials if trial.task_key in tasks]
    if metric.read and (metric.relative or metric.key in RECALLS):
        measurable_tasks = tasks & _find_measurable_tasks(selection, metric)
        columns = (read_column(selection, mode, read) for read in (TASK, metric.read, STATUS))
        without += [
            trial
            for trial, task, value, status in zip(arm.counted_trials, *columns, strict=True)
            if value is None
            and task in measurable_tasks
            and not (metric.relative and status is Status.BUDGET_REACHED)
        ]
    return tuple(without)


@once
def _find_measurable_tasks(selection: Selection, metric: Metric) -> frozenset[str]:
    """Return the tasks of which any trial tells the figure: what none can tell is not missing."""
    read = metric.reader
    return frozenset(task for mode in selection.modes for task in group_all(selection, mode, read))


@once
def count_planned_trials(selection: Selection, mode: str) -> int:
    """Count the trials that a mode should have."""
    return max(selection.data.planned.get(mode, 0), len(selection.select(mode)))


@once
def count_missing(selection: Selection, mode: str, metric: Metric) -> Part:
    """Count the planned trials of a mode that a comparison by this metric lacks, also those never
    run."""
    recorded_trials, tasks = (
        selection.select(mode),
        set(select_planned_tasks(selection, metric).ids),
    )
    absent = count_planned_trials(selection, mode) - len(recorded_trials)
    could = sum(trial.task_key in tasks for trial in recorded_trials)
    return absent + len(list_unmeasured(selection, mode, metric)), absent + could


def measure(side: Side, metric: Metric, *, with_lost: bool = True) -> MeasuredFigures:
    """Return the figures of a mode by task, infinite for what a limit stopped, and its lost
    trials. What was never run is not among these: nothing of it decided that."""
    selection, mode = side
    values = read_column(selection, mode, metric.reader)
    if metric.relative:
        values = [
            math.inf if status is Status.BUDGET_REACHED else value
            for status, value in zip(read_column(selection, mode, STATUS), values, strict=True)
        ]
    figures = group_values(selection, mode, _select_rows(selection, mode, metric), values)
    without = list_unmeasured(selection, mode, metric) if with_lost else ()
    return MeasuredFigures(
        figures=figures, lost_counts=Counter(trial.task_key for trial in without)
    )


def compare_stopped_as_worst(selection: Selection, mode: str, metric: Metric) -> Censored | None:
    """Compare a mode with the reference as if its stopped trials had taken more than all others;
    `None` where none was stopped."""
    sides = mode, selection.modes[0]
    if metric.read is None or not any(list_stopped(selection, side) for side in sides):
        return None
    mode_figures, reference_figures = (
        measure((selection, side), metric, with_lost=False) for side in sides
    )
    return compare_censored(
        mode_figures, reference_figures, select_planned_tasks(selection, metric)
    )


def compare_cost_at_worst(
    first: Side, reference: Side, metric: Metric, change: Change, tasks: Cases
) -> tuple[Censored, ...]:
    """Compare two sides over tasks as if what is not known of them spoke against what was shown;
    nothing where all of it is known."""
    sides = (first, reference)
    if metric.read is None or not any(
        list_stopped(*side) or list_unmeasured(*side, metric) for side in sides
    ):
        return ()
    return compare_ratios_at_worst(
        measure(first, metric), measure(reference, metric), tasks, change
    )


def compare_quality_at_worst(
    side: Side, reference: Side, metric: Metric, *, gain: bool
) -> Effect | None:
    """Compare what two sides found as if their lost trials spoke against a gain, or a loss."""
    tasks = select_planned_tasks(side[0], metric)
    return compare_scores_at_worst(
        measure(side, metric), measure(reference, metric), tasks, gain=gain
    )
