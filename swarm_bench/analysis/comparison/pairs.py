"""One metric of a mode and of the reference, paired task by task."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from swarm_bench.analysis.frame import frame
from swarm_bench.analysis.losses import Part
from swarm_bench.analysis.once import once
from swarm_bench.analysis.readings import (
    STATUS,
    TASK,
    all_by_task,
    by_task,
    column,
    results_of,
)
from swarm_bench.analysis.selection import Selection, is_inconclusive
from swarm_bench.analysis.statistics.censoring import (
    Censored,
    Measured,
    censored,
    ratios_at_worst,
    scores_at_worst,
)
from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.pairing import Cases, Pairs, paired
from swarm_bench.analysis.statistics.rule import Change
from swarm_bench.analysis.statistics.swarms import Swarm, Times, over_swarms
from swarm_bench.core.metric import Metric, ReadTrial
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.session.tasks import group_tasks
from swarm_bench.core.status import Status

Side = tuple[Selection, str]
"""A mode of a session."""
RECALLS = ("file_recall", "symbol_recall", "fact_share")
"""What answers are judged by: by the first of them that they have."""
SUCCESS = "success_rate"
"""The quality, where there are no keys."""


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One metric of a mode and of the reference, task by task."""

    metric: Metric
    pairs: Pairs

    @property
    def effect(self) -> Effect | None:
        """What the pairs say; `None` where too few tasks are paired."""
        return self.pairs.effect if self.pairs.suffice else None


@once
def compared(
    selection: Selection, mode: str, metric: Metric, reference: str | None = None
) -> Compared:
    """Pair what counts of a mode for this metric with what counts of another one, which is the
    reference of the session where none is named."""
    sides = (mode, reference or selection.modes[0])
    own, other = (values_by_task(selection, side, metric) for side in sides)
    pairs = paired(own, other, planned_tasks(selection, metric), relative=metric.relative)
    return Compared(metric=metric, pairs=pairs)


def stopped(selection: Selection, mode: str) -> list[TrialRecord]:
    """List the trials in the ratios that a limit ended."""
    trials, statuses = selection.arm(mode).counted, column(selection, mode, STATUS)
    rows = (row for row, status in enumerate(statuses) if status is Status.BUDGET_REACHED)
    return [trials[row] for row in rows]


@once
def compared_over_swarms(selection: Selection, mode: str, metric: Metric) -> Effect | None:
    """Compare a mode with the reference by a value for each swarm; `None` where none has the
    figure in both."""
    own, reference = (_by_swarm(selection, side, metric) for side in (mode, selection.modes[0]))
    return over_swarms(own, reference, selection.weights, at_every_look=at_every_look(selection))


def _by_swarm(selection: Selection, mode: str, metric: Metric) -> Times:
    """Group figures by the swarm, which is the block of a run, and the task."""
    blocks = selection.block_of_agent
    times: dict[tuple[Swarm, str], list[float]] = defaultdict(list)
    for row in frame(trials_of(selection, mode, metric), metric):
        if row.value is not None:
            times[(row.run, blocks.get(row.number, row.number)), row.case].append(row.value)
    return dict(times)


@once
def values_by_task(selection: Selection, mode: str, metric: Metric) -> dict[str, list[float]]:
    """Group the figures of the trials that count for this metric."""
    values = column(selection, mode, _read_of(metric))
    figures = by_task(selection, mode, _rows(selection, mode, metric), values)
    if metric.relative:  # for medians, of which there are many, and what is sorted sorts fast
        for of_task in figures.values():
            of_task.sort()
    return figures


@once
def judged(selection: Selection, mode: str) -> list[TrialRecord]:
    """List the trials of the mode whose task has a key that counts, failed ones too."""
    trials = selection.arm(mode).counted
    return [trials[row] for row in judged_rows(selection, mode)]


def trials_of(selection: Selection, mode: str, metric: Metric) -> Sequence[TrialRecord]:
    """Return the trials that count: for what was found also those that failed."""
    if metric.keyed:
        return judged(selection, mode)
    arm = selection.arm(mode)
    return arm.counted if metric.of_failed or metric.key == SUCCESS else arm.compared


def _rows(selection: Selection, mode: str, metric: Metric) -> Sequence[int]:
    """Return the numbers of these trials, among all those of the mode that count."""
    if metric.keyed:
        return judged_rows(selection, mode)
    if metric.of_failed or metric.key == SUCCESS:
        return range(len(selection.arm(mode).counted))
    return results_of(selection, mode)


@once
def judged_rows(selection: Selection, mode: str) -> list[int]:
    """Return the numbers of the judged trials, among all those of the mode that count."""
    tasks = column(selection, mode, TASK)
    return [row for row, task in enumerate(tasks) if task in selection.keyed]


def _read_of(metric: Metric) -> ReadTrial:
    if metric.read is None:
        raise ValueError(f"{metric.key} is not read from trials")
    return metric.read


@once
def planned_tasks(selection: Selection, metric: Metric) -> Cases:
    """Return the tasks that can have the figure, also those that no trial was recorded of."""
    tasks = _all_tasks(selection)
    if metric.keyed:
        keyed = selection.with_part[metric.keyed] & selection.keyed.keys()
        tasks = tuple(task for task in tasks if task in keyed)
    return Cases(
        ids=tasks,
        weights=selection.weights,
        groups=groups(selection),
        at_every_look=at_every_look(selection),
    )


def at_every_look(selection: Selection) -> bool:
    """Tell whether the session was to end when its verdict stands, so that it was looked at."""
    return selection.data.experiment.until_clear


@once
def groups(selection: Selection) -> dict[str, str]:
    """Return the group of each task: those of one are not independent of each other."""
    experiment = selection.data.experiment
    return group_tasks(experiment.tasks, experiment.repository.clean_commit)


@once
def _all_tasks(selection: Selection) -> tuple[str, ...]:
    """Name the tasks that were asked, and those that should have been."""
    experiment = selection.data.experiment
    planned = experiment.tasks[: experiment.tasks_asked]
    recorded = (trial.task_key for trial in selection.trials)
    return tuple(dict.fromkeys([*recorded, *(task.id for task in planned)]))


@once
def lost(selection: Selection, mode: str) -> tuple[TrialRecord, ...]:
    """List the trials that did not run to their own end, and were not run again: lost to the
    infrastructure, or interrupted, which takes those that last long."""
    return tuple(filter(is_inconclusive, selection.arm(mode).uncounted))


@once
def unmeasured(selection: Selection, mode: str, metric: Metric) -> tuple[TrialRecord, ...]:
    """List the trials that a comparison by this metric lacks: lost ones, contaminated ones, and
    those that do not tell the figure. What agents failed is a result, unless it does not tell;
    what a limit stopped is the worst in ratios, and no part of these."""
    arm, tasks = selection.arm(mode), set(planned_tasks(selection, metric).ids)
    without = [trial for trial in arm.uncounted if trial.task_key in tasks]
    if metric.read and (metric.relative or metric.key in RECALLS):
        telling = tasks & _known_of(selection, metric)
        columns = (column(selection, mode, read) for read in (TASK, metric.read, STATUS))
        without += [
            trial
            for trial, task, value, status in zip(arm.counted, *columns, strict=True)
            if value is None
            and task in telling
            and not (metric.relative and status is Status.BUDGET_REACHED)
        ]
    return tuple(without)


@once
def _known_of(selection: Selection, metric: Metric) -> frozenset[str]:
    """Return the tasks of which any trial tells the figure: what none can tell is not missing."""
    read = _read_of(metric)
    return frozenset(
        task for mode in selection.modes for task in all_by_task(selection, mode, read)
    )


@once
def planned_trials(selection: Selection, mode: str) -> int:
    """Count the trials that a mode should have."""
    return max(selection.data.planned.get(mode, 0), len(selection.of(mode)))


@once
def missing(selection: Selection, mode: str, metric: Metric) -> Part:
    """Count the planned trials of a mode that a comparison by this metric lacks, also those never
    run."""
    there, tasks = selection.of(mode), set(planned_tasks(selection, metric).ids)
    absent = planned_trials(selection, mode) - len(there)
    could = sum(trial.task_key in tasks for trial in there)
    return absent + len(unmeasured(selection, mode, metric)), absent + could


def measured(side: Side, metric: Metric, *, with_lost: bool = True) -> Measured:
    """Return the figures of a mode by task, infinite for what a limit stopped, and its lost
    trials. What was never run is not among these: nothing of it decided that."""
    selection, mode = side
    values = column(selection, mode, _read_of(metric))
    if metric.relative:
        values = [
            math.inf if status is Status.BUDGET_REACHED else value
            for status, value in zip(column(selection, mode, STATUS), values, strict=True)
        ]
    figures = by_task(selection, mode, _rows(selection, mode, metric), values)
    without = unmeasured(selection, mode, metric) if with_lost else ()
    return Measured(figures=figures, lost=Counter(trial.task_key for trial in without))


def with_stopped_as_worst(selection: Selection, mode: str, metric: Metric) -> Censored | None:
    """Compare a mode with the reference as if its stopped trials had taken more than all others;
    `None` where none was stopped."""
    sides = mode, selection.modes[0]
    if metric.read is None or not any(stopped(selection, side) for side in sides):
        return None
    own, reference = (measured((selection, side), metric, with_lost=False) for side in sides)
    return censored(own, reference, planned_tasks(selection, metric))


def cost_at_worst(
    own: Side, reference: Side, metric: Metric, shown: Change, tasks: Cases
) -> tuple[Censored, ...]:
    """Compare two sides over tasks as if what is not known of them spoke against what was shown;
    nothing where all of it is known."""
    sides = (own, reference)
    if metric.read is None or not any(
        stopped(*side) or unmeasured(*side, metric) for side in sides
    ):
        return ()
    return ratios_at_worst(measured(own, metric), measured(reference, metric), tasks, shown)


def quality_at_worst(own: Side, reference: Side, metric: Metric, *, gain: bool) -> Effect | None:
    """Compare what two sides found as if their lost trials spoke against a gain, or a loss."""
    tasks = planned_tasks(own[0], metric)
    return scores_at_worst(measured(own, metric), measured(reference, metric), tasks, gain=gain)
