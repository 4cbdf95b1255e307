"""What the rest of a session would cost and take, and how far a limit goes: by an earlier one."""

import math
from collections.abc import Iterator
from statistics import fmean

from swarm_bench.analysis.planning.spreads import Earlier
from swarm_bench.analysis.statistics.pairing import LEAST_PAIRED
from swarm_bench.core.report.plan import Entry
from swarm_bench.core.session.experiment import Experiment


def expected(
    experiment: Experiment, earlier: Earlier | None, remaining: int, *, paid: bool
) -> Iterator[Entry]:
    """Say what the rest of the session would cost and take."""
    mean, trials = _mean_cost(earlier), earlier.data.trials if earlier else ()
    times = [trial.wall_seconds for trial in trials if trial.wall_seconds is not None]
    cost = "cost unknown, " if mean is None else f"about ${mean * remaining:,.2f}, "
    minutes = fmean(times) * remaining / experiment.at_once / 60 if times else None
    time = "time unknown" if minutes is None else f"about {max(1, math.ceil(minutes))} min"
    source = f"as in {earlier.folder}" if earlier else "no earlier session of this kind"
    yield Entry(label="Expected", texts=(f"{cost if paid else ''}{time} ({source})",))


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


def _mean_cost(earlier: Earlier | None) -> float | None:
    trials = earlier.data.trials if earlier else ()
    costs = [trial.cost for trial in trials if trial.cost is not None]
    return fmean(costs) if costs else None
