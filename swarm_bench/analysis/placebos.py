"""What a negative control says: of itself, and of the mode that it controls."""

from collections.abc import Iterator

from swarm_bench.analysis.metrics import of_headline
from swarm_bench.analysis.ratios import ratio
from swarm_bench.analysis.treated import Treated

OF_A_PLACEBO = "a negative control: irrelevant answers"
_NO_PRICE = frozenset({"result_lines"})
"""Less of it is no gain."""


def as_good(treated: Treated, placebo: Treated) -> Iterator[str]:
    """Where the placebo of a mode saved as much as the mode itself, or more."""
    metrics = list(_metrics(treated, placebo))
    if metrics:
        yield (
            f"a placebo, whose answers were irrelevant, did as well or better: {', '.join(metrics)}"
        )


def _metrics(treated: Treated, placebo: Treated) -> Iterator[str]:
    """The metrics in which it did, with both ratios."""
    reference = Treated(treated.selection, treated.selection.modes[0])
    if reference.mode == treated.mode:
        return
    for metric in of_headline(treated.selection):
        own = ratio(treated.compared, reference.compared, metric.key)
        other = ratio(placebo.compared, reference.compared, metric.key)
        if metric.key not in _NO_PRICE and own and other and other.median <= own.median:
            yield f"{metric.title} {_times(other.median)} against {_times(own.median)}"


def _times(value: float) -> str:
    return f"{value:.2f}×" if value >= 0.1 else f"{value:.2g}×"
