"""The tables of what stands behind the effects of a headline."""

from collections.abc import Iterator

from swarm_bench.analysis.documents.blocks import paragraph
from swarm_bench.core.metric import Metric, Style
from swarm_bench.core.report.details import Details, EffectDetail, YesOrNo
from swarm_bench.core.report.document import Block, Cell, Grid, Interval, Scale, Section, Value

_LEGEND = (
    "Hodges-Lehmann is the median of the averages of all pairs of tasks, a ratio or a difference, "
    "with the interval of the signed ranks; below six tasks there is none. Less, equal and more "
    "count the tasks. p is that of the test that flips the signs of the differences; it could not "
    "have been smaller than its floor. Holm's is the p of the t test, adjusted for all modes: only "
    "what the verdicts are on has one, and everything else is exploratory."
)
_YES_OR_NO = (
    "The interval of a share is Wilson's, of a mode by itself. p is the mid-p of McNemar's test "
    "against the reference."
)


def make_details_section(details: Details) -> Section:
    """Make the section that a statistician reads."""
    headers = (
        "Mode", "Metric", "Hodges-Lehmann", "95 % interval", "Less", "Equal", "More", "p", "Floor",
        "Holm's p",
    )  # fmt: skip
    rows = tuple(map(_make_effect, details.effects))
    blocks: list[Block] = [Grid(headers=headers, labels=2, rows=rows), paragraph(_LEGEND)]
    return Section(title="Effects in detail", blocks=(*blocks, *_make_yes_or_no(details)))


def _make_yes_or_no(details: Details) -> Iterator[Block]:
    if not details.yes_or_no:
        return
    headers = ("Mode", "Metric", "Share", "Tasks", "95 % interval", "p")
    rows = tuple(map(_make_share, details.yes_or_no))
    yield Grid(headers=headers, labels=2, rows=rows)
    yield paragraph(_YES_OR_NO)


def _make_effect(effect: EffectDetail) -> tuple[Cell, ...]:
    scale = _choose_scale(effect.metric)
    counts = (effect.below, effect.equal, effect.above)
    return (
        effect.mode,
        effect.metric.title,
        None if effect.middle is None else Value(scale=scale, value=effect.middle),
        effect.interval and Interval(scale=scale, low=effect.interval[0], high=effect.interval[1]),
        *(Value(scale=Style.WHOLE, value=count) for count in counts),
        *map(_make_probability, (effect.p, effect.floor, effect.adjusted)),
    )


def _make_share(share: YesOrNo) -> tuple[Cell, ...]:
    low, high = share.interval
    return (
        share.mode,
        share.metric.title,
        Value(scale=Style.PERCENT, value=share.passed / share.tasks),
        Value(scale=Style.WHOLE, value=share.tasks),
        Interval(scale=Style.PERCENT, low=low, high=high),
        _make_probability(share.p),
    )


def _make_probability(p: float | None) -> Value | None:
    return None if p is None else Value(scale=Scale.PROBABILITY, value=p)


def _choose_scale(metric: Metric) -> Scale:
    if metric.relative:
        return Scale.RATIO
    return Scale.POINTS if metric.style is Style.PERCENT else Scale.DIFFERENCE
