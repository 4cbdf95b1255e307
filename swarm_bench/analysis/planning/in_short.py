"""What a session could show, in two sentences, before its first trial. The plan has the table."""

from collections.abc import Sequence
from statistics import fmean

from swarm_bench.analysis.planning.ahead import Outlook, compared_in, looked_ahead
from swarm_bench.analysis.planning.chances import Truth, chances, tasks_for
from swarm_bench.analysis.planning.outlook import (
    WRITTEN,
    nothing_shown,
    number_of,
    of_quality,
    units,
)
from swarm_bench.analysis.planning.spreads import Earlier
from swarm_bench.analysis.statistics.changes import evidence
from swarm_bench.analysis.statistics.formulas import POWER
from swarm_bench.analysis.statistics.rule import Verdict
from swarm_bench.analysis.wording import lowered, sentence
from swarm_bench.core.metric import Metrics
from swarm_bench.core.session.experiment import Experiment

_HELPS = frozenset({Verdict.HELPS})
_CHEAPER = frozenset({Verdict.HELPS, Verdict.CHEAPER})
"""What is one claim where nobody knows the right answers."""
_UNCHECKED = "spends less, answers unchecked"
_ENOUGH = f"{POWER * 10:g} of 10"
_NEARLY_ALL = 0.95


def in_short(
    experiment: Experiment,
    earlier: Earlier | None,
    metrics: Metrics,
    *,
    saving: float,
    fixed_rules: bool,
) -> str | None:
    """Say how often the session would show what it is for; `None` where it compares nothing."""
    planned = looked_ahead(experiment, earlier, metrics, saving=saving, fixed_rules=fixed_rules)
    if planned is None:
        return None
    shown = planned.spreads
    is_known = (shown.quality if fixed_rules else shown.spent) is not None
    basis = f"noise as in {earlier.folder}" if earlier and is_known else "noise assumed"
    few, is_keyed = nothing_shown(planned), metrics[planned.quality].keyed
    more = "--plan says more"
    no_noise = few and (fixed_rules or not is_keyed)
    basis = f"({more})" if no_noise else f"({basis}, {more})"
    if fixed_rules:
        shows, *_ = of_quality(planned).split("; ")
        return sentence(f"{few or shows} {basis}")
    if not is_keyed:
        first = few or _often(planned, metrics, _CHEAPER, _UNCHECKED)
        return f"{sentence(first)} Only tasks with keys of their answers say 'helps' {basis}."
    if few:
        return f"{sentence(few)} It takes {_needed(planned)} for 'helps' in {_ENOUGH} {basis}."
    first = _often(planned, metrics, _HELPS, WRITTEN[Verdict.HELPS])
    if all(it[Verdict.HELPS] >= POWER for it in _chances(planned)):
        return f"{first} {basis}."
    return f"{first}. With {_needed(planned)} it is {_ENOUGH} {basis}."


def _often(planned: Outlook, metrics: Metrics, wanted: frozenset[Verdict], claim: str) -> str:
    """Say how often these verdicts are reached, and which one is most likely otherwise."""
    experiment, tasks = planned.experiment, planned.tasks
    compared, there = compared_in(experiment), len(experiment.tasks)
    mode = compared[0] if len(compared) == 1 else "a mode"
    size = evidence(tasks, "task", planned.runs, there).removesuffix(" × 1 run")
    these = "these " if there == tasks.cases else ""
    finds = " and finds as much" if wanted == _HELPS else ""
    each = _chances(planned)
    shares = [sum(it[verdict] for verdict in wanted) for it in each]
    others = {it: fmean(chance[it] for chance in each) for it in Verdict if it not in wanted}
    most = max(others, key=others.__getitem__)
    otherwise = f", and '{WRITTEN[most]}' in most others" if min(shares) < _NEARLY_ALL else ""
    return (
        f"If {mode} saves {planned.saving * 100:g} % of "
        f"{lowered(metrics[experiment.primary].title)}{finds}, {these}{size} say '{claim}' in "
        f"{_tenths(shares)} such sessions{otherwise}"
    )


def _truths(planned: Outlook) -> list[Truth]:
    return [truth for quality in planned.qualities for truth in planned.truths(quality)]


def _chances(planned: Outlook) -> list[dict[Verdict, float]]:
    tasks = int(planned.tasks.independent)
    return [chances(truth, tasks, planned.runs, planned.bar) for truth in _truths(planned)]


def _needed(planned: Outlook) -> str:
    """Write with how many tasks `helps` is as likely as we ask for."""
    numbers = [tasks_for(truth, planned.runs, planned.bar) for truth in _truths(planned)]
    ordered = sorted(numbers, key=lambda number: (number is None, number))
    return number_of([ordered[0], ordered[-1]], units(planned.tasks))


def _tenths(shares: Sequence[float]) -> str:
    """Write `4 of 10`, or `1 to 4 of 10` where the noise decides."""
    low, high = (round(10 * share) for share in (min(shares), max(shares)))
    if high == 0:
        return "fewer than 1 of 10"
    if low == high:
        return f"{high} of 10"
    return f"{low} to {high} of 10" if low else f"at most {high} of 10"
