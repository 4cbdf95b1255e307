"""What is compared for a verdict: the primary metric and the quality of a mode, task by task."""

from dataclasses import dataclass, replace

from swarm_bench.analysis.caching import once
from swarm_bench.analysis.caveats.no_verdict import explain_no_evidence, explain_no_verdict
from swarm_bench.analysis.comparison.headline_metrics import TIMES
from swarm_bench.analysis.comparison.pairs import (
    SUCCESS,
    MetricPairs,
    compare_cost_at_worst,
    compare_over_swarms,
    compare_quality_at_worst,
    count_missing,
    group_metric,
    list_unmeasured,
    pair_metric,
    select_planned_tasks,
)
from swarm_bench.analysis.comparison.quality import find_quality_metric, is_near_constant
from swarm_bench.analysis.losses import explain_doubt
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.censoring import Censored
from swarm_bench.analysis.statistics.effects import Effect, adjust_holm, compute_holm_levels
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.pairing import LEAST_PAIRED, Cases, Pairs, pair_figures
from swarm_bench.analysis.statistics.swarms import stands_over_swarms
from swarm_bench.analysis.statistics.verdict_rule import (
    Change,
    Quality,
    Verdict,
    classify_quality,
    classify_ratio,
    find_quality_verdict,
    find_verdict,
)
from swarm_bench.core.metric import Metric


@dataclass(frozen=True, kw_only=True)
class Conclusion:
    """The verdict on one mode, and what it comes from."""

    verdict: Verdict
    cost: MetricPairs | None
    """`None` where fixed rules decided what was spent."""
    level: float
    """Significance level of the mode's hypothesis, among those of all modes."""
    hypotheses: int
    """Modes that are compared with the reference."""
    quality: MetricPairs
    shown_quality: Quality
    shows_nothing: bool = False
    """Whether the mode is not worse, or better, without showing anything: a mode that finds nothing
    is not worse, or this mode found hardly more than a constant answer."""
    partly_judged: bool = False
    """Whether what was found is known of too few of the tasks for a gain in all of them."""
    judged_costs: Pairs | None = None
    """The cost over the judged tasks alone, where these do not show the same: the verdict is
    without it."""
    spends: Change = Change.UNCLEAR
    """Change that the primary metric shows by itself."""
    censored: Censored | None = None
    """Comparison with stopped and lost trials at their worst; `None` if there are none."""
    is_hidden: bool = False
    """Whether stopped and lost trials could hide what is shown: the verdict is without it."""
    unproved: bool = False
    """Whether what was found is not shown with lost trials at their worst: the verdict is without
    it."""
    uncertainty: str = ""
    """Why nothing is shown of the cost, or of what was found: one of the two modes lacks more of
    its trials."""
    unsure: bool = False
    """The doubt is of what was found."""
    together: bool = False
    """Whether the metric is a time, and agents ran at the same time."""
    swarms: Effect | None = None
    """The comparison of such times over swarms; `None` where no swarm has them in both modes."""
    too_narrow: bool = False
    """Whether swarms do not show what tasks show of such times: the verdict is without it."""

    @property
    def is_withheld(self) -> bool:
        """Whether the verdict is without what the primary metric shows."""
        return self.is_hidden or self.too_narrow or self.judged_costs is not None


def list_hypotheses(selection: Selection) -> tuple[str, ...]:
    """Name the modes that are compared with the reference; a control is no hypothesis, and there
    is none where no metric was named, or one that this version does not know."""
    experiment = selection.data.experiment
    if not experiment.primary or find_unknown_metric(selection):
        return ()
    real = {mode.name for mode in experiment.modes if not mode.control_of}
    return tuple(mode for mode in selection.modes[1:] if mode in real)


def find_unknown_metric(selection: Selection) -> str | None:
    """Return the metric that the verdict is on and that this version does not have."""
    experiment = selection.data.experiment
    metric_keys = (experiment.primary, experiment.quality)
    return next((key for key in metric_keys if key and key not in selection.metrics), None)


@once
def conclude(selection: Selection, mode: str) -> Conclusion | None:
    """Apply the rule to a mode; `None` for one that is no hypothesis, and where fixed rules spent
    and the right answers are unknown."""
    experiment = selection.data.experiment
    if mode not in list_hypotheses(selection):
        return None
    if selection.fixed_rules and find_quality_metric(selection) is None:
        return None
    quality, cost = _pair_quality(selection, mode), _pair_cost(selection, mode)
    margin, level = experiment.quality_margin, _compute_levels(selection).get(mode, ALPHA)
    shown_quality = classify_quality(quality.effect, margin)
    equal = shown_quality is Quality.NOT_WORSE or not any(quality.pairs.differences.values())
    shows_nothing = (equal and _is_nothing_as_good(quality, margin)) or (
        (equal or shown_quality in _GAINS) and is_near_constant(selection, mode)
    )
    partly = shown_quality in _GAINS and cost is not None and _is_partly_judged(quality, cost)
    conclusion = Conclusion(
        verdict=find_quality_verdict(None if shows_nothing else quality.effect, margin, level),
        cost=cost,
        level=level,
        hypotheses=len(list_hypotheses(selection)),
        quality=quality,
        shown_quality=Quality.NOT_SHOWN if shows_nothing or partly else shown_quality,
        shows_nothing=shows_nothing,
        partly_judged=partly,
    )
    conclusion = _add_cost(selection, mode, conclusion, cost) if cost else conclusion
    conclusion = _withhold_unproved(selection, mode, conclusion)
    return _withhold_uncertain(selection, mode, conclusion)


def _withhold_uncertain(selection: Selection, mode: str, conclusion: Conclusion) -> Conclusion:
    """Withhold what a figure shows of which one of two modes lacks more of its trials."""
    cost, quality_doubt = (
        conclusion.cost,
        _explain_uncertainty(selection, mode, conclusion.quality.metric),
    )
    cost_doubt = _explain_uncertainty(selection, mode, cost.metric) if cost else quality_doubt
    if not cost_doubt and not quality_doubt:
        return conclusion
    spends = Change.UNCLEAR if cost_doubt or conclusion.is_withheld else conclusion.spends
    shown_quality = (
        Quality.NOT_SHOWN if quality_doubt or conclusion.unproved else conclusion.shown_quality
    )
    return replace(
        conclusion,
        verdict=find_verdict(spends, shown_quality),
        uncertainty=cost_doubt or quality_doubt,
        unsure=bool(quality_doubt),
    )


def _explain_uncertainty(selection: Selection, mode: str, metric: Metric) -> str:
    """Say that one of two modes lacks so many more of its trials in a metric that nothing is shown;
    empty where it does not."""
    return explain_doubt(
        {side: count_missing(selection, side, metric) for side in (mode, selection.modes[0])}
    )


def _withhold_unproved(selection: Selection, mode: str, conclusion: Conclusion) -> Conclusion:
    """Withhold what was found where the verdict is another one with lost trials at their worst: a
    gain must stand where they speak against the mode, a loss where they speak for it."""
    sides = (selection, mode), (selection, selection.modes[0])
    margin, metric = selection.data.experiment.quality_margin, conclusion.quality.metric
    lacking = any(list_unmeasured(*side, metric) for side in sides)
    if not lacking or conclusion.verdict is Verdict.INCONCLUSIVE:
        return conclusion
    against, in_favour = (
        compare_quality_at_worst(*sides, metric, gain=gain) for gain in (True, False)
    )
    if conclusion.cost is None:
        effects_by_verdict = {Verdict.HELPS: [against], Verdict.HURTS: [in_favour]}
        effects = effects_by_verdict.get(conclusion.verdict, [against, in_favour])
        worst = {find_quality_verdict(effect, margin, conclusion.level) for effect in effects}
        without = Verdict.INCONCLUSIVE
    else:
        cost = Change.UNCLEAR if conclusion.is_withheld else conclusion.spends
        effect = against if conclusion.shown_quality in _GAINS else in_favour
        worst = {find_verdict(cost, classify_quality(effect, margin))}
        without = find_verdict(cost, Quality.NOT_SHOWN)
    stands = worst == {conclusion.verdict} or without is conclusion.verdict
    return conclusion if stands else replace(conclusion, verdict=without, unproved=True)


_GAINS = frozenset({Quality.NOT_WORSE, Quality.HIGHER, Quality.BETTER})


def _is_nothing_as_good(quality: MetricPairs, margin: float) -> bool:
    """Tell whether a mode that finds nothing would be as good as the reference."""
    pairs = quality.pairs
    return bool(pairs.cases) and round(pairs.reference_mean - margin, 9) <= 0


def _is_partly_judged(quality: MetricPairs, cost: MetricPairs) -> bool:
    """Tell whether agents could have given up in the tasks without a judgement."""
    return len(quality.pairs.cases) < LEAST_PAIRED * len(cost.pairs.cases)


def _add_cost(
    selection: Selection, mode: str, conclusion: Conclusion, cost: MetricPairs
) -> Conclusion:
    """Apply the rule to cost and quality."""
    experiment = selection.data.experiment
    margin, level = experiment.margin, conclusion.level
    spends = classify_ratio(cost.effect, margin, level)
    sides = (selection, mode), (selection, selection.modes[0])
    worst = compare_cost_at_worst(
        *sides, cost.metric, spends, select_planned_tasks(selection, cost.metric)
    )
    against = next(
        (comparison for comparison in worst if not comparison.agrees(spends, margin, level)), None
    )
    together = cost.metric.key in TIMES and experiment.at_once > 1
    swarms = compare_over_swarms(selection, mode, cost.metric) if together else None
    too_narrow = together and not stands_over_swarms(swarms, spends, margin, level)
    with_cost = replace(
        conclusion,
        judged_costs=_pair_judged_costs(selection, mode, conclusion, spends),
        spends=spends,
        censored=against or next(iter(worst), None),
        is_hidden=against is not None,
        together=together,
        swarms=swarms,
        too_narrow=too_narrow,
    )
    claimed = Change.UNCLEAR if with_cost.is_withheld else spends
    return replace(with_cost, verdict=find_verdict(claimed, conclusion.shown_quality))


def _pair_judged_costs(
    selection: Selection, mode: str, conclusion: Conclusion, spends: Change
) -> Pairs | None:
    """Pair the costs of the judged tasks alone; `None` where they show what all do, and where
    there is no gain in what was found that agents could have given up beside."""
    cost, experiment = conclusion.cost, selection.data.experiment
    assert cost
    tasks = select_judged_tasks(selection, cost, conclusion.quality)
    if tasks is None or conclusion.shown_quality not in _GAINS or spends is Change.UNCLEAR:
        return None
    sides = (selection, mode), (selection, selection.modes[0])
    mode_costs, reference_costs = (group_metric(*side, cost.metric) for side in sides)
    judged_costs = pair_figures(mode_costs, reference_costs, tasks, relative=cost.metric.relative)
    margin, level = experiment.margin, conclusion.level
    effect = judged_costs.effect if judged_costs.cases else None
    stands = classify_ratio(effect, margin, level) is spends and all(
        worst.agrees(spends, margin, level)
        for worst in compare_cost_at_worst(*sides, cost.metric, spends, tasks)
    )
    return None if stands else judged_costs


def select_judged_tasks(
    selection: Selection, cost: MetricPairs, quality: MetricPairs
) -> Cases | None:
    """Return the tasks without those in which the cost is compared and what was found is not
    judged; `None` where there are none of these."""
    unjudged = set(cost.pairs.cases) - set(quality.pairs.cases)
    tasks = select_planned_tasks(selection, cost.metric)
    ids = tuple(task for task in tasks.ids if task not in unjudged)
    return replace(tasks, ids=ids) if unjudged else None


@once
def _compute_levels(selection: Selection) -> dict[str, float]:
    """Return the level of each mode's hypothesis."""
    return compute_holm_levels(_compute_p_values(selection))


def compute_adjusted_p(selection: Selection, mode: str, metric: Metric) -> float | None:
    """Return the p of the t test, adjusted for all modes; `None` for what is no hypothesis."""
    if (
        mode not in list_hypotheses(selection)
        or _find_primary(selection, mode).metric.key != metric.key
    ):
        return None
    return adjust_holm(_compute_p_values(selection)).get(mode)


@once
def _compute_p_values(selection: Selection) -> dict[str, float]:
    """Return the p of each mode's hypothesis; 1 where it could not be compared, one mode lost more
    of its trials, or there is no evidence on it, so that it counts among those that Holm's
    procedure is about."""
    tests = {}
    for mode in list_hypotheses(selection):
        void = explain_no_verdict(selection, mode) or explain_no_evidence(
            selection, mode, selection.modes[0]
        )
        primary = _find_primary(selection, mode)
        void = void or _explain_uncertainty(selection, mode, primary.metric)
        tests[mode] = primary.pairs.compute_p(holds=not void)
    return tests


def _find_primary(selection: Selection, mode: str) -> MetricPairs:
    """Return what a mode's hypothesis is on: the primary metric, or the quality where fixed rules
    decided that."""
    return _pair_cost(selection, mode) or _pair_quality(selection, mode)


def _pair_cost(selection: Selection, mode: str) -> MetricPairs | None:
    metric = selection.metrics[selection.data.experiment.primary]
    spent_by_rules = metric.spent and selection.fixed_rules
    return None if spent_by_rules else pair_metric(selection, mode, metric)


def _pair_quality(selection: Selection, mode: str) -> MetricPairs:
    metric_key = selection.data.experiment.quality
    metric = find_quality_metric(selection) or selection.metrics[metric_key or SUCCESS]
    return pair_metric(selection, mode, metric)
