"""What a session answers about a mode: the verdict line, and the evidence it rests on."""

from collections.abc import Mapping
from dataclasses import replace

from swarm_bench.analysis.answers.contrasts import of_cost, of_quality
from swarm_bench.analysis.answers.evidence import evidence
from swarm_bench.analysis.answers.steps import step_after
from swarm_bench.analysis.caveats.barred import barred_by
from swarm_bench.analysis.caveats.censoring import may_continue
from swarm_bench.analysis.caveats.void import no_evidence
from swarm_bench.analysis.comparison.pairs import compared
from swarm_bench.analysis.comparison.placebos import matches
from swarm_bench.analysis.comparison.verdicts import (
    Conclusion,
    conclusion,
    hypotheses,
    unknown_metric,
)
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.sentences.contrast import (
    BEYOND_CHANCE,
    Contrast,
    is_time,
    spent_as_much,
    spent_so_much,
)
from swarm_bench.analysis.sentences.next_steps import once_more, session_of, to_check
from swarm_bench.analysis.sentences.verdict_line import (
    CANNOT_TELL,
    NO_VERDICT,
    Finding,
    answered,
    too_few_compared,
)
from swarm_bench.analysis.statistics.rule import OPEN, Change, Quality, Verdict
from swarm_bench.analysis.wording import sentence
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
"""What is claimed by evidence alone. A loss stays one without: having a tool costs tokens."""
_PLACEBO = " is no better than its placebo"
_WORSE = frozenset({Quality.WORSE, Quality.LOWER})
_BETTER = frozenset({Quality.BETTER, Quality.HIGHER})


def mode_answer(selection: Selection, mode: str) -> Answer | None:
    """Answer for a mode; `None` for one that is no hypothesis."""
    if unknown := unknown_metric(selection):
        why = f"This version of swarm-bench has no metric {unknown}."
        return no_verdict_on(mode, why)
    reached, experiment = conclusion(selection, mode), selection.data.experiment
    if reached is None and mode not in hypotheses(selection):
        return None
    if reached is None:
        why = "Its agent follows fixed rules, so only answers count, and nobody checked these."
        return replace(no_verdict_on(mode, why), next=to_check(experiment))
    pairs = (reached.cost or reached.quality).pairs
    if not pairs.suffice:
        again = once_more(experiment.design.name, session_of(experiment))
        return replace(
            no_verdict_on(mode, too_few_compared(pairs.asked, len(pairs.cases), "task")),
            evidence=evidence(selection, mode, reached),
            next=again if may_continue(selection, mode) else None,
        )
    answer = answered(_finding(selection, mode, reached))
    step = step_after(selection, mode, reached, _without_merit(selection, mode, reached))
    return replace(
        answer,
        evidence=evidence(selection, mode, reached),
        next=step,
        is_settled=standing_verdict(selection, mode) is not None,
    )


def no_verdict_on(mode: str, why: str) -> Answer:
    """Answer that there is no verdict on a mode; `why` is a sentence that may begin small."""
    return Answer(subject=mode, claim=NO_VERDICT, tone=Tone.OPEN, figures=sentence(why))


def standing_verdict(selection: Selection, mode: str) -> Verdict | None:
    """Return the verdict with which nothing more need be run for the mode; `None` without one."""
    reached = conclusion(selection, mode)
    sides = (selection.modes[0], mode)
    if reached is None or any(barred_by(selection, side) for side in sides):
        return None
    if merit := _without_merit(selection, mode, reached):
        return Verdict.HURTS if merit == _CLAIMS[Verdict.HURTS] else None
    return None if reached.verdict in OPEN else reached.verdict


def _without_merit(selection: Selection, mode: str, reached: Conclusion) -> str:
    """Return the claim where a gain is none of the tool; empty where it may be, and where there is
    none. Of a trade-off the loss is left."""
    if reached.verdict in _NO_LOSS and no_evidence(selection, mode, selection.modes[0]):
        return _CLAIMS[Verdict.HURTS] if reached.verdict is Verdict.TRADE_OFF else NO_VERDICT
    placebo = reached.verdict in _GAINS and matches(selection, mode)
    return _PLACEBO if placebo else ""


def _finding(selection: Selection, mode: str, reached: Conclusion) -> Finding:
    """Put together what the line says."""
    but, experiment = _but(reached), selection.data.experiment
    finding = Finding(
        subject=mode,
        reference=selection.modes[0],
        claim=_claim(reached),
        tone=_tone(reached),
        main=_main(selection, reached),
        first=_first(reached, experiment),
        sure=f"both {BEYOND_CHANCE}" if _are_both_shown(reached) else "",
        beside="" if but else _beside(reached),
        but=but,
    )
    merit = _without_merit(selection, mode, reached)
    if not merit:
        return replace(finding, beside=f"{finding.beside}{_of_placebo(selection, mode, reached)}")
    if merit == NO_VERDICT:
        first, *_ = no_evidence(selection, mode, selection.modes[0]).split("; ")
        return replace(finding, claim=merit, tone=Tone.OPEN, main=None, why=sentence(first))
    if merit == _CLAIMS[Verdict.HURTS]:
        of = of_cost if reached.spends is Change.HIGHER else of_quality
        main = of(reached, experiment)
        return replace(finding, claim=merit, tone=Tone.BAD, main=main, first="", sure="")
    but = "but tools with irrelevant answers did about as well"
    return replace(finding, claim=merit, tone=Tone.BAD, beside="", but=but)


def _of_placebo(selection: Selection, mode: str, reached: Conclusion) -> str:
    """Say that its placebo gains less, as far as one was tried."""
    placebo = selection.controls("placebo").get(mode)
    if placebo is None or reached.verdict is not Verdict.HELPS:
        return ""
    if barred_by(selection, placebo.name):
        return ". Its placebo has no verdict"
    metric = (reached.cost or reached.quality).metric
    suffices = compared(selection, placebo.name, metric).pairs.suffice
    return f". Its placebo {'gains less' if suffices else 'cannot be told yet'}"


def _claim(reached: Conclusion) -> str:
    if reached.cost is None:
        return _BY_RULES[reached.verdict]
    time = is_time(reached.cost.metric)
    if half := _half_shown(reached):
        worse = half in _WORSE
        other = "perhaps by little" if worse else f"{'time' if time else 'spending'} unknown"
        return f" answers {'worse' if worse else 'better'}, {other}"
    by_cost = not reached.quality.metric.keyed and not _is_on_quality(reached)
    claim = (_WITHOUT_KEYS if by_cost else _CLAIMS)[reached.verdict]
    if not time:
        return claim
    return next((claim.replace(*each) for each in _TIMES.items() if each[0] in claim), claim)


def _half_shown(reached: Conclusion) -> Quality | None:
    """Return what is shown of the answers where that decides nothing: what is spent is open, or a
    loss may be too small to matter."""
    is_open = reached.verdict is Verdict.INCONCLUSIVE and not _but(reached)
    shown = reached.shown in _WORSE | _BETTER and reached.quality.metric.keyed
    return reached.shown if is_open and shown else None


def _tone(reached: Conclusion) -> Tone | None:
    if reached.verdict is Verdict.HELPS:
        return Tone.GOOD if reached.quality.metric.keyed else None
    return _TONES.get(reached.verdict)


def _main(selection: Selection, reached: Conclusion) -> Contrast | None:
    """Choose the figures of the line: those of the cost, or of what was found."""
    experiment = selection.data.experiment
    cost, quality = of_cost(reached, experiment), of_quality(reached, experiment)
    return quality if cost is None or (quality and _is_on_quality(reached)) else cost


def _is_on_quality(reached: Conclusion) -> bool:
    """Tell whether what was found decided."""
    match reached.verdict:
        case Verdict.TRADE_OFF:
            return True
        case Verdict.HURTS:
            return reached.shown in _WORSE
        case Verdict.HELPS:
            return reached.spends is not Change.LOWER or _are_both_shown(reached)
        case Verdict.INCONCLUSIVE if _half_shown(reached):
            return True
        case Verdict.INCONCLUSIVE:
            return reached.spends is Change.SAME and not reached.withheld
        case _:
            return False


def _first(reached: Conclusion, experiment: Experiment) -> str:
    """Say what was spent, before what was found, where both are shown."""
    cost = of_cost(reached, experiment)
    if not cost or not _are_both_shown(reached):
        return ""
    return f"{spent_so_much(cost)} {'but' if reached.verdict is Verdict.TRADE_OFF else 'and'}"


def _are_both_shown(reached: Conclusion) -> bool:
    """Tell whether both what is spent and what was found differ, and that decided."""
    decided = reached.verdict in (Verdict.TRADE_OFF, Verdict.HELPS, Verdict.HURTS)
    spends = reached.spends in (Change.LOWER, Change.HIGHER) and not reached.withheld
    differ = bool(reached.quality.metric.keyed) and reached.shown in _WORSE | _BETTER
    return decided and reached.cost is not None and spends and differ


def _beside(reached: Conclusion) -> str:
    """Say what is shown of the figure that the line has not."""
    if reached.cost is None:
        return "" if reached.verdict in OPEN else ". Its agent has no model"
    if _are_both_shown(reached):
        return ""
    if not reached.quality.metric.keyed:
        return ", answers unchecked" if reached.verdict is Verdict.INCONCLUSIVE else ""
    if _is_on_quality(reached):
        same = reached.spends is Change.SAME and reached.verdict is not Verdict.INCONCLUSIVE
        return f", and {spent_as_much(reached.cost.metric)}" if same else ""
    shown = Quality.NOT_SHOWN if reached.unsure or reached.unproved else reached.shown
    if shown is Quality.NOT_WORSE:
        return ", with answers as good"
    if reached.verdict is Verdict.INCONCLUSIVE:
        return "" if reached.doubt else ", answers also unclear"
    if shown in _BETTER:
        return ", with slightly better answers"
    if reached.verdict in (Verdict.CHEAPER, Verdict.DEARER):
        if reached.idle:
            return ". What it found shows nothing"
        lost = reached.unsure or reached.unproved
        return f". {'Lost trials hide them' if lost else 'Too few tasks to judge'}"
    return ""


def _but(reached: Conclusion) -> str:
    """Say in a few words why the figures do not count."""
    if reached.verdict is not Verdict.INCONCLUSIVE:
        return ""
    if reached.hidden:
        return "but trials that were stopped or lost could change that"
    if reached.doubt or reached.unproved:
        return "but lost trials could change that"
    if reached.too_narrow:
        return "but agents that run at once share their delays"
    if reached.alone:
        return "but not where answers are checked"
    if reached.idle and (reached.cost is None or reached.spends is Change.SAME):
        return "which by itself shows nothing"
    return ""
