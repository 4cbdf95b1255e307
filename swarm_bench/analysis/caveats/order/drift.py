"""Outcomes that changed while the session ran, whatever the mode."""

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from statistics import fmean

from swarm_bench.analysis.adherence.treated import Treated
from swarm_bench.analysis.comparison.verdicts import hypotheses
from swarm_bench.analysis.selection import Selection, once
from swarm_bench.analysis.statistics.trend import Point, Trend, trend
from swarm_bench.analysis.wording import lowered
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.standing import Caveat

_SMALLEST = 0.01
"""What rounds to less is not worth a word."""
_TURNS = 0.25
"""Shares of the session by which the trials of two modes that took turns may lie apart."""


@dataclass(frozen=True, kw_only=True)
class Drift:
    """How the primary metric changed from the first start of an agent to the last."""

    metric: Metric
    trend: Trend
    """Of logarithms."""
    middles: dict[str, float]
    """By mode, when its trials started on the average, as a share of that time."""


def drifted(treated: Treated) -> Iterator[Caveat]:
    """Say how much of a drift falls on the comparison of a mode with the reference."""
    selection, mode = treated.selection, treated.mode
    drift = drift_of(selection)
    if drift and mode in hypotheses(selection) and mode in drift.middles:
        yield Caveat(qualification=f"{_change(drift)}; {_shared(selection, mode, drift)}")


def about_drift(selection: Selection) -> Iterator[str]:
    """Yield a warning where outcomes drifted by more than noise."""
    if drift := drift_of(selection):
        bounds = sorted(abs(math.expm1(bound)) for bound in drift.trend.interval)
        change = _change(drift)
        yield (
            f"{change[0].upper()}{change[1:]}, each mode and task compared with itself (95 % "
            f"interval {bounds[0] * 100:.0f} to {bounds[1] * 100:.0f} %): the provider, the "
            "machine or the agents changed meanwhile."
        )


@once
def drift_of(selection: Selection) -> Drift | None:
    """Look for a drift of the primary metric; `None` where there is none beyond noise, and where
    nothing can tell: fixed rules, no times, or no task that a mode was asked twice."""
    experiment = selection.data.experiment
    if experiment is None or not hypotheses(selection):
        return None
    metric = selection.metrics[experiment.primary]
    if not metric.relative or (metric.spent and selection.fixed_rules):
        return None
    points = _points(selection, metric)
    fitted = trend(chain.from_iterable(points.values()))
    if fitted is None or not fitted.beyond_noise or abs(fitted.slope) < _SMALLEST:
        return None
    middles = {mode: fmean(point.at for point in of_mode) for mode, of_mode in points.items()}
    return Drift(metric=metric, trend=fitted, middles=middles)


def _points(selection: Selection, metric: Metric) -> dict[str, list[Point]]:
    """Return the trials by mode. Where one stands is when it started, from 0 (the first) to 1 (the
    last)."""
    read = metric.read
    assert read
    trials = [
        (trial.started_at.timestamp(), trial, value)
        for mode in selection.modes
        for trial in selection.arm(mode).compared
        if trial.started_at and (value := read(trial)) is not None and value > 0
    ]
    first = min((at for at, _, _ in trials), default=0.0)
    span = max((at for at, _, _ in trials), default=0.0) - first
    points: dict[str, list[Point]] = defaultdict(list)
    for at, trial, value in trials:
        cell = (trial.mode, trial.task_key)
        points[trial.mode].append(Point(cell, (at - first) / (span or 1), math.log(value)))
    return dict(points)


def _change(drift: Drift) -> str:
    change = math.expm1(drift.trend.slope)
    verb = "rose" if change > 0 else "fell"
    return f"{lowered(drift.metric.title)} {verb} by {abs(change) * 100:.0f} % over the session"


def _shared(selection: Selection, mode: str, drift: Drift) -> str:
    """Say whether the modes took turns, so that the drift falls on both alike."""
    reference = selection.modes[0]
    later = drift.middles[mode] - drift.middles.get(reference, drift.middles[mode])
    own = math.expm1(drift.trend.slope * later)
    if abs(own) < _SMALLEST and abs(later) < _TURNS:
        return f"it took turns with {reference}, so that falls on both alike"
    when = "later" if later > 0 else "earlier"
    size = f"{abs(own) * 100:.0f} % {'more' if own > 0 else 'less'}"
    return f"its agents started {when} than those of {reference}, which by itself makes {size}"
