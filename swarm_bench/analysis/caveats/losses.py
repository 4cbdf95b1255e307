"""Trials that one mode lost and the reference did not: what is compared may be the easier part."""

from collections import Counter
from collections.abc import Iterator, Sequence

from swarm_bench.analysis.adherence.treated import Treated, treated_in
from swarm_bench.analysis.selection import is_inconclusive
from swarm_bench.analysis.wording import amount
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Status

_TELLING = 0.1
"""By how much the shares of two modes have to differ: what is lost beyond that could make up a
difference of the same size."""
_FEWEST = 2
"""Trials of a mode; a single one is an accident."""
Part = tuple[int, int]
"""How many trials, and of how many."""


def lost(treated: Treated) -> list[TrialRecord]:
    """List the trials that the harness, the provider or a service lost, and nobody interrupted."""
    trials = (trial for trial in treated.all if is_inconclusive(trial))
    return [trial for trial in trials if trial.status is not Status.CANCELLED]


def uneven_losses(treated: Treated) -> Iterator[Caveat]:
    """Compare the shares that were lost, and that agents failed, with those of the reference."""
    reference = treated_in(treated.selection, treated.selection.modes[0])
    for what, (own, of_own), (others, of_others) in (
        ("lost to the infrastructure", _losses(treated), _losses(reference)),
        ("failed by their agents", _failures(treated), _failures(reference)),
    ):
        mine, theirs = (len(own), of_own), (len(others), of_others)
        if differ(mine, theirs):
            some = f"{_share(mine)} {what}, and {_share(theirs)} of {reference.mode}"
            yield Caveat(
                qualification=some,
                warning=f"{treated.mode}: {some}{_ends([*own, *others])}. The ratios "
                "omit them, so one mode may have been compared on its easier trials.",
            )


def uneven_records(treated: Treated) -> str:
    """Say that more trials of one of the modes have no record; empty where they do not differ."""
    selection = treated.selection
    reference = treated_in(selection, selection.modes[0])
    own, other = _absent(treated), _absent(reference)
    if not own[1] or not other[1] or abs(own[0] / own[1] - other[0] / other[1]) < _TELLING:
        return ""
    mine, theirs = (
        f"{some} of {amount(planned, 'planned trial')}" for some, planned in (own, other)
    )
    return f"{mine} have no record, and {theirs} of {reference.mode}"


def _absent(treated: Treated) -> tuple[int, int]:
    planned = treated.selection.data.planned.get(treated.mode, 0)
    return max(0, planned - len(treated.all)), planned


def _losses(treated: Treated) -> tuple[Sequence[TrialRecord], int]:
    return lost(treated), len(treated.all)


def _failures(treated: Treated) -> tuple[Sequence[TrialRecord], int]:
    failed = [trial for trial in treated.measured if trial.status is Status.AGENT_FAILED]
    return failed, len(treated.measured)


def differ(own: Part, other: Part) -> bool:
    """Tell whether so much more is missing of one side that it could turn a comparison."""
    (some, of_all), (others, of_others) = own, other
    if not of_all or not of_others or max(some, others) < _FEWEST:
        return False
    return round(abs(some / of_all - others / of_others), 9) >= _TELLING


def _share(part: Part) -> str:
    some, of_all = part
    return f"{some} of {amount(of_all, 'trial')}"


def _ends(trials: Sequence[TrialRecord]) -> str:
    causes = Counter(str(trial.cause or trial.status) for trial in trials)
    return f" ({', '.join(f'{number} {cause}' for cause, number in causes.items())})"
