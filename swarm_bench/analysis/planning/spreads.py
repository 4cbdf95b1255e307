"""By how much runs differ: as an earlier session shows it, or as it is assumed."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from swarm_bench.analysis.comparison.pairs import group_metric, pair_metric
from swarm_bench.analysis.planning.chances import HELP, QUALITY_HELP
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.formulas import compute_pooled_sd
from swarm_bench.analysis.statistics.rule import FEWEST
from swarm_bench.core.metric import Metric, Metrics
from swarm_bench.core.session.records import SessionData


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """A session of the same agent and model."""

    folder: str
    data: SessionData


@dataclass(frozen=True, kw_only=True)
class QualitySpread:
    """By how much answers differ."""

    spread: float
    """Standard deviation of the runs of a task."""
    differing: float
    """Share of the tasks in which two modes differ at all."""


COST_SPREADS = (0.3, 0.45)
"""Standard deviations of logarithms that are assumed: of quiet runs, and of noisy ones."""
_RATE = 0.8
QUALITY_SPREAD = math.sqrt(_RATE * (1 - _RATE) / 2)
"""What is assumed: two key files, each found in four of five runs."""
EQUAL = QualitySpread(spread=0.0, differing=0.0)


@dataclass(frozen=True, kw_only=True)
class Spreads:
    """What is known of the noise of a session."""

    cost: float | None = None
    """Of logarithms; `None` where no session shows it."""
    quality: QualitySpread | None = None


def assume_quality(runs: int) -> QualitySpread:
    """Return by how much answers differ where no session shows it."""
    from scipy.stats import binom  # takes a while

    files = 2 * runs
    equal = sum(float(chance) ** 2 for chance in binom.pmf(range(files + 1), files, _RATE))
    return QualitySpread(spread=QUALITY_SPREAD, differing=1 - equal)


def read_spreads(earlier: Earlier | None, metrics: Metrics, primary: str, quality: str) -> Spreads:
    """Return what an earlier session shows."""
    if earlier is None:
        return Spreads()
    selection = Selection(earlier.data, metrics)
    cost_spread = _compute_spread(selection, metrics[primary], HELP) if primary in metrics else None
    quality_spread = _read_quality(selection, metrics[quality]) if quality in metrics else None
    return Spreads(cost=cost_spread, quality=quality_spread)


def _read_quality(selection: Selection, metric: Metric) -> QualitySpread | None:
    spread = _compute_spread(selection, metric, QUALITY_HELP)
    if spread is None:
        return None
    effects = [*_list_effects(selection, metric)]
    tasks = sum(effect.units for effect in effects)
    differing = sum(sum(effect.differing) for effect in effects)
    return QualitySpread(spread=spread, differing=differing / tasks if tasks else 1.0)


def _compute_spread(selection: Selection, metric: Metric, helps: float) -> float | None:
    """Compute the standard deviation of the runs of a task. Where none is repeated, or all are
    equal, differences between modes tell it: they are two runs, and what a tool does for the
    task."""
    cells = [
        [math.log(value) if metric.relative else value for value in values]
        for mode in selection.modes
        for values in group_metric(selection, mode, metric).values()
        if not metric.relative or min(values) > 0
    ]
    spread, _ = compute_pooled_sd(cells)
    if spread:
        return spread
    squares = [
        effect.standard_error**2 * effect.independent_cases
        for effect in _list_effects(selection, metric)
        if effect.standard_error is not None and effect.independent_cases >= FEWEST
    ]
    if not squares:
        return spread
    return math.sqrt(max(0.0, sum(squares) / len(squares) - helps**2) / 2)


def _list_effects(selection: Selection, metric: Metric) -> Iterator[Effect]:
    for mode in selection.modes[1:]:
        if effect := pair_metric(selection, mode, metric).effect:
            yield effect
