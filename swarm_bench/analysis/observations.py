"""Figures in long form: what calibrations, sweeps and benchmarks of cases compute with.

A frame is a plain list of named tuples, and no library of tables is among the dependencies.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from swarm_bench.core.metric import Metric, ReadTrial
from swarm_bench.core.session.base import RecordView


class Observation(NamedTuple):
    """A figure of a trial."""

    arm: str
    case: str
    run: int
    metric: str
    value: float | None
    """`None` when the trial does not tell."""
    number: int
    """Number that tells trials of one arm, case and run apart: agents of a swarm can have one
    task."""


Frame = list[Observation]


def make_frame(
    trials: Iterable[RecordView], metric: Metric, read: ReadTrial | None = None
) -> Frame:
    """Make a row for each trial; `read` where the figure depends on more than the trial."""
    read, key = _find_reader(metric, read), metric.key
    return [
        Observation(trial.arm, trial.case, trial.run, key, read(trial), trial.number)
        for trial in trials
    ]


def group_figures(
    trials: Iterable[RecordView], metric: Metric, read: ReadTrial | None = None
) -> dict[str, list[float]]:
    """Group the values by case, as `group_by_case` does, without the rows: nothing of a large
    session is asked more often."""
    read = _find_reader(metric, read)
    return _group((trial.case, read(trial)) for trial in trials)


def _find_reader(metric: Metric, read: ReadTrial | None) -> ReadTrial:
    read = read or metric.read
    if read is None:
        raise ValueError(f"{metric.key} is not read from trials")
    return read


def group_by_case(rows: Frame) -> dict[str, list[float]]:
    """Group the values by case; a row without a value is in none."""
    return _group((row.case, row.value) for row in rows)


def _group(pairs: Iterable[tuple[str, float | None]]) -> dict[str, list[float]]:
    cases: dict[str, list[float]] = defaultdict(list)
    for case, value in pairs:
        if value is not None:
            cases[case].append(value)
    return dict(cases)
