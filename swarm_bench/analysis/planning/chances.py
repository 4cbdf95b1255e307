"""How often each verdict would be reached, if a mode saved so much: sessions are drawn, and the rule
is applied to each."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, TypeVar

from swarm_bench.analysis.statistics.formulas import ALPHA, POWER, difference_sd, t_limit
from swarm_bench.analysis.statistics.rule import FEWEST, Change, Quality, Verdict, cases_for, verdict

if TYPE_CHECKING:
    from numpy import bool_, float64
    from numpy.typing import NDArray

Class = TypeVar("Class", Change, Quality)

_DRAWN = 4_000
"""Sessions: shares of them are within 1.6 points of the truth."""
_ALL_FLIPS = 10
"""Tasks whose signs are all flipped; of more, that test says what the t test says."""
HELP, QUALITY_HELP = 0.2, 0.1
"""Assumed standard deviations of what a tool does for single tasks: of logarithms, and of a
share."""
_MOST = 1000


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What is assumed of a mode beside its reference."""

    saving: float
    """Share of what is spent."""
    spread: float
    """Standard deviation of the logarithms of the runs of a task."""
    quality_spread: float | None
    """The same of the quality; `None` where both find the same in every task."""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """What the verdict asks for."""

    margin: float
    quality_margin: float
    level: float = ALPHA
    """Of the hypothesis among those of all modes."""


def chances(truth: Truth, tasks: int, runs: int, bar: Bar) -> dict[Verdict, float]:
    """Compute the chance of each verdict with so many independent tasks."""
    spends = _spends(truth, tasks, runs, bar)
    shown = _shown(truth, tasks, runs, bar)
    chance = dict.fromkeys(Verdict, 0.0)
    for cost, quality in product(spends, shown):
        chance[verdict(cost, quality)] += spends[cost] * shown[quality]
    return chance


def tasks_for(truth: Truth, runs: int, bar: Bar) -> int | None:
    """Count the fewest independent tasks with which `helps` is as likely as we ask for; `None` for
    more than 1,000."""
    few, many = FEWEST, _MOST
    while few < many:
        middle = (few + many) // 2
        if chances(truth, middle, runs, bar)[Verdict.HELPS] >= POWER:
            many = middle
        else:
            few = middle + 1
    return few if chances(truth, few, runs, bar)[Verdict.HELPS] >= POWER else None


def _spends(truth: Truth, tasks: int, runs: int, bar: Bar) -> Mapping[Change, float]:
    if tasks < FEWEST:
        return {Change.UNCLEAR: 1.0}
    sd = math.hypot(HELP, difference_sd(truth.spread, runs))
    drawn = _Drawn(tasks, math.log1p(-truth.saving), sd)
    low, high = drawn.interval(1 - bar.level)
    inner, outer = drawn.interval(1 - 2 * ALPHA)
    reach = math.log1p(bar.margin)
    return _shares(
        [
            (Change.SAME, (-reach < inner) & (outer < reach)),
            (Change.LOWER, (high < 0) & drawn.is_beyond_noise),
            (Change.HIGHER, (low > 0) & drawn.is_beyond_noise),
        ],
        Change.UNCLEAR,
    )


def _shown(truth: Truth, tasks: int, runs: int, bar: Bar) -> Mapping[Quality, float]:
    margin = bar.quality_margin
    if tasks < FEWEST:
        return {Quality.NOT_SHOWN: 1.0}
    if truth.quality_spread is None:
        enough = tasks >= cases_for(0, margin)
        return {Quality.NOT_WORSE if enough else Quality.NOT_SHOWN: 1.0}
    # Means over runs, unlike what is spent.
    sd = math.hypot(QUALITY_HELP, truth.quality_spread * math.sqrt(2 / runs))
    drawn = _Drawn(tasks, 0.0, sd)
    low, high = drawn.interval(1 - ALPHA)
    inner, _ = drawn.interval(1 - 2 * ALPHA)
    return _shares(
        [
            (Quality.WORSE, high < -margin),
            (Quality.BETTER, low > margin),
            (Quality.HIGHER, (low > 0) & drawn.is_beyond_noise),
            (Quality.NOT_WORSE, inner > -margin),
            (Quality.LOWER, (high < 0) & drawn.is_beyond_noise),
        ],
        Quality.NOT_SHOWN,
    )


class _Drawn:
    """The mean differences of sessions, and their standard errors."""

    def __init__(self, tasks: int, mean: float, sd: float) -> None:
        import numpy as np

        rng = np.random.default_rng(tasks)
        self._tasks, flips = tasks, tasks <= _ALL_FLIPS
        if flips:
            values = rng.normal(mean, sd, (_DRAWN, tasks))
            self.means, deviations = values.mean(1), values.std(1, ddof=1)
        else:  # mean and deviation of normal values are independent of each other
            self.means = rng.normal(mean, sd / math.sqrt(tasks), _DRAWN)
            deviations = sd * np.sqrt(rng.chisquare(tasks - 1, _DRAWN) / (tasks - 1))
        self._errors = deviations / math.sqrt(tasks)
        self.is_beyond_noise = _flipped(values) <= ALPHA if flips else np.full(_DRAWN, True)

    def interval(self, confidence: float) -> "tuple[NDArray[float64], NDArray[float64]]":
        """Compute the t interval of each session."""
        half = t_limit((1 + confidence) / 2, self._tasks - 1) * self._errors
        return self.means - half, self.means + half


def _flipped(values: "NDArray[float64]") -> "NDArray[float64]":
    """Compute the p of each row by flipping the signs of its values."""
    import numpy as np

    tasks = values.shape[1]
    signs = 1 - 2 * (np.arange(2**tasks)[:, None] >> np.arange(tasks) & 1)
    sums, own = values @ signs.T, np.abs(values.sum(1))
    return 2 * np.mean(sums >= own[:, None] * (1 - 1e-12), axis=1)


def _shares(
    classes: "Sequence[tuple[Class, NDArray[bool_]]]", otherwise: Class
) -> Mapping[Class, float]:
    """Return the share of sessions in each class, the first that fits."""
    import numpy as np

    names = [name for name, _ in classes]
    numbers = np.select([fits for _, fits in classes], range(len(names)), len(names))
    counts = np.bincount(numbers, minlength=len(names) + 1) / len(numbers)
    return dict(zip([*names, otherwise], counts.tolist(), strict=True))
