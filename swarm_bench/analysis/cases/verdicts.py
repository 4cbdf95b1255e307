"""The verdict on each arm of a benchmark of cases, against the first one, in one sentence."""

from collections.abc import Iterator, Mapping

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.frame import by_case, frame
from swarm_bench.analysis.statistics.changes import Wanted, percent, percent_range, settling
from swarm_bench.analysis.statistics.effects import Effect, holm_levels
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.pairing import LEAST_PAIRED, Pairs, paired
from swarm_bench.analysis.statistics.rule import Cost, cost_shown
from swarm_bench.analysis.wording import amount, listed, lowered
from swarm_bench.core.metric import Better, Metric
from swarm_bench.core.report.document import Span, Text

_MARGIN = 0.1
"""A change below it is of no importance."""
_BEGINS: Mapping[Better, Mapping[Cost, str]] = {
    Better.LOWER: {Cost.LOWER: "better", Cost.HIGHER: "worse"},
    Better.HIGHER: {Cost.LOWER: "worse", Cost.HIGHER: "better"},
}


def case_verdicts(session: CaseSession) -> Iterator[Text]:
    """Say of each arm whether it is better than the first one, by the first metric that the
    benchmark compares; nothing where it has none with a better side."""
    _, *others = session.experiment.arms
    metric = next((it for it in session.metrics if it.compared and it.better), None)
    if metric is None:
        return
    pairs = {arm: _pairs(session, arm, metric) for arm in others}
    effects = {arm: _effect(each) for arm, each in pairs.items()}
    tests = {arm: effect.t_p if effect else None for arm, effect in effects.items()}
    levels = holm_levels({arm: 1.0 if p is None else p for arm, p in tests.items()})
    for arm, effect in effects.items():
        if effect is None:
            sentence = _too_few(pairs[arm], metric)
        else:
            sentence = _sentence(session, effect, metric, levels.get(arm, ALPHA))
            sentence = " ".join([sentence, *_unpaired(pairs[arm], metric)])
        yield Span(text=arm, strong=True), f": {sentence}"


def _pairs(session: CaseSession, arm: str, metric: Metric) -> Pairs:
    own, reference = (
        by_case(frame(session.compared(side), metric)) for side in (arm, session.experiment.arms[0])
    )
    cases = [case.id for case in session.experiment.cases]
    return paired(own, reference, cases, relative=True)


def _effect(pairs: Pairs) -> Effect | None:
    return Effect(differences=tuple(pairs.differences)) if pairs.suffice else None


def _unpaired(pairs: Pairs, metric: Metric) -> Iterator[str]:
    """Count and name the cases that are not compared: the arm may have failed in them."""
    omitted = (*pairs.unpaired, *pairs.zeros)
    if omitted:
        verb = "has" if len(omitted) == 1 else "have"
        yield (
            f"{amount(len(omitted), 'case')} {verb} no {lowered(metric.title)} above 0 in one of "
            f"the two arms ({listed(omitted)})."
        )


def _too_few(pairs: Pairs, metric: Metric) -> str:
    there = len(pairs.cases) + len(pairs.unpaired) + len(pairs.zeros)
    return (
        f"no verdict: {len(pairs.cases)} of {amount(there, 'case')} have {lowered(metric.title)} "
        f"above 0 in both arms, and a verdict needs {LEAST_PAIRED * 100:.0f} %."
    )


def _sentence(session: CaseSession, effect: Effect, metric: Metric, level: float) -> str:
    assert metric.better
    shown = cost_shown(effect, _MARGIN, level)
    otherwise = "equivalent" if shown is Cost.SAME else "inconclusive"
    begins = _BEGINS[metric.better].get(shown, otherwise)
    bounds = effect.interval(1 - level)
    interval = f" (95 % interval {percent_range(bounds, 'less', 'more')})" if bounds else ""
    change = percent(effect.estimate, "less", "more")
    size = f"{amount(effect.cases, 'case')} × {amount(session.experiment.runs, 'run')}"
    more = settling(effect, Wanted(size=_MARGIN, level=level, what="a difference", cases="cases"))
    settled = more if shown is Cost.UNCLEAR else ()
    return " ".join([f"{begins}: {change} {lowered(metric.title)}{interval}; {size}.", *settled])
