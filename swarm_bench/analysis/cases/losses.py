"""The trials of a benchmark of cases that are not in a figure, or in it without an answer."""

from collections.abc import Callable, Collection, Iterator, Mapping

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.losses import Part, differ, explain_doubt
from swarm_bench.analysis.wording import join, quantify
from swarm_bench.core.metric import Metric
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.status import Status


def list_lost(session: CaseSession, arm: str, metric: Metric) -> list[CaseRecord]:
    """List the trials of an arm that have a record and are not in a figure: they do not count in
    it, they ended without what it is made of, or their case has too few others."""
    counted_records = session.select_counted(arm, metric)
    counts = {record.trial for record in counted_records}
    tells = _make_test(session, metric)
    measured_cases = {record.case for record in counted_records if tells(record)}
    dropped = measured_cases - session.figures(arm, metric).keys()
    return [
        record
        for record in session.records
        if record.arm == arm
        and (
            record.trial not in counts
            or record.case in dropped
            or (not _has_ended_well(session, record, metric) and not tells(record))
        )
    ]


def _make_test(session: CaseSession, metric: Metric) -> Callable[[CaseRecord], bool]:
    """Return what tells whether a record has what the figure is made of."""
    if metric.counts:
        by_trial = session.count_metric(metric).by_trial
        return lambda record: record.trial in by_trial
    read = metric.reader
    return lambda record: read(record) is not None


def _has_ended_well(session: CaseSession, record: CaseRecord, metric: Metric) -> bool:
    """Tell whether a trial was answered and scored. Such a one may have no figure: not all figures
    are of all trials."""
    failed = record.score_failures or (
        metric.counts and record.trial in session.count_metric(metric).failed_trials
    )
    return record.status is Status.COMPLETED and not failed


def describe_failed_counts(session: CaseSession, metric: Metric) -> Iterator[str]:
    """Say on which trials, and of which arms, a metric of many records failed, if on any."""
    failures = session.count_metric(metric).failures
    if failures:
        record, clause = failures[0]
        yield (
            f"The metric {metric.key} failed on {len(failures)} of "
            f"{quantify(len(session.records), 'trial')}, and is missing there. The first, "
            f"{record.case} of {record.arm}, says: {_shorten(clause)}"
        )
    for arm in session.experiment.arms:
        if reason := session.explain_failed_sums(arm, metric):
            yield f"The metric {metric.key} failed on {arm}, and is missing: {_shorten(reason)}"


def _shorten(clause: str) -> str:
    return " ".join(clause.split())[:300]


def count_missing(
    session: CaseSession, arm: str, metric: Metric, cases: Collection[str] | None = None
) -> Part:
    """Count the planned trials of an arm that are not in a figure, with a record or without; of
    some cases, or of all."""
    case_ids = set(session.select_cases(metric).ids)
    if cases is not None:
        case_ids &= set(cases)
    planned = len(case_ids) * session.experiment.count_runs(arm)
    record_count = sum(record.arm == arm and record.case in case_ids for record in session.records)
    lost_count = sum(record.case in case_ids for record in list_lost(session, arm, metric))
    return planned - record_count + lost_count, planned


def explain_doubts(sides: Mapping[str, tuple[CaseSession, str]], metric: Metric) -> str:
    """Say why nothing can be concluded from a figure of one or two sides, each an arm of a session:
    of one, more trials are not in it, or more requests were not answered in time. That counts as
    wrong, and a server that is slow or gone says nothing of its model. Empty where it can."""
    if reason := explain_doubt(
        {name: count_missing(*side, metric) for name, side in sides.items()}
    ):
        return reason
    late = {name: session.count_unanswered(arm) for name, (session, arm) in sides.items()}
    (name, share), *other_shares = late.items()
    if not differ(share, other_shares[0][1] if other_shares else (0, 1)):
        return ""
    shares = [f"{share[0]} of {quantify(share[1], 'request')} to {name}"]
    shares += [
        f"{count} of {of_all} to {other_name}" for other_name, (count, of_all) in other_shares
    ]
    return f"{join(shares)} were not answered in time, which says nothing of a model"
