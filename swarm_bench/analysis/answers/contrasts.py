"""The cost and the quality of a mode beside the reference, as its sentences have them."""

from swarm_bench.analysis.comparison.verdicts import Conclusion
from swarm_bench.analysis.sentences.contrast import Contrast
from swarm_bench.analysis.statistics.rule import Change, Quality, quality_shown, score_shown
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


def of_cost(reached: Conclusion, experiment: Experiment) -> Contrast | None:
    """Contrast what was spent; `None` where fixed rules decided that, or nothing is compared."""
    cost = reached.cost
    if cost is None or not cost.pairs.cases:
        return None
    return Contrast(
        metric=cost.metric,
        pairs=cost.pairs,
        shown=reached.spends,
        margin=experiment.margin,
        level=reached.level,
    )


def of_quality(reached: Conclusion, experiment: Experiment) -> Contrast | None:
    """Contrast what was found, by what it shows before anything is withheld; `None` where nothing
    is compared."""
    quality, margin = reached.quality, experiment.quality_margin
    if not quality.pairs.cases:
        return None
    if reached.cost:
        return Contrast(
            metric=quality.metric,
            pairs=quality.pairs,
            shown=CHANGES[quality_shown(quality.effect, margin)],
            margin=margin,
            one_sided=True,
        )
    return Contrast(
        metric=quality.metric,
        pairs=quality.pairs,
        shown=score_shown(quality.effect, margin, reached.level),
        margin=margin,
        level=reached.level,
    )
