"""Trials that are not in a figure: what is in it may be the easier part. The rule is one for all
benchmarks, verdicts, limits and differences."""

from collections.abc import Mapping

from swarm_bench.analysis.wording import join, quantify

_LEAST_DIFFERENCE = 0.1
"""Least difference between the shares of two arms: what is lost beyond that could make up a
difference of the same size."""
_FEWEST = 2
"""Trials of an arm; a single one is an accident."""
Part = tuple[int, int]
"""Number of trials, and the number that they are a part of."""


def differ(share: Part, other_share: Part) -> bool:
    """Tell whether so much more is missing of one side that it could turn a comparison."""
    (count, of_all), (other_count, of_others) = share, other_share
    if not of_all or not of_others or max(count, other_count) < _FEWEST:
        return False
    return round(abs(count / of_all - other_count / of_others), 9) >= _LEAST_DIFFERENCE


def describe_omitted(sides: Mapping[str, Part]) -> str:
    """Say `3 of 60 trials of qwen and 0 of 60 of reference are not in these figures`; empty where
    all are."""
    if not any(number for number, _ in sides.values()):
        return ""
    (first, (number, planned)), *other_sides = sides.items()
    shares = [f"{number} of {quantify(planned, 'trial')} of {first}"]
    shares += [f"{count} of {of_all} of {name}" for name, (count, of_all) in other_sides]
    return (
        f"{join(shares)} {'is' if number == 1 and not other_sides else 'are'} not in these figures"
    )


def explain_doubt(sides: Mapping[str, Part]) -> str:
    """Say why nothing can be concluded from a figure of two sides that omits more trials of the
    first or the second one, or from that of a single side; empty where it can."""
    share, *other_shares = sides.values()
    if not differ(share, other_shares[0] if other_shares else (0, 1)):
        return ""
    if other_shares:
        return (
            f"{describe_omitted(sides)}, so one of the two may have been compared on its easier "
            f"trials"
        )
    return f"{describe_omitted(sides)}, and they may be the harder ones"
