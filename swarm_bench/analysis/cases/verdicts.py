"""The verdict on each arm of a benchmark of cases, against its reference."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import log1p

from swarm_bench.analysis.cases.losses import doubts, missing
from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.losses import Part, omitted
from swarm_bench.analysis.once import once
from swarm_bench.analysis.sentences.contrast import Contrast
from swarm_bench.analysis.sentences.evidence import decided, rests_on
from swarm_bench.analysis.sentences.next_steps import (
    detectable_differences,
    more_cases,
)
from swarm_bench.analysis.sentences.verdict_line import (
    CANNOT_TELL,
    IS_REFERENCE,
    NO_VERDICT,
    held_against,
    too_few_compared,
    without_verdict,
)
from swarm_bench.analysis.statistics.effects import Effect, holm_levels
from swarm_bench.analysis.statistics.pairing import Pairs
from swarm_bench.analysis.statistics.rule import Change, ratio_shown, score_shown
from swarm_bench.analysis.wording import amount, listed, lowered
from swarm_bench.core.metric import Better, Metric
from swarm_bench.core.report.document import Answer, Step, Tone

_SHOWS: Mapping[Better, Mapping[Change, str]] = {
    Better.LOWER: {Change.LOWER: "better", Change.HIGHER: "worse"},
    Better.HIGHER: {Change.LOWER: "worse", Change.HIGHER: "better"},
}
_EITHER = {Change.SAME: "equivalent", Change.UNCLEAR: "inconclusive"}
_NONE = "no verdict"
_CLAIMS = {
    "better": " is better",
    "worse": " is worse",
    "equivalent": " makes no difference",
    "inconclusive": CANNOT_TELL,
    _NONE: NO_VERDICT,
}
_TONES = {
    "better": Tone.GOOD,
    "worse": Tone.BAD,
    "inconclusive": Tone.OPEN,
    _NONE: Tone.OPEN,
}


def primary_metric(session: CaseSession) -> Metric | None:
    """Return what the verdicts are on: the metric that was named, in older sessions the first one
    that is compared; `None` where there is none, or this version does not have it."""
    named = session.experiment.primary
    if named is not None:
        return next((it for it in session.metrics if it.key == named), None)
    return next((it for it in session.metrics if it.compared and it.better), None)


@dataclass(frozen=True, kw_only=True)
class _Compared:
    """An arm against its reference."""

    arm: str
    reference: str
    metric: Metric
    pairs: Pairs
    sides: Mapping[str, Part]
    """By arm, how many of its trials are not in the figures."""

    void: str
    """Why there is no evidence; empty where there is."""
    doubt: str
    """Why the figures show nothing; empty where they may."""


@once
def _compared(session: CaseSession) -> tuple[_Compared, ...]:
    """Hold each arm against its reference."""
    metric = primary_metric(session)
    if metric is None or not metric.better:
        return ()
    return tuple(
        _Compared(
            arm=arm,
            reference=reference,
            metric=metric,
            pairs=session.pairs(arm, reference, metric),
            sides={side: missing(session, side, metric) for side in (arm, reference)},
            void=session.excluded(arm, reference),
            doubt=doubts({side: (session, side) for side in (arm, reference)}, metric),
        )
        for arm, reference in session.references.items()
    )


@once
def _levels(session: CaseSession) -> dict[str, float]:
    """Return the level of the hypothesis on each arm."""
    return holm_levels(
        {it.arm: it.pairs.p(holds=not it.void and not it.doubt) for it in _compared(session)}
    )


def verdict_words(session: CaseSession) -> dict[str, str]:
    """Return the verdict on each arm in a word or two, by the arm."""
    return {it.arm: _verdict(session, it) for it in _compared(session)}


def case_answers(session: CaseSession) -> Iterator[Answer]:
    """Answer for each arm whether it is better than its reference."""
    compared = _compared(session)
    for it in compared:
        yield _answer(session, it)
    for reference in dict.fromkeys(session.references.values()) if compared else ():
        own = _caveats(session, reference)
        if own and reference not in session.references:
            yield Answer(subject=reference, claim=IS_REFERENCE, caveats=own)


def _answer(session: CaseSession, compared: _Compared) -> Answer:
    verdict = _verdict(session, compared)
    several = len(set(session.references.values())) > 1
    answer = Answer(
        subject=f"{compared.arm} against {compared.reference}" if several else compared.arm,
        claim=_CLAIMS[verdict],
        tone=_TONES.get(verdict),
        caveats=_caveats(session, compared.arm),
    )
    if verdict == _NONE:
        return without_verdict(answer, [*_why(compared), omitted(compared.sides)])
    contrast = _contrast(session, compared)
    but = "but lost trials could change that" if compared.doubt else ""
    return replace(
        held_against(answer, compared.reference, contrast, but),
        next=_next(session, compared, contrast),
        evidence=" ".join(_evidence(session, compared, contrast)),
        is_settled=verdict != "inconclusive",
    )


def _caveats(session: CaseSession, arm: str) -> tuple[str, ...]:
    return tuple(it.qualification for it in session.caveats(arm) if not it.is_void)


def _verdict(session: CaseSession, compared: _Compared) -> str:
    """Return the verdict on an arm in a word or two."""
    if compared.void or not compared.pairs.suffice or _is_nothing(compared):
        return _NONE
    if compared.doubt:
        return "inconclusive"
    assert compared.metric.better
    return {**_EITHER, **_SHOWS[compared.metric.better]}[_contrast(session, compared).shown]


def _contrast(session: CaseSession, compared: _Compared) -> Contrast:
    margin, level = session.experiment.margin, _levels(session)[compared.arm]
    shown = ratio_shown if compared.metric.relative else score_shown
    return Contrast(
        metric=compared.metric,
        pairs=compared.pairs,
        shown=shown(compared.pairs.effect, margin, level),
        margin=margin,
        level=level,
        case="case",
    )


def _next(session: CaseSession, compared: _Compared, contrast: Contrast) -> Step | None:
    """Advise what gives what is missing."""
    if compared.doubt:
        return session.again()
    return session.with_more(more_cases(contrast) if contrast.shown is Change.UNCLEAR else None)


def _evidence(session: CaseSession, compared: _Compared, contrast: Contrast) -> Iterator[str]:
    """Say what a verdict rests on."""
    arms, effect = len(_compared(session)), compared.pairs.effect
    runs = max(map(session.experiment.count_runs, (compared.arm, compared.reference)))
    yield from rests_on(contrast, arms, runs, compared.doubt or omitted(compared.sides))
    yield from _unpaired(compared)
    if compared.doubt:
        return
    if contrast.shown is Change.SAME and _is_beyond_noise(effect, contrast.level):
        yield "It differs beyond noise, by less than the margin."
    if contrast.shown is Change.UNCLEAR:
        yield from detectable_differences(contrast)
    if _verdict(session, compared) != "better":
        yield from _gained_elsewhere(session, compared)


def _gained_elsewhere(session: CaseSession, compared: _Compared) -> Iterator[str]:
    """Say what an arm gains beyond noise in the part of the data that it was made from."""
    metric = next((it for it in session.metrics if it.key == compared.metric.made_from), None)
    pairs = metric and session.pairs(compared.arm, compared.reference, metric)
    if not metric or not metric.better or not pairs or not pairs.suffice:
        return
    shown = (ratio_shown if metric.relative else score_shown)(pairs.effect, 0.0)
    if {**_EITHER, **_SHOWS[metric.better]}[shown] == "better":
        contrast = Contrast(metric=metric, pairs=pairs, shown=shown, margin=0.0, case="case")
        if _gains(session, compared):
            yield (
                f"It gains in the cases that it was made from, too. {decided(contrast)} Of the "
                "others there are too few to tell."
            )
        else:
            yield (
                "What it gains in the cases that it was made from, the others do not show. "
                f"{decided(contrast)}"
            )


def _gains(session: CaseSession, compared: _Compared) -> bool:
    """Tell whether an arm gains more than the margin, beyond noise or not."""
    metric, margin = compared.metric, session.experiment.margin
    if not compared.pairs.cases:
        return False
    sign = 1 if metric.better is Better.HIGHER else -1
    least = log1p(margin) if metric.relative else margin
    return sign * compared.pairs.effect.estimate > least


def _is_nothing(compared: _Compared) -> bool:
    """Tell whether neither arm can do anything of what is asked: that says nothing of either."""
    metric, pairs = compared.metric, compared.pairs
    worst = metric.is_share and metric.better is Better.HIGHER and not metric.relative
    return worst and not any(pairs.own.values()) and not any(pairs.reference.values())


def _unpaired(compared: _Compared) -> Iterator[str]:
    """Count and name the cases that are not compared: the arm may have failed in them."""
    absent = (*compared.pairs.unpaired, *compared.pairs.zeros)
    if absent:
        verb = "has" if len(absent) == 1 else "have"
        yield (
            f"{amount(len(absent), 'case')} {verb} no {_figure(compared.metric)} in one of the two "
            f"arms ({listed(absent)})."
        )


def _why(compared: _Compared) -> list[str]:
    """Say in clauses why there is no verdict, the gravest first."""
    pairs = compared.pairs
    if compared.void:
        return compared.void.split("; ")
    if not pairs.suffice:
        return [too_few_compared(pairs.asked, len(pairs.cases), "case")]
    return [f"no case has {_figure(compared.metric)} above 0 in either arm"]


def _figure(metric: Metric) -> str:
    title = lowered(metric.title)
    return f"{title} above 0" if metric.relative else title


def _is_beyond_noise(effect: Effect, level: float) -> bool:
    bounds = effect.interval(1 - level)
    return bounds is not None and not bounds[0] <= 0 <= bounds[1]
