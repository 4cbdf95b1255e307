"""Trials that one mode lost and the reference did not: what is compared may be the easier part."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from swarm_bench.analysis.adherence.treated import Treated, treated_in
from swarm_bench.analysis.comparison.pairs import unmeasured
from swarm_bench.analysis.comparison.verdicts import conclusion, hypotheses
from swarm_bench.analysis.losses import Part, differ
from swarm_bench.analysis.selection import Selection, is_inconclusive
from swarm_bench.analysis.statistics.rule import Verdict, verdict
from swarm_bench.analysis.wording import amount, joined
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Status


def lost(treated: Treated) -> list[TrialRecord]:
    """List the trials that the harness, the provider or a service lost, and nobody interrupted."""
    trials = (trial for trial in treated.all if is_inconclusive(trial))
    return [trial for trial in trials if trial.status is not Status.CANCELLED]


def uneven_losses(treated: Treated) -> Iterator[Caveat]:
    """Compare the share that was lost with that of the reference."""
    yield from _uneven(treated, "lost to the infrastructure", _losses)


def uneven_failures(treated: Treated) -> Iterator[Caveat]:
    """Compare the share that agents failed with that of the reference."""
    yield from _uneven(treated, "failed by their agents", _failures)


def ended_later(selection: Selection) -> Iterator[str]:
    """Say that losses end a verdict which they did not end when the session began."""
    experiment = selection.data.experiment
    named = experiment.beforehand if experiment else None
    if named is not None and named.verdict_version is not None:
        return
    if modes := [mode for mode in hypotheses(selection) if _is_ended(selection, mode)]:
        yield (
            f"When this session began, lost trials ended no verdict: that on {joined(modes)} may "
            "have been another one."
        )


def _is_ended(selection: Selection, mode: str) -> bool:
    reached = conclusion(selection, mode)
    if reached is None:
        return False
    claims = reached.cost is None or verdict(reached.spends, reached.shown) is not _OPEN
    lost_some = any(unmeasured(selection, side) for side in (mode, selection.modes[0]))
    return (bool(reached.doubt) and claims) or reached.unproved or (reached.hidden and lost_some)


_OPEN = Verdict.INCONCLUSIVE
_Count = Callable[[Treated], tuple[Sequence[TrialRecord], int]]


def _uneven(treated: Treated, what: str, count: _Count) -> Iterator[Caveat]:
    reference = treated_in(treated.selection, treated.selection.modes[0])
    (own, of_own), (others, of_others) = count(treated), count(reference)
    mine, theirs = (len(own), of_own), (len(others), of_others)
    if differ(mine, theirs):
        some = f"{_share(mine)} {what}, and {_share(theirs)} of {reference.mode}"
        yield Caveat(
            qualification=some,
            warning=f"{treated.mode}: {some}{_ends([*own, *others])}. The ratios "
            "omit them, so one mode may have been compared on its easier trials.",
        )


def _losses(treated: Treated) -> tuple[Sequence[TrialRecord], int]:
    return lost(treated), len(treated.all)


def _failures(treated: Treated) -> tuple[Sequence[TrialRecord], int]:
    failed = [trial for trial in treated.measured if trial.status is Status.AGENT_FAILED]
    return failed, len(treated.measured)


def _share(part: Part) -> str:
    some, of_all = part
    return f"{some} of {amount(of_all, 'trial')}"


def _ends(trials: Sequence[TrialRecord]) -> str:
    causes = Counter(str(trial.cause or trial.status) for trial in trials)
    return f" ({', '.join(f'{number} {cause}' for cause, number in causes.items())})"
