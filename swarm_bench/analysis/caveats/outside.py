"""What agents reached beside the servers of their mode, as far as anybody saw it."""

from collections import Counter
from collections.abc import Iterator, Sequence

from swarm_bench.analysis.adherence.treated import Treated, treated_in
from swarm_bench.analysis.wording import amount, places
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.session.records import TrialRecord

_SHOWN = 3
"""Sentences; the records have all of them."""
_TELLING = 0.1
"""The share of the trials of a reference that have to show such signs before it is none: a
comparison with it could be turned by that."""


def reached_outside(treated: Treated) -> Iterator[Caveat]:
    """Find signs of tools that a mode does not give. A name in a command is weaker proof than a
    server that was connected: the trials keep their label, and stay in the figures."""
    mode, selection = treated.mode, treated.selection
    reference = treated_in(selection, selection.modes[0])
    trials = _reaching(treated)
    if trials:
        addresses = Counter(
            address for trial in trials if trial.evidence for address in trial.evidence.outside
        )
        more = (
            f" And {len(addresses) - _SHOWN} more, in metrics.jsonl."
            if len(addresses) > _SHOWN
            else ""
        )
        yield Caveat(
            qualification=f"{_some(treated, trials)} seem to have reached a tool that it does not "
            "give",
            warning=f"{mode}: {_some(treated, trials)} seem to have reached a tool that the mode "
            f"does not give {places(trials, selection)}. {' '.join([*addresses][:_SHOWN])}{more} "
            "They stay in the figures; look at their streams.",
            is_void=treated is reference and _tells(reference, trials),
        )
    others = _reaching(reference)
    if mode != reference.mode and others and not _tells(reference, others):  # void: said anyway
        yield Caveat(
            qualification=f"{_some(reference, others)} of {reference.mode}, with which it is "
            f"compared, seem to have reached a tool that {reference.mode} does not give"
        )


def _tells(reference: Treated, reaching: Sequence[TrialRecord]) -> bool:
    return len(reaching) >= _TELLING * len(reference.measured)


def _reaching(treated: Treated) -> list[TrialRecord]:
    return [trial for trial in treated.measured if trial.evidence and trial.evidence.outside]


def _some(treated: Treated, trials: Sequence[TrialRecord]) -> str:
    return f"{len(trials)} of {amount(len(treated.measured), 'trial')}"
