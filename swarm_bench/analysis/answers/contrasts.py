"""The cost and the quality of a mode beside the reference, as its sentences have them."""

from swarm_bench.analysis.comparison.verdicts import Conclusion
from swarm_bench.analysis.sentences.contrast import Contrast
from swarm_bench.analysis.statistics.rule import Change, Quality, classify_quality, classify_score
from swarm_bench.core.session.experiment import Experiment

CHANGES = {
    Quality.WORSE: Change.LOWER,
    Quality.LOWER: Change.LOWER,
    Quality.BETTER: Change.HIGHER,
    Quality.HIGHER: Change.HIGHER,
    Quality.NOT_WORSE: Change.SAME,
    Quality.NOT_SHOWN: Change.UNCLEAR,
}
"""What a quality shows, as a change."""


def contrast_cost(conclusion: Conclusion, experiment: Experiment) -> Contrast | None:
    """Contrast what was spent; `None` where fixed rules decided that, or nothing is compared."""
    cost = conclusion.cost
    if cost is None or not cost.pairs.cases:
        return None
    return Contrast(
        metric=cost.metric,
        pairs=cost.pairs,
        change=conclusion.spends,
        margin=experiment.margin,
        level=conclusion.level,
    )


def contrast_quality(conclusion: Conclusion, experiment: Experiment) -> Contrast | None:
    """Contrast what was found, by what it shows before anything is withheld; `None` where nothing
    is compared."""
    quality, margin = conclusion.quality, experiment.quality_margin
    if not quality.pairs.cases:
        return None
    if conclusion.cost:
        return Contrast(
            metric=quality.metric,
            pairs=quality.pairs,
            change=CHANGES[classify_quality(quality.effect, margin)],
            margin=margin,
            one_sided=True,
        )
    return Contrast(
        metric=quality.metric,
        pairs=quality.pairs,
        change=classify_score(quality.effect, margin, conclusion.level),
        margin=margin,
        level=conclusion.level,
    )
