"""The third witness: what the counters of a swarm say of its trials, once its agents have ended."""

from collections.abc import Mapping, Sequence

from swarm_bench.core.ports import Probe
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.records import Evidence, SwarmRecord, Treatment, TrialRecord
from swarm_bench.retrieval.witnesses.agreement import Finding, compare, gives_no_tool

_ALONE = "It shows no calls, and it was alone while the tool was asked: it used the tool."
_UNSEEN = "The tool itself saw none of the calls that the transcript has: the use is not proved."
_ONE_OF = "It cannot be told which of the swarm's agents it was: all of them count as contaminated."


def prove(
    experiment: Experiment,
    swarm: SwarmRecord,
    trials: Sequence[TrialRecord],
    probes: Mapping[str, Probe],
) -> tuple[SwarmRecord, list[TrialRecord]]:
    """The record of a swarm and those of its trials, as far as they are there, with what the
    counters say; the trials with their final label."""
    mode = experiment.mode(swarm.mode)
    external = experiment.service_url is not None
    found = compare(mode, swarm, trials, probes, external=external)
    untouched = gives_no_tool(mode)
    proved = swarm.model_copy(update={"counters": found.agreement, "counters_why": found.why})
    alone = len(swarm.agents) == 1
    return proved, [
        _with_counters(trial, found, *_judged(trial, found, alone=alone, untouched=untouched))
        for trial in trials
        if trial.started_at is not None
    ]


def amended(before: Sequence[TrialRecord], after: Sequence[TrialRecord]) -> list[TrialRecord]:
    """The records that are no longer as they were `before`."""
    written = {record.key: record for record in before}
    return [record for record in after if record != written.get(record.key)]


def _judged(
    trial: TrialRecord, found: Finding, *, alone: bool, untouched: bool
) -> tuple[Treatment | None, tuple[str, ...]]:
    """The final label of a trial, and why it is another one than its transcript alone had."""
    label = trial.retrieval
    if untouched and found.moved:
        why = () if alone else (_ONE_OF,)
        return Treatment.CONTAMINATED, why if label is not Treatment.CONTAMINATED else ()
    if label is Treatment.UNKNOWN and alone and found.moved:
        return Treatment.USED, (_ALONE,)
    if label is Treatment.USED and found.moved is False and found.agreement == "contradict":
        return Treatment.UNKNOWN, (_UNSEEN,)
    return label, ()


def _with_counters(
    trial: TrialRecord, found: Finding, label: Treatment | None, why: Sequence[str]
) -> TrialRecord:
    evidence = trial.evidence or Evidence()
    sentences = (*evidence.why, *found.why, *why)
    told = evidence.model_copy(update={"counters": found.agreement, "why": sentences})
    return trial.model_copy(update={"evidence": told, "retrieval": label})
