"""How often each verdict would be reached, if a mode saved so much: sessions are drawn, and the
rule is applied to each."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Protocol, TypeVar

from swarm_bench.analysis.statistics.formulas import (
    ALPHA,
    POWER,
    compute_difference_sd,
    compute_t_limit,
    find_fewest,
)
from swarm_bench.analysis.statistics.looks import compute_half_width
from swarm_bench.analysis.statistics.verdict_rule import (
    FEWEST,
    Change,
    Quality,
    Verdict,
    count_cases,
    find_verdict,
)

if TYPE_CHECKING:
    from numpy import bool_, float64, int64, integer
    from numpy.typing import NDArray

Class = TypeVar("Class", Change, Quality)

_SESSIONS = 4_000
"""Sessions. Their values are spread evenly, so shares of them are within a point of the truth."""
_ALL_FLIPS = 10
"""Tasks whose signs are all flipped; of more, that test says what the t test says."""
HELP, QUALITY_HELP = 0.2, 0.1
"""Assumed standard deviations of what a tool does for single tasks: of logarithms, and of a
share."""
_MAX_TASKS = 1000


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What is assumed of a mode beside its reference."""

    saving: float
    """Share of what is spent."""
    spread: float
    """Standard deviation of the logarithms of the runs of a task."""
    quality_spread: float = 0.0
    """Standard deviation of the quality of the runs of a task."""
    differing: float = 0.0
    """Share of the tasks in which what the two find differs at all."""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """What the verdict asks for."""

    margin: float
    quality_margin: float
    level: float = ALPHA
    """Significance level of the hypothesis, among those of all modes."""
    at_every_look: bool = False
    """Whether the session is to end when its verdict stands. The chances are those at its last
    look."""


def compute_chances(truth: Truth, tasks: int, runs: int, bar: Bar) -> dict[Verdict, float]:
    """Compute the chance of each verdict with so many independent tasks."""
    cost_chances = _compute_cost_chances(truth, tasks, runs, bar)
    quality_chances = _compute_quality_chances(truth, tasks, runs, bar)
    chance = dict.fromkeys(Verdict, 0.0)
    for cost, quality in product(cost_chances, quality_chances):
        chance[find_verdict(cost, quality)] += cost_chances[cost] * quality_chances[quality]
    return chance


def count_tasks(truth: Truth, runs: int, bar: Bar) -> int | None:
    """Count the fewest independent tasks with which `helps` is as likely as we ask for; `None` for
    more than 1,000."""
    return find_fewest(
        lambda tasks: compute_chances(truth, tasks, runs, bar)[Verdict.HELPS] >= POWER,
        FEWEST,
        _MAX_TASKS,
    )


def _compute_cost_chances(truth: Truth, tasks: int, runs: int, bar: Bar) -> Mapping[Change, float]:
    if tasks < FEWEST:
        return {Change.UNCLEAR: 1.0}
    sd = math.hypot(HELP, compute_difference_sd(truth.spread, runs))
    sessions = _DrawnSessions(tasks, math.log1p(-truth.saving), sd, at_every_look=bar.at_every_look)
    return _compute_shares(Change, classify_changes(sessions, bar))


def _compute_quality_chances(
    truth: Truth, tasks: int, runs: int, bar: Bar
) -> Mapping[Quality, float]:
    if tasks < FEWEST:
        return {Quality.NOT_SHOWN: 1.0}
    # Means over runs, unlike what is spent.
    sd = math.hypot(QUALITY_HELP, truth.quality_spread * math.sqrt(2 / runs))
    sd = sd if truth.differing else 0.0
    sessions = _DrawnSessions(tasks, 0.0, sd, truth.differing, at_every_look=bar.at_every_look)
    return _compute_shares(Quality, classify_qualities(sessions, bar))


class Sessions(Protocol):
    """What many sessions show of a metric."""

    @property
    def is_beyond_noise(self) -> "NDArray[bool_]":
        """Whether each differs by a test that is no interval."""

    def interval(self, confidence: float) -> "tuple[NDArray[float64], NDArray[float64]]":
        """Compute the interval of each."""

    def few_differ(self, margin: float) -> "NDArray[bool_]":
        """Tell of each whether too few tasks differ in it, as the rule does."""


def classify_changes(sessions: Sessions, bar: Bar) -> "NDArray[int64]":
    """Tell the change that each shows of what is spent, by its number."""
    low, high = sessions.interval(1 - bar.level)
    inner, outer = sessions.interval(1 - 2 * ALPHA)
    limit = math.log1p(bar.margin)
    return _number_classes(
        [
            (Change.SAME, (-limit < inner) & (outer < limit)),
            (Change.LOWER, (high < 0) & sessions.is_beyond_noise),
            (Change.HIGHER, (low > 0) & sessions.is_beyond_noise),
        ],
        Change.UNCLEAR,
    )


def classify_qualities(sessions: Sessions, bar: Bar) -> "NDArray[int64]":
    """Tell what each shows of the quality, by its number."""
    margin = bar.quality_margin
    low, high = sessions.interval(1 - ALPHA)
    not_worse = sessions.interval(1 - 2 * ALPHA)[0] > -margin
    return _number_classes(
        [
            (Quality.WORSE, high < -margin),
            (Quality.BETTER, low > margin),
            (Quality.HIGHER, (low > 0) & sessions.is_beyond_noise),
            (Quality.NOT_WORSE, not_worse & ~sessions.few_differ(margin)),
            (Quality.LOWER, (high < 0) & sessions.is_beyond_noise & ~not_worse),
        ],
        Quality.NOT_SHOWN,
    )


class _DrawnSessions:
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
            values = self._rng.normal(mean, sd, (_SESSIONS, tasks))
            self.means, deviations = values.mean(1), values.std(1, ddof=1)
        else:  # mean and deviation of normal values are independent of each other
            normal = special.ndtri((np.arange(_SESSIONS) + 0.5) / _SESSIONS)
            self.means = mean + sd / math.sqrt(tasks) * normal
            # The cube root of a chi-square: Wilson and Hilferty (1931).
            narrow = 2 / 9 / (tasks - 1)
            roots = 1 - narrow + math.sqrt(narrow) * self._rng.permutation(normal)
            deviations = sd * roots**1.5
        self._errors = deviations / math.sqrt(tasks)
        self.is_beyond_noise = _flip_signs(values) <= ALPHA if flips else np.full(_SESSIONS, True)

    def interval(self, confidence: float) -> "tuple[NDArray[float64], NDArray[float64]]":
        """Compute the t interval of each session, or the one that holds at every look."""
        if self._at_every_look:
            wide = compute_half_width(math.sqrt(self._tasks - 1), self._tasks, 1 - confidence)
        else:
            wide = compute_t_limit((1 + confidence) / 2, self._tasks - 1)
        width = wide * self._errors if math.isfinite(wide) else math.inf
        return self.means - width, self.means + width

    def few_differ(self, margin: float) -> "NDArray[bool_]":
        """Tell of each session whether too few tasks differ in it, as the rule does."""
        differing = self._rng.binomial(self._tasks, self._differing, _SESSIONS)
        losses = self._rng.binomial(differing, 0.5)
        return are_too_few(
            self._tasks, losses, differing, margin, at_every_look=self._at_every_look
        )


def are_too_few(
    tasks: int,
    losses: "NDArray[integer]",
    differing: "NDArray[integer]",
    margin: float,
    *,
    at_every_look: bool,
) -> "NDArray[bool_]":
    """Tell of each session what `is_too_few` of the rule tells of one."""
    import numpy as np

    needed = [
        count_cases(loss_count, margin, at_every_look=at_every_look)
        for loss_count in range(2 * FEWEST)
    ]
    few: NDArray[bool_] = differing < FEWEST
    if at_every_look:
        few = (losses < FEWEST) | (differing < 2 * FEWEST)
    few &= tasks < np.array(needed)[np.minimum(losses, len(needed) - 1)]
    return few


def _flip_signs(values: "NDArray[float64]") -> "NDArray[float64]":
    """Compute the p of each row by flipping the signs of its values."""
    import numpy as np

    tasks = values.shape[1]
    signs = 1 - 2 * (np.arange(2**tasks)[:, None] >> np.arange(tasks) & 1)
    sums, row_sums = values @ signs.T, np.abs(values.sum(1))
    p: NDArray[float64] = 2 * np.mean(sums >= row_sums[:, None] * (1 - 1e-12), axis=1)
    return p


def _number_classes(
    classes: "Sequence[tuple[Class, NDArray[bool_]]]", otherwise: Class
) -> "NDArray[int64]":
    """Return the number of the class of each session, the first that fits."""
    import numpy as np

    positions = {name: number for number, name in enumerate(type(otherwise))}
    numbers: NDArray[int64] = np.select(
        [fits for _, fits in classes],
        [positions[name] for name, _ in classes],
        positions[otherwise],
    )
    return numbers


def _compute_shares(classes: type[Class], numbers: "NDArray[int64]") -> Mapping[Class, float]:
    """Return the share of sessions in each class."""
    import numpy as np

    shares = np.bincount(numbers, minlength=len(classes)) / len(numbers)
    return dict(zip(classes, shares.tolist(), strict=True))
