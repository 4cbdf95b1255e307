"""What a session answers about a mode: the verdict line, and the evidence it rests on."""

from collections.abc import Mapping
from dataclasses import replace

from swarm_bench.analysis.caveats.censoring import may_continue
from swarm_bench.analysis.caveats.no_verdict import explain_no_evidence, explain_no_verdict
from swarm_bench.analysis.comparison.answer_evidence import (
    contrast_cost,
    contrast_quality,
    find_next_step,
    write_evidence,
)
from swarm_bench.analysis.comparison.controls import is_matched_by_placebo
from swarm_bench.analysis.comparison.pairs import pair_metric
from swarm_bench.analysis.comparison.verdicts import (
    Conclusion,
    conclude,
    find_unknown_metric,
    list_hypotheses,
)
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.sentences.contrast import (
    BEYOND_CHANCE,
    Contrast,
    describe_equal_spending,
    describe_spending,
    is_time,
)
from swarm_bench.analysis.sentences.next_steps import advise_again, advise_keys, name_session
from swarm_bench.analysis.sentences.verdict_line import (
    CANNOT_TELL,
    NO_VERDICT,
    Finding,
    explain_too_few_compared,
    make_answer,
)
from swarm_bench.analysis.statistics.verdict_rule import OPEN, Change, Quality, Verdict
from swarm_bench.analysis.wording import make_sentence
from swarm_bench.core.report.document import Answer, Tone
from swarm_bench.core.session.experiment import Experiment

_UNCLEAR = ", answers unclear"
_UNCHECKED = ", answers unchecked"
_CLAIMS: Mapping[Verdict, str] = {
    Verdict.HELPS: " helps",
    Verdict.HURTS: " hurts",
    Verdict.EQUIVALENT: " makes no difference",
    Verdict.TRADE_OFF: " is a trade-off",
    Verdict.CHEAPER: f" spends less{_UNCLEAR}",
    Verdict.DEARER: f" spends more{_UNCLEAR}",
    Verdict.INCONCLUSIVE: CANNOT_TELL,
}
_BY_RULES = {
    **_CLAIMS,
    Verdict.HELPS: " finds more",
    Verdict.HURTS: " finds less",
    Verdict.EQUIVALENT: " finds as much",
}
_WITHOUT_KEYS = {
    **_CLAIMS,
    Verdict.CHEAPER: f" spends less{_UNCHECKED}",
    Verdict.DEARER: f" spends more{_UNCHECKED}",
    Verdict.HURTS: f" spends more{_UNCHECKED}",
    Verdict.HELPS: f" spends less{_UNCHECKED}",
    Verdict.EQUIVALENT: f" spends as much{_UNCHECKED}",
}
"""An agent that gives up at once spends little and succeeds, as far as that can be seen."""
_TIMES = {"spends less": "is faster", "spends more": "is slower", "spends as much": "is as fast"}
_TONES = {Verdict.HURTS: Tone.BAD, Verdict.INCONCLUSIVE: Tone.OPEN}
_GAINS = frozenset({Verdict.HELPS, Verdict.CHEAPER})
_NO_LOSS = _GAINS | {Verdict.EQUIVALENT, Verdict.TRADE_OFF}
"""Verdicts that are claimed on evidence alone. A loss stays one without: having a tool costs
tokens."""
_PLACEBO = " is no better than its placebo"
_WORSE = frozenset({Quality.WORSE, Quality.LOWER})
_BETTER = frozenset({Quality.BETTER, Quality.HIGHER})


def answer_mode(selection: Selection, mode: str) -> Answer | None:
    """Answer for a mode; `None` for one that is no hypothesis."""
    if unknown := find_unknown_metric(selection):
        reason = f"This version of swarm-bench has no metric {unknown}."
        return answer_no_verdict(mode, reason)
    conclusion, experiment = conclude(selection, mode), selection.data.experiment
    if conclusion is None and mode not in list_hypotheses(selection):
        return None
    if conclusion is None:
        reason = "Its agent follows fixed rules, so only answers count, and nobody checked these."
        return replace(answer_no_verdict(mode, reason), next=advise_keys(experiment))
    pairs = (conclusion.cost or conclusion.quality).pairs
    if not pairs.suffice:
        continuation = advise_again(experiment.design.name, name_session(experiment))
        return replace(
            answer_no_verdict(
                mode, explain_too_few_compared(pairs.total_cases, len(pairs.cases), "task")
            ),
            evidence=write_evidence(selection, mode, conclusion),
            next=continuation if may_continue(selection, mode) else None,
        )
    answer = make_answer(_make_finding(selection, mode, conclusion))
    step = find_next_step(
        selection, mode, conclusion, _find_lack_of_merit(selection, mode, conclusion)
    )
    return replace(
        answer,
        evidence=write_evidence(selection, mode, conclusion),
        next=step,
        is_settled=find_standing_verdict(selection, mode) is not None,
    )


def answer_no_verdict(mode: str, reason: str) -> Answer:
    """Answer that there is no verdict on a mode; `reason` is a sentence that may begin small."""
    return Answer(subject=mode, claim=NO_VERDICT, tone=Tone.OPEN, figures=make_sentence(reason))


def find_standing_verdict(selection: Selection, mode: str) -> Verdict | None:
    """Return the verdict with which nothing more need be run for the mode; `None` without one."""
    conclusion = conclude(selection, mode)
    sides = (selection.modes[0], mode)
    if conclusion is None or any(explain_no_verdict(selection, side) for side in sides):
        return None
    if merit := _find_lack_of_merit(selection, mode, conclusion):
        return Verdict.HURTS if merit == _CLAIMS[Verdict.HURTS] else None
    return None if conclusion.verdict in OPEN else conclusion.verdict


def _find_lack_of_merit(selection: Selection, mode: str, conclusion: Conclusion) -> str:
    """Return the claim where a gain is none of the tool; empty where it may be, and where there is
    none. Of a trade-off the loss is left."""
    if conclusion.verdict in _NO_LOSS and explain_no_evidence(selection, mode, selection.modes[0]):
        return _CLAIMS[Verdict.HURTS] if conclusion.verdict is Verdict.TRADE_OFF else NO_VERDICT
    placebo = conclusion.verdict in _GAINS and is_matched_by_placebo(selection, mode)
    return _PLACEBO if placebo else ""


def _make_finding(selection: Selection, mode: str, conclusion: Conclusion) -> Finding:
    """Put together what the line says."""
    but, experiment = _explain_inconclusive(conclusion), selection.data.experiment
    finding = Finding(
        subject=mode,
        reference=selection.modes[0],
        claim=_choose_claim(conclusion),
        tone=_choose_tone(conclusion),
        main=_choose_main(selection, conclusion),
        first=_describe_cost(conclusion, experiment),
        sure=f"both {BEYOND_CHANCE}" if _are_both_shown(conclusion) else "",
        addition="" if but else _describe_other_figure(conclusion),
        but=but,
    )
    merit = _find_lack_of_merit(selection, mode, conclusion)
    if not merit:
        return replace(
            finding, addition=f"{finding.addition}{_describe_placebo(selection, mode, conclusion)}"
        )
    if merit == NO_VERDICT:
        first, *_ = explain_no_evidence(selection, mode, selection.modes[0]).split("; ")
        return replace(
            finding, claim=merit, tone=Tone.OPEN, main=None, explanation=make_sentence(first)
        )
    if merit == _CLAIMS[Verdict.HURTS]:
        make_contrast = contrast_cost if conclusion.spends is Change.HIGHER else contrast_quality
        main = make_contrast(conclusion, experiment)
        return replace(finding, claim=merit, tone=Tone.BAD, main=main, first="", sure="")
    but = "but tools with irrelevant answers did about as well"
    return replace(finding, claim=merit, tone=Tone.BAD, addition="", but=but)


def _describe_placebo(selection: Selection, mode: str, conclusion: Conclusion) -> str:
    """Say that its placebo gains less, as far as one was tried."""
    placebo = selection.find_controls("placebo").get(mode)
    if placebo is None or conclusion.verdict is not Verdict.HELPS:
        return ""
    if explain_no_verdict(selection, placebo.name):
        return ". Its placebo has no verdict"
    metric = (conclusion.cost or conclusion.quality).metric
    suffices = pair_metric(selection, placebo.name, metric).pairs.suffice
    return f". Its placebo {'gains less' if suffices else 'cannot be told yet'}"


def _choose_claim(conclusion: Conclusion) -> str:
    if conclusion.cost is None:
        return _BY_RULES[conclusion.verdict]
    time = is_time(conclusion.cost.metric)
    if half_quality := _find_half_quality(conclusion):
        worse = half_quality in _WORSE
        cost_clause = "perhaps by little" if worse else f"{'time' if time else 'spending'} unknown"
        return f" answers {'worse' if worse else 'better'}, {cost_clause}"
    by_cost = not conclusion.quality.metric.keyed and not _is_on_quality(conclusion)
    claim = (_WITHOUT_KEYS if by_cost else _CLAIMS)[conclusion.verdict]
    if not time:
        return claim
    return next(
        (claim.replace(*replacement) for replacement in _TIMES.items() if replacement[0] in claim),
        claim,
    )


def _find_half_quality(conclusion: Conclusion) -> Quality | None:
    """Return what is shown of the answers where that decides nothing: what is spent is open, or a
    loss may be too small to matter."""
    is_open = conclusion.verdict is Verdict.INCONCLUSIVE and not _explain_inconclusive(conclusion)
    has_keyed_quality = (
        conclusion.shown_quality in _WORSE | _BETTER and conclusion.quality.metric.keyed
    )
    return conclusion.shown_quality if is_open and has_keyed_quality else None


def _choose_tone(conclusion: Conclusion) -> Tone | None:
    if conclusion.verdict is Verdict.HELPS:
        return Tone.GOOD if conclusion.quality.metric.keyed else None
    return _TONES.get(conclusion.verdict)


def _choose_main(selection: Selection, conclusion: Conclusion) -> Contrast | None:
    """Choose the figures of the line: those of the cost, or of what was found."""
    experiment = selection.data.experiment
    cost, quality = contrast_cost(conclusion, experiment), contrast_quality(conclusion, experiment)
    return quality if cost is None or (quality and _is_on_quality(conclusion)) else cost


def _is_on_quality(conclusion: Conclusion) -> bool:
    """Tell whether what was found decided."""
    match conclusion.verdict:
        case Verdict.TRADE_OFF:
            return True
        case Verdict.HURTS:
            return conclusion.shown_quality in _WORSE
        case Verdict.HELPS:
            return conclusion.spends is not Change.LOWER or _are_both_shown(conclusion)
        case Verdict.INCONCLUSIVE if _find_half_quality(conclusion):
            return True
        case Verdict.INCONCLUSIVE:
            return conclusion.spends is Change.SAME and not conclusion.is_withheld
        case _:
            return False


def _describe_cost(conclusion: Conclusion, experiment: Experiment) -> str:
    """Say what was spent, before what was found, where both are shown."""
    cost = contrast_cost(conclusion, experiment)
    if not cost or not _are_both_shown(conclusion):
        return ""
    return (
        f"{describe_spending(cost)} {'but' if conclusion.verdict is Verdict.TRADE_OFF else 'and'}"
    )


def _are_both_shown(conclusion: Conclusion) -> bool:
    """Tell whether both what is spent and what was found differ, and that decided."""
    decided = conclusion.verdict in (Verdict.TRADE_OFF, Verdict.HELPS, Verdict.HURTS)
    spends = conclusion.spends in (Change.LOWER, Change.HIGHER) and not conclusion.is_withheld
    differ = bool(conclusion.quality.metric.keyed) and conclusion.shown_quality in _WORSE | _BETTER
    return decided and conclusion.cost is not None and spends and differ


def _describe_other_figure(conclusion: Conclusion) -> str:
    """Say what is shown of the figure that the line has not."""
    if conclusion.cost is None:
        return "" if conclusion.verdict in OPEN else ". Its agent has no model"
    if _are_both_shown(conclusion):
        return ""
    if not conclusion.quality.metric.keyed:
        return ", answers unchecked" if conclusion.verdict is Verdict.INCONCLUSIVE else ""
    if _is_on_quality(conclusion):
        same = conclusion.spends is Change.SAME and conclusion.verdict is not Verdict.INCONCLUSIVE
        return f", and {describe_equal_spending(conclusion.cost.metric)}" if same else ""
    quality = (
        Quality.NOT_SHOWN if conclusion.unsure or conclusion.unproved else conclusion.shown_quality
    )
    if quality is Quality.NOT_WORSE:
        return ", with answers as good"
    if conclusion.verdict is Verdict.INCONCLUSIVE:
        return "" if conclusion.uncertainty else ", answers also unclear"
    if quality in _BETTER:
        return ", with slightly better answers"
    if conclusion.verdict in (Verdict.CHEAPER, Verdict.DEARER):
        if conclusion.shows_nothing:
            return ". What it found shows nothing"
        has_lost_trials = conclusion.unsure or conclusion.unproved
        return f". {'Lost trials hide them' if has_lost_trials else 'Too few tasks to judge'}"
    return ""


def _explain_inconclusive(conclusion: Conclusion) -> str:
    """Say in a few words why the figures do not count."""
    if conclusion.verdict is not Verdict.INCONCLUSIVE:
        return ""
    if conclusion.is_hidden:
        return "but trials that were stopped or lost could change that"
    if conclusion.uncertainty or conclusion.unproved:
        return "but lost trials could change that"
    if conclusion.too_narrow:
        return "but agents that run at once share their delays"
    if conclusion.judged_costs:
        return "but not where answers are checked"
    if conclusion.shows_nothing and (conclusion.cost is None or conclusion.spends is Change.SAME):
        return "which by itself shows nothing"
    return ""
