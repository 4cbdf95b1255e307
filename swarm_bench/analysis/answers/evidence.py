"""The evidence line of a mode: what decided, how much was asked, and why something is not shown."""

from collections.abc import Iterator

from swarm_bench.analysis.answers.contrasts import contrast_cost, contrast_quality
from swarm_bench.analysis.caveats.censoring import (
    CHANGE_CLAUSES,
    CONTINUE,
    explain_hidden,
    explain_unproved,
    may_continue,
)
from swarm_bench.analysis.caveats.void import explain_no_evidence
from swarm_bench.analysis.comparison.pairs import MetricPairs
from swarm_bench.analysis.comparison.quality import describe_unjudged, describe_unpaired
from swarm_bench.analysis.comparison.verdicts import Conclusion
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.sentences.contrast import Contrast
from swarm_bench.analysis.sentences.evidence import describe_decision
from swarm_bench.analysis.sentences.next_steps import describe_detectable
from swarm_bench.analysis.statistics.changes import describe_size as size_of
from swarm_bench.analysis.statistics.changes import format_percent_range
from swarm_bench.analysis.statistics.pairing import LEAST_PAIRED
from swarm_bench.analysis.statistics.rule import OPEN, Change, Verdict
from swarm_bench.analysis.wording import lowercase, make_sentence, quantify


def write_evidence(selection: Selection, mode: str, conclusion: Conclusion) -> str:
    """Say what the verdict on a mode rests on, in sentences."""
    return " ".join(_write_sentences(selection, mode, conclusion))


def _write_sentences(selection: Selection, mode: str, conclusion: Conclusion) -> Iterator[str]:
    experiment = selection.data.experiment
    cost, quality = contrast_cost(conclusion, experiment), contrast_quality(conclusion, experiment)
    primary = conclusion.cost or conclusion.quality
    if primary.pairs.suffice:
        yield from _describe_figures(
            selection, mode, conclusion, [contrast for contrast in (cost, quality) if contrast]
        )
        available = len(experiment.tasks) if experiment.tasks_asked < len(experiment.tasks) else 0
        yield f"{size_of(primary.pairs.effect, 'task', experiment.runs, available)}."
    yield from describe_unpaired(primary)
    if conclusion.cost:
        yield from describe_unjudged(selection, mode, conclusion.cost, conclusion.quality)
    if not primary.pairs.suffice:
        return
    yield from _explain_no_effect(conclusion, experiment.quality_margin)
    yield from _explain_partly_judged(conclusion)
    yield from _explain_withheld(selection, mode, conclusion)
    main = cost if cost and conclusion.spends is Change.UNCLEAR else quality
    if main and _is_open(conclusion):
        yield from describe_detectable(main)


def _describe_figures(
    selection: Selection, mode: str, conclusion: Conclusion, contrasts: list[Contrast]
) -> Iterator[str]:
    """Give the interval of each figure, and say of which it is no evidence."""
    losses = (Verdict.HURTS, Verdict.DEARER, Verdict.INCONCLUSIVE)
    reasons = explain_no_evidence(selection, mode, selection.modes[0]).split("; ")
    in_line = conclusion.verdict is not Verdict.TRADE_OFF
    if conclusion.verdict not in losses and (further_reasons := "; ".join(reasons[in_line:])):
        yield f"No evidence of a gain: {further_reasons}."
    for contrast in contrasts:
        if contrast.pairs.suffice:
            yield describe_decision(contrast, conclusion.hypotheses)
        elif contrast.pairs.cases:
            yield _describe_partly(conclusion.quality)


def _describe_partly(quality: MetricPairs) -> str:
    pairs = quality.pairs
    return (
        f"{quality.metric.title}: known of {len(pairs.cases)} of "
        f"{quantify(pairs.total_cases, 'task')} in both modes, too few."
    )


def _is_open(conclusion: Conclusion) -> bool:
    has_reason = (
        conclusion.uncertainty
        or conclusion.is_withheld
        or conclusion.unproved
        or conclusion.shows_nothing
    )
    return conclusion.verdict in OPEN and not has_reason


def _explain_withheld(selection: Selection, mode: str, conclusion: Conclusion) -> Iterator[str]:
    """Say why a verdict is without what the figures show."""
    if conclusion.uncertainty:
        advice = (
            f"; {CONTINUE}, and those that were not run" if may_continue(selection, mode) else ""
        )
        yield make_sentence(f"{conclusion.uncertainty}{advice}")
    elif conclusion.is_hidden:
        yield explain_hidden(selection, mode)
    else:
        yield from _explain_over_swarms(conclusion)
        yield from _explain_judged_alone(conclusion)
        if conclusion.unproved:
            yield explain_unproved(selection, mode)


def _explain_no_effect(conclusion: Conclusion, margin: float) -> Iterator[str]:
    """Say why a quality that is not worse, or better, shows nothing."""
    if not conclusion.shows_nothing:
        return
    title, pairs = conclusion.quality.metric.title, conclusion.quality.pairs
    if not any([*pairs.arm_values.values(), *pairs.reference_values.values()]):
        yield f"{title} is 0 in both modes, so equality shows nothing."
    elif pairs.reference_mean <= margin and pairs.arm_mean <= pairs.reference_mean + margin:
        yield (
            f"{title} of the reference is within --quality-margin of 0, so finding nothing would "
            "not be worse."
        )
    else:
        yield (
            "An answer that is always the same, a list of what several tasks ask for, has nearly "
            f"as much {lowercase(title)} or more, so this shows nothing."
        )


def _explain_partly_judged(conclusion: Conclusion) -> Iterator[str]:
    """Say that what was found is known of too few tasks."""
    if conclusion.partly_judged and conclusion.cost:
        judged_pairs, compared_pairs = conclusion.quality.pairs, conclusion.cost.pairs
        yield (
            f"{conclusion.quality.metric.title} is known of {len(judged_pairs.cases)} of these "
            f"{len(compared_pairs.cases)} tasks, too few for a saving in all of them: it takes "
            f"{LEAST_PAIRED * 100:.0f} %."
        )


def _explain_judged_alone(conclusion: Conclusion) -> Iterator[str]:
    """Say that a claim on the cost comes from tasks that nobody judges."""
    judged_pairs, cost = conclusion.judged_costs, conclusion.cost
    if not judged_pairs or not cost:
        return
    count_text = f"{len(judged_pairs.cases)} of these {quantify(len(cost.pairs.cases), 'task')}"
    bounds = judged_pairs.effect.interval(1 - conclusion.level) if judged_pairs.cases else None
    interval = f" ({format_percent_range(bounds, 'less', 'more')})" if bounds else ""
    yield (
        f"Answers are judged in {count_text}, and over these alone it is not shown "
        f"{CHANGE_CLAUSES[conclusion.spends]}{interval}; in the others an agent could have given "
        f"up."
    )


def _explain_over_swarms(conclusion: Conclusion) -> Iterator[str]:
    """Say that times over tasks have too narrow an interval, and the one over swarms."""
    if not conclusion.together:
        return
    swarms = conclusion.swarms
    bounds = swarms and swarms.interval(1 - conclusion.level)
    interval = "there is none over swarms, of which it takes two"
    if swarms and bounds:
        interval = (
            f"over {swarms.units} swarms it is {format_percent_range(bounds, 'less', 'more')}"
        )
    clause = (
        f", so it is not shown {CHANGE_CLAUSES[conclusion.spends]}" if conclusion.too_narrow else ""
    )
    yield (
        "Agents that run at the same time share their delays, so the interval over tasks is too "
        f"narrow; {interval}{clause}."
    )
