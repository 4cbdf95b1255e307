"""What a session could show, in two sentences, before its first trial. The plan has the table."""

from collections.abc import Sequence
from statistics import fmean

from swarm_bench.analysis.planning.chances import Truth, compute_chances, count_tasks
from swarm_bench.analysis.planning.forecast import Outlook, list_compared
from swarm_bench.analysis.planning.outlook import (
    VERDICT_PHRASES,
    describe_quality,
    explain_too_few,
    format_numbers,
    name_units,
)
from swarm_bench.analysis.statistics.changes import describe_size
from swarm_bench.analysis.statistics.formulas import POWER
from swarm_bench.analysis.statistics.verdict_rule import Verdict
from swarm_bench.analysis.wording import lowercase, make_sentence
from swarm_bench.core.metric import Metrics

_HELPS = frozenset({Verdict.HELPS})
_CHEAPER = frozenset({Verdict.HELPS, Verdict.CHEAPER})
"""Verdicts that are one claim where the right answers are unknown."""
_UNCHECKED = "spends less, answers unchecked"
_ENOUGH = f"{POWER * 10:g} of 10"
_NEARLY_ALL = 0.95


def describe_in_short(planned: Outlook, metrics: Metrics) -> str:
    """Say how often the session would show what it is for."""
    earlier, fixed_rules = planned.earlier, planned.fixed_rules
    known_spreads = planned.spreads
    is_known = (known_spreads.quality if fixed_rules else known_spreads.cost) is not None
    basis = f"noise as in {earlier.folder}" if earlier and is_known else "noise assumed"
    few, is_keyed = explain_too_few(planned), metrics[planned.quality].keyed
    hint = "--plan says more"
    no_noise = few and (fixed_rules or not is_keyed)
    basis = f"({hint})" if no_noise else f"({basis}, {hint})"
    if fixed_rules:
        shows, *_ = describe_quality(planned).split("; ")
        return make_sentence(f"{few or shows} {basis}")
    if not is_keyed:
        first = few or _describe_chances(planned, metrics, _CHEAPER, _UNCHECKED)
        return f"{make_sentence(first)} Only tasks with keys of their answers say 'helps' {basis}."
    if few:
        return (
            f"{make_sentence(few)} It takes {_describe_needed(planned)} for 'helps' in "
            f"{_ENOUGH} {basis}."
        )
    first = _describe_chances(planned, metrics, _HELPS, VERDICT_PHRASES[Verdict.HELPS])
    if all(chance[Verdict.HELPS] >= POWER for chance in _compute_chances(planned)):
        return f"{first} {basis}."
    return f"{first}. With {_describe_needed(planned)} it is {_ENOUGH} {basis}."


def _describe_chances(
    planned: Outlook, metrics: Metrics, verdicts: frozenset[Verdict], claim: str
) -> str:
    """Say how often these verdicts are reached, and which one is most likely otherwise."""
    experiment, tasks = planned.experiment, planned.tasks
    modes, task_count = list_compared(experiment), len(experiment.tasks)
    mode = modes[0] if len(modes) == 1 else "a mode"
    size = describe_size(tasks, "task", planned.runs, task_count).removesuffix(" × 1 run")
    these = "these " if task_count == tasks.cases else ""
    finds = " and finds as much" if verdicts == _HELPS else ""
    all_chances = _compute_chances(planned)
    shares = [sum(chance[verdict] for verdict in verdicts) for chance in all_chances]
    other_shares = {
        name: fmean(chance[name] for chance in all_chances)
        for name in Verdict
        if name not in verdicts
    }
    likeliest = max(other_shares, key=other_shares.__getitem__)
    otherwise = (
        f", and '{VERDICT_PHRASES[likeliest]}' in most others" if min(shares) < _NEARLY_ALL else ""
    )
    return (
        f"If {mode} saves {planned.saving * 100:g} % of "
        f"{lowercase(metrics[experiment.primary].title)}{finds}, {these}{size} say '{claim}' in "
        f"{_format_tenths(shares)} such sessions{otherwise}"
    )


def _list_truths(planned: Outlook) -> list[Truth]:
    return [truth for quality in planned.qualities for truth in planned.list_truths(quality)]


def _compute_chances(planned: Outlook) -> list[dict[Verdict, float]]:
    tasks = int(planned.tasks.independent_cases)
    return [
        compute_chances(truth, tasks, planned.runs, planned.bar) for truth in _list_truths(planned)
    ]


def _describe_needed(planned: Outlook) -> str:
    """Write with how many tasks `helps` is as likely as we ask for."""
    numbers = [count_tasks(truth, planned.runs, planned.bar) for truth in _list_truths(planned)]
    ordered = sorted(numbers, key=lambda number: (number is None, number))
    return format_numbers([ordered[0], ordered[-1]], name_units(planned.tasks))


def _format_tenths(shares: Sequence[float]) -> str:
    """Write `4 of 10`, or `1 to 4 of 10` where the noise decides."""
    low, high = (round(10 * share) for share in (min(shares), max(shares)))
    if high == 0:
        return "fewer than 1 of 10"
    if low == high:
        return f"{high} of 10"
    return f"{low} to {high} of 10" if low else f"at most {high} of 10"
