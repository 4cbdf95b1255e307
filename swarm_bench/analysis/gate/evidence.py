"""What a session has on one limit and one mode, in any benchmark."""

import math
from dataclasses import dataclass
from statistics import fmean

from swarm_bench.analysis.sentences.verdict_line import explain_too_few_compared
from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.pairing import LEAST_PAIRED, Cases, Figures, pair_figures
from swarm_bench.analysis.wording import lowercase
from swarm_bench.core.metric import Metric


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """A figure over cases, or why there is none."""

    metric: Metric | None = None
    effect: Effect | None = None
    relative: bool = False
    """The effect is of logarithms."""
    absent: str = ""
    """Why there is no figure that could be relied on."""
    uncertainty: str = ""
    """Why nothing can be concluded from them."""
    reference: str = ""
    """What a ratio is to."""
    caveat: str = ""
    """What must be known beside the figure."""
    worst: tuple["Evidence", ...] = ()
    """The figure with lost trials at their worst, for a limit and against it; empty where none was
    lost, and where nobody can say what the worst is."""
    judged_evidence: "Evidence | None" = None
    """The figure over the tasks whose answers are judged, where others are in it."""
    noun: str = "task"
    """What a case is called, or a group of them."""
    over_swarms: bool = False
    """Whether cases are swarms, of which more tasks make no more."""

    @property
    def estimate(self) -> float | None:
        """The ratio, or the mean."""
        if self.effect is None:
            return None
        return math.exp(self.effect.estimate) if self.relative else self.effect.estimate

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval, without what the figure cannot be."""
        bounds = self.effect and self.effect.interval()
        if not bounds:
            return None
        if self.relative:
            return math.exp(bounds[0]), math.exp(bounds[1])
        assert self.metric
        assert self.effect
        least = self.metric.least(min(self.effect.differences))
        return max(bounds[0], least), min(bounds[1], self.metric.most(self.effect.units))

    @property
    def is_share(self) -> bool:
        """Whether the figure lies between 0 and 1."""
        return not self.relative and self.metric is not None and self.metric.is_share


def make_ratio_evidence(
    metric: Metric, figures: Figures, reference: Figures, cases: Cases, noun: str = "task"
) -> Evidence:
    """Hold an arm against the reference, case by case, as a verdict does."""
    pairs = pair_figures(figures, reference, cases, relative=True)
    title = lowercase(metric.title)
    if not pairs.cases and pairs.zeros:
        return Evidence(metric=metric, absent=f"There is no ratio to {title} of 0.")
    if not pairs.cases:
        return Evidence(metric=metric, absent=f"No {noun} has {title} on both sides.")
    if not pairs.suffice:
        few = explain_too_few_compared(pairs.total_cases, len(pairs.cases), noun)
        return Evidence(metric=metric, uncertainty=few)
    return Evidence(
        metric=metric, effect=pairs.effect, relative=True, noun=_name_unit(pairs.effect, noun)
    )


def make_mean_evidence(
    metric: Metric, figures: Figures, cases: Cases, noun: str = "task"
) -> Evidence:
    """Take the mean over the cases of an arm, of each its mean over runs."""
    title = lowercase(metric.title)
    measured_cases = [case for case in cases.ids if figures.get(case)]
    if not measured_cases:
        return Evidence(metric=metric, absent=f"Nothing gave {title}.")
    if len(measured_cases) < LEAST_PAIRED * len(cases.ids):
        few = explain_too_few_compared(len(cases.ids), len(measured_cases), noun, "measured")
        return Evidence(metric=metric, uncertainty=few)
    effect = cases.make_effect({case: fmean(figures[case]) for case in measured_cases})
    return Evidence(metric=metric, effect=effect, noun=_name_unit(effect, noun))


def _name_unit(effect: Effect, noun: str) -> str:
    """Name what is counted: cases of one group are no further evidence."""
    return "group" if effect.groups else noun
