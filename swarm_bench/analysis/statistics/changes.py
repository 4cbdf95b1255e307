"""Changes and their size, in words."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.formulas import (
    ALPHA,
    detectable,
    fewest_cases,
)
from swarm_bench.analysis.statistics.looks import fewest_at_every_look
from swarm_bench.analysis.statistics.rule import FEWEST, cases_for, few_differ
from swarm_bench.analysis.wording import amount, joined
from swarm_bench.core.session.beforehand import Sealed

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


def worth(effect: Effect) -> str:
    """Write `, worth 12`: how many independent cases of the same weight those are worth that there
    are; empty where that is all of them."""
    return _worth(effect, effect.cases)


def _worth(effect: Effect, there: int) -> str:
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


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a comparison should show, for which it has too few cases."""

    size: float
    """Of the difference: a share of what is spent, or an absolute difference of a score."""
    relative: bool = True
    level: float = ALPHA
    """Of the two-sided t test; twice that of a one-sided bound."""
    what: str = "a saving"
    """What would be detected, and of a score its name."""
    cases: str = "tasks"


def settling(effect: Effect, wanted: Wanted) -> Iterator[str]:
    """Say what could have been detected where nothing was shown, and how many cases would settle
    it."""
    cases = wanted.cases
    if few := too_few(effect, cases):
        yield f"With {few} nothing can be shown."
    elif not wanted.relative and few_differ(effect, wanted.size, both=wanted.level <= ALPHA):
        yield _few_differ(effect, wanted)
    elif sd := (effect.standard_error or 0.0) * math.sqrt(effect.independent):
        yield _detectable(effect, wanted, sd)


def _few_differ(effect: Effect, wanted: Wanted) -> str:
    below, above = effect.differing
    less = _worth(effect, effect.units)
    there = f"{effect.units} {wanted.cases}{less}{',' * bool(less)}"
    if not below + above:
        needed = cases_for(0, wanted.size, at_every_look=effect.at_every_look)
        return (
            f"All {there} were equal in {wanted.what}, too few to show that others would be: it "
            f"takes at least {needed}."
        )
    differ = 2 * FEWEST if effect.at_every_look else FEWEST
    losses = max(below, above) if wanted.level <= ALPHA else below
    needed = cases_for(losses, wanted.size, at_every_look=effect.at_every_look)
    return (
        f"{below + above} of {there} differ in {wanted.what}, too few for an interval to be relied "
        f"on: it takes {differ} that differ, or {needed} in all with no more losses."
    )


def _detectable(effect: Effect, wanted: Wanted, sd: float) -> str:
    if effect.at_every_look:
        return _at_every_look(wanted, sd)
    smallest = detectable(sd, effect.independent, ALPHA if wanted.level > ALPHA else wanted.level)
    size = -math.log1p(-wanted.size) if wanted.relative else wanted.size
    needed = fewest_cases(size, sd, _MOST_CASES, wanted.level)
    number = f"about {max(needed, FEWEST)}" if needed else f"more than {_MOST_CASES:,}"
    what = wanted.what if wanted.relative else f"a difference in {wanted.what}"
    return (
        f"This session could detect {what} of {_size(smallest or 0.0, wanted.relative)} or "
        f"more (with a chance of 80 %); {_goal(wanted, size)} takes {number} {wanted.cases}."
    )


def _at_every_look(wanted: Wanted, sd: float) -> str:
    """Say with how many cases the interval reaches as far as what is wanted."""
    size = -math.log1p(-wanted.size) if wanted.relative else wanted.size
    needed = fewest_at_every_look(size, sd, _MOST_CASES, wanted.level)
    number = f"about {max(needed, FEWEST)}" if needed else f"more than {_MOST_CASES:,}"
    what = wanted.what if wanted.relative else f"a difference in {wanted.what}"
    return (
        f"The verdict does not stand yet: with such differences it takes {number} {wanted.cases} "
        f"in all to show {what} of {_size(size, wanted.relative)}."
    )


def _goal(wanted: Wanted, size: float) -> str:
    if wanted.level > ALPHA:
        return f"showing that it is not worse by {wanted.size:.2f}"
    return f"detecting {_size(size, wanted.relative)}"


def _size(difference: float, relative: bool) -> str:
    """Write a difference, one of logarithms as what is saved."""
    return f"{-math.expm1(-difference) * 100:.0f} %" if relative else f"{difference:.2f}"
