"""Changes and their size, in words."""

import math
from collections.abc import Iterator

from swarm_bench.analysis.statistics.effects import Effect, compute_change
from swarm_bench.analysis.statistics.verdict_rule import FEWEST
from swarm_bench.analysis.wording import join, quantify
from swarm_bench.core.session.preregistration import Sealed

_MAX_CASES = 1000


def format_percent_range(bounds: tuple[float, float], less_word: str, more_word: str) -> str:
    """Write `18 to 42 % fewer`, the smaller change first, or `3 % fewer to 5 % more`."""
    low, high = (format_percent(bound, less_word, more_word) for bound in bounds)
    if low == high:  # as close as can be written
        return f"about {low}"
    (first, side), (last, other_side) = low.rsplit(" ", 1), high.rsplit(" ", 1)
    if side == other_side:
        first, last = (last, first) if side == less_word else (first, last)
        return f"{first.removesuffix(' %')} to {last} {side}"
    return f"{low} to {high}"


def format_percent(log: float, less_word: str, more_word: str) -> str:
    """Write a change of a logarithm: `31 % fewer`."""
    change = compute_change(log)
    return f"{abs(change) * 100:.0f} % {less_word if change < 0 else more_word}"


def format_worth(effect: Effect) -> str:
    """Write `, worth 12`: how many independent cases of the same weight those are worth that there
    are; empty where that is all of them."""
    return format_worth_of(effect, effect.cases)


def format_worth_of(effect: Effect, total: int) -> str:
    """Write what they are worth, where it is not so many."""
    number = _round_down(effect.independent_cases)
    return "" if number == total else f", worth {number:g}"


def _round_down(number: float) -> float:
    return math.floor(10 * number + 1e-6) / 10  # never more than it is


GROUPED = "tasks that share a file, ask the same or name the same group count as one"


def explain_worth(tasks: Effect, declaration: Sealed | None) -> Iterator[str]:
    """Say why tasks are worth another number than there are; nothing where they are not.
    `declaration` is what was named beforehand."""
    less, reasons = format_worth(tasks), [GROUPED] if tasks.groups else []
    if not less:
        return
    if tasks.weights:
        reasons.append("they differ in weight")
    later = " When this session began, each task counted by itself."
    is_older = tasks.groups and (declaration is None or declaration.verdict_version is None)
    yield (
        f"{quantify(tasks.cases, 'task')}{less}: they say as much as "
        f"{quantify(_round_down(tasks.independent_cases), 'independent task')} of equal weight, "
        f"since {join(reasons)}.{later if is_older else ''}"
    )


def describe_size(effect: Effect, noun: str, runs: int, available: int = 0) -> str:
    """Write `30 tasks, worth 12, × 3 runs`, or `4 of 30 tasks × 1 run` where there are more."""
    less, cases = format_worth(effect), quantify(effect.cases, noun)
    if available > effect.cases:
        cases = f"{effect.cases} of {quantify(available, noun)}"
    return f"{cases}{less}{',' * bool(less)} × {quantify(runs, 'run')}"


def describe_too_few(effect: Effect, noun: str) -> str:
    """Write `fewer than 6 tasks`, or `8 groups, worth fewer than 6,`; empty where they are
    enough."""
    if effect.independent_cases >= FEWEST:
        return ""
    if effect.units < FEWEST:
        return f"fewer than {FEWEST} {noun}"
    return f"{effect.units} {noun}, worth fewer than {FEWEST},"
