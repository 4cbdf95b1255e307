"""Trials that are not in a figure: what is in it may be the easier part."""

from collections.abc import Collection, Mapping

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.caveats.losses import Part, differ
from swarm_bench.analysis.frame import by_case, frame
from swarm_bench.analysis.wording import amount, joined
from swarm_bench.core.metric import Metric
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.status import Status


def lost(session: CaseSession, arm: str, metric: Metric) -> list[CaseRecord]:
    """List the trials of an arm that have a record and are not in a figure: they do not count in
    it, they ended without what it is made of, or their case has too few others."""
    counted = session.counted(arm, metric)
    counts = {record.trial for record in counted}
    measured = by_case(frame(counted, metric)).keys()
    dropped = measured - session.figures(arm, metric).keys()
    return [
        record
        for record in session.records
        if record.arm == arm
        and (record.trial not in counts or record.case in dropped or _is_without(record, metric))
    ]


def _is_without(record: CaseRecord, metric: Metric) -> bool:
    """Tell whether a trial ended without a figure. One that was answered and scored may have none:
    not all figures are of all trials."""
    assert metric.read
    ended_well = record.status is Status.COMPLETED and not record.score_failures
    return not ended_well and metric.read(record) is None


def missing(
    session: CaseSession, arm: str, metric: Metric, cases: Collection[str] | None = None
) -> Part:
    """Count the planned trials of an arm that are not in a figure, with a record or without; of
    some cases, or of all."""
    chosen = {case.id for case in session.experiment.cases} if cases is None else set(cases)
    planned = len(chosen) * session.experiment.runs
    recorded = sum(record.arm == arm and record.case in chosen for record in session.records)
    own = sum(record.case in chosen for record in lost(session, arm, metric))
    return planned - recorded + own, planned


def omitted(sides: Mapping[str, Part]) -> str:
    """Say `3 of 60 trials of qwen and 0 of 60 of reference are not in it`; empty where all are."""
    if not any(number for number, _ in sides.values()):
        return ""
    (first, (number, planned)), *others = sides.items()
    shares = [f"{number} of {amount(planned, 'trial')} of {first}"]
    shares += [f"{some} of {of_all} of {name}" for name, (some, of_all) in others]
    return f"{joined(shares)} {'is' if number == 1 and not others else 'are'} not in it"


def doubt(sides: Mapping[str, Part]) -> str:
    """Say why nothing can be concluded from a figure of two sides that omits more trials of the
    first or the second one, or from that of a single side; empty where it can."""
    own, *others = sides.values()
    if not differ(own, others[0] if others else (0, 1)):
        return ""
    if others:
        return f"{omitted(sides)}, so one of the two may have been compared on its easier trials"
    return f"{omitted(sides)}, and they may be the harder ones"
