"""How often each verdict would be reached, if a mode saved so much: sessions are drawn, and the
rule is applied to each."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Protocol, TypeVar

from swarm_bench.analysis.statistics.formulas import ALPHA, POWER, difference_sd, t_limit
from swarm_bench.analysis.statistics.looks import half_width
from swarm_bench.analysis.statistics.rule import (
    FEWEST,
    Change,
    Quality,
    Verdict,
    cases_for,
    verdict,
)

if TYPE_CHECKING:
    from numpy import bool_, float64, int64, integer
    from numpy.typing import NDArray

Class = TypeVar("Class", Change, Quality)

_DRAWN = 4_000
"""Sessions. Their values are spread evenly, so shares of them are within a point of the truth."""
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
    quality_spread: float = 0.0
    """The same of the quality of the runs."""
    differing: float = 0.0
    """Share of the tasks in which what the two find differs at all."""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """What the verdict asks for."""

    margin: float
    quality_margin: float
    level: float = ALPHA
    """Of the hypothesis among those of all modes."""
    at_every_look: bool = False
    """Whether the session is to end when its verdict stands. The chances are those at its last
    look."""


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
    drawn = _Drawn(tasks, math.log1p(-truth.saving), sd, at_every_look=bar.at_every_look)
    return _shares(Change, changes(drawn, bar))


def _shown(truth: Truth, tasks: int, runs: int, bar: Bar) -> Mapping[Quality, float]:
    if tasks < FEWEST:
        return {Quality.NOT_SHOWN: 1.0}
    # Means over runs, unlike what is spent.
    sd = math.hypot(QUALITY_HELP, truth.quality_spread * math.sqrt(2 / runs))
    sd = sd if truth.differing else 0.0
    drawn = _Drawn(tasks, 0.0, sd, truth.differing, at_every_look=bar.at_every_look)
    return _shares(Quality, qualities(drawn, bar))


class Sessions(Protocol):
    """What many sessions show of a metric."""

    @property
    def is_beyond_noise(self) -> "NDArray[bool_]":
        """Whether each differs by a test that is no interval."""

    def interval(self, confidence: float) -> "tuple[NDArray[float64], NDArray[float64]]":
        """Compute the interval of each."""

    def few_differ(self, margin: float) -> "NDArray[bool_]":
        """Tell of each whether too few tasks differ in it, as the rule does."""


def changes(drawn: Sessions, bar: Bar) -> "NDArray[int64]":
    """Tell the change that each shows of what is spent, by its number."""
    low, high = drawn.interval(1 - bar.level)
    inner, outer = drawn.interval(1 - 2 * ALPHA)
    reach = math.log1p(bar.margin)
    return _numbered(
        [
            (Change.SAME, (-reach < inner) & (outer < reach)),
            (Change.LOWER, (high < 0) & drawn.is_beyond_noise),
            (Change.HIGHER, (low > 0) & drawn.is_beyond_noise),
        ],
        Change.UNCLEAR,
    )


def qualities(drawn: Sessions, bar: Bar) -> "NDArray[int64]":
    """Tell what each shows of the quality, by its number."""
    margin = bar.quality_margin
    low, high = drawn.interval(1 - ALPHA)
    not_worse = drawn.interval(1 - 2 * ALPHA)[0] > -margin
    return _numbered(
        [
            (Quality.WORSE, high < -margin),
            (Quality.BETTER, low > margin),
            (Quality.HIGHER, (low > 0) & drawn.is_beyond_noise),
            (Quality.NOT_WORSE, not_worse & ~drawn.few_differ(margin)),
            (Quality.LOWER, (high < 0) & drawn.is_beyond_noise & ~not_worse),
        ],
        Quality.NOT_SHOWN,
    )


class _Drawn:
    """The mean differences of sessions, and their standard errors."""

    def __init__(
        self, tasks: int, mean: float, sd: float, differing: float = 1.0, *, at_every_look: bool
    ) -> None:
        import numpy as np
        from scipy import special

        self._rng = np.random.default_rng(tasks)
        self._tasks, self._differing, self._at_every_look = tasks, differing, at_every_look
        flips = tasks <= _ALL_FLIPS and not at_every_look
        if flips:
            values = self._rng.normal(mean, sd, (_DRAWN, tasks))
            self.means, deviations = values.mean(1), values.std(1, ddof=1)
        else:  # mean and deviation of normal values are independent of each other
            normal = special.ndtri((np.arange(_DRAWN) + 0.5) / _DRAWN)
            self.means = mean + sd / math.sqrt(tasks) * normal
            # The cube root of a chi-square: Wilson and Hilferty (1931).
            narrow = 2 / 9 / (tasks - 1)
            roots = 1 - narrow + math.sqrt(narrow) * self._rng.permutation(normal)
            deviations = sd * roots**1.5
        self._errors = deviations / math.sqrt(tasks)
        self.is_beyond_noise = _flipped(values) <= ALPHA if flips else np.full(_DRAWN, True)

    def interval(self, confidence: float) -> "tuple[NDArray[float64], NDArray[float64]]":
        """Compute the t interval of each session, or the one that holds at every look."""
        if self._at_every_look:
            wide = half_width(math.sqrt(self._tasks - 1), self._tasks, 1 - confidence)
        else:
            wide = t_limit((1 + confidence) / 2, self._tasks - 1)
        half = wide * self._errors if math.isfinite(wide) else math.inf
        return self.means - half, self.means + half

    def few_differ(self, margin: float) -> "NDArray[bool_]":
        """Tell of each session whether too few tasks differ in it, as the rule does."""
        differing = self._rng.binomial(self._tasks, self._differing, _DRAWN)
        losses = self._rng.binomial(differing, 0.5)
        return too_few(self._tasks, losses, differing, margin, at_every_look=self._at_every_look)


def too_few(
    tasks: int,
    losses: "NDArray[integer]",
    differing: "NDArray[integer]",
    margin: float,
    *,
    at_every_look: bool,
) -> "NDArray[bool_]":
    """Tell of each session what `few_differ` of the rule tells of one."""
    import numpy as np

    needed = [cases_for(it, margin, at_every_look=at_every_look) for it in range(2 * FEWEST)]
    few: NDArray[bool_] = differing < FEWEST
    if at_every_look:
        few = (losses < FEWEST) | (differing < 2 * FEWEST)
    few &= tasks < np.array(needed)[np.minimum(losses, len(needed) - 1)]
    return few


def _flipped(values: "NDArray[float64]") -> "NDArray[float64]":
    """Compute the p of each row by flipping the signs of its values."""
    import numpy as np

    tasks = values.shape[1]
    signs = 1 - 2 * (np.arange(2**tasks)[:, None] >> np.arange(tasks) & 1)
    sums, own = values @ signs.T, np.abs(values.sum(1))
    p: NDArray[float64] = 2 * np.mean(sums >= own[:, None] * (1 - 1e-12), axis=1)
    return p


def _numbered(
    classes: "Sequence[tuple[Class, NDArray[bool_]]]", otherwise: Class
) -> "NDArray[int64]":
    """Return the number of the class of each session, the first that fits."""
    import numpy as np

    places = {name: number for number, name in enumerate(type(otherwise))}
    numbers: NDArray[int64] = np.select(
        [fits for _, fits in classes], [places[name] for name, _ in classes], places[otherwise]
    )
    return numbers


def _shares(classes: type[Class], numbers: "NDArray[int64]") -> Mapping[Class, float]:
    """Return the share of sessions in each class."""
    import numpy as np

    shares = np.bincount(numbers, minlength=len(classes)) / len(numbers)
    return dict(zip(classes, shares.tolist(), strict=True))
