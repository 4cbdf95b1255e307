"""What stands beside the verdict on a mode: its evidence line, cost and quality beside the
reference, and the command that settles what is open."""

from collections.abc import Iterator

from swarm_bench.analysis.caveats.censoring import (
    CHANGE_CLAUSES,
    CONTINUE,
    explain_hidden,
    explain_unproved,
    may_continue,
)
from swarm_bench.analysis.caveats.no_verdict import explain_no_evidence
from swarm_bench.analysis.comparison.pairs import MetricPairs
from swarm_bench.analysis.comparison.quality import describe_unjudged, describe_unpaired
from swarm_bench.analysis.comparison.verdicts import Conclusion
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.sentences.contrast import Contrast
from swarm_bench.analysis.sentences.evidence import describe_decision
from swarm_bench.analysis.sentences.next_steps import (
    AGENTS,
    DOCTOR,
    advise_again,
    advise_keys,
    advise_new_tasks,
    advise_tasks,
    count_more_cases,
    describe_detectable,
    name_session,
)
from swarm_bench.analysis.sentences.verdict_line import NO_VERDICT
from swarm_bench.analysis.statistics.changes import describe_size as size_of
from swarm_bench.analysis.statistics.changes import format_percent_range
from swarm_bench.analysis.statistics.pairing import LEAST_PAIRED
from swarm_bench.analysis.statistics.verdict_rule import (
    OPEN,
    Change,
    Quality,
    Verdict,
    classify_quality,
    classify_score,
)
from swarm_bench.analysis.wording import lowercase, make_sentence, quantify
from swarm_bench.core.report.document import Step
from swarm_bench.core.session.experiment import Experiment

_ON_OWN_CODE = Step("swarm-bench compare --repo YOUR-PROJECT", "on code of your own")


def find_next_step(
    selection: Selection, mode: str, conclusion: Conclusion, merit: str
) -> Step | None:
    """Return what comes next; `None` where the answer stands. `merit` is the claim where a gain is
    none of the tool."""
    return next(_find_steps(selection, mode, conclusion, merit), None)


def _find_steps(
    selection: Selection, mode: str, conclusion: Conclusion, merit: str
) -> Iterator[Step]:
    experiment = selection.data.experiment
    if merit == NO_VERDICT:
        yield DOCTOR
    if experiment.suite == "demo":
        yield _ON_OWN_CODE
    if not conclusion.quality.metric.keyed:
        yield advise_keys(experiment)
    if conclusion.shows_nothing:
        yield advise_new_tasks(experiment, "again with tasks that can tell")
    if merit:
        return
    if conclusion.verdict in OPEN:
        if may_continue(selection, mode):
            yield advise_again(experiment.design.name, name_session(experiment))
        elif needed := _count_more_tasks(conclusion, experiment):
            yield advise_tasks(needed, experiment)
    else:
        yield from _find_steps_after_verdict(selection, conclusion, experiment)


def _find_steps_after_verdict(
    selection: Selection, conclusion: Conclusion, experiment: Experiment
) -> Iterator[Step]:
    """Yield what a verdict leaves to find out: with a model, and whether it is the tool."""
    if selection.fixed_rules:
        yield AGENTS
    elif conclusion.verdict is Verdict.HELPS and not selection.find_controls("placebo"):
        command = (
            f"{experiment.design.name} --continue {name_session(experiment)} --controls placebo"
        )
        yield Step(f"swarm-bench {command}", "to be sure that it is the tool")


def _count_more_tasks(conclusion: Conclusion, experiment: Experiment) -> int | None:
    """Return how many tasks would tell what is open; `None` where that is no matter of tasks."""
    if (
        conclusion.uncertainty
        or conclusion.is_withheld
        or conclusion.unproved
        or conclusion.partly_judged
    ):
        return None
    cost = contrast_cost(conclusion, experiment)
    open_ = (
        cost
        if cost and conclusion.spends is Change.UNCLEAR
        else contrast_quality(conclusion, experiment)
    )
    return count_more_cases(open_) if open_ and open_.pairs.suffice else None


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
    """Say that a claim on the cost comes from tasks without a judgement of quality."""
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


CHANGES = {
    Quality.WORSE: Change.LOWER,
    Quality.LOWER: Change.LOWER,
    Quality.BETTER: Change.HIGHER,
    Quality.HIGHER: Change.HIGHER,
    Quality.NOT_WORSE: Change.SAME,
    Quality.NOT_SHOWN: Change.UNCLEAR,
}
"""Changes that the qualities show."""


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
