"""What the rest of a session would cost and take, by an earlier one or a rehearsal, and what
setting up a mode takes."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

from swarm_bench.analysis.planning.forecast import Earlier
from swarm_bench.analysis.statistics.pairing import LEAST_PAIRED
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.outcome import Usage
from swarm_bench.core.report.plan import Entry
from swarm_bench.core.session.experiment import Experiment, Mode
from swarm_bench.core.session.prices import Price, find_price
from swarm_bench.core.session.records import SwarmRecord, TrialRecord

Span = tuple[float, float]
"""The least and the most."""
_OF_THE_MEAN = 2.0
"""Standard errors: nineteen in twenty means are within this many of their own."""


def estimate_span(values: Sequence[float], number: int) -> Span | None:
    """Return what so many others would come to, by the mean of these and its standard error."""
    if not values:
        return None
    mean = fmean(values)
    error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    low, high = (mean + sign * _OF_THE_MEAN * error for sign in (-1, 1))
    return max(low, 0.0) * number, high * number


def add_spans(spans: Sequence[Span]) -> Span:
    """Add up the ends."""
    return sum(low for low, _ in spans), sum(high for _, high in spans)


def format_span(span: Span, style: str) -> str:
    """Write `$5.10 to $6.20`, or one figure where both ends are written alike."""
    low, high = (style.format(end) for end in span)
    return low if low == high else f"{low} to {high}"


def describe_expected(
    experiment: Experiment,
    earlier: Earlier | None,
    rehearsal: Earlier | None,
    pending: Mapping[str, int],
    *,
    paid: bool,
) -> Iterator[Entry]:
    """Say what the rest of the session would cost and take: `pending` are its trials by mode, and
    `rehearsal` stands in for an earlier session that shows no cost."""
    times = _estimate_span(earlier, pending, lambda trial: trial.wall_seconds)
    cost = _estimate_span(earlier, pending, lambda trial: trial.cost) if paid else None
    time = "time unknown"
    if times is not None:
        minutes = [max(1, math.ceil(end / experiment.at_once / 60)) for end in times]
        time = f"about {format_span((minutes[0], minutes[1]), '{:.0f}')} min"
    source = f"as in {earlier.folder}" if earlier else "no earlier session of this kind"
    money = "cost unknown" if cost is None else f"about {format_span(cost, '${:,.2f}')}"
    texts = [f"{money}, {time} ({source})" if paid else f"{time} ({source})"]
    if paid and cost is None and rehearsal is not None:
        texts += _estimate_by_rehearsal(experiment, rehearsal, pending)
    yield Entry(label="Expected", texts=tuple(texts))


def explain_too_low(
    experiment: Experiment, earlier: Earlier | None, remaining: float, done: int
) -> str | None:
    """Say how many tasks there would be with a trial in each mode, where so many dollars and the
    trials that are done already are not enough for all; `None` where they are, or that is
    unknown."""
    mean = _compute_mean_cost(earlier)
    if not earlier or not mean:
        return None
    tasks, per_run = experiment.tasks_asked, experiment.trials_per_mode * len(experiment.modes)
    paid = min(per_run, done + max(0, int(remaining / mean)))
    complete_tasks = tasks * paid // per_run
    if complete_tasks >= tasks:
        return None
    advice = ""
    if complete_tasks < LEAST_PAIRED * tasks and not experiment.until_clear:
        needed = f"{LEAST_PAIRED * 100:.0f} %"
        advice = f"; a verdict needs {needed} of them, so raise it, or ask fewer tasks"
    return (
        f"at what trials cost in {earlier.folder}, it is enough for about {complete_tasks} of "
        f"{tasks} tasks{advice}"
    )


def _estimate_by_rehearsal(
    experiment: Experiment, rehearsal: Earlier, pending: Mapping[str, int]
) -> Iterator[str]:
    price = find_price(experiment.model or experiment.agent.model, experiment.prices or {})
    span = _estimate_span(rehearsal, pending, lambda trial: _price(trial, price))
    if span is None:
        return
    at = f"at the prices of {price.table}" if price else f"as {experiment.agent.name} prices them"
    yield (
        f"by the tokens of the rehearsal {rehearsal.folder} about "
        f"{format_span(span, '${:,.2f}')} {at}; a model may differ by a lot"
    )


def _price(trial: TrialRecord, price: Price | None) -> float | None:
    """Price the tokens of a trial; without a price it is what its agent reports."""
    if price is None:
        return trial.cost
    return price.compute_cost(
        Usage(
            input=trial.input_tokens,
            cache_read=trial.cache_read,
            cache_create=trial.cache_create,
            output=trial.output_tokens,
        )
    )


def _estimate_span(
    earlier: Earlier | None,
    pending: Mapping[str, int],
    read: Callable[[TrialRecord], float | None],
) -> Span | None:
    """Return what the trials would come to: those of a mode by those of that mode, where there are
    any, and else by all."""
    trials = earlier.data.trials if earlier else ()
    figures = [(trial.mode, figure) for trial in trials if (figure := read(trial)) is not None]
    if not figures:
        return None
    numbers = Counter(mode for mode, _ in figures)
    spans = [
        estimate_span(
            [figure for figure_mode, figure in figures if figure_mode == mode or not numbers[mode]],
            number,
        )
        for mode, number in pending.items()
    ]
    return add_spans([span for span in spans if span is not None])


def _compute_mean_cost(earlier: Earlier | None) -> float | None:
    trials = earlier.data.trials if earlier else ()
    costs = [trial.cost for trial in trials if trial.cost is not None]
    return fmean(costs) if costs else None


SHARE = 0.1
"""Largest share of a mode's time in a block for setting up. If it takes more, blocks are larger."""


@dataclass(frozen=True, kw_only=True)
class SetUp:
    """What a session shows of it, in seconds by mode, for those of which it shows that."""

    folder: str
    preparation: Mapping[str, float]
    """Time that a swarm took until its agents started."""
    trial: Mapping[str, float]
    """Time that its agents took for a task, as if one ran at a time."""

    def compute_share(self, mode: str, tasks: int, at_once: int) -> float:
        """Return which share of its time in a block of so many tasks setting up takes."""
        seconds = self.preparation[mode]
        return seconds / (seconds + tasks * self.trial[mode] / at_once)

    def find_least(self, modes: Iterable[str], at_once: int) -> float:
        """Return how many tasks a block needs for setting up to take no more than its share in any
        of these modes."""
        needed = [
            (1 / SHARE - 1) * self.preparation[mode] * at_once / self.trial[mode]
            for mode in modes
            if mode in self.preparation
        ]
        return max(needed, default=0.0)


def measure_set_up(folder: str, experiment: Experiment, swarms: Sequence[SwarmRecord]) -> SetUp:
    """Take the medians over the swarms of each mode."""
    preparation: dict[str, float] = {}
    trial: dict[str, float] = {}
    for mode in experiment.modes:
        of_mode = [swarm for swarm in swarms if swarm.mode == mode.name]
        indexes = _indexes_before(experiment, mode)
        times = [
            (seconds, (total_seconds - seconds) * min(experiment.concurrency, number) / number)
            for swarm in of_mode
            if (number := len(swarm.agents)) and not swarm.failure
            if (seconds := _add_seconds(swarm, indexes=indexes)) is not None
            if (total_seconds := _count_seconds(swarm)) > seconds
        ]
        if times:
            preparation[mode.name] = median(seconds for seconds, _ in times)
            trial[mode.name] = median(seconds for _, seconds in times)
    return SetUp(folder=folder, preparation=preparation, trial=trial)


def describe_set_up(experiment: Experiment, set_up: SetUp | None, swarms: Sequence[str]) -> Entry:
    """Say what setting up costs; `swarms` are the modes of those that are still to run."""
    return Entry(label="Set-up", texts=tuple(_write_texts(experiment, set_up, swarms)))


def _write_texts(
    experiment: Experiment, set_up: SetUp | None, swarms: Sequence[str]
) -> Iterator[str]:
    if set_up is None:
        yield (
            "a fresh clone for each mode and block, its services and index: what that takes is not "
            f"known, since no earlier session of {experiment.agent.name} on this repository shows "
            "it"
        )
        return
    clones = quantify(len(swarms), "fresh clone")
    yield f"{clones} to make, with services and index; as in {set_up.folder}:"
    tasks, at_once = experiment.agents_per_swarm, experiment.at_once
    for mode in experiment.arms:
        if mode not in set_up.preparation:
            yield f"{mode}: not known"
            continue
        seconds, number = set_up.preparation[mode], swarms.count(mode)
        share = set_up.compute_share(mode, tasks, at_once)
        yield (
            f"{mode}: {number} × {seconds:.1f} s, {share * 100:.0f} % of its time in a block of "
            f"{quantify(tasks, 'task')}"
        )


def _indexes_before(experiment: Experiment, mode: Mode) -> bool:
    """Tell whether each swarm of the mode waits for an index of its own."""
    copied = mode.prepare is not None and mode.prepare.copyable
    return bool(mode.services) or (experiment.prepares(mode) and not copied)


def _add_seconds(swarm: SwarmRecord, *, indexes: bool) -> float | None:
    """Add up what passed before its agents started; `None` where that is unknown."""
    if swarm.workspace_seconds is None:
        return None
    index = swarm.index_seconds if indexes else None
    parts = (swarm.workspace_seconds, swarm.service_seconds, index, swarm.warm_up_seconds)
    return sum(seconds for seconds in parts if seconds is not None)


def _count_seconds(swarm: SwarmRecord) -> float:
    """Return what the swarm took in all; 0 where that is unknown."""
    if swarm.started_at is None or swarm.ended_at is None:
        return 0.0
    return (swarm.ended_at - swarm.started_at).total_seconds()
