"""Outcomes that changed while the session ran, whatever the mode."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from swarm_bench.analysis.adherence.treated import Treated
from swarm_bench.analysis.comparison.verdicts import hypotheses
from swarm_bench.analysis.once import once
from swarm_bench.analysis.readings import AGENT, RUN, STARTED, TASK, column, results_of
from swarm_bench.analysis.selection import Selection, grouped
from swarm_bench.analysis.slices import Block
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
    compared: str
    """What was held against what, as a clause."""
    middles: dict[str, float]
    """By mode, when its trials started on the average, as a share of that time."""


class _Started(NamedTuple):
    """A trial with the figure."""

    mode: str
    task: str
    block: Block
    at: float
    """When it started, from 0 (the first) to 1 (the last)."""
    value: float
    """The logarithm."""


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
            f"{change[0].upper()}{change[1:]}, {drift.compared} (95 % interval "
            f"{bounds[0] * 100:.0f} to {bounds[1] * 100:.0f} %): the provider, the "
            "machine or the agents changed meanwhile."
        )


@once
def drift_of(selection: Selection) -> Drift | None:
    """Look for a drift of the primary metric; `None` where there is none beyond noise, and where
    nothing can tell: fixed rules, no times, or neither tasks nor turns that repeat."""
    experiment = selection.data.experiment
    if experiment is None or not hypotheses(selection):
        return None
    metric = selection.metrics[experiment.primary]
    if not metric.relative or (metric.spent and selection.fixed_rules):
        return None
    trials = _started(selection, metric)
    compared = "each mode and task compared with itself"
    fitted = trend(Point((trial.mode, trial.task), trial.at, trial.value) for trial in trials)
    if fitted is None:
        compared, fitted = "by the turns that the modes took", _between_turns(trials)
    if fitted is None or not fitted.beyond_noise or abs(fitted.slope) < _SMALLEST:
        return None
    of_mode = grouped(trials, lambda trial: trial.mode)
    middles = {mode: fmean(trial.at for trial in own) for mode, own in of_mode.items()}
    return Drift(metric=metric, trend=fitted, compared=compared, middles=middles)


def _between_turns(trials: Sequence[_Started]) -> Trend | None:
    """Fit it where every mode was asked a task once: what modes differ by in a task changes with
    the order of their turns, which is not the same in all blocks. What they differ by on the
    average is theirs."""
    of_mode = grouped(trials, lambda trial: trial.mode)
    of_task = grouped(trials, lambda trial: trial.task)
    whole = [trial for trial in trials if len(of_task[trial.task]) == len(of_mode)]
    turns = grouped(whole, lambda trial: (trial.mode, trial.block))
    at = {turn: fmean(trial.at for trial in own) for turn, own in turns.items()}
    points: list[Point] = []
    for own in grouped(whole, lambda trial: trial.mode).values():
        middle = fmean(at[trial.mode, trial.block] for trial in own)
        level = fmean(trial.value for trial in own)
        points += [
            Point(trial.task, at[trial.mode, trial.block] - middle, trial.value - level)
            for trial in own
        ]
    return trend(points, levels=len(of_mode) - 1)


def _started(selection: Selection, metric: Metric) -> list[_Started]:
    reads = TASK, RUN, AGENT, STARTED, metric.read
    blocks = selection.block_of_agent
    trials: list[_Started] = []
    for mode in selection.modes:
        columns = [column(selection, mode, read) for read in reads]
        for row in results_of(selection, mode):
            task, run, agent, started, value = (values[row] for values in columns)
            if started and value is not None and value > 0:
                block = run, blocks.get(agent, 0)
                at = started.timestamp()
                trials.append(_Started(mode, task, block, at, math.log(value)))
    first = min((trial.at for trial in trials), default=0.0)
    span = max((trial.at for trial in trials), default=0.0) - first
    return [trial._replace(at=(trial.at - first) / (span or 1)) for trial in trials]


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
