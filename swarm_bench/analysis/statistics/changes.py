"""Changes and their size, in words."""

import math
from collections.abc import Iterator

from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.formulas import cases_for, detectable_in
from swarm_bench.analysis.statistics.rule import FEWEST, equal_cases_for

_MOST_CASES = 1000


def percent_range(bounds: tuple[float, float], less: str, more: str) -> str:
    """Write `18 to 42 % fewer`, the smaller change first, or `3 % fewer to 5 % more`."""
    low, high = (percent(bound, less, more) for bound in bounds)
    (first, side), (last, other) = low.rsplit(" ", 1), high.rsplit(" ", 1)
    if side == other:
        first, last = (last, first) if side == less else (first, last)
        return f"{first.removesuffix(' %')} to {last} {side}"
    return f"{low} to {high}"


def percent(log: float, less: str, more: str) -> str:
    """Write a change of a logarithm: `31 % fewer`."""
    change = math.expm1(log)
    return f"{abs(change) * 100:.0f} % {less if change < 0 else more}"


def settling(
    effect: Effect, margin: float, *, relative: bool, cases: str = "tasks"
) -> Iterator[str]:
    """Say what could have been detected where nothing was shown, and how many cases would settle
    it."""
    if effect.cases < FEWEST:
        yield f"With fewer than {FEWEST} {cases} nothing can be shown."
    elif not relative and not any(effect.differences):
        yield (
            f"All {cases} were equal, and it takes {equal_cases_for(margin)} of them to show that "
            "others are."
        )
    wanted = -math.log1p(-margin) if relative else margin
    if smallest := detectable_in(effect.differences):
        needed = cases_for(wanted, effect.differences, _MOST_CASES)
        number = f"about {needed}" if needed else f"more than {_MOST_CASES:,}"
        yield (
            f"Less than {_size(smallest, relative)} could hardly be seen here; to see "
            f"{_size(wanted, relative)} takes {number} {cases}."
        )


def _size(difference: float, relative: bool) -> str:
    """Write a difference, one of logarithms as what is saved."""
    return f"{-math.expm1(-difference) * 100:.0f} %" if relative else f"{difference:.2f}"
