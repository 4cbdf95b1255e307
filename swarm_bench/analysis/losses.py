"""Trials that are not in a figure: what is in it may be the easier part. The rule is one for all
benchmarks, verdicts, limits and differences."""

from collections.abc import Mapping

from swarm_bench.analysis.wording import amount, joined

_TELLING = 0.1
"""By how much the shares of two arms have to differ: what is lost beyond that could make up a
difference of the same size."""
_FEWEST = 2
"""Trials of an arm; a single one is an accident."""
Part = tuple[int, int]
"""How many trials, and of how many."""


def differ(own: Part, other: Part) -> bool:
    """Tell whether so much more is missing of one side that it could turn a comparison."""
    (some, of_all), (others, of_others) = own, other
    if not of_all or not of_others or max(some, others) < _FEWEST:
        return False
    return round(abs(some / of_all - others / of_others), 9) >= _TELLING


def omitted(sides: Mapping[str, Part]) -> str:
    """Say `3 of 60 trials of qwen and 0 of 60 of reference are not in these figures`; empty where
    all are."""
    if not any(number for number, _ in sides.values()):
        return ""
    (first, (number, planned)), *others = sides.items()
    shares = [f"{number} of {amount(planned, 'trial')} of {first}"]
    shares += [f"{some} of {of_all} of {name}" for name, (some, of_all) in others]
    return f"{joined(shares)} {'is' if number == 1 and not others else 'are'} not in these figures"


def doubt(sides: Mapping[str, Part]) -> str:
    """Say why nothing can be concluded from a figure of two sides that omits more trials of the
    first or the second one, or from that of a single side; empty where it can."""
    own, *others = sides.values()
    if not differ(own, others[0] if others else (0, 1)):
        return ""
    if others:
        return f"{omitted(sides)}, so one of the two may have been compared on its easier trials"
    return f"{omitted(sides)}, and they may be the harder ones"
