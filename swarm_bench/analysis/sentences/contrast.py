"""What an arm came to by one metric, beside its reference, in words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from swarm_bench.analysis.documents.blocks import choose_scale
from swarm_bench.analysis.statistics.changes import (
    format_percent,
    format_percent_range,
    format_worth_of,
)
from swarm_bench.analysis.statistics.effects import Effect, compute_change, exponentiate
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.pairing import Pairs
from swarm_bench.analysis.statistics.verdict_rule import (
    EQUIVALENCE,
    FEWEST,
    Change,
    classify_ratio,
    classify_score,
    is_too_few,
)
from swarm_bench.analysis.wording import lowercase, quantify
from swarm_bench.core.metric import Metric, Style
from swarm_bench.core.report.document import ShownEffect, Value

BEYOND_CHANCE = "beyond chance"
BASELINE = "baseline"
"""A name that is an ordinary word, too."""
_COUNTABLE_UNITS = frozenset({"tokens", "turns", "requests", "lines", "calls"})
"""Units of which there are fewer, and not less."""
_MONEY = (Style.DOLLARS, Style.CENTS)
_TIME = (Style.SECONDS, Style.MILLISECONDS)
_MAX_DIGITS = 2


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """One metric of an arm and of its reference, and what the two show."""

    metric: Metric
    pairs: Pairs
    """Pairs of cases; at least one is compared."""
    change: Change
    margin: float
    """A share of what is spent, or an absolute difference of a score."""
    level: float = ALPHA
    """Significance level of its hypothesis, among those of all arms."""
    one_sided: bool = False
    """Whether the question is only if it is worse: the cost is the other one."""
    case: str = "task"

    @property
    def effect(self) -> Effect:
        return self.pairs.effect

    @property
    def is_few(self) -> bool:
        """Whether nothing is shown, as so few cases differ that no interval can be made of them."""
        count_gains, is_open = not self.one_sided, self.change is Change.UNCLEAR
        absolute = not self.metric.relative
        return (
            is_open and absolute and is_too_few(self.effect, self.margin, count_gains=count_gains)
        )

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The interval that decided, within what is possible; `None` where there is none."""
        is_same = self.change is Change.SAME
        bounds = self.effect.interval(EQUIVALENCE if is_same else 1 - self.level)
        max_value = math.inf if self.metric.relative else self.metric.most(self.effect.units)
        return bounds and (max(bounds[0], -max_value), min(bounds[1], max_value))

    @property
    def figures(self) -> tuple[float, float]:
        """What is typical of a case: of the arm, and of its reference."""
        means = self.pairs.arm_mean, self.pairs.reference_mean
        return (math.exp(means[0]), math.exp(means[1])) if self.metric.relative else means


def make_contrast(
    metric: Metric, pairs: Pairs, margin: float, level: float = ALPHA, case: str = "case"
) -> Contrast:
    """Contrast two arms by what the pairs show of a metric."""
    classify = classify_ratio if metric.relative else classify_score
    return Contrast(
        metric=metric,
        pairs=pairs,
        change=classify(pairs.effect, margin, level),
        margin=margin,
        level=level,
        case=case,
    )


def make_effect(contrast: Contrast) -> ShownEffect:
    """Make the picture of what a contrast shows."""
    metric, bounds = contrast.metric, None if contrast.is_few else contrast.bounds
    write = exponentiate if metric.relative else float
    low, high = (None, None) if bounds is None else map(write, bounds)
    value = Value(
        scale=choose_scale(metric), value=write(contrast.effect.estimate), low=low, high=high
    )
    return ShownEffect(
        metric=metric.title,
        value=value,
        margin=contrast.margin,
        better=metric.better,
        margin_label="too small to matter" if contrast.margin else "no difference",
        cases=quantify(contrast.effect.cases, contrast.case),
    )


def describe_sides(contrast: Contrast, reference: str) -> str:
    """Say `found 39 % of the files, baseline 25 %`."""
    arm_figure, reference_figure = _format_figures(contrast.metric, contrast.figures)
    the = "the " if reference == BASELINE else ""
    return (
        f"{_describe_result(contrast.metric, arm_figure, contrast.case)}, {the}{reference} "
        f"{reference_figure}"
    )


def describe_figure(metric: Metric, figure: float, case: str = "case") -> str:
    """Say `found 39 % of the files`, of an arm alone."""
    return _describe_result(metric, _format_figures(metric, [figure])[0], case)


def describe_sureness(contrast: Contrast) -> str:
    """Say how sure it is, with the range of the difference: `3 to 30 points higher, beyond
    chance`."""
    effect, shown_change = contrast.effect, contrast.change
    cases = quantify(effect.units, name_unit(contrast))
    differ = sum(effect.differing)
    if not differ:
        sure = "surely equal" if shown_change is Change.SAME else "too few to tell"
        return f"same in {'all ' * (effect.units > 1)}{cases}, {sure}"
    if effect.independent_cases < FEWEST:
        worth_text = format_worth_of(effect, effect.units) if effect.units >= FEWEST else ""
        return f"{cases}{worth_text}, too few to tell"
    if shown_change is Change.SAME:
        return _describe_margin(contrast)
    if contrast.is_few:
        verb = "differs" if differ == 1 else "differ"
        return f"only {differ} of {cases} {verb}, too few to tell"
    bounds = contrast.bounds
    if bounds is None:
        return "too early to tell"
    if bounds[0] == bounds[1] and shown_change is not Change.UNCLEAR:
        return f"{describe_change(contrast)} in every {name_unit(contrast)}, {BEYOND_CHANCE}"
    return f"{describe_span(contrast, bounds)}, {_describe_certainty(contrast, bounds)}"


def _describe_margin(contrast: Contrast) -> str:
    """Say that no difference matters; where only a loss is excluded, how large it may be."""
    if not contrast.one_sided or contrast.bounds is None:
        return f"surely less than {_format_margin(contrast)} apart"
    low = contrast.bounds[0]
    return (
        f"surely "
        f"{f'at most {format_points(contrast.metric, -low)} lower' if low < 0 else 'no lower'}"
    )


def name_unit(contrast: Contrast) -> str:
    """Return what is counted as independent."""
    return "group" if contrast.effect.groups else contrast.case


def _describe_certainty(contrast: Contrast, bounds: tuple[float, float]) -> str:
    if contrast.change is not Change.UNCLEAR:
        return BEYOND_CHANCE
    if bounds[0] <= 0 <= bounds[1]:
        return "may be chance"
    return "unconfirmed by a second test"


def describe_span(contrast: Contrast, bounds: tuple[float, float]) -> str:
    """Say `18 to 42 % fewer`, or `3 points lower to 30 higher`."""
    if contrast.metric.relative:
        return format_percent_range(bounds, *choose_comparatives(contrast.metric))
    share = contrast.metric.is_share
    factor, unit = (100, " points") if share else (1, "")
    digits = _count_digits([bound * factor for bound in bounds]) if share else None
    low, high = (_format(abs(bound) * factor, digits) for bound in bounds)
    if low == high and bounds[0] * bounds[1] > 0:  # as close as can be written
        return f"about {low}{unit} {'higher' if bounds[0] > 0 else 'lower'}"
    if bounds[1] <= 0:
        return f"{high} to {low}{unit} lower"
    if bounds[0] >= 0:
        return f"{low} to {high}{unit} higher"
    return f"{low}{unit} lower to {high} higher"


def describe_change(contrast: Contrast) -> str:
    """Say `31 % fewer`, or `14 points higher`."""
    estimate = round(contrast.effect.estimate, 9)
    is_none = (
        not round(compute_change(estimate) * 100) if contrast.metric.relative else not estimate
    )
    if is_none:
        return "no difference"
    if contrast.metric.relative:
        return format_percent(estimate, *choose_comparatives(contrast.metric))
    size = format_points(contrast.metric, abs(estimate))
    return f"{size} {'lower' if estimate < 0 else 'higher'}"


def describe_equal_spending(metric: Metric) -> str:
    """Say `used as many tokens`."""
    if metric.style in _MONEY:
        return "cost as much"
    if metric.style in _TIME:
        return "took as long"
    if metric.unit in _COUNTABLE_UNITS:
        return f"used as many {metric.unit}"
    return f"used as much {lowercase(metric.title)}"


def describe_spending(contrast: Contrast) -> str:
    """Say `used 30 % fewer tokens`."""
    metric, text = contrast.metric, describe_change(contrast)
    if metric.style in _MONEY:
        return f"cost {text}"
    if metric.style in _TIME:
        return f"took {text} time"
    noun = metric.unit if metric.unit in _COUNTABLE_UNITS else lowercase(metric.title)
    return f"used {text} {noun}"


def is_time(metric: Metric) -> bool:
    """Tell whether it is a duration."""
    return metric.style in _TIME


def choose_comparatives(metric: Metric) -> tuple[str, str]:
    """Return `fewer` and `more` for what is counted."""
    return ("fewer", "more") if metric.unit in _COUNTABLE_UNITS else ("less", "more")


def _format_margin(contrast: Contrast) -> str:
    if contrast.metric.relative:
        return f"{contrast.margin * 100:g} %"
    return format_points(contrast.metric, contrast.margin)


def format_points(metric: Metric, size: float) -> str:
    """Write a difference of a score: `10 points` of a share."""
    if not metric.is_share:
        return f"{size:.3g}"
    text = f"{size * 100:.2g}" if size < 0.1 else f"{size * 100:.0f}"
    return f"{text} point{'' if text == '1' else 's'}"


def _describe_result(metric: Metric, figure: str, case: str) -> str:
    """Say what an arm did by the metric."""
    title = lowercase(metric.title)
    if not metric.relative:
        return metric.phrase.replace("{}", figure) if metric.phrase else f"had {title} of {figure}"
    if metric.phrase:
        text = metric.phrase.replace("{}", figure)
    elif metric.style in _MONEY:
        text = f"cost {figure} ({title})"
    elif metric.style in _TIME:
        text = f"took {figure} of {title}"
    else:
        text = f"used {figure} {title}"
    if figure == "1" and metric.unit in _COUNTABLE_UNITS:
        text = text.replace(metric.unit, metric.unit.removesuffix("s"))
    return f"{text} per {case}"


def _format_figures(metric: Metric, figures: Sequence[float]) -> list[str]:
    if metric.relative:
        return [_format_typical(value, metric) for value in figures]
    if not metric.is_share:
        return [_format_large(value) for value in figures]
    digits = _count_digits([value * 100 for value in figures], base=100)
    shares = [float(_format(value, digits + 2)) for value in figures]  # rounded as in tables
    return [f"{_format(share * 100, digits)} %" for share in shares]


def _format_typical(value: float, metric: Metric) -> str:
    """Write an absolute value with its unit; one with many digits without a power of ten."""
    if metric.style in _MONEY:
        return f"${value:,.2f}" if value >= 0.1 else f"${value:.2g}"
    text = _format_large(value)
    return f"{text} s" if metric.style in _TIME else text


def _format_large(value: float) -> str:
    """Write a figure that may be large, without a power of ten."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _count_digits(values: Sequence[float], base: float = 0) -> int:
    """Return as few decimals as keep values apart from each other, from 0, and from a whole."""
    distinct = {*values, 0.0, float(base)}
    for digits in range(_MAX_DIGITS):
        if len({round(value, digits) for value in distinct}) == len(distinct):
            return digits
    return _MAX_DIGITS


def _format(value: float, digits: int | None) -> str:
    return f"{value:.3g}" if digits is None else f"{value:.{digits}f}"
