"""The evidence line of a mode: what decided, how much was asked, and why something is not shown."""

from collections.abc import Iterator

from swarm_bench.analysis.answers.contrasts import of_cost, of_quality
from swarm_bench.analysis.caveats.censoring import CONTINUE, SHOWN, hidden, may_continue, unproved
from swarm_bench.analysis.caveats.void import no_evidence
from swarm_bench.analysis.comparison.pairs import Compared
from swarm_bench.analysis.comparison.quality import about_unjudged, about_unpaired
from swarm_bench.analysis.comparison.verdicts import Conclusion
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.sentences.contrast import Contrast
from swarm_bench.analysis.sentences.evidence import decided
from swarm_bench.analysis.sentences.next_steps import detectable_differences
from swarm_bench.analysis.statistics.changes import evidence as size_of
from swarm_bench.analysis.statistics.changes import percent_range
from swarm_bench.analysis.statistics.pairing import LEAST_PAIRED
from swarm_bench.analysis.statistics.rule import OPEN, Change, Verdict
from swarm_bench.analysis.wording import amount, lowered, sentence


def evidence(selection: Selection, mode: str, reached: Conclusion) -> str:
    """Say what the verdict on a mode rests on, in sentences."""
    return " ".join(_sentences(selection, mode, reached))


def _sentences(selection: Selection, mode: str, reached: Conclusion) -> Iterator[str]:
    experiment = selection.data.experiment
    cost, quality = of_cost(reached, experiment), of_quality(reached, experiment)
    primary = reached.cost or reached.quality
    if primary.pairs.suffice:
        yield from _decided(selection, mode, reached, [it for it in (cost, quality) if it])
        there = len(experiment.tasks) if experiment.tasks_asked < len(experiment.tasks) else 0
        yield f"{size_of(primary.pairs.effect, 'task', experiment.runs, there)}."
    yield from about_unpaired(primary)
    if reached.cost:
        yield from about_unjudged(selection, mode, reached.cost, reached.quality)
    if not primary.pairs.suffice:
        return
    yield from _idle(reached, experiment.quality_margin)
    yield from _partly_judged(reached)
    yield from _withheld(selection, mode, reached)
    main = cost if cost and reached.spends is Change.UNCLEAR else quality
    if main and _is_open(reached):
        yield from detectable_differences(main)


def _decided(
    selection: Selection, mode: str, reached: Conclusion, contrasts: list[Contrast]
) -> Iterator[str]:
    """Give the interval of each figure, and say of which it is no evidence."""
    losses = (Verdict.HURTS, Verdict.DEARER, Verdict.INCONCLUSIVE)
    reasons = no_evidence(selection, mode, selection.modes[0]).split("; ")
    in_line = reached.verdict is not Verdict.TRADE_OFF
    if reached.verdict not in losses and (more := "; ".join(reasons[in_line:])):
        yield f"No evidence of a gain: {more}."
    for contrast in contrasts:
        if contrast.pairs.suffice:
            yield decided(contrast, reached.hypotheses)
        elif contrast.pairs.cases:
            yield _partly(reached.quality)


def _partly(quality: Compared) -> str:
    pairs = quality.pairs
    return (
        f"{quality.metric.title}: known of {len(pairs.cases)} of {amount(pairs.asked, 'task')} in "
        "both modes, too few."
    )


def _is_open(reached: Conclusion) -> bool:
    withheld = reached.doubt or reached.withheld or reached.unproved or reached.idle
    return reached.verdict in OPEN and not withheld


def _withheld(selection: Selection, mode: str, reached: Conclusion) -> Iterator[str]:
    """Say why a verdict is without what the figures show."""
    if reached.doubt:
        again = (
            f"; {CONTINUE}, and those that were not run" if may_continue(selection, mode) else ""
        )
        yield sentence(f"{reached.doubt}{again}")
    elif reached.hidden:
        yield hidden(selection, mode)
    else:
        yield from _over_swarms(reached)
        yield from _alone(reached)
        if reached.unproved:
            yield unproved(selection, mode)


def _idle(reached: Conclusion, margin: float) -> Iterator[str]:
    """Say why a quality that is not worse, or better, shows nothing."""
    if not reached.idle:
        return
    title, pairs = reached.quality.metric.title, reached.quality.pairs
    if not any([*pairs.own.values(), *pairs.reference.values()]):
        yield f"{title} is 0 in both modes, so equality shows nothing."
    elif pairs.reference_mean <= margin and pairs.own_mean <= pairs.reference_mean + margin:
        yield (
            f"{title} of the reference is within --quality-margin of 0, so finding nothing would "
            "not be worse."
        )
    else:
        yield (
            "An answer that is always the same, a list of what several tasks ask for, has nearly "
            f"as much {lowered(title)} or more, so this shows nothing."
        )


def _partly_judged(reached: Conclusion) -> Iterator[str]:
    """Say that what was found is known of too few tasks."""
    if reached.partly_judged and reached.cost:
        judged, compared = reached.quality.pairs, reached.cost.pairs
        yield (
            f"{reached.quality.metric.title} is known of {len(judged.cases)} of these "
            f"{len(compared.cases)} tasks, too few for a saving in all of them: it takes "
            f"{LEAST_PAIRED * 100:.0f} %."
        )


def _alone(reached: Conclusion) -> Iterator[str]:
    """Say that a claim on the cost comes from tasks that nobody judges."""
    alone, cost = reached.alone, reached.cost
    if not alone or not cost:
        return
    judged = f"{len(alone.cases)} of these {amount(len(cost.pairs.cases), 'task')}"
    bounds = alone.effect.interval(1 - reached.level) if alone.cases else None
    interval = f" ({percent_range(bounds, 'less', 'more')})" if bounds else ""
    yield (
        f"Answers are judged in {judged}, and over these alone it is not shown "
        f"{SHOWN[reached.spends]}{interval}; in the others an agent could have given up."
    )


def _over_swarms(reached: Conclusion) -> Iterator[str]:
    """Say that times over tasks have too narrow an interval, and the one over swarms."""
    if not reached.together:
        return
    swarms = reached.swarms
    bounds = swarms and swarms.interval(1 - reached.level)
    interval = "there is none over swarms, of which it takes two"
    if swarms and bounds:
        interval = f"over {swarms.units} swarms it is {percent_range(bounds, 'less', 'more')}"
    shown = f", so it is not shown {SHOWN[reached.spends]}" if reached.too_narrow else ""
    yield (
        "Agents that run at the same time share their delays, so the interval over tasks is too "
        f"narrow; {interval}{shown}."
    )
