"""What the order in which modes ran, and the time that passed, did to their figures: drift, modes
that never changed places, and prompts in a provider's cache."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from swarm_bench.analysis.caching import once
from swarm_bench.analysis.comparison.verdicts import list_hypotheses
from swarm_bench.analysis.mode_trials import ModeTrials
from swarm_bench.analysis.readings import AGENT, RUN, STARTED, TASK, read_column, select_results
from swarm_bench.analysis.selection import Block, Selection, group_by
from swarm_bench.analysis.statistics.effects import compute_change, take_logarithm
from swarm_bench.analysis.statistics.trend import Point, Trend, fit_block_trend, fit_trend
from swarm_bench.analysis.wording import lowercase, quantify
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.session.records import TrialRecord

_SMALLEST_CACHE_CHANGE = 0.02
"""Of a first request. What is less is not worth a word."""

Swarm = tuple[Block, str]
"""A block and a mode."""


def describe_cache(selection: Selection) -> Iterator[str]:
    """Yield a warning where more, or less, of the first requests came from the cache the later a
    mode ran in its blocks. A mode that always has the same position tells nothing."""
    positions, cached = _find_positions(selection), _compute_cached_shares(selection)
    swarms = [swarm for swarm in cached if swarm in positions]
    fitted = fit_trend(Point(swarm[1], positions[swarm], cached[swarm]) for swarm in swarms)
    if fitted is None or not fitted.beyond_noise or abs(fitted.slope) < _SMALLEST_CACHE_CHANGE:
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


_SMALLEST = 0.01
"""Smallest effect that is reported."""
_TURNS = 0.25
"""Shares of the session by which the trials of two modes that took turns may lie apart."""


@dataclass(frozen=True, kw_only=True)
class Drift:
    """How the primary metric changed from the first start of an agent to the last."""

    metric: Metric
    trend: Trend
    """Trend of the logarithms."""
    middles: dict[str, float]
    """Average start of a mode's trials, by mode, as a share of that time."""


class _StartedTrial(NamedTuple):
    """A trial with the figure."""

    mode: str
    task: str
    block: Block
    at: float
    """Time when it started, from 0 (the first) to 1 (the last)."""
    value: float
    """The logarithm."""


def find_drift_caveat(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Say how much of a drift falls on the comparison of a mode with the reference."""
    selection, mode = mode_trials.selection, mode_trials.mode
    drift = find_drift(selection)
    if drift and mode in list_hypotheses(selection) and mode in drift.middles:
        yield Caveat(qualification=_write_clause(selection, mode, drift))


@once
def find_drift(selection: Selection) -> Drift | None:
    """Look for a drift of the primary metric; `None` where there is none beyond noise, and where
    nothing can tell: fixed rules, no times, or neither tasks nor turns that repeat."""
    if not list_hypotheses(selection):
        return None
    metric = selection.metrics[selection.data.experiment.primary]
    if not metric.relative or (metric.spent and selection.fixed_rules):
        return None
    trials = _list_started(selection, metric)
    fitted = fit_trend(Point((trial.mode, trial.task), trial.at, trial.value) for trial in trials)
    if fitted is None:
        trials = _select_taking_turns(trials, selection.modes[0])
        fitted = _fit_between_turns(trials)
    if fitted is None or not fitted.beyond_noise or abs(fitted.slope) < _SMALLEST:
        return None
    return Drift(metric=metric, trend=fitted, middles=_compute_middles(trials))


def _compute_middles(trials: Sequence[_StartedTrial]) -> dict[str, float]:
    of_mode = group_by(trials, lambda trial: trial.mode)
    return {mode: fmean(trial.at for trial in mode_trials) for mode, mode_trials in of_mode.items()}


def _select_taking_turns(trials: Sequence[_StartedTrial], reference: str) -> list[_StartedTrial]:
    """Leave out the modes that ran when the reference did not: what changed between is not known
    from the turns of others."""
    middles = _compute_middles(trials)
    middle = middles.get(reference, 0.0)
    near = {mode for mode, mode_middle in middles.items() if abs(mode_middle - middle) < _TURNS}
    return _scale_times([trial for trial in trials if trial.mode in near])


def _fit_between_turns(trials: Sequence[_StartedTrial]) -> Trend | None:
    """Fit it where every mode was asked a task once: what modes differ by changes with the order of
    their turns, which is not the same in all blocks. Tasks of a block may be of one kind, which a
    tool helps more than others, so blocks are counted and not tasks."""
    modes = sorted({trial.mode for trial in trials})
    trials_by_task = group_by(trials, lambda trial: (trial.block, trial.task))
    complete_groups = [
        group_trials
        for group_trials in trials_by_task.values()
        if sorted(trial.mode for trial in group_trials) == modes
    ]
    turns = group_by(
        [trial for group_trials in complete_groups for trial in group_trials],
        lambda trial: (trial.block, trial.mode),
    )
    means = {
        turn: (
            fmean(trial.at for trial in group_trials),
            fmean(trial.value for trial in group_trials),
        )
        for turn, group_trials in turns.items()
    }
    blocks = sorted({block for block, _ in means})
    return fit_block_trend([[means[block, mode] for mode in modes] for block in blocks])


def _list_started(selection: Selection, metric: Metric) -> list[_StartedTrial]:
    reads = TASK, RUN, AGENT, STARTED, metric.read
    blocks = selection.block_of_agent
    trials: list[_StartedTrial] = []
    for mode in selection.modes:
        columns = [read_column(selection, mode, read) for read in reads]
        for row in select_results(selection, mode):
            task, run, agent, started, value = (values[row] for values in columns)
            if started and value is not None and value > 0:
                block = run, blocks.get(agent, 0)
                at = started.timestamp()
                trials.append(_StartedTrial(mode, task, block, at, take_logarithm(value)))
    return _scale_times(trials)


def _scale_times(trials: Sequence[_StartedTrial]) -> list[_StartedTrial]:
    """Let their times go from 0 to 1."""
    first = min((trial.at for trial in trials), default=0.0)
    span = max((trial.at for trial in trials), default=0.0) - first
    return [trial._replace(at=(trial.at - first) / (span or 1)) for trial in trials]


def _write_clause(selection: Selection, mode: str, drift: Drift) -> str:
    """Say what the drift does to the comparison first, and then what drifted."""
    title, reference = lowercase(drift.metric.title), selection.modes[0]
    change = compute_change(drift.trend.slope)
    low, high = sorted(abs(compute_change(bound)) * 100 for bound in drift.trend.interval)
    change_text = (
        f"{'rose' if change > 0 else 'fell'} by {abs(change) * 100:.0f} % "
        f"({low:.0f} to {high:.0f} %) over the session"
    )
    later = drift.middles[mode] - drift.middles.get(reference, drift.middles[mode])
    effect = compute_change(drift.trend.slope * later)
    if abs(effect) < _SMALLEST and abs(later) < _TURNS:
        return (
            f"drift falls on it and {reference} alike: {title} {change_text}, and they took turns"
        )
    size = f"{abs(effect) * 100:.0f} %"
    does = f"adds {size} to its {title}" if effect > 0 else f"takes {size} off its {title}"
    when = "later" if later > 0 else "earlier"
    return f"drift alone {does}, which {change_text}: it ran {when} than {reference}"


def find_constant_order(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Say that a mode ran after the reference in every block, or before it."""
    selection, mode = mode_trials.selection, mode_trials.mode
    if mode not in list_hypotheses(selection):
        return
    reference = selection.modes[0]
    shared_starts = [
        starts
        for starts in find_first_starts(selection).values()
        if {mode, reference} <= starts.keys()
    ]
    later = [starts[mode] > starts[reference] for starts in shared_starts]
    if later and len(set(later)) == 1:
        single = len(later) == 1
        blocks = "the only block" if single else f"each of {quantify(len(later), 'block')}"
        remedy = " (a second run swaps them)" if single else ""
        yield Caveat(
            qualification=f"it ran {'after' if later[0] else 'before'} {reference} in {blocks}, so "
            f"order and mode cannot be told apart{remedy}"
        )


@once
def find_first_starts(selection: Selection) -> dict[Block, dict[str, float]]:
    """Return when the first agent of each mode started, by block, where that is recorded."""
    starts: dict[Block, dict[str, float]] = {}
    for trial in selection.trials:
        if trial.started_at:
            at = trial.started_at.timestamp()
            of_block = starts.setdefault(selection.find_block(trial), {})
            of_block[trial.mode] = min(at, of_block.get(trial.mode, at))
    return starts
