"""Where the witnesses of a mode do not say the same, or could not be heard."""

from collections import Counter

from swarm_bench.analysis.adherence.treated import Treated
from swarm_bench.analysis.adherence.uses import counted
from swarm_bench.core.session.records import SwarmRecord
from swarm_bench.core.treatment.counters import Counters
from swarm_bench.retrieval.witnesses.counted import explain_unread


def contradictions(treated: Treated) -> dict[str, str]:
    """Count the contradictions by sentence. A difference that a known rule explains is none."""
    swarms = Counter(
        sentence
        for swarm in treated.swarms
        if swarm.counters == "contradict"
        for sentence in swarm.counters_why
    )
    trials = Counter(
        sentence
        for trial in treated.measured
        if trial.evidence and trial.evidence.start == "contradict"
        for sentence in trial.evidence.why
        if sentence not in swarms
    )
    return {
        **{
            sentence: _where(times, len(treated.swarms), "swarms")
            for sentence, times in swarms.items()
        },
        **{
            sentence: _where(times, len(treated.measured), "trials")
            for sentence, times in trials.items()
        },
    }


def _where(some: int, all_: int, what: str) -> str:
    """Say in how many of them, unless there is only one."""
    return f" in {some} of {all_} {what}" if all_ > 1 else ""


def uncompared(treated: Treated) -> tuple[SwarmRecord, ...]:
    """List the swarms whose counters should have been held against the transcripts and were not.
    What canopy's script wrote has no transcripts."""
    selection = treated.selection
    if not selection.probes(treated.mode) or selection.data.experiment.origin:
        return ()
    return tuple(s for s in treated.swarms if s.counters is None and not s.failure)


def lost(swarm: SwarmRecord, probe: str, about: Counters) -> bool:
    """Tell whether the probe's counters are not there, or went down. A tool that nobody asked has
    no database."""
    if swarm.counters is None:
        return counted((swarm,), probe, about) is None
    return explain_unread(swarm, probe, about) is not None
