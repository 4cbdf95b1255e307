"""Changes and their size, in words."""

import math
from collections.abc import Iterator

from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.rule import FEWEST
from swarm_bench.analysis.wording import amount, joined
from swarm_bench.core.session.beforehand import Sealed

_MOST_CASES = 1000


def percent_range(bounds: tuple[float, float], less: str, more: str) -> str:
    """Write `18 to 42 % fewer`, the smaller change first, or `3 % fewer to 5 % more`."""
    low, high = (percent(bound, less, more) for bound in bounds)
    if low == high:  # as close as can be written
        return f"about {low}"
    (first, side), (last, other) = low.rsplit(" ", 1), high.rsplit(" ", 1)
    if side == other:
        first, last = (last, first) if side == less else (first, last)
        return f"{first.removesuffix(' %')} to {last} {side}"
    return f"{low} to {high}"


def percent(log: float, less: str, more: str) -> str:
    """Write a change of a logarithm: `31 % fewer`."""
    change = math.expm1(log)
    return f"{abs(change) * 100:.0f} % {less if change < 0 else more}"


def worth(effect: Effect) -> str:
    """Write `, worth 12`: how many independent cases of the same weight those are worth that there
    are; empty where that is all of them."""
    return worth_of(effect, effect.cases)


def worth_of(effect: Effect, there: int) -> str:
    """Write what they are worth, where it is not so many."""
    number = _rounded(effect.independent)
    return "" if number == there else f", worth {number:g}"


def _rounded(number: float) -> float:
    return math.floor(10 * number + 1e-6) / 10  # never more than it is


GROUPED = "tasks that share a file, ask the same or name the same group count as one"


def about_worth(tasks: Effect, named: Sealed | None) -> Iterator[str]:
    """Say why tasks are worth another number than there are; nothing where they are not. `named` is
    what was named beforehand."""
    less, reasons = worth(tasks), [GROUPED] if tasks.groups else []
    if not less:
        return
    if tasks.weights:
        reasons.append("they differ in weight")
    later = " When this session began, each task counted by itself."
    is_older = tasks.groups and (named is None or named.verdict_version is None)
    yield (
        f"{amount(tasks.cases, 'task')}{less}: they say as much as "
        f"{amount(_rounded(tasks.independent), 'independent task')} of equal weight, since "
        f"{joined(reasons)}.{later if is_older else ''}"
    )


def evidence(effect: Effect, noun: str, runs: int, there: int = 0) -> str:
    """Write `30 tasks, worth 12, × 3 runs`, or `4 of 30 tasks × 1 run` where there are more."""
    less, cases = worth(effect), amount(effect.cases, noun)
    if there > effect.cases:
        cases = f"{effect.cases} of {amount(there, noun)}"
    return f"{cases}{less}{',' * bool(less)} × {amount(runs, 'run')}"


def too_few(effect: Effect, noun: str) -> str:
    """Write `fewer than 6 tasks`, or `8 groups, worth fewer than 6,`; empty where they are
    enough."""
    if effect.independent >= FEWEST:
        return ""
    if effect.units < FEWEST:
        return f"fewer than {FEWEST} {noun}"
    return f"{effect.units} {noun}, worth fewer than {FEWEST},"
