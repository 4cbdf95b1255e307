"""Each mode against the first one, task by task."""

from collections import defaultdict
from collections.abc import Iterable
from statistics import median

from swarm_bench.analysis.metrics import RATIOS
from swarm_bench.analysis.selection import Selection, counts
from swarm_bench.core.records import TrialRecord
from swarm_bench.core.report import Ratio, RatioRow, Ratios
from swarm_bench.core.status import Status


def ratios(selection: Selection) -> Ratios | None:
    """The median over tasks of mode / reference, where a task's value in a mode is the median
    over its trials. A trial that failed spent little and is no saving, so it is left out."""
    if len(selection.modes) < 2:
        return None
    reference, *modes = selection.modes
    compared = [trial for trial in selection.trials if _compares(trial)]
    return Ratios(
        reference=reference,
        modes=tuple(modes),
        tasks=len({_task(trial) for trial in compared}),
        runs=len({trial.run for trial in compared}),
        left_out=len(selection.trials) - len(compared),
        rows=tuple(
            RatioRow(
                metric=metric,
                ratios=tuple(
                    _ratio(
                        _by_task(compared, mode, metric.key),
                        _by_task(compared, reference, metric.key),
                    )
                    for mode in modes
                ),
            )
            for metric in RATIOS
        ),
    )


def _compares(trial: TrialRecord) -> bool:
    return counts(trial) and trial.status is not Status.AGENT_FAILED


def _task(trial: TrialRecord) -> str:
    return trial.task_id or trial.task


def _by_task(trials: Iterable[TrialRecord], mode: str, key: str) -> dict[str, float]:
    values: dict[str, list[float]] = defaultdict(list)
    for trial in trials:
        value = getattr(trial, key)
        if trial.mode == mode and value is not None:
            values[_task(trial)].append(value)
    return {task: median(several) for task, several in values.items()}


def _ratio(mode: dict[str, float], reference: dict[str, float]) -> Ratio | None:
    found = [mode[task] / reference[task] for task in mode if reference.get(task)]
    if not found:
        return None
    return Ratio(median=median(found), low=min(found), high=max(found), tasks=len(found))
