"""What is compared for a verdict: the primary metric and the quality of a mode, task by task."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from swarm_bench.analysis.comparison.correctness import judged
from swarm_bench.analysis.comparison.quality import judged_by
from swarm_bench.analysis.frame import frame
from swarm_bench.analysis.selection import Selection, once
from swarm_bench.analysis.statistics.effects import Effect, holm_levels
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.pairing import Pairs, paired
from swarm_bench.analysis.statistics.rule import (
    Quality,
    Verdict,
    cost_shown,
    quality_shown,
    verdict,
    verdict_on_quality,
)
from swarm_bench.core.metric import Metric
from swarm_bench.core.session.records import TrialRecord

_SUCCESS = "success_rate"
"""The quality, where there are no keys."""


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One metric of a mode and of the reference, task by task."""

    metric: Metric
    pairs: Pairs

    @property
    def effect(self) -> Effect | None:
        """What the pairs say; `None` where too few tasks are paired."""
        return Effect(differences=tuple(self.pairs.differences)) if self.pairs.suffice else None


@dataclass(frozen=True, kw_only=True)
class Conclusion:
    """The verdict on one mode, and what it comes from."""

    verdict: Verdict
    cost: Compared | None
    """`None` where fixed rules decided what was spent."""
    level: float
    """Of its hypothesis, among those of all modes."""
    hypotheses: int
    """Modes that are compared with the reference."""
    quality: Compared
    shown: Quality


def hypotheses(selection: Selection) -> tuple[str, ...]:
    """Name the modes that are compared with the reference; a control is no hypothesis."""
    experiment = selection.data.experiment
    real = [mode.name for mode in experiment.modes if not mode.control_of] if experiment else []
    return tuple(mode for mode in selection.modes[1:] if mode in real)


@once
def conclusion(selection: Selection, mode: str) -> Conclusion | None:
    """Apply the rule to a mode; `None` for one that is no hypothesis, and where fixed rules spent
    and nobody knows the right answers."""
    experiment = selection.data.experiment
    if experiment is None or mode not in hypotheses(selection):
        return None
    if selection.fixed_rules and judged_by(selection) is None:
        return None
    quality, cost = _quality(selection, mode), _cost(selection, mode)
    margin, level = experiment.quality_margin, _levels(selection).get(mode, ALPHA)
    shown = quality_shown(quality.effect, margin)
    if cost is None:
        reached = verdict_on_quality(quality.effect, margin, level)
    else:
        reached = verdict(cost_shown(cost.effect, experiment.margin, level), shown)
    return Conclusion(
        verdict=reached,
        cost=cost,
        level=level,
        hypotheses=len(hypotheses(selection)),
        quality=quality,
        shown=shown,
    )


@once
def _levels(selection: Selection) -> dict[str, float]:
    """Return the level of each mode's hypothesis on the primary metric, or on the quality where
    fixed rules decided that."""
    primary = {
        mode: _cost(selection, mode) or _quality(selection, mode) for mode in hypotheses(selection)
    }
    effects = {mode: compared.effect for mode, compared in primary.items()}
    tests = {mode: effect.t_p for mode, effect in effects.items() if effect}
    return holm_levels({mode: p for mode, p in tests.items() if p is not None})


@once
def _cost(selection: Selection, mode: str) -> Compared | None:
    experiment = selection.data.experiment
    assert experiment
    metric = selection.metrics[experiment.primary]
    if metric.spent and selection.fixed_rules:
        return None
    return _compared(selection, mode, metric, lambda side: selection.arm(side).compared)


@once
def _quality(selection: Selection, mode: str) -> Compared:
    metric = judged_by(selection)
    if metric is not None:
        return _compared(selection, mode, metric, lambda side: judged(selection, side))
    metric = selection.metrics[_SUCCESS]
    return _compared(selection, mode, metric, lambda side: selection.arm(side).counted)


def _compared(
    selection: Selection, mode: str, metric: Metric, trials: Callable[[str], Iterable[TrialRecord]]
) -> Compared:
    sides = (mode, selection.modes[0])
    rows = [row for side in sides for row in frame(trials(side), metric)]
    keyed = selection.with_part[metric.keyed] & selection.keyed.keys() if metric.keyed else None
    asked = dict.fromkeys(trial.task_key for trial in selection.trials)
    cases = [case for case in asked if keyed is None or case in keyed]
    pairs = paired(rows, *sides, cases, relative=metric.relative)
    return Compared(metric=metric, pairs=pairs)
