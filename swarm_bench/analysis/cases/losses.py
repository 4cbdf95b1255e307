"""The trials of a benchmark of cases that are not in a figure, or in it without an answer."""

from collections.abc import Callable, Collection, Iterator, Mapping

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.losses import Part, differ, doubt
from swarm_bench.analysis.wording import amount, joined
from swarm_bench.core.metric import Metric
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.status import Status


def lost(session: CaseSession, arm: str, metric: Metric) -> list[CaseRecord]:
    """List the trials of an arm that have a record and are not in a figure: they do not count in
    it, they ended without what it is made of, or their case has too few others."""
    counted = session.counted(arm, metric)
    counts = {record.trial for record in counted}
    tells = _telling(session, metric)
    measured = {record.case for record in counted if tells(record)}
    dropped = measured - session.figures(arm, metric).keys()
    return [
        record
        for record in session.records
        if record.arm == arm
        and (
            record.trial not in counts
            or record.case in dropped
            or (not _ended_well(session, record, metric) and not tells(record))
        )
    ]


def _telling(session: CaseSession, metric: Metric) -> Callable[[CaseRecord], bool]:
    """Return what tells whether a record has what the figure is made of."""
    if metric.counts:
        by_trial = session.counts(metric).by_trial
        return lambda record: record.trial in by_trial
    read = metric.read
    assert read
    return lambda record: read(record) is not None


def _ended_well(session: CaseSession, record: CaseRecord, metric: Metric) -> bool:
    """Tell whether a trial was answered and scored. Such a one may have no figure: not all figures
    are of all trials."""
    failed = record.score_failures or (
        metric.counts and record.trial in session.counts(metric).failed
    )
    return record.status is Status.COMPLETED and not failed


def failed_counts(session: CaseSession, metric: Metric) -> Iterator[str]:
    """Say on which trials, and of which arms, a metric of many records failed, if on any."""
    failures = session.counts(metric).failures
    if failures:
        record, clause = failures[0]
        yield (
            f"The metric {metric.key} failed on {len(failures)} of "
            f"{amount(len(session.records), 'trial')}, and is missing there. The first, "
            f"{record.case} of {record.arm}, says: {_shortened(clause)}"
        )
    for arm in session.experiment.arms:
        if why := session.failed_sums(arm, metric):
            yield f"The metric {metric.key} failed on {arm}, and is missing: {_shortened(why)}"


def _shortened(clause: str) -> str:
    return " ".join(clause.split())[:300]


def missing(
    session: CaseSession, arm: str, metric: Metric, cases: Collection[str] | None = None
) -> Part:
    """Count the planned trials of an arm that are not in a figure, with a record or without; of
    some cases, or of all."""
    chosen = set(session.asked(metric).ids)
    if cases is not None:
        chosen &= set(cases)
    planned = len(chosen) * session.experiment.count_runs(arm)
    recorded = sum(record.arm == arm and record.case in chosen for record in session.records)
    own = sum(record.case in chosen for record in lost(session, arm, metric))
    return planned - recorded + own, planned


def doubts(sides: Mapping[str, tuple[CaseSession, str]], metric: Metric) -> str:
    """Say why nothing can be concluded from a figure of one or two sides, each an arm of a session:
    of one, more trials are not in it, or more requests were not answered in time. That counts as
    wrong, and a server that is slow or gone says nothing of its model. Empty where it can."""
    if why := doubt({name: missing(*side, metric) for name, side in sides.items()}):
        return why
    late = {name: session.unanswered(arm) for name, (session, arm) in sides.items()}
    (name, own), *others = late.items()
    if not differ(own, others[0][1] if others else (0, 1)):
        return ""
    shares = [f"{own[0]} of {amount(own[1], 'request')} to {name}"]
    shares += [f"{some} of {of_all} to {other}" for other, (some, of_all) in others]
    return f"{joined(shares)} were not answered in time, which says nothing of a model"
