"""Prompts that a provider had in its cache because other modes ran before."""

from collections import defaultdict
from collections.abc import Iterator
from statistics import fmean

from swarm_bench.analysis.caveats.order.turns import find_first_starts
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.slices import Block
from swarm_bench.analysis.statistics.trend import Point, Trend, fit_trend
from swarm_bench.core.session.records import TrialRecord

_SMALLEST = 0.02
"""Of a first request. What is less is not worth a word."""

Swarm = tuple[Block, str]
"""A block and a mode."""


def describe_cache(selection: Selection) -> Iterator[str]:
    """Yield a warning where more, or less, of the first requests came from the cache the later a
    mode ran in its blocks. A mode that always has the same position tells nothing."""
    positions, cached = _find_positions(selection), _compute_cached_shares(selection)
    swarms = [swarm for swarm in cached if swarm in positions]
    fitted = fit_trend(Point(swarm[1], positions[swarm], cached[swarm]) for swarm in swarms)
    if fitted is None or not fitted.beyond_noise or abs(fitted.slope) < _SMALLEST:
        return
    stood = _describe_positions(selection, {swarm: positions[swarm] for swarm in swarms})
    yield (
        f"{_describe_change(fitted)}. Cost and time depend on that; effective tokens do not, "
        f"since they count cache reads in full. {stood}"
    )


def _find_positions(selection: Selection) -> dict[Swarm, float]:
    """Return the position of each swarm in its block, by the first start of its agents: 0 for the
    mode that started first, 1 for the last."""
    return {
        (block, mode): position / (len(modes) - 1)
        for block, modes in find_first_starts(selection).items()
        if len(modes) > 1
        for position, mode in enumerate(sorted(modes, key=modes.__getitem__))
    }


def _compute_cached_shares(selection: Selection) -> dict[Swarm, float]:
    """Return which share of their first requests the agents of each swarm had from the cache, on
    the average. They run at the same time and share it, so they are one value."""
    shares: dict[Swarm, list[float]] = defaultdict(list)
    for trial in selection.trials:
        share = _compute_share(trial)
        if share is not None:
            shares[selection.find_block(trial), trial.mode].append(share)
    return {swarm: fmean(of_swarm) for swarm, of_swarm in shares.items()}


def _compute_share(trial: TrialRecord) -> float | None:
    """Return the share for one trial; `None` where the agent does not say."""
    if not trial.turn_usage:
        return None
    first = trial.turn_usage[0]
    kinds = ("cache_read", "input", "cache_create")
    tokens = [part for kind in kinds if (part := first.get(kind)) is not None]
    return tokens[0] / sum(tokens) if len(tokens) == len(kinds) and any(tokens) else None


def _describe_change(fitted: Trend) -> str:
    verb = "more" if fitted.slope > 0 else "less"
    low, high = sorted(abs(bound) * 100 for bound in fitted.interval)
    return (
        f"The mode that ran last in a block had {abs(fitted.slope) * 100:.0f} points {verb} of its "
        "first requests read from the provider's cache than the one that ran first, each mode "
        f"compared with itself (95 % interval {low:.0f} to {high:.0f} points)"
    )


def _describe_positions(selection: Selection, positions: dict[Swarm, float]) -> str:
    """Say which position each mode had on the average."""
    of_mode: dict[str, list[float]] = defaultdict(list)
    for (_, mode), position in positions.items():
        of_mode[mode].append(position)
    means = {mode: fmean(of_mode[mode]) for mode in selection.modes if mode in of_mode}
    if max(means.values()) - min(means.values()) < 0.01:
        return "All modes had each position equally often, so that it falls on all alike."
    enumeration = ", ".join(f"{mode} {mean:.2f}" for mode, mean in means.items())
    return f"Mean positions (0 the first of a block, 1 the last): {enumeration}."
