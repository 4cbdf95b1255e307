"""Experiments whose truth is known: tasks that differ, runs that are noisy, a tool that helps."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

METRIC = "effective_tokens"
ARMS = ("tool", "baseline")


class Observation(NamedTuple):
    """A figure of a trial."""

    arm: str
    case: str
    run: int
    metric: str
    value: float
    number: int


def group_by_case(rows: Iterable[Observation]) -> dict[str, list[float]]:
    """Group the values by case."""
    cases: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        cases[row.case].append(row.value)
    return dict(cases)


@dataclass(frozen=True, kw_only=True)
class Noise:
    """Standard deviations, of logarithms."""

    run: float = 0.45
    task: float = 0.8
    interaction: float = 0.2
    """By how much the tool helps with some tasks more than with others."""
    heavy: bool = True
    """Runs have the tails of a t distribution with three degrees of freedom, of the same standard
    deviation; otherwise they are normal."""


@dataclass(frozen=True, kw_only=True)
class Size:
    tasks: int
    runs: int

    def __str__(self) -> str:
        return f"{self.tasks}x{self.runs}"


Sample = Callable[[int], Sequence[Observation]]


def logarithms(size: Size, noise: Noise, ratio: float, number: int) -> NDArray[np.float64]:
    """Draw the experiment of a number, in which the tool takes `ratio` times what the baseline
    takes: by arm, task and run."""
    rng = np.random.default_rng([number, size.tasks, size.runs])
    tasks = rng.normal(10, noise.task, size.tasks)
    # With a ratio of 1 the arms are identical: there is no tool to help with anything.
    helps = np.log(ratio) + rng.normal(0, noise.interaction if ratio != 1 else 0, size.tasks)
    shape = (len(ARMS), size.tasks, size.runs)
    runs = rng.standard_t(3, shape) / np.sqrt(3) if noise.heavy else rng.normal(size=shape)
    logs = tasks[:, None] + noise.run * runs
    logs[0] += helps[:, None]
    return logs


def experiments(size: Size, noise: Noise, ratio: float) -> Sample:
    """Return a function that gives the rows of the experiment of a number."""

    def draw(number: int) -> list[Observation]:
        values = np.exp(logarithms(size, noise, ratio, number))
        return [
            Observation(arm, f"task-{task}", run, METRIC, float(values[side, task, run]), 1)
            for side, arm in enumerate(ARMS)
            for task in range(size.tasks)
            for run in range(size.runs)
        ]

    return draw


def names(size: Size) -> list[str]:
    """Name the tasks of an experiment."""
    return [f"task-{task}" for task in range(size.tasks)]
