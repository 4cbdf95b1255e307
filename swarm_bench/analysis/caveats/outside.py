"""What agents reached beside the servers of their mode, as far as anybody saw it."""

from collections import Counter
from collections.abc import Iterator, Sequence

from swarm_bench.analysis.adherence.treated import ModeTrials, get_mode_trials
from swarm_bench.analysis.wording import format_places, quantify
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.session.records import TrialRecord

_MAX_SENTENCES = 3
"""Sentences; the records have all of them."""
_LEAST_SHARE = 0.1
"""The share of the trials of a reference that have to show such signs before it is none: a
comparison with it could be turned by that."""


def find_reached_outside(mode_trials: ModeTrials) -> Iterator[Caveat]:
    """Find signs of tools that a mode does not give. A name in a command is weaker proof than a
    server that was connected: the trials keep their label, and stay in the figures."""
    mode, selection = mode_trials.mode, mode_trials.selection
    reference = get_mode_trials(selection, selection.modes[0])
    trials = _list_reaching(mode_trials)
    if trials:
        addresses = Counter(
            address for trial in trials if trial.evidence for address in trial.evidence.outside
        )
        rest_text = (
            f" And {len(addresses) - _MAX_SENTENCES} more, in metrics.jsonl."
            if len(addresses) > _MAX_SENTENCES
            else ""
        )
        yield Caveat(
            qualification=f"{_format_count(mode_trials, trials)} seem to have reached a tool that "
            f"it does not give",
            warning=f"{mode}: {_format_count(mode_trials, trials)} seem to have reached a tool "
            f"that the mode does not give {format_places(trials, selection)}. "
            f"{' '.join([*addresses][:_MAX_SENTENCES])}{rest_text} They stay in the figures; look "
            f"at their streams.",
            is_void=mode_trials is reference and _is_telling(reference, trials),
        )
    reference_trials = _list_reaching(reference)
    is_void = _is_telling(reference, reference_trials)  # which is said anyway
    if mode != reference.mode and reference_trials and not is_void:
        yield Caveat(
            qualification=f"{_format_count(reference, reference_trials)} of {reference.mode}, "
            f"with which it is compared, seem to have reached a tool that {reference.mode} does "
            f"not give"
        )


def _is_telling(reference: ModeTrials, reaching: Sequence[TrialRecord]) -> bool:
    return len(reaching) >= _LEAST_SHARE * len(reference.measured_trials)


def _list_reaching(mode_trials: ModeTrials) -> list[TrialRecord]:
    return [
        trial for trial in mode_trials.measured_trials if trial.evidence and trial.evidence.outside
    ]


def _format_count(mode_trials: ModeTrials, trials: Sequence[TrialRecord]) -> str:
    return f"{len(trials)} of {quantify(len(mode_trials.measured_trials), 'trial')}"
