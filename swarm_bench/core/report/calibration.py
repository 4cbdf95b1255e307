"""What a calibration says, as data: everything is computed, nothing is formatted."""

from dataclasses import dataclass

from swarm_bench.core.metric import Metric
from swarm_bench.core.report.document import Answer


@dataclass(frozen=True, kw_only=True)
class Range:
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Noise:
    """What one metric does when nothing differs.

    A relative metric has ratios here: 1 is no difference. Any other has differences: 0 is none.
    """

    metric: Metric
    relative: bool
    pairs: int
    """Pairs of trials, one of each arm: the same task, in the same place of the same run."""
    identical: int
    """Pairs whose figures are equal."""
    missing: int
    """Trials that should be in it and are not: without the figure."""
    zeros: int
    """Pairs in which a figure is 0 and that no ratio can be taken of; 0 where differences are
    taken."""
    still: bool
    """Whether it never differed, between the arms or between runs."""
    tasks: int
    """Tasks with the figure in both arms."""
    effect: float | None
    """One arm against the other: the mean over tasks, of ratios the geometric one."""
    interval: Range | None
    """The 95 % t interval of the effect; `None` for fewer than two tasks."""
    largest: float | None
    """The largest difference of a single task on either side; as a ratio above 1."""
    spread: float | None
    """The standard deviation of the runs of one task in one arm; of ratios as a factor. `None`
    without repetitions."""
    spread_interval: Range | None
    """The 95 % chi-square interval of the spread."""
    planned: Range | None
    """Range outside which an experiment of the size of this one could find a difference."""
    grid: tuple[Range | None, ...]
    """Ranges for experiments of other sizes."""

    @property
    def is_significant(self) -> bool:
        """Whether the interval would have called the two arms different."""
        interval = self.interval
        return (
            interval is not None
            and not self.still
            and not interval.low <= self.null_value <= interval.high
        )

    @property
    def null_value(self) -> float:
        """The value that means: no difference."""
        return 1.0 if self.relative else 0.0


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """A mode against itself."""

    mode: str
    again: str
    """The name that the second arm has."""
    tasks: int
    runs: int
    """Trials of each task in each arm that are planned."""
    excluded: int
    """Trials that gave no answer for a reason other than a budget, or were contaminated."""
    answers: tuple[Answer, ...]
    """Answers on what may be chance and what may not, first in the primary metric; or why there is
    no floor."""
    rows: tuple[Noise, ...]
    spent_by_rules: tuple[Noise, ...]
    """Rows of what fixed rules spent; empty when a model decided it, and `rows` has it all."""
    unknown: tuple[Metric, ...]
    """Metrics that nothing gave."""
    sizes: tuple[tuple[int, int], ...]
    """Tasks and runs of the experiments of `Noise.grid`."""
    no_floor: str | None
    """Reason why what was measured is not the noise of the mode; `None` when it is."""
