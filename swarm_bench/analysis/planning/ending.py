"""When a session that ends with its verdict would end: sessions are drawn, and looked at after each
block."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarm_bench.analysis.planning.chances import (
    HELP,
    QUALITY_HELP,
    Bar,
    Truth,
    are_too_few,
    classify_changes,
    classify_qualities,
)
from swarm_bench.analysis.statistics.formulas import compute_difference_sd
from swarm_bench.analysis.statistics.looks import compute_half_width
from swarm_bench.analysis.statistics.rule import (
    FEWEST,
    OPEN,
    Change,
    Quality,
    Verdict,
    find_verdict,
)

if TYPE_CHECKING:
    from numpy import bool_, float64
    from numpy.typing import NDArray

_SESSIONS = 2_000
_NAMES = list(Verdict)
_TABLE = [[_NAMES.index(find_verdict(cost, quality)) for cost in Change] for quality in Quality]
"""The rule, by number."""


@dataclass(frozen=True, kw_only=True)
class Ending:
    """When it ends, in shares of its tasks, and with what."""

    verdicts: Mapping[Verdict, float]
    """The chance of each, when it ends or when all tasks are used up."""
    median: float
    long_end: float
    """Of nine in ten sessions."""

    @property
    def clear(self) -> float:
        """The chance that it ends with a verdict that stands."""
        return sum(chance for name, chance in self.verdicts.items() if name not in OPEN)


def compute_endings(
    truth: Truth, independent: float, look_shares: Sequence[float], bar: Bar
) -> Ending:
    """Draw sessions of so many independent tasks, looked at when there are these shares of them."""
    import numpy as np

    tasks = int(independent)
    rng = np.random.default_rng(tasks)
    sd = math.hypot(HELP, compute_difference_sd(truth.spread, 1))
    cost_sums = _add_up(rng.normal(math.log1p(-truth.saving), sd, (_SESSIONS, tasks)))
    differences = rng.normal(0.0, 1.0, (_SESSIONS, tasks)) * _compute_spread(truth)
    recall = _add_up(differences * (rng.random((_SESSIONS, tasks)) < truth.differing))
    end_shares, verdict_numbers = (
        np.ones(_SESSIONS),
        np.full(_SESSIONS, _NAMES.index(Verdict.INCONCLUSIVE)),
    )
    runs_on = np.full(_SESSIONS, True)
    for share in look_shares:
        cases = int(share * tasks + 1e-9)
        if cases < FEWEST:
            continue
        cost = classify_changes(
            _LookedSessions(cases, *(sums[:, cases - 1] for sums in cost_sums)), bar
        )
        quality = classify_qualities(
            _LookedSessions(cases, *(sums[:, cases - 1] for sums in recall)), bar
        )
        now = np.array(_TABLE)[quality, cost]
        verdict_numbers = np.where(runs_on, now, verdict_numbers)
        stops = runs_on & ~np.isin(now, [_NAMES.index(name) for name in OPEN])
        end_shares[stops] = share
        runs_on &= ~stops
    counts = np.bincount(verdict_numbers, minlength=len(_NAMES)) / _SESSIONS
    median, long_end = np.quantile(end_shares, [0.5, 0.9], method="higher")
    return Ending(
        verdicts=dict(zip(_NAMES, counts.tolist(), strict=True)),
        median=float(median),
        long_end=float(long_end),
    )


def _compute_spread(truth: Truth) -> float:
    """Return the standard deviation of the differences in what is found, where there are any."""
    if not truth.differing:
        return 0.0
    return math.hypot(QUALITY_HELP, truth.quality_spread * math.sqrt(2)) / math.sqrt(
        truth.differing
    )


def _add_up(
    values: "NDArray[float64]",
) -> "tuple[NDArray[float64], NDArray[float64], NDArray[float64], NDArray[float64]]":
    """Add up task by task the values, their squares, losses, and what differs at all."""
    return (
        values.cumsum(1),
        (values**2).cumsum(1),
        (values < 0).cumsum(1, dtype=float),
        (values != 0).cumsum(1, dtype=float),
    )


class _LookedSessions:
    """What sessions show of one metric at a look."""

    def __init__(
        self,
        cases: int,
        total: "NDArray[float64]",
        squares: "NDArray[float64]",
        losses: "NDArray[float64]",
        differing: "NDArray[float64]",
    ) -> None:
        import numpy as np

        self._cases = cases
        self._losses, self._differing = losses.astype(int), differing.astype(int)
        self.means = total / cases
        self._deviations = np.sqrt(np.maximum(squares / cases - self.means**2, 0.0))
        self.is_beyond_noise = np.full(len(total), True)  # as the interval says

    def interval(self, confidence: float) -> "tuple[NDArray[float64], NDArray[float64]]":
        """Compute the interval of each session that holds at every look."""
        import numpy as np

        width = compute_half_width(1.0, self._cases, 1 - confidence)
        deviation = (
            width * self._deviations if math.isfinite(width) else np.full_like(self.means, width)
        )
        return self.means - deviation, self.means + deviation

    def few_differ(self, margin: float) -> "NDArray[bool_]":
        """Tell of each session whether too few tasks differ in it, as the rule does."""
        return are_too_few(self._cases, self._losses, self._differing, margin, at_every_look=True)
