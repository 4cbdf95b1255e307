"""Where the witnesses of a mode do not say the same, or could not be heard."""

from collections import Counter

from swarm_bench.analysis.adherence.treated import ModeTrials
from swarm_bench.analysis.adherence.uses import count_uses
from swarm_bench.core.session.records import SwarmRecord
from swarm_bench.core.treatment.counters import Counters
from swarm_bench.retrieval.witnesses.counted import explain_unread


def count_contradictions(mode_trials: ModeTrials) -> dict[str, str]:
    """Count the contradictions by sentence. A difference that a known rule explains is none."""
    swarms = Counter(
        sentence
        for swarm in mode_trials.swarms
        if swarm.counters == "contradict"
        for sentence in swarm.counters_why
    )
    trials = Counter(
        sentence
        for trial in mode_trials.measured_trials
        if trial.evidence and trial.evidence.start == "contradict"
        for sentence in trial.evidence.why
        if sentence not in swarms
    )
    return {
        **{
            sentence: _describe_share(times, len(mode_trials.swarms), "swarms")
            for sentence, times in swarms.items()
        },
        **{
            sentence: _describe_share(times, len(mode_trials.measured_trials), "trials")
            for sentence, times in trials.items()
        },
    }


def _describe_share(count: int, all_: int, noun: str) -> str:
    """Say in how many of them, unless there is only one."""
    return f" in {count} of {all_} {noun}" if all_ > 1 else ""


def list_uncompared(mode_trials: ModeTrials) -> tuple[SwarmRecord, ...]:
    """List the swarms whose counters should have been held against the transcripts and were not.
    What canopy's script wrote has no transcripts."""
    selection = mode_trials.selection
    if not selection.find_probes(mode_trials.mode) or selection.data.experiment.origin:
        return ()
    return tuple(s for s in mode_trials.swarms if s.counters is None and not s.failure)


def is_lost(swarm: SwarmRecord, probe: str, counter_spec: Counters) -> bool:
    """Tell whether the probe's counters are not there, or went down. A tool that nobody asked has
    no database."""
    if swarm.counters is None:
        return count_uses((swarm,), probe, counter_spec) is None
    return explain_unread(swarm, probe, counter_spec) is not None
