"""Trials that one mode lacks and the reference does not: what is compared may be the easier
part."""

from collections import Counter
from collections.abc import Iterator, Sequence

from swarm_bench.analysis.adherence.treated import Treated, treated_in
from swarm_bench.analysis.comparison.pairs import unmeasured
from swarm_bench.analysis.comparison.verdicts import conclusion, hypotheses
from swarm_bench.analysis.losses import Part, differ
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.rule import Verdict, verdict
from swarm_bench.analysis.wording import amount, joined
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Status


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


def _failed(treated: Treated) -> list[TrialRecord]:
    return [trial for trial in treated.measured if trial.status is Status.AGENT_FAILED]


def _share(part: Part) -> str:
    some, of_all = part
    return f"{some} of {amount(of_all, 'trial')}"


def _ends(trials: Sequence[TrialRecord]) -> str:
    causes = Counter(str(trial.cause or trial.status) for trial in trials)
    return f" ({', '.join(f'{number} {cause}' for cause, number in causes.items())})"
