"""What is compared for a verdict: the primary metric and the quality of a mode, task by task."""

from dataclasses import dataclass, replace

from swarm_bench.analysis.caveats.barred import barred_by
from swarm_bench.analysis.caveats.void import no_evidence
from swarm_bench.analysis.comparison.compared import TIMES
from swarm_bench.analysis.comparison.pairs import (
    SUCCESS,
    Compared,
    compared,
    compared_over_swarms,
    cost_at_worst,
    missing,
    planned_tasks,
    quality_at_worst,
    unmeasured,
    values_by_task,
)
from swarm_bench.analysis.comparison.quality import hardly_more, judged_by
from swarm_bench.analysis.losses import doubt
from swarm_bench.analysis.once import once
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.censoring import Censored
from swarm_bench.analysis.statistics.effects import Effect, holm, holm_levels
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.pairing import LEAST_PAIRED, Cases, Pairs, paired
from swarm_bench.analysis.statistics.rule import (
    Change,
    Quality,
    Verdict,
    quality_shown,
    ratio_shown,
    verdict,
    verdict_on_quality,
)
from swarm_bench.analysis.statistics.swarms import stands_over_swarms
from swarm_bench.core.metric import Metric


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
    idle: bool = False
    """It is not worse, or better, but that shows nothing: whoever finds nothing is not worse, or
    this mode found hardly more than a constant answer."""
    partly_judged: bool = False
    """What was found is known of too few of the tasks for a gain in all of them."""
    alone: Pairs | None = None
    """The cost over the judged tasks alone, where these do not show the same: the verdict is
    without it."""
    spends: Change = Change.UNCLEAR
    """What the primary metric shows by itself."""
    censored: Censored | None = None
    """With stopped and lost trials at their worst; `None` where there are none."""
    hidden: bool = False
    """What it shows does not stand so: the verdict is without it."""
    unproved: bool = False
    """What was found is not shown with lost trials at their worst: the verdict is without it."""
    doubt: str = ""
    """Why nothing is shown of the cost, or of what was found: one of the two modes lacks more of
    its trials."""
    unsure: bool = False
    """The doubt is of what was found."""
    together: bool = False
    """It is a time, and agents ran at the same time."""
    swarms: Effect | None = None
    """The comparison of such times over swarms; `None` where no swarm has them in both modes."""
    too_narrow: bool = False
    """What tasks show of such times is not shown by swarms: the verdict is without it."""

    @property
    def withheld(self) -> bool:
        """Whether the verdict is without what the primary metric shows."""
        return self.hidden or self.too_narrow or self.alone is not None


def hypotheses(selection: Selection) -> tuple[str, ...]:
    """Name the modes that are compared with the reference; a control is no hypothesis, and there
    is none where no metric was named, or one that this version does not know."""
    experiment = selection.data.experiment
    if not experiment.primary or unknown_metric(selection):
        return ()
    real = {mode.name for mode in experiment.modes if not mode.control_of}
    return tuple(mode for mode in selection.modes[1:] if mode in real)


def unknown_metric(selection: Selection) -> str | None:
    """Return the metric that the verdict is on and that this version does not have."""
    experiment = selection.data.experiment
    named = (experiment.primary, experiment.quality)
    return next((key for key in named if key and key not in selection.metrics), None)


@once
def conclusion(selection: Selection, mode: str) -> Conclusion | None:
    """Apply the rule to a mode; `None` for one that is no hypothesis, and where fixed rules spent
    and nobody knows the right answers."""
    experiment = selection.data.experiment
    if mode not in hypotheses(selection):
        return None
    if selection.fixed_rules and judged_by(selection) is None:
        return None
    quality, cost = _quality(selection, mode), _cost(selection, mode)
    margin, level = experiment.quality_margin, _levels(selection).get(mode, ALPHA)
    shown = quality_shown(quality.effect, margin)
    equal = shown is Quality.NOT_WORSE or not any(quality.pairs.differences)
    idle = (equal and _found_nothing(quality, margin)) or (
        (equal or shown in _GAINS) and hardly_more(selection, mode)
    )
    partly = shown in _GAINS and cost is not None and _partly_judged(quality, cost)
    reached = Conclusion(
        verdict=verdict_on_quality(None if idle else quality.effect, margin, level),
        cost=cost,
        level=level,
        hypotheses=len(hypotheses(selection)),
        quality=quality,
        shown=Quality.NOT_SHOWN if idle or partly else shown,
        idle=idle,
        partly_judged=partly,
    )
    reached = _with_cost(selection, mode, reached, cost) if cost else reached
    reached = _at_worst(selection, mode, reached)
    return _doubted(selection, mode, reached)


def _doubted(selection: Selection, mode: str, reached: Conclusion) -> Conclusion:
    """Withhold what a figure shows of which one of two modes lacks more of its trials."""
    cost, answers = reached.cost, _doubt(selection, mode, reached.quality.metric)
    spent = _doubt(selection, mode, cost.metric) if cost else answers
    if not spent and not answers:
        return reached
    spends = Change.UNCLEAR if spent or reached.withheld else reached.spends
    shown = Quality.NOT_SHOWN if answers or reached.unproved else reached.shown
    return replace(
        reached, verdict=verdict(spends, shown), doubt=spent or answers, unsure=bool(answers)
    )


def _doubt(selection: Selection, mode: str, metric: Metric) -> str:
    """Say that one of two modes lacks so many more of its trials in a metric that nothing is shown;
    empty where it does not."""
    return doubt({side: missing(selection, side, metric) for side in (mode, selection.modes[0])})


def _at_worst(selection: Selection, mode: str, reached: Conclusion) -> Conclusion:
    """Withhold what was found where the verdict is another one with lost trials at their worst: a
    gain must stand where they speak against the mode, a loss where they speak for it."""
    sides = (selection, mode), (selection, selection.modes[0])
    margin, metric = selection.data.experiment.quality_margin, reached.quality.metric
    lacking = any(unmeasured(*side, metric) for side in sides)
    if not lacking or reached.verdict is Verdict.INCONCLUSIVE:
        return reached
    against, beside = (quality_at_worst(*sides, metric, gain=gain) for gain in (True, False))
    if reached.cost is None:
        both = {Verdict.HELPS: [against], Verdict.HURTS: [beside]}
        effects = both.get(reached.verdict, [against, beside])
        worst = {verdict_on_quality(effect, margin, reached.level) for effect in effects}
        without = Verdict.INCONCLUSIVE
    else:
        cost = Change.UNCLEAR if reached.withheld else reached.spends
        effect = against if reached.shown in _GAINS else beside
        worst = {verdict(cost, quality_shown(effect, margin))}
        without = verdict(cost, Quality.NOT_SHOWN)
    stands = worst == {reached.verdict} or without is reached.verdict
    return reached if stands else replace(reached, verdict=without, unproved=True)


_GAINS = frozenset({Quality.NOT_WORSE, Quality.HIGHER, Quality.BETTER})


def _found_nothing(quality: Compared, margin: float) -> bool:
    """Tell whether whoever finds nothing would be as good as the reference."""
    pairs = quality.pairs
    return bool(pairs.cases) and round(pairs.reference_mean - margin, 9) <= 0


def _partly_judged(quality: Compared, cost: Compared) -> bool:
    """Tell whether agents could have given up in the tasks that nobody judges."""
    return len(quality.pairs.cases) < LEAST_PAIRED * len(cost.pairs.cases)


def _with_cost(selection: Selection, mode: str, reached: Conclusion, cost: Compared) -> Conclusion:
    """Apply the rule to cost and quality."""
    experiment = selection.data.experiment
    margin, level = experiment.margin, reached.level
    spends = ratio_shown(cost.effect, margin, level)
    sides = (selection, mode), (selection, selection.modes[0])
    worst = cost_at_worst(*sides, cost.metric, spends, planned_tasks(selection, cost.metric))
    against = next((it for it in worst if not it.agrees(spends, margin, level)), None)
    together = cost.metric.key in TIMES and experiment.at_once > 1
    swarms = compared_over_swarms(selection, mode, cost.metric) if together else None
    too_narrow = together and not stands_over_swarms(swarms, spends, margin, level)
    with_cost = replace(
        reached,
        alone=_alone(selection, mode, reached, spends),
        spends=spends,
        censored=against or next(iter(worst), None),
        hidden=against is not None,
        together=together,
        swarms=swarms,
        too_narrow=too_narrow,
    )
    claimed = Change.UNCLEAR if with_cost.withheld else spends
    return replace(with_cost, verdict=verdict(claimed, reached.shown))


def _alone(selection: Selection, mode: str, reached: Conclusion, spends: Change) -> Pairs | None:
    """Pair the costs of the judged tasks alone; `None` where they show what all do, and where
    there is no gain in what was found that agents could have given up beside."""
    cost, experiment = reached.cost, selection.data.experiment
    assert cost
    tasks = over_judged(selection, cost, reached.quality)
    if tasks is None or reached.shown not in _GAINS or spends is Change.UNCLEAR:
        return None
    sides = (selection, mode), (selection, selection.modes[0])
    own, reference = (values_by_task(*side, cost.metric) for side in sides)
    alone = paired(own, reference, tasks, relative=cost.metric.relative)
    margin, level = experiment.margin, reached.level
    effect = alone.effect if alone.cases else None
    stands = ratio_shown(effect, margin, level) is spends and all(
        worst.agrees(spends, margin, level)
        for worst in cost_at_worst(*sides, cost.metric, spends, tasks)
    )
    return None if stands else alone


def over_judged(selection: Selection, cost: Compared, quality: Compared) -> Cases | None:
    """Return the tasks without those in which the cost is compared and nobody judges what was
    found; `None` where there are none of these."""
    unjudged = set(cost.pairs.cases) - set(quality.pairs.cases)
    tasks = planned_tasks(selection, cost.metric)
    ids = tuple(task for task in tasks.ids if task not in unjudged)
    return replace(tasks, ids=ids) if unjudged else None


@once
def _levels(selection: Selection) -> dict[str, float]:
    """Return the level of each mode's hypothesis."""
    return holm_levels(_tests(selection))


def adjusted(selection: Selection, mode: str, metric: Metric) -> float | None:
    """Return the p of the t test, adjusted for all modes; `None` for what is no hypothesis."""
    if mode not in hypotheses(selection) or _primary(selection, mode).metric.key != metric.key:
        return None
    return holm(_tests(selection)).get(mode)


@once
def _tests(selection: Selection) -> dict[str, float]:
    """Return the p of each mode's hypothesis; 1 where it could not be compared, one mode lost more
    of its trials, or there is no evidence on it, so that it counts among those that Holm's
    procedure is about."""
    tests = {}
    for mode in hypotheses(selection):
        void = barred_by(selection, mode) or no_evidence(selection, mode, selection.modes[0])
        primary = _primary(selection, mode)
        void = void or _doubt(selection, mode, primary.metric)
        tests[mode] = primary.pairs.p(holds=not void)
    return tests


def _primary(selection: Selection, mode: str) -> Compared:
    """Return what a mode's hypothesis is on: the primary metric, or the quality where fixed rules
    decided that."""
    return _cost(selection, mode) or _quality(selection, mode)


def _cost(selection: Selection, mode: str) -> Compared | None:
    metric = selection.metrics[selection.data.experiment.primary]
    spent_by_rules = metric.spent and selection.fixed_rules
    return None if spent_by_rules else compared(selection, mode, metric)


def _quality(selection: Selection, mode: str) -> Compared:
    named = selection.data.experiment.quality
    metric = judged_by(selection) or selection.metrics[named or SUCCESS]
    return compared(selection, mode, metric)
