"""The verdict on each arm of a benchmark of cases, against its reference."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import log1p

from swarm_bench.analysis.caching import once
from swarm_bench.analysis.cases.losses import count_missing, explain_doubts
from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.losses import Part, describe_omitted
from swarm_bench.analysis.sentences.contrast import Contrast, make_contrast
from swarm_bench.analysis.sentences.evidence import describe_basis, describe_decision
from swarm_bench.analysis.sentences.next_steps import (
    count_more_cases,
    describe_detectable,
)
from swarm_bench.analysis.sentences.verdict_line import (
    CANNOT_TELL,
    IS_REFERENCE,
    NO_VERDICT,
    add_comparison,
    add_reasons,
    explain_too_few_compared,
)
from swarm_bench.analysis.statistics.effects import Effect, compute_holm_levels
from swarm_bench.analysis.statistics.pairing import Pairs
from swarm_bench.analysis.statistics.verdict_rule import Change
from swarm_bench.analysis.wording import list_few, lowercase, quantify
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


def find_primary_metric(session: CaseSession) -> Metric | None:
    """Return what the verdicts are on: the metric that was named, in older sessions the first one
    that is compared; `None` where there is none, or this version does not have it."""
    primary = session.experiment.primary
    if primary is not None:
        return session.metrics.get(primary)
    return next((metric for metric in session.metrics if metric.compared and metric.better), None)


@dataclass(frozen=True, kw_only=True)
class _Comparison:
    """An arm against its reference."""

    arm: str
    reference: str
    metric: Metric
    pairs: Pairs
    sides: Mapping[str, Part]
    """Trials that are not in the figures, by arm."""

    void: str
    """Reason why there is no evidence; empty where there is."""
    uncertainty: str
    """Reason why the figures show nothing; empty where they may."""


@once
def _compare(session: CaseSession) -> tuple[_Comparison, ...]:
    """Hold each arm against its reference."""
    metric = find_primary_metric(session)
    if metric is None or not metric.better:
        return ()
    return tuple(
        _Comparison(
            arm=arm,
            reference=reference,
            metric=metric,
            pairs=session.pair_arms(arm, reference, metric),
            sides={side: count_missing(session, side, metric) for side in (arm, reference)},
            void=session.explain_exclusion(arm, reference),
            uncertainty=explain_doubts(
                {side: (session, side) for side in (arm, reference)}, metric
            ),
        )
        for arm, reference in session.references.items()
    )


@once
def _compute_levels(session: CaseSession) -> dict[str, float]:
    """Return the level of the hypothesis on each arm."""
    return compute_holm_levels(
        {
            comparison.arm: comparison.pairs.compute_p(
                holds=not comparison.void and not comparison.uncertainty
            )
            for comparison in _compare(session)
        }
    )


def find_verdicts(session: CaseSession) -> dict[str, str]:
    """Return the verdict on each arm in a word or two, by the arm."""
    return {comparison.arm: _find_verdict(session, comparison) for comparison in _compare(session)}


def answer_cases(session: CaseSession) -> Iterator[Answer]:
    """Answer for each arm whether it is better than its reference."""
    comparisons = _compare(session)
    for comparison in comparisons:
        yield _make_answer(session, comparison)
    for reference in dict.fromkeys(session.references.values()) if comparisons else ():
        caveats = _list_caveats(session, reference)
        if caveats and reference not in session.references:
            yield Answer(subject=reference, claim=IS_REFERENCE, caveats=caveats)


def _make_answer(session: CaseSession, comparison: _Comparison) -> Answer:
    verdict = _find_verdict(session, comparison)
    has_several = len(set(session.references.values())) > 1
    answer = Answer(
        subject=f"{comparison.arm} against {comparison.reference}"
        if has_several
        else comparison.arm,
        claim=_CLAIMS[verdict],
        tone=_TONES.get(verdict),
        caveats=_list_caveats(session, comparison.arm),
    )
    if verdict == _NONE:
        return add_reasons(answer, [*_list_reasons(comparison), describe_omitted(comparison.sides)])
    contrast = _make_contrast(session, comparison)
    but = "but lost trials could change that" if comparison.uncertainty else ""
    return replace(
        add_comparison(answer, comparison.reference, contrast, but),
        next=_advise_next(session, comparison, contrast),
        evidence=" ".join(_write_evidence(session, comparison, contrast)),
        is_settled=verdict != "inconclusive",
    )


def _list_caveats(session: CaseSession, arm: str) -> tuple[str, ...]:
    return tuple(caveat.qualification for caveat in session.caveats(arm) if not caveat.is_void)


def _find_verdict(session: CaseSession, comparison: _Comparison) -> str:
    """Return the verdict on an arm in a word or two."""
    if comparison.void or not comparison.pairs.suffice or _has_only_zeros(comparison):
        return _NONE
    if comparison.uncertainty:
        return "inconclusive"
    assert comparison.metric.better
    return {**_EITHER, **_SHOWS[comparison.metric.better]}[
        _make_contrast(session, comparison).change
    ]


def _make_contrast(session: CaseSession, comparison: _Comparison) -> Contrast:
    margin, level = session.experiment.margin, _compute_levels(session)[comparison.arm]
    return make_contrast(comparison.metric, comparison.pairs, margin, level)


def _advise_next(session: CaseSession, comparison: _Comparison, contrast: Contrast) -> Step | None:
    """Advise what gives what is missing."""
    if comparison.uncertainty:
        return session.advise_missing()
    return session.advise_more_cases(
        count_more_cases(contrast) if contrast.change is Change.UNCLEAR else None
    )


def _write_evidence(
    session: CaseSession, comparison: _Comparison, contrast: Contrast
) -> Iterator[str]:
    """Say what a verdict rests on."""
    arms, effect = len(_compare(session)), comparison.pairs.effect
    runs = max(map(session.experiment.count_runs, (comparison.arm, comparison.reference)))
    yield from describe_basis(
        contrast, arms, runs, comparison.uncertainty or describe_omitted(comparison.sides)
    )
    yield from _describe_unpaired(comparison)
    if comparison.uncertainty:
        return
    if contrast.change is Change.SAME and _is_beyond_noise(effect, contrast.level):
        yield "It differs beyond noise, by less than the margin."
    if contrast.change is Change.UNCLEAR:
        yield from describe_detectable(contrast)
    if _find_verdict(session, comparison) != "better":
        yield from _describe_other_gain(session, comparison)


def _describe_other_gain(session: CaseSession, comparison: _Comparison) -> Iterator[str]:
    """Say what an arm gains beyond noise in the part of the data that it was made from."""
    metric = session.metrics.get(comparison.metric.made_from)
    pairs = metric and session.pair_arms(comparison.arm, comparison.reference, metric)
    if not metric or not metric.better or not pairs or not pairs.suffice:
        return
    contrast = make_contrast(metric, pairs, 0.0)
    if {**_EITHER, **_SHOWS[metric.better]}[contrast.change] == "better":
        if _has_gain(session, comparison):
            yield (
                f"It gains in the cases that it was made from, too. {describe_decision(contrast)} "
                f"Of the others there are too few to tell."
            )
        else:
            yield (
                "What it gains in the cases that it was made from, the others do not show. "
                f"{describe_decision(contrast)}"
            )


def _has_gain(session: CaseSession, comparison: _Comparison) -> bool:
    """Tell whether an arm gains more than the margin, beyond noise or not."""
    metric, margin = comparison.metric, session.experiment.margin
    if not comparison.pairs.cases:
        return False
    sign = 1 if metric.better is Better.HIGHER else -1
    least = log1p(margin) if metric.relative else margin
    return sign * comparison.pairs.effect.estimate > least


def _has_only_zeros(comparison: _Comparison) -> bool:
    """Tell whether neither arm can do anything of what is asked: that says nothing of either."""
    metric, pairs = comparison.metric, comparison.pairs
    worst = metric.is_share and metric.better is Better.HIGHER and not metric.relative
    return worst and not any(pairs.arm_values.values()) and not any(pairs.reference_values.values())


def _describe_unpaired(comparison: _Comparison) -> Iterator[str]:
    """Count and name the cases that are not compared: the arm may have failed in them."""
    absent = (*comparison.pairs.unpaired, *comparison.pairs.zeros)
    if absent:
        verb = "has" if len(absent) == 1 else "have"
        yield (
            f"{quantify(len(absent), 'case')} {verb} no {_name_figure(comparison.metric)} in one "
            f"of the two arms ({list_few(absent)})."
        )


def _list_reasons(comparison: _Comparison) -> list[str]:
    """Say in clauses why there is no verdict, the gravest first."""
    pairs = comparison.pairs
    if comparison.void:
        return comparison.void.split("; ")
    if not pairs.suffice:
        return [explain_too_few_compared(pairs.total_cases, len(pairs.cases), "case")]
    return [f"no case has {_name_figure(comparison.metric)} above 0 in either arm"]


def _name_figure(metric: Metric) -> str:
    title = lowercase(metric.title)
    return f"{title} above 0" if metric.relative else title


def _is_beyond_noise(effect: Effect, level: float) -> bool:
    bounds = effect.interval(1 - level)
    return bounds is not None and not bounds[0] <= 0 <= bounds[1]
