"""The metrics that a headline compares, by their keys."""

from swarm_bench.analysis.selection import Selection, compares, once
from swarm_bench.core.metric import Metric

TIMES = ("wall_seconds", "duration_s")
REQUESTS, TURNS = "requests", "num_turns"
SPENDING = (REQUESTS, TURNS, "total_tokens", "effective_tokens", "cost", "result_lines")
"""What whoever thinks decides: a model, or fixed rules in the place of one."""
RATIOS = (*TIMES, *SPENDING)


def of_headline(selection: Selection) -> tuple[Metric, ...]:
    """List the metrics to compare: what fixed rules spent says nothing of a tool."""
    return times(selection) if selection.fixed_rules else (*times(selection), *spending(selection))


def times(selection: Selection) -> tuple[Metric, ...]:
    """List the metrics of time, and those of packages that nobody who thinks decides."""
    return (*selection.metrics.named(TIMES), *_of_packages(selection, spent=False))


@once
def spending(selection: Selection) -> tuple[Metric, ...]:
    """List what is spent, with requests or turns, whichever can be compared."""
    counted = [
        trial
        for trial in selection.trials
        if compares(trial) and (trial.requests, trial.num_turns) != (None, None)
    ]
    counted_requests = bool(counted) and all(trial.requests is not None for trial in counted)
    hidden = TURNS if counted_requests else REQUESTS
    keys = [key for key in SPENDING if key != hidden]
    return (*selection.metrics.named(keys), *_of_packages(selection, spent=True))


def _of_packages(selection: Selection, *, spent: bool) -> tuple[Metric, ...]:
    return tuple(metric for metric in selection.metrics.compared if metric.spent is spent)
