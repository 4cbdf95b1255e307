"""What the rest of a session would cost and take, and how far a limit goes: by an earlier one, or
by a rehearsal."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean, stdev

from swarm_bench.analysis.planning.spreads import Earlier
from swarm_bench.analysis.statistics.pairing import LEAST_PAIRED
from swarm_bench.core.outcome import Usage
from swarm_bench.core.report.plan import Entry
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.prices import Price, find_price
from swarm_bench.core.session.records import TrialRecord

Span = tuple[float, float]
"""The least and the most."""
_OF_THE_MEAN = 2.0
"""Standard errors: nineteen in twenty means are within so many of theirs."""


def around_mean(values: Sequence[float], number: int) -> Span | None:
    """Return what so many others would come to, by the mean of these and its standard error."""
    if not values:
        return None
    mean = fmean(values)
    error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    low, high = (mean + sign * _OF_THE_MEAN * error for sign in (-1, 1))
    return max(low, 0.0) * number, high * number


def sum_of(spans: Sequence[Span]) -> Span:
    """Add up the ends."""
    return sum(low for low, _ in spans), sum(high for _, high in spans)


def written_span(span: Span, style: str) -> str:
    """Write `$5.10 to $6.20`, or one figure where both ends are written alike."""
    low, high = (style.format(end) for end in span)
    return low if low == high else f"{low} to {high}"


def expected(
    experiment: Experiment,
    earlier: Earlier | None,
    rehearsal: Earlier | None,
    pending: Mapping[str, int],
    *,
    paid: bool,
) -> Iterator[Entry]:
    """Say what the rest of the session would cost and take: `pending` are its trials by mode, and
    `rehearsal` stands in for an earlier session that shows no cost."""
    times = _span(earlier, pending, lambda trial: trial.wall_seconds)
    cost = _span(earlier, pending, lambda trial: trial.cost) if paid else None
    time = "time unknown"
    if times is not None:
        minutes = [max(1, math.ceil(end / experiment.at_once / 60)) for end in times]
        time = f"about {written_span((minutes[0], minutes[1]), '{:.0f}')} min"
    source = f"as in {earlier.folder}" if earlier else "no earlier session of this kind"
    money = "cost unknown" if cost is None else f"about {written_span(cost, '${:,.2f}')}"
    texts = [f"{money}, {time} ({source})" if paid else f"{time} ({source})"]
    if paid and cost is None and rehearsal is not None:
        texts += _by_rehearsal(experiment, rehearsal, pending)
    yield Entry(label="Expected", texts=tuple(texts))


def too_low(experiment: Experiment, earlier: Earlier | None, rest: float, done: int) -> str | None:
    """Say how many tasks there would be with a trial in each mode, where so many dollars and the
    trials that are done already are not enough for all; `None` where they are, or nobody knows."""
    mean = _mean_cost(earlier)
    if not earlier or not mean:
        return None
    tasks, per_run = experiment.tasks_asked, experiment.trials_per_mode * len(experiment.modes)
    paid = min(per_run, done + max(0, int(rest / mean)))
    reached = tasks * paid // per_run
    if reached >= tasks:
        return None
    why = ""
    if reached < LEAST_PAIRED * tasks and not experiment.until_clear:
        needed = f"{LEAST_PAIRED * 100:.0f} %"
        why = f"; a verdict needs {needed} of them, so raise it, or ask fewer tasks"
    return (
        f"at what trials cost in {earlier.folder}, it is enough for about {reached} of {tasks} "
        f"tasks{why}"
    )


def _by_rehearsal(
    experiment: Experiment, rehearsal: Earlier, pending: Mapping[str, int]
) -> Iterator[str]:
    price = find_price(experiment.model or experiment.agent.model, experiment.prices or {})
    span = _span(rehearsal, pending, lambda trial: _priced(trial, price))
    if span is None:
        return
    at = f"at the prices of {price.table}" if price else f"as {experiment.agent.name} prices them"
    yield (
        f"by the tokens of the rehearsal {rehearsal.folder} about "
        f"{written_span(span, '${:,.2f}')} {at}; a model may differ by a lot"
    )


def _priced(trial: TrialRecord, price: Price | None) -> float | None:
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


def _span(
    earlier: Earlier | None,
    pending: Mapping[str, int],
    read: Callable[[TrialRecord], float | None],
) -> Span | None:
    """Return what the trials would come to: those of a mode by those of that mode, where there are
    any, and else by all."""
    trials = earlier.data.trials if earlier else ()
    figures = [(it.mode, figure) for it in trials if (figure := read(it)) is not None]
    if not figures:
        return None
    numbers = Counter(mode for mode, _ in figures)
    spans = [
        around_mean([it for own, it in figures if own == mode or not numbers[mode]], number)
        for mode, number in pending.items()
    ]
    return sum_of([span for span in spans if span is not None])


def _mean_cost(earlier: Earlier | None) -> float | None:
    trials = earlier.data.trials if earlier else ()
    costs = [trial.cost for trial in trials if trial.cost is not None]
    return fmean(costs) if costs else None
