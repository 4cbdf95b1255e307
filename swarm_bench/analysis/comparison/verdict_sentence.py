"""The verdict on a mode, in one sentence."""

import math
from collections.abc import Iterator, Mapping

from swarm_bench.analysis.caveats.barred import barred_by
from swarm_bench.analysis.caveats.censoring import CONTINUE, SHOWN, hidden, may_continue, unproved
from swarm_bench.analysis.caveats.void import no_evidence
from swarm_bench.analysis.comparison.pairs import Compared
from swarm_bench.analysis.comparison.placebos import matches
from swarm_bench.analysis.comparison.quality import about_unjudged, about_unpaired
from swarm_bench.analysis.comparison.verdicts import Conclusion, conclusion, unknown_metric
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.changes import (
    Wanted,
    evidence,
    percent,
    percent_range,
    settling,
)
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.pairing import LEAST_PAIRED
from swarm_bench.analysis.statistics.rule import OPEN, Change, Quality, Verdict, quality_shown
from swarm_bench.analysis.wording import amount, lowered
from swarm_bench.core.metric import Metric, Style
from swarm_bench.core.report.document import Tone
from swarm_bench.core.session.experiment import Experiment

_BEGINS = {
    Verdict.HELPS: "helps",
    Verdict.HURTS: "hurts",
    Verdict.EQUIVALENT: "is equivalent",
    Verdict.TRADE_OFF: "is a trade-off",
    Verdict.CHEAPER: "spends less, but equal quality is not shown",
    Verdict.DEARER: "spends more, and better quality is not shown",
    Verdict.INCONCLUSIVE: "is inconclusive",
}
_BY_RULES = {
    **_BEGINS,
    Verdict.HELPS: "finds more",
    Verdict.HURTS: "finds less",
    Verdict.EQUIVALENT: "finds as much",
}
_WITHOUT_KEYS = {
    **_BEGINS,
    Verdict.HELPS: "spends less, correctness not measured",
    Verdict.CHEAPER: "spends less, correctness not measured",
    Verdict.DEARER: "spends more, correctness not measured",
    Verdict.EQUIVALENT: "spends as much, correctness not measured",
}
"""An agent that gives up at once spends little and succeeds, as far as that can be seen."""
_TONES = {Verdict.HURTS: Tone.BAD, Verdict.INCONCLUSIVE: Tone.OPEN}
_GAINS = frozenset({Verdict.HELPS, Verdict.CHEAPER})
_NO_LOSS = _GAINS | {Verdict.EQUIVALENT, Verdict.TRADE_OFF}
"""What is claimed by evidence alone. A loss stays one without: having a tool costs tokens."""
NO_GAIN = "has no gain"
_COUNTED = frozenset({"tokens", "turns", "requests", "lines", "calls"})
"""Units of which there are fewer, and not less."""


def verdict_sentence(selection: Selection, mode: str) -> str:
    """Say what the rule makes of a mode, in words that follow its name; empty for one that is no
    hypothesis."""
    experiment = selection.data.experiment
    if unknown := unknown_metric(selection):
        return f"has no verdict, since this version has no metric {unknown}."
    reached = conclusion(selection, mode)
    if reached is None or experiment is None:
        return ""
    cost, quality = reached.cost, reached.quality
    primary = cost or quality
    if not primary.pairs.suffice:
        return _too_few(primary)
    begins = _without_merit(selection, mode, reached) or _begins(reached)[reached.verdict]
    parts = [_change(cost, reached), _quality(quality, _shown(reached, experiment))] if cost else []
    parts = parts or [_quality(quality)]
    there = len(experiment.tasks) if experiment.tasks_asked < len(experiment.tasks) else 0
    size = evidence(primary.pairs.effect, "task", experiment.runs, there)
    more = [
        *_void(selection, mode, begins),
        *about_unpaired(primary),
        *(about_unjudged(selection, mode, cost, quality) if cost else ()),
        *_idle(reached, experiment.quality_margin),
        *_partly_judged(reached),
        *_withheld(selection, mode, reached),
        *(() if begins == NO_GAIN else _settling(reached, experiment)),
    ]
    return " ".join([f"{begins}: {', '.join(parts)}; {size}.", *more])


def verdict_tone(selection: Selection, mode: str) -> Tone | None:
    """Tell how a reader would like the verdict on a mode; `None` for one without, and where its
    correctness was not measured."""
    reached = conclusion(selection, mode)
    if reached is None or not (reached.cost or reached.quality).pairs.suffice:
        return None
    if merit := _without_merit(selection, mode, reached):
        return Tone.BAD if merit == _BEGINS[Verdict.HURTS] else Tone.OPEN
    if reached.verdict is Verdict.HELPS:
        return Tone.GOOD if reached.quality.metric.keyed else None
    return _TONES.get(reached.verdict)


def standing_verdict(selection: Selection, mode: str) -> Verdict | None:
    """Return the verdict with which nothing more need be run for the mode; `None` without one."""
    reached = conclusion(selection, mode)
    sides = (selection.modes[0], mode)
    if reached is None or any(barred_by(selection, side) for side in sides):
        return None
    if merit := _without_merit(selection, mode, reached):
        return Verdict.HURTS if merit == _BEGINS[Verdict.HURTS] else None
    return None if reached.verdict in OPEN else reached.verdict


def _withheld(selection: Selection, mode: str, reached: Conclusion) -> Iterator[str]:
    """Say why a verdict is without what the figures show."""
    if reached.doubt:
        again = (
            f"; {CONTINUE}, and those that were not run" if may_continue(selection, mode) else ""
        )
        yield f"{reached.doubt}{again}."
    elif reached.hidden:
        yield hidden(selection, mode)
    else:
        yield from _over_swarms(reached)
        yield from _alone(reached)
        if reached.unproved:
            yield unproved(selection, mode)


def _without_merit(selection: Selection, mode: str, reached: Conclusion) -> str:
    """Say why a gain is none of the tool; empty where it may be, and where there is none. Of a
    trade-off the loss is left."""
    if reached.verdict in _NO_LOSS and no_evidence(selection, mode, selection.modes[0]):
        return _BEGINS[Verdict.HURTS] if reached.verdict is Verdict.TRADE_OFF else NO_GAIN
    placebo = reached.verdict in _GAINS and matches(selection, mode)
    return "is no better than its placebo" if placebo else ""


def _void(selection: Selection, mode: str, begins: str) -> Iterator[str]:
    """Say why there is no gain that could be the tool's."""
    why = no_evidence(selection, mode, selection.modes[0])
    if begins == NO_GAIN:
        yield f"No evidence: {why}."
    elif why and begins == _BEGINS[Verdict.HURTS]:
        yield f"There is no evidence of any gain: {why}."


def _begins(reached: Conclusion) -> Mapping[Verdict, str]:
    if reached.cost is None:
        return _BY_RULES
    return _BEGINS if reached.quality.metric.keyed else _WITHOUT_KEYS


def _too_few(primary: Compared) -> str:
    """Say that too few tasks have the figure on both sides."""
    pairs, title = primary.pairs, lowered(primary.metric.title)
    asked = amount(pairs.asked, "task")
    return (
        f"has no verdict: {len(pairs.cases)} of {asked} have {title} in both modes, "
        f"and a verdict needs {LEAST_PAIRED * 100:.0f} %."
    )


def _change(cost: Compared, reached: Conclusion) -> str:
    """Say `31 % fewer effective tokens per task (95 % interval 18 to 42 % fewer; typically 12,300
    → 8,490)`."""
    title, effect = lowered(cost.metric.title), cost.effect
    if effect is None:
        return f"{title} not compared"
    if not any(effect.differences):
        return f"the same {title} in every task"
    less, more = ("fewer", "more") if cost.metric.unit in _COUNTED else ("less", "more")
    typical = map(math.exp, (cost.pairs.reference_mean, cost.pairs.own_mean))
    bounds = effect.interval(1 - reached.level)
    adjusted = f", adjusted for {reached.hypotheses} modes," if reached.level < ALPHA else ""
    interval = f"95 % interval{adjusted} {percent_range(bounds, less, more)}; " if bounds else ""
    absolute = " → ".join(_typical(value, cost.metric) for value in typical)
    change = percent(effect.estimate, less, more)
    if change.startswith("0 %"):
        change = "as many" if less == "fewer" else "as much"
    return f"{change} {title} per task ({interval}typically {absolute})"


def _typical(value: float, metric: Metric) -> str:
    """Write an absolute value with its unit; one with many digits without a power of ten."""
    if metric.style in (Style.DOLLARS, Style.CENTS):
        return f"${value:,.2f}" if value >= 0.1 else f"${value:.2g}"
    text = f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
    return f"{text} s" if metric.style is Style.SECONDS else text


def _quality(quality: Compared, shown: str = "") -> str:
    """Say `recall (files) 0.71 against 0.69 (not worse; difference -0.02 to +0.06)`."""
    title, pairs = lowered(quality.metric.title), quality.pairs
    if not pairs.cases:
        return f"{title} not measured"
    means = f"{pairs.own_mean:.2f} against {pairs.reference_mean:.2f}"
    if not pairs.suffice:
        return f"{title} {means} ({shown}in {len(pairs.cases)} of {amount(pairs.asked, 'task')})"
    bounds = quality.effect and quality.effect.interval()
    interval = f"{bounds[0]:+.2f} to {bounds[1]:+.2f}" if bounds else "without an interval"
    return f"{title} {means} ({shown}difference {interval})"


def _shown(reached: Conclusion, experiment: Experiment) -> str:
    """Say what the difference in quality shows; by which bound where the interval beside it, which
    has two sides, does not."""
    if reached.unsure or reached.unproved:
        return f"{Quality.NOT_SHOWN}; "
    effect = reached.quality.effect
    bounds, margin = effect and effect.interval(), experiment.quality_margin
    if reached.idle and (shows := quality_shown(effect, margin)) is not reached.shown:
        return f"{shows}, which shows nothing here; "
    if reached.shown is Quality.NOT_WORSE and effect and bounds and bounds[0] <= -margin:
        low, _ = effect.interval(1 - 2 * ALPHA) or bounds
        return f"{reached.shown}, by the one-sided bound {low:+.3f}; "
    return f"{reached.shown}; "


def _idle(reached: Conclusion, margin: float) -> Iterator[str]:
    """Say why a quality that is not worse, or better, shows nothing."""
    if not reached.idle:
        return
    title, pairs = reached.quality.metric.title, reached.quality.pairs
    if not any([*pairs.own.values(), *pairs.reference.values()]):
        yield f"{title} is 0 in both modes, so equality shows nothing."
    elif pairs.reference_mean <= margin and pairs.own_mean <= pairs.reference_mean + margin:
        yield (
            f"{title} of the reference is within --quality-margin of 0, so whoever finds nothing "
            "would not be worse."
        )
    else:
        yield (
            "A constant list of what several tasks ask for has nearly as much or more "
            f"{lowered(title)}, so this shows nothing."
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


def _settling(reached: Conclusion, experiment: Experiment) -> Iterator[str]:
    """Say what could have been detected of what is unclear, and what would settle it."""
    if reached.verdict not in OPEN or reached.doubt or reached.withheld or reached.unproved:
        return
    cost, quality = reached.cost, reached.quality
    if cost and reached.spends is Change.UNCLEAR:
        if cost.effect:
            wanted = Wanted(size=experiment.margin, level=reached.level, cases=_units(cost))
            yield from settling(cost.effect, wanted)
    elif quality.effect and not reached.idle:
        level = 2 * ALPHA if cost else reached.level  # "not worse" is by a one-sided bound
        title = lowered(quality.metric.title)
        size = experiment.quality_margin
        wanted = Wanted(size=size, relative=False, level=level, what=title, cases=_units(quality))
        yield from settling(quality.effect, wanted)


def _units(compared: Compared) -> str:
    return "groups" if compared.pairs.groups else "tasks"
