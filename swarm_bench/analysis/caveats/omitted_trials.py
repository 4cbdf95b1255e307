"""Trials of a mode that are not in its figures, or with less than they would have taken."""

from collections import Counter
from collections.abc import Iterator, Sequence

from swarm_bench.analysis.comparison.pairs import count_planned_trials, list_stopped
from swarm_bench.analysis.losses import Part, differ
from swarm_bench.analysis.mode_trials import ModeTrials, get_mode_trials
from swarm_bench.analysis.selection import is_inconclusive
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.report.standing import Caveat, make_caveat
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Status, name_end


def find_omitted(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Count the trials that are left out of the ratios."""
    trials, counts = count_planned(mode_trials), count_all_reasons(mode_trials)
    counts.pop("contaminated", None)  # a caveat of its own
    if counts:
        clauses = [
            f"{count} {reason}" if len(counts) > 1 else reason for reason, count in counts.items()
        ]
        count_text = f"{sum(counts.values())} of {quantify(trials, 'trial')}"
        yield Caveat(qualification=f"{count_text} left out of the ratios ({', '.join(clauses)})")


def count_reasons(mode_trials: ModeTrials) -> dict[str, int]:
    """Count the trials with a record that are left out of the ratios, by why."""
    infrastructure = len(_list_lost(mode_trials))
    counts = {
        "contaminated": len(mode_trials.measured_trials) - len(mode_trials.counted_trials),
        "failed": len(mode_trials.counted_trials) - len(mode_trials.compared_trials),
        "lost to the infrastructure": infrastructure,
        "interrupted": len(mode_trials.all) - len(mode_trials.measured_trials) - infrastructure,
    }
    return {reason: count for reason, count in counts.items() if count}


def count_all_reasons(mode_trials: ModeTrials) -> dict[str, int]:
    """Add those without a record."""
    absent = count_planned(mode_trials) - len(mode_trials.all)
    return {**count_reasons(mode_trials), **({"not run": absent} if absent else {})}


def count_planned(mode_trials: ModeTrials) -> int:
    """Count the planned trials of a mode."""
    return count_planned_trials(mode_trials.selection, mode_trials.mode)


def _list_lost(mode_trials: ModeTrials) -> list[TrialRecord]:
    """List the trials that the harness, the provider or a service lost, without those that were
    interrupted."""
    trials = filter(
        is_inconclusive, mode_trials.selection.get_arm(mode_trials.mode).uncounted_trials
    )
    return [trial for trial in trials if trial.status is not Status.CANCELLED]


def find_unfinished(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Count the trials in the ratios with what they spent until a limit stopped them."""
    counts = count_ends(mode_trials)
    if counts:
        clause = (
            f"{sum(counts.values())} of {quantify(len(mode_trials.compared_trials), 'trial')} in "
            f"the ratios"
        )
        enumeration = ", ".join(f"{count} {end}" for end, count in counts.items())
        yield Caveat(qualification=f"{clause} ended without an answer ({enumeration})")


def count_ends(mode_trials: ModeTrials) -> dict[str, int]:
    """Count the trials in the ratios that a limit stopped, by why."""
    return dict(
        Counter(
            name_end(trial.cause, trial.status)
            for trial in list_stopped(mode_trials.selection, mode_trials.mode)
        )
    )


def find_uneven_failures(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Compare the share that agents failed with that of the reference."""
    reference = get_mode_trials(mode_trials.selection, mode_trials.selection.modes[0])
    failures, reference_failures = _list_failed(mode_trials), _list_failed(reference)
    share, reference_share = (
        (len(failures), len(mode_trials.measured_trials)),
        (len(reference_failures), len(reference.measured_trials)),
    )
    if differ(share, reference_share):
        clause = (
            f"{_format_share(share)} failed by their agents, and {_format_share(reference_share)} "
            f"of {reference.mode}"
        )
        remark = (
            f"{_format_causes([*failures, *reference_failures])}. The ratios omit them, so one "
            "mode may have been compared on its easier trials."
        )
        yield make_caveat(mode_trials.mode, clause, remark)


def find_uneven_losses(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Compare the share of trials that were lost and run again with that of the reference: what
    came through in the end is a choice, perhaps of the cheaper attempts."""
    reference = get_mode_trials(mode_trials.selection, mode_trials.selection.modes[0])
    share, reference_share = _count_reruns(mode_trials), _count_reruns(reference)
    if differ(share, reference_share):
        clause = (
            f"{_format_share(share)} were lost or cut off before and run again, and "
            f"{_format_share(reference_share)} of "
        )
        clause += f"{reference.mode}: those that came through may be the cheaper ones"
        yield make_caveat(mode_trials.mode, clause)


def _count_reruns(mode_trials: ModeTrials) -> Part:
    """Count the trials with an earlier attempt, which was lost or cut off."""
    return sum(trial.attempt > 1 for trial in mode_trials.measured_trials), count_planned(
        mode_trials
    )


def _list_failed(mode_trials: ModeTrials) -> list[TrialRecord]:
    # With as many compared as measured, none failed, and none is contaminated.
    if len(mode_trials.compared_trials) == len(mode_trials.measured_trials):
        return []
    return [trial for trial in mode_trials.measured_trials if trial.status is Status.AGENT_FAILED]


def _format_share(part: Part) -> str:
    count, of_all = part
    return f"{count} of {quantify(of_all, 'trial')}"


def _format_causes(trials: Sequence[TrialRecord]) -> str:
    causes = Counter(name_end(trial.cause, trial.status) for trial in trials)
    return f" ({', '.join(f'{number} {cause}' for cause, number in causes.items())})"
