"""Sessions that are looked at after each block, many at once: what their verdicts are at each look.

The formulas are those of the package; the rule is applied to arrays, and held against the package's
own on some of the sessions.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.looks import compute_half_width
from swarm_bench.analysis.statistics.verdict_rule import FEWEST, count_cases

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
MARGIN = 0.1
BLOCK = 6
MOST = 198
"""Tasks of a session that never ends before."""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What many sessions show of one metric at a look."""

    tasks: int
    mean: Floats
    deviation: Floats
    worth: float
    losses: NDArray[np.int64]
    differing: NDArray[np.int64]

    def interval(self, alpha: float = ALPHA) -> tuple[Floats, Floats]:
        """Return the bounds of each session."""
        width = compute_half_width(1.0, self.worth, alpha)
        half = width * self.deviation if math.isfinite(width) else np.full_like(self.mean, width)
        return self.mean - half, self.mean + half

    @property
    def enough(self) -> bool:
        return self.worth >= FEWEST

    def beyond(self, size: float = 0.0) -> tuple[Flags, Flags]:
        """Tell which are below minus this size, and which above it."""
        low, high = self.interval()
        return self.enough & (high < -size), self.enough & (low > size)

    def differs(self) -> Flags:
        """Tell which claim any difference."""
        below, above = self.beyond()
        return below | above

    def same(self) -> Flags:
        """Tell which claim a ratio that is the same."""
        low, high = self.interval(2 * ALPHA)
        reach = math.log1p(MARGIN)
        return self.enough & (-reach < low) & (high < reach)

    def not_worse(self) -> Flags:
        """Tell which claim a quality that is not worse, or higher."""
        low, _ = self.interval(2 * ALPHA)
        needed = [count_cases(losses, MARGIN, at_every_look=True) for losses in range(2 * FEWEST)]
        few = (self.losses < FEWEST) | (self.differing < 2 * FEWEST)
        few &= self.worth < np.array(needed)[self.losses.clip(max=len(needed) - 1)]
        return self.enough & (((low > -MARGIN) & ~few) | self.beyond()[1])


def looks(values: Floats, groups: NDArray[np.int64] | None = None) -> Iterator[Seen]:
    """Look at sessions, a row each, after every block of their tasks; `groups` are those of the
    tasks, in the order that was drawn."""
    for tasks in range(BLOCK, values.shape[1] + 1, BLOCK):
        there = values[:, :tasks]
        if groups is None:
            units, counts = there, np.ones(tasks)
        else:
            _, at, sizes = np.unique(groups[:tasks], return_inverse=True, return_counts=True)
            counts = sizes.astype(float)
            members = np.zeros((len(counts), tasks))
            members[at, np.arange(tasks)] = 1
            units = there @ (members / counts[:, None]).T
        yield _seen(tasks, units, counts)


def _seen(tasks: int, units: Floats, weights: Floats) -> Seen:
    number, whole = len(weights), weights.sum()
    worth = float(whole**2 / (weights**2).sum())
    mean = units @ weights / whole
    if number > 1:
        moves = weights * (mean[:, None] - units) / (whole - weights)
        error = np.sqrt((number - 1) / number * (moves**2).sum(axis=1))
    else:
        error = np.zeros(len(units))
    return Seen(
        tasks=tasks,
        mean=mean,
        deviation=error * math.sqrt(max(worth - 1, 0.0)),
        worth=worth,
        losses=(units < 0).sum(axis=1),
        differing=(units != 0).sum(axis=1),
    )


def ever(claims: Iterator[Flags]) -> float:
    """Compute in which share of the sessions something is claimed at any look."""
    claimed: Flags | None = None
    for claim in claims:
        claimed = claim if claimed is None else claimed | claim
    assert claimed is not None
    return float(claimed.mean())


def normal(shape: tuple[int, int], ratio: float, noise: float, rng: np.random.Generator) -> Floats:
    """Draw differences of logarithms; with a ratio other than 1 help differs between tasks."""
    helps = rng.normal(math.log(ratio), 0.2 if ratio != 1 else 0.0, shape)
    return helps + noise * (rng.normal(size=shape) - rng.normal(size=shape))


def heavy(shape: tuple[int, int], noise: float, rng: np.random.Generator) -> Floats:
    """Draw differences of runs whose logarithms have the tails of t with three degrees."""
    runs = [rng.standard_t(3, shape) / math.sqrt(3) for _ in range(2)]
    return noise * (runs[0] - runs[1])
