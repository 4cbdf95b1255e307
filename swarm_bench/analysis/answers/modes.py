"""What a session answers about a mode: the verdict line, and the evidence it rests on."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from swarm_bench.analysis.answers.contrasts import of_cost, of_quality
from swarm_bench.analysis.answers.evidence import evidence
from swarm_bench.analysis.caveats.barred import barred_by
from swarm_bench.analysis.caveats.censoring import may_continue
from swarm_bench.analysis.caveats.void import no_evidence
from swarm_bench.analysis.comparison.placebos import matches
from swarm_bench.analysis.comparison.verdicts import (
    Conclusion,
    conclusion,
    hypotheses,
    unknown_metric,
)
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.sentences.contrast import Contrast
from swarm_bench.analysis.sentences.next_steps import more_cases, rounded_up
from swarm_bench.analysis.sentences.verdict_line import (
    CANNOT_TELL,
    NO_VERDICT,
    Finding,
    answered,
    too_few_compared,
)
from swarm_bench.analysis.statistics.rule import OPEN, Change, Quality, Verdict
from swarm_bench.core.metric import Metric, Style
from swarm_bench.core.report.document import Answer, Tone
from swarm_bench.core.session.experiment import Experiment

_CLAIMS: Mapping[Verdict, str] = {
    Verdict.HELPS: " helps",
    Verdict.HURTS: " hurts",
    Verdict.EQUIVALENT: " makes no difference",
    Verdict.TRADE_OFF: " is a trade-off",
    Verdict.CHEAPER: " spends less",
    Verdict.DEARER: " spends more",
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
    Verdict.HURTS: " spends more",
    Verdict.HELPS: " spends less",
    Verdict.EQUIVALENT: " spends as much",
}
"""An agent that gives up at once spends little and succeeds, as far as that can be seen."""
_TIMES = {
    " spends less": " is faster",
    " spends more": " is slower",
    " spends as much": " is as fast",
}
_TONES = {Verdict.HURTS: Tone.BAD, Verdict.INCONCLUSIVE: Tone.OPEN}
_GAINS = frozenset({Verdict.HELPS, Verdict.CHEAPER})
_NO_LOSS = _GAINS | {Verdict.EQUIVALENT, Verdict.TRADE_OFF}
"""What is claimed by evidence alone. A loss stays one without: having a tool costs tokens."""
NO_GAIN = ": no evidence of a gain"
_PLACEBO = " is no better than its placebo"
_WORSE = frozenset({Quality.WORSE, Quality.LOWER})
_BETTER = frozenset({Quality.BETTER, Quality.HIGHER})


def mode_answer(selection: Selection, mode: str) -> Answer | None:
    """Answer for a mode; `None` for one that is no hypothesis."""
    if unknown := unknown_metric(selection):
        why = f"This version of swarm-bench has no metric {unknown}."
        return no_verdict_on(mode, why)
    reached = conclusion(selection, mode)
    if reached is None:
        return _unchecked(mode) if mode in hypotheses(selection) else None
    pairs, experiment = (reached.cost or reached.quality).pairs, selection.data.experiment
    assert experiment
    if not pairs.suffice:
        again = f"swarm-bench {experiment.design.name} --continue"
        return replace(
            no_verdict_on(mode, too_few_compared(pairs.asked, len(pairs.cases), "task")),
            evidence=evidence(selection, mode, reached),
            next=again if may_continue(selection, mode) else "",
        )
    answer = answered(_finding(selection, mode, reached))
    following = next(_steps(selection, mode, reached), "")
    return replace(answer, evidence=evidence(selection, mode, reached), next=following)


def no_verdict_on(mode: str, why: str) -> Answer:
    """Answer that there is no verdict on a mode; `why` is a sentence that may begin small."""
    return Answer(
        subject=mode, claim=NO_VERDICT, tone=Tone.OPEN, figures=f"{why[0].upper()}{why[1:]}"
    )


def _unchecked(mode: str) -> Answer:
    why = "No model decided what it spent, and nobody checked its answers."
    return replace(no_verdict_on(mode, why), next="swarm-bench tasks make")


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
        return _CLAIMS[Verdict.HURTS] if reached.verdict is Verdict.TRADE_OFF else NO_GAIN
    placebo = reached.verdict in _GAINS and matches(selection, mode)
    return _PLACEBO if placebo else ""


def _finding(selection: Selection, mode: str, reached: Conclusion) -> Finding:
    """Put together what the line says."""
    but = _but(reached)
    finding = Finding(
        subject=mode,
        reference=selection.modes[0],
        claim=_claim(reached),
        tone=_tone(reached),
        main=_main(selection, reached),
        first=_first(reached),
        beside="" if but else _beside(reached),
        but=but,
    )
    merit = _without_merit(selection, mode, reached)
    if not merit:
        return finding
    if merit == NO_GAIN:
        first, *_ = no_evidence(selection, mode, selection.modes[0]).split("; ")
        why = f"{first[0].upper()}{first[1:]}."
        return replace(finding, claim=merit, tone=Tone.OPEN, main=None, why=why)
    bad = merit == _CLAIMS[Verdict.HURTS]
    but = "but so did tools with irrelevant answers"
    return replace(
        finding,
        claim=merit,
        tone=Tone.BAD if bad else Tone.OPEN,
        beside=finding.beside if bad else "",
        but=finding.but if bad else but,
    )


def _claim(reached: Conclusion) -> str:
    if reached.cost is None:
        return _BY_RULES[reached.verdict]
    spent = not reached.quality.metric.keyed and not _is_on_quality(reached)
    claim = (_WITHOUT_KEYS if spent else _CLAIMS)[reached.verdict]
    return _TIMES.get(claim, claim) if _is_time(reached.cost.metric) else claim


def _tone(reached: Conclusion) -> Tone | None:
    if reached.verdict is Verdict.HELPS:
        return Tone.GOOD if reached.quality.metric.keyed else None
    return _TONES.get(reached.verdict)


def _main(selection: Selection, reached: Conclusion) -> Contrast | None:
    """Choose the figures of the line: those of the cost, or of what was found."""
    experiment = selection.data.experiment
    assert experiment
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
            return reached.spends is not Change.LOWER
        case Verdict.INCONCLUSIVE:
            return reached.spends is Change.SAME and not reached.withheld
        case _:
            return False


def _first(reached: Conclusion) -> str:
    """Say what is shown of the other figure, where it speaks against the one that follows."""
    if reached.cost is None:
        return ""
    if reached.verdict is Verdict.INCONCLUSIVE and reached.quality.metric.keyed:
        answers = {**dict.fromkeys(_BETTER, "better"), **dict.fromkeys(_WORSE, "worse")}
        word = answers.get(reached.shown, "")
        is_beside = word and not _is_on_quality(reached) and not _but(reached)
        return f"answered {word} but" if is_beside else ""
    if reached.verdict is not Verdict.TRADE_OFF:
        return ""
    less = reached.spends is Change.LOWER
    if _is_time(reached.cost.metric):
        return f"was {'faster' if less else 'slower'} but"
    return f"spent {'less' if less else 'more'} but"


def _beside(reached: Conclusion) -> str:
    """Say what is shown of the figure that the line has not."""
    if reached.cost is None or reached.verdict is Verdict.TRADE_OFF:
        return ""
    if not reached.quality.metric.keyed:
        return ". Nobody checked its answers"
    if _is_on_quality(reached):
        return _beside_quality(reached)
    shown = Quality.NOT_SHOWN if reached.unsure or reached.unproved else reached.shown
    if shown is Quality.NOT_WORSE:
        return ", with answers as good"
    if reached.verdict is Verdict.INCONCLUSIVE:
        return ""
    if shown in _BETTER:
        slightly = "slightly " if reached.verdict is Verdict.EQUIVALENT else ""
        return f", with {slightly}better answers"
    if shown in _WORSE:
        return ", with worse answers"
    if reached.verdict in (Verdict.CHEAPER, Verdict.DEARER):
        return ". Its answers cannot be judged yet"
    return ""


def _beside_quality(reached: Conclusion) -> str:
    assert reached.cost
    if reached.spends is Change.UNCLEAR or reached.withheld:
        return ""
    by = {
        Change.LOWER: ("was faster", "spent less"),
        Change.HIGHER: ("was slower", "spent more"),
        Change.SAME: ("took as long", "spent as much"),
    }[reached.spends]
    return f", and {by[0] if _is_time(reached.cost.metric) else by[1]}"


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


def _is_time(metric: Metric) -> bool:
    return metric.style in (Style.SECONDS, Style.MILLISECONDS)


def _steps(selection: Selection, mode: str, reached: Conclusion) -> Iterator[str]:
    """Yield the command that comes next, first; nothing where the answer stands."""
    experiment = selection.data.experiment
    assert experiment
    if experiment.suite == "demo":
        yield "swarm-bench compare --repo YOUR-PROJECT"
    if not reached.quality.metric.keyed or reached.idle:
        yield "swarm-bench tasks make"
    if merit := _without_merit(selection, mode, reached):
        yield from ["swarm-bench doctor"] * (merit == NO_GAIN)
    elif reached.verdict in OPEN:
        if may_continue(selection, mode):
            yield f"swarm-bench {experiment.design.name} --continue"
        elif needed := _more_tasks(reached, experiment):
            yield f"swarm-bench tasks make --count {rounded_up(needed)}"
    else:
        yield from _after_verdict(selection, reached)


def _after_verdict(selection: Selection, reached: Conclusion) -> Iterator[str]:
    """Yield what a verdict leaves to find out: with a model, and whether it is the tool."""
    if selection.fixed_rules and reached.verdict is not Verdict.HURTS:
        yield "swarm-bench agents"
    elif reached.verdict is Verdict.HELPS and not selection.controls("placebo"):
        yield "swarm-bench compare --controls placebo"


def _more_tasks(reached: Conclusion, experiment: Experiment) -> int | None:
    """Return how many tasks would tell what is open; `None` where that is no matter of tasks."""
    if reached.doubt or reached.withheld or reached.unproved or reached.partly_judged:
        return None
    cost = of_cost(reached, experiment)
    open_ = cost if cost and reached.spends is Change.UNCLEAR else of_quality(reached, experiment)
    return more_cases(open_) if open_ and open_.pairs.suffice else None
