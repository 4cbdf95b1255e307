"""The verdict on each arm of a benchmark of cases, against its reference, in one sentence."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import log1p

from swarm_bench.analysis.cases.caveats import arm_caveats, beside, no_arm_evidence
from swarm_bench.analysis.cases.losses import doubts, missing
from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.losses import Part, omitted
from swarm_bench.analysis.once import once
from swarm_bench.analysis.statistics.changes import (
    Wanted,
    evidence,
    percent,
    percent_range,
    settling,
)
from swarm_bench.analysis.statistics.effects import Effect, holm_levels, within
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.pairing import LEAST_PAIRED, Pairs
from swarm_bench.analysis.statistics.rule import Change, ratio_shown, score_shown
from swarm_bench.analysis.wording import amount, listed, lowered
from swarm_bench.core.metric import Better, Metric
from swarm_bench.core.report.document import Span, Text, Tone

_BEGINS: Mapping[Better, Mapping[Change, str]] = {
    Better.LOWER: {Change.LOWER: "better", Change.HIGHER: "worse"},
    Better.HIGHER: {Change.LOWER: "worse", Change.HIGHER: "better"},
}
_EITHER = {Change.SAME: "equivalent", Change.UNCLEAR: "inconclusive"}
_WITHIN = "It differs beyond noise, by less than the margin."
_TONES = {"better": Tone.GOOD, "worse": Tone.BAD, "inconclusive": Tone.OPEN}


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

    @property
    def p(self) -> float:
        """That of its hypothesis; 1 where it cannot be held."""
        holds = self.pairs.suffice and not self.void and not self.doubt
        p = self.pairs.effect.t_p if holds else None
        return 1.0 if p is None else p


@once
def _verdicts(session: CaseSession) -> tuple[tuple[_Compared, str, str], ...]:
    """Return each arm with its verdict, and what that comes from."""
    metric = primary_metric(session)
    if metric is None or not metric.better:
        return ()
    each = [
        _Compared(
            arm=arm,
            reference=reference,
            metric=metric,
            pairs=session.pairs(arm, reference, metric),
            sides={side: missing(session, side, metric) for side in (arm, reference)},
            void=no_arm_evidence(session, arm, reference),
            doubt=doubts({side: (session, side) for side in (arm, reference)}, metric),
        )
        for arm, reference in session.references.items()
    ]
    levels = holm_levels({compared.arm: compared.p for compared in each})
    return tuple((it, *_judged(session, it, levels[it.arm])) for it in each)


def verdict_words(session: CaseSession) -> dict[str, str]:
    """Return the verdict on each arm in a word or two, by the arm."""
    return {compared.arm: begins for compared, begins, _ in _verdicts(session)}


def case_verdicts(session: CaseSession) -> Iterator[Text]:
    """Say of each arm whether it is better than its reference."""
    verdicts = _verdicts(session)
    references = dict.fromkeys(session.references.values()) if verdicts else {}
    for compared, begins, sentence in verdicts:
        verb = " has " if begins == "no verdict" else " is "
        verdict = Span(text=begins, strong=True, tone=_TONES.get(begins))
        caveats = [it for it in arm_caveats(session, compared.arm) if not it.is_void]
        against = f", against {compared.reference}," if len(references) > 1 else ""
        yield (
            Span(text=compared.arm, strong=True),
            f"{against}{verb}",
            verdict,
            f": {sentence}{beside(caveats)}",
        )
    for reference in references:
        own = [it for it in arm_caveats(session, reference) if not it.is_void]
        if own and reference not in session.references:
            yield Span(text=reference, strong=True), f" is the reference.{beside(own)}"


def _judged(session: CaseSession, compared: _Compared, level: float) -> tuple[str, str]:
    """Return the verdict on an arm, and what it comes from, with the trials that are not in it."""
    pairs, metric, clause = compared.pairs, compared.metric, omitted(compared.sides)
    if compared.void:
        begins, parts = "no verdict", [f"{compared.void}."]
    elif not pairs.suffice:
        begins, parts = "no verdict", [_too_few(pairs, metric)]
    elif _is_nothing(pairs, metric):
        begins, parts = "no verdict", [f"no case has {_figure(metric)} above 0 in either arm."]
    else:
        begins, parts = _sentence(session, compared, level)
        clause = compared.doubt or clause
        if compared.doubt and begins != "inconclusive":
            clause = f"{clause}: {compared.arm} is not shown to be {begins}"
            begins = "inconclusive"
    more = [] if begins == "better" or compared.void else _gained_elsewhere(session, compared)
    return begins, " ".join([*parts, *([f"{clause}."] if clause else []), *more])


def _gained_elsewhere(session: CaseSession, compared: _Compared) -> Iterator[str]:
    """Say what an arm gains beyond noise in the part of the data that it was made from."""
    metric = next((it for it in session.metrics if it.key == compared.metric.made_from), None)
    pairs = metric and session.pairs(compared.arm, compared.reference, metric)
    if not metric or not metric.better or not pairs or not pairs.suffice:
        return
    shown = (ratio_shown if metric.relative else score_shown)(pairs.effect, 0.0)
    if {**_EITHER, **_BEGINS[metric.better]}[shown] == "better":
        change = (_ratio if metric.relative else _difference)(pairs, metric, ALPHA)
        if _gains(session, compared):
            yield (
                f"It gains in the cases that it was made from, too: {change}. Of the others there "
                "are too few to tell."
            )
        else:
            yield (
                "What it gains in the cases that it was made from, the others do not show: "
                f"{change}."
            )


def _gains(session: CaseSession, compared: _Compared) -> bool:
    """Tell whether an arm gains more than the margin, beyond noise or not."""
    metric, margin = compared.metric, session.experiment.margin
    if not compared.pairs.cases:
        return False
    sign = 1 if metric.better is Better.HIGHER else -1
    least = log1p(margin) if metric.relative else margin
    return sign * compared.pairs.effect.estimate > least


def _is_nothing(pairs: Pairs, metric: Metric) -> bool:
    """Tell whether neither arm can do anything of what is asked: that says nothing of either."""
    worst = metric.is_share and metric.better is Better.HIGHER and not metric.relative
    return worst and not any(pairs.own.values()) and not any(pairs.reference.values())


def _unpaired(pairs: Pairs, metric: Metric) -> Iterator[str]:
    """Count and name the cases that are not compared: the arm may have failed in them."""
    absent = (*pairs.unpaired, *pairs.zeros)
    if absent:
        verb = "has" if len(absent) == 1 else "have"
        yield (
            f"{amount(len(absent), 'case')} {verb} no {_figure(metric)} in one of the two arms "
            f"({listed(absent)})."
        )


def _too_few(pairs: Pairs, metric: Metric) -> str:
    asked = amount(pairs.asked, "case")
    return (
        f"{len(pairs.cases)} of {asked} have {_figure(metric)} in both arms, and a "
        f"verdict needs {LEAST_PAIRED * 100:.0f} %."
    )


def _figure(metric: Metric) -> str:
    title = lowered(metric.title)
    return f"{title} above 0" if metric.relative else title


def _sentence(session: CaseSession, compared: _Compared, level: float) -> tuple[str, list[str]]:
    """Return what the figures show, and sentences on them."""
    pairs, metric = compared.pairs, compared.metric
    assert metric.better
    effect, margin = pairs.effect, session.experiment.margin
    sides = (compared.arm, compared.reference)
    shown = (ratio_shown if metric.relative else score_shown)(effect, margin, level)
    begins = {**_EITHER, **_BEGINS[metric.better]}[shown]
    size = evidence(effect, "case", max(map(session.experiment.runs_of, sides)))
    change = (_ratio if metric.relative else _difference)(pairs, metric, level)
    more = [] if compared.doubt else _more(compared, shown, margin, level)
    return begins, [f"{change}; {size}.", *more, *_unpaired(pairs, metric)]


def _more(compared: _Compared, shown: Change, margin: float, level: float) -> Iterator[str]:
    """Say what an equality hides, and what would settle what is unclear."""
    effect, metric = compared.pairs.effect, compared.metric
    if shown is Change.SAME and _is_beyond_noise(effect, level):
        yield _WITHIN
    if shown is Change.UNCLEAR:
        wanted = Wanted(
            size=margin,
            relative=metric.relative,
            level=level,
            what="a difference" if metric.relative else lowered(metric.title),
            cases="groups" if compared.pairs.groups else "cases",
        )
        yield from settling(effect, wanted)


def _is_beyond_noise(effect: Effect, level: float) -> bool:
    bounds = effect.interval(1 - level)
    return bounds is not None and not bounds[0] <= 0 <= bounds[1]


def _ratio(pairs: Pairs, metric: Metric, level: float) -> str:
    """Say `30 % less wall time (95 % interval 29 to 31 % less)`."""
    bounds = pairs.effect.interval(1 - level)
    interval = f" ({_begins(level)}{percent_range(bounds, 'less', 'more')})" if bounds else ""
    change = percent(pairs.effect.estimate, "less", "more")
    return f"{change} {lowered(metric.title)}{interval}"


def _difference(pairs: Pairs, metric: Metric, level: float) -> str:
    """Say `accuracy 0.71 against 0.65 (difference +0.06, 95 % interval +0.02 to +0.10)`."""
    effect, digits = pairs.effect, "z.2f" if metric.is_share else "z.3g"
    bounds = within(effect.interval(1 - level), metric.most(effect.units))
    ends = " to ".join(f"{bound:+{digits}}" for bound in bounds or ())
    interval = f", {_begins(level)}{ends}" if ends else ""
    means = f"{pairs.own_mean:{digits}} against {pairs.reference_mean:{digits}}"
    return f"{lowered(metric.title)} {means} (difference {effect.estimate:+{digits}}{interval})"


def _begins(level: float) -> str:
    return f"95 % interval{', adjusted for all arms,' if level < ALPHA else ''} "
