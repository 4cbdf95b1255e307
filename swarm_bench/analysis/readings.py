"""What comparisons read of trials. Of each trial all is read at once, and nothing twice: a record
of a large session is slow to reach in memory, and quick to read."""

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from swarm_bench.analysis.caching import once
from swarm_bench.analysis.selection import Selection
from swarm_bench.core.metric import Metric, ReadTrial
from swarm_bench.core.status import Status

TASK: Any = attrgetter("task_key")
STATUS: Any = attrgetter("status")
LINES: Any = attrgetter("result_lines")
RUN: Any = attrgetter("run")
USE: Any = attrgetter("retrieval")
AGENT: Any = attrgetter("agent")
STARTED: Any = attrgetter("started_at")
ANSWERS: Any = attrgetter("tool_answers")
"""Read what sorts trials, and no figure."""


_SORTING = (TASK, STATUS, LINES, RUN, USE, AGENT, STARTED, ANSWERS)


def read_column(selection: Selection, mode: str, read: Any) -> Sequence[Any]:
    """Return what is read of each of the mode's trials that count, in their order."""
    if read in _list_readers(selection):
        return _read_columns(selection, mode)[read]
    return _read_figures(selection, mode, read)


@once
def select_results(selection: Selection, mode: str) -> list[int]:
    """Return the numbers of the trials that are in the ratios, among those that count."""
    statuses = read_column(selection, mode, STATUS)
    return [row for row, status in enumerate(statuses) if status is not Status.AGENT_FAILED]


def group_values(
    selection: Selection, mode: str, rows: Sequence[int], values: Sequence[float | None]
) -> dict[str, list[float]]:
    """Group values by the task of their trial; `rows` are the numbers of the trials."""
    tasks = read_column(selection, mode, TASK)
    grouped: dict[str, list[float]] = {}
    for row in rows:
        if (value := values[row]) is not None:
            grouped.setdefault(tasks[row], []).append(value)
    return grouped


@once
def group_all(selection: Selection, mode: str, read: ReadTrial) -> dict[str, list[float]]:
    """Group the figures of all trials that count by task."""
    values = read_column(selection, mode, read)
    return group_values(selection, mode, range(len(values)), values)


@once
def count_trials(selection: Selection, mode: str) -> Counter[str]:
    """Count the trials that count by task."""
    return Counter(read_column(selection, mode, TASK))


@once
def find_answered(selection: Selection, mode: str, read: ReadTrial | None = None) -> frozenset[str]:
    """Return the tasks with an answer, of whose trial the figure is told if one is named."""
    values = read_column(selection, mode, LINES if read is None else read)
    columns = (read_column(selection, mode, TASK), read_column(selection, mode, LINES), values)
    return frozenset(
        task
        for task, lines, value in zip(*columns, strict=True)
        if lines is not None and value is not None
    )


@once
def _list_readers(selection: Selection) -> frozenset[Any]:
    """List what is read together: what tells trials apart, and what most comparisons are of."""
    metrics = [metric for metric in selection.metrics if _is_compared(selection, metric)]
    return frozenset([*_SORTING, *(metric.read for metric in metrics if metric.read)])


def _is_compared(selection: Selection, metric: Metric) -> bool:
    return metric.spent or metric.compared or bool(metric.keyed and selection.keyed_weights)


@once
def _read_columns(selection: Selection, mode: str) -> Mapping[Any, Sequence[Any]]:
    reads = tuple(_list_readers(selection))
    rows = [[read(trial) for read in reads] for trial in selection.get_arm(mode).counted_trials]
    return {read: [row[number] for row in rows] for number, read in enumerate(reads)}


@once
def _read_figures(selection: Selection, mode: str, read: ReadTrial) -> Sequence[float | None]:
    return [read(trial) for trial in selection.get_arm(mode).counted_trials]
