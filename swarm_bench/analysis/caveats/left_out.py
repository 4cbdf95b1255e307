"""Trials of a mode that are not in its figures, or with less than they would have taken."""

from collections import Counter
from collections.abc import Iterator, Sequence

from swarm_bench.analysis.adherence.treated import Treated, treated_in
from swarm_bench.analysis.comparison.pairs import planned_trials, stopped
from swarm_bench.analysis.losses import Part, differ
from swarm_bench.analysis.selection import is_inconclusive
from swarm_bench.analysis.wording import amount
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Status


def left_out(treated: Treated) -> Iterator[Caveat]:
    """Count the trials that are left out of the ratios."""
    trials, counts = planned(treated), all_reasons(treated)
    counts.pop("contaminated", None)  # a caveat of its own
    if counts:
        listed = [
            f"{count} {reason}" if len(counts) > 1 else reason for reason, count in counts.items()
        ]
        out = f"{sum(counts.values())} of {amount(trials, 'trial')}"
        yield Caveat(qualification=f"{out} left out of the ratios ({', '.join(listed)})")


def reasons(treated: Treated) -> dict[str, int]:
    """Count the trials with a record that are left out of the ratios, by why."""
    infrastructure = len(_lost(treated))
    counts = {
        "contaminated": len(treated.measured) - len(treated.counted),
        "failed": len(treated.counted) - len(treated.compared),
        "lost to the infrastructure": infrastructure,
        "interrupted": len(treated.all) - len(treated.measured) - infrastructure,
    }
    return {reason: count for reason, count in counts.items() if count}


def all_reasons(treated: Treated) -> dict[str, int]:
    """Add those without a record."""
    absent = planned(treated) - len(treated.all)
    return {**reasons(treated), **({"not run": absent} if absent else {})}


def planned(treated: Treated) -> int:
    """Count the planned trials of a mode."""
    return planned_trials(treated.selection, treated.mode)


def _lost(treated: Treated) -> list[TrialRecord]:
    """List the trials that the harness, the provider or a service lost, and nobody interrupted."""
    trials = filter(is_inconclusive, treated.selection.arm(treated.mode).uncounted)
    return [trial for trial in trials if trial.status is not Status.CANCELLED]


def unfinished(treated: Treated) -> Iterator[Caveat]:
    """Count the trials in the ratios with what they spent until a limit stopped them."""
    counts = ends(treated)
    if counts:
        some = f"{sum(counts.values())} of {amount(len(treated.compared), 'trial')} in the ratios"
        listed = ", ".join(f"{count} {end}" for end, count in counts.items())
        yield Caveat(qualification=f"{some} ended without an answer ({listed})")


def ends(treated: Treated) -> dict[str, int]:
    """Count the trials in the ratios that a limit stopped, by why."""
    return dict(
        Counter(
            str(trial.cause or trial.status) for trial in stopped(treated.selection, treated.mode)
        )
    )


def uneven_failures(treated: Treated) -> Iterator[Caveat]:
    """Compare the share that agents failed with that of the reference."""
    reference = treated_in(treated.selection, treated.selection.modes[0])
    own, others = _failed(treated), _failed(reference)
    mine, theirs = (len(own), len(treated.measured)), (len(others), len(reference.measured))
    if differ(mine, theirs):
        some = f"{_share(mine)} failed by their agents, and {_share(theirs)} of {reference.mode}"
        yield Caveat(
            qualification=some,
            warning=f"{treated.mode}: {some}{_ends([*own, *others])}. The ratios "
            "omit them, so one mode may have been compared on its easier trials.",
        )


def lost_before(treated: Treated) -> Iterator[Caveat]:
    """Compare the share of trials that were lost and run again with that of the reference: what
    came through in the end is a choice, perhaps of the cheaper attempts."""
    reference = treated_in(treated.selection, treated.selection.modes[0])
    mine, theirs = _run_again(treated), _run_again(reference)
    if differ(mine, theirs):
        some = f"{_share(mine)} were lost or cut off before and run again, and {_share(theirs)} of "
        some += f"{reference.mode}: those that came through may be the cheaper ones"
        yield Caveat(qualification=some, warning=f"{treated.mode}: {some}.")


def _run_again(treated: Treated) -> Part:
    """Count the trials with an earlier attempt, which was lost or cut off."""
    return sum(trial.attempt > 1 for trial in treated.measured), planned(treated)


def _failed(treated: Treated) -> list[TrialRecord]:
    if len(treated.compared) == len(treated.measured):  # none failed, and none is contaminated
        return []
    return [trial for trial in treated.measured if trial.status is Status.AGENT_FAILED]


def _share(part: Part) -> str:
    some, of_all = part
    return f"{some} of {amount(of_all, 'trial')}"


def _ends(trials: Sequence[TrialRecord]) -> str:
    causes = Counter(str(trial.cause or trial.status) for trial in trials)
    return f" ({', '.join(f'{number} {cause}' for cause, number in causes.items())})"
