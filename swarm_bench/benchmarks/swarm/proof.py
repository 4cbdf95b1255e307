"""The third witness: what the counters of a swarm show of its trials, after its agents ended."""

from collections.abc import Mapping, Sequence

from swarm_bench.core.ports import Probe
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.records import Evidence, SwarmRecord, Treatment, TrialRecord
from swarm_bench.retrieval.witnesses.agreement import Finding, compare, gives_no_tool

_USED_ALONE = "It shows no calls, and it was alone while the tool was asked: it used the tool."
_UNSEEN = "The tool itself saw none of the calls that the transcript has: the use is not proved."
_ONE_OF = "It cannot be told which of the swarm's agents it was: all of them count as contaminated."


def prove(
    experiment: Experiment,
    swarm: SwarmRecord,
    trials: Sequence[TrialRecord],
    probes: Mapping[str, Probe],
) -> tuple[SwarmRecord, list[TrialRecord]]:
    """Add what the counters show to the record of a swarm and to those of its trials, as far as
    they exist; the trials get their final label."""
    mode = experiment.mode(swarm.mode)
    external = experiment.service_url is not None
    finding = compare(mode, swarm, trials, probes, external=external)
    untouched = gives_no_tool(mode)
    proved = swarm.model_copy(
        update={"counters": finding.agreement, "counters_why": finding.reasons}
    )
    is_alone = len(swarm.agents) == 1
    return proved, [
        _add_counters(
            trial, finding, *_relabel(trial, finding, is_alone=is_alone, untouched=untouched)
        )
        for trial in trials
        if trial.started_at is not None
    ]


def find_changed(old: Sequence[TrialRecord], new: Sequence[TrialRecord]) -> list[TrialRecord]:
    """Return the records that differ from those `before`."""
    old_records = {record.key: record for record in old}
    return [record for record in new if record != old_records.get(record.key)]


def _relabel(
    trial: TrialRecord, finding: Finding, *, is_alone: bool, untouched: bool
) -> tuple[Treatment | None, tuple[str, ...]]:
    """Return the final label of a trial, and why it differs from that of the transcript alone."""
    label = trial.retrieval
    if untouched and finding.moved:
        reasons = () if is_alone else (_ONE_OF,)
        return Treatment.CONTAMINATED, reasons if label is not Treatment.CONTAMINATED else ()
    if label is Treatment.UNKNOWN and is_alone and finding.moved:
        return Treatment.USED, (_USED_ALONE,)
    if label is Treatment.USED and finding.moved is False and finding.agreement == "contradict":
        return Treatment.UNKNOWN, (_UNSEEN,)
    return label, ()


def _add_counters(
    trial: TrialRecord, finding: Finding, label: Treatment | None, reasons: Sequence[str]
) -> TrialRecord:
    evidence = trial.evidence or Evidence()
    sentences = (*evidence.why, *finding.reasons, *reasons)
    new_evidence = evidence.model_copy(update={"counters": finding.agreement, "why": sentences})
    return trial.model_copy(update={"evidence": new_evidence, "retrieval": label})
