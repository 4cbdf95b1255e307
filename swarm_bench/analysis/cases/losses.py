"""The trials of a benchmark of cases that are not in a figure."""

from collections.abc import Collection

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.frame import by_case, frame
from swarm_bench.analysis.losses import Part
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
