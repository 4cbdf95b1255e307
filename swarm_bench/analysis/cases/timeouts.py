"""Programs of models that took too long: of one arm more than of the one it is held against."""

from collections.abc import Iterator

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.wording import amount
from swarm_bench.core.metric import Metric

_KEY = "timed_out"


def more_timeouts(session: CaseSession) -> Iterator[str]:
    """Name the arms of whose programs more timed out than of their reference's, as a share."""
    if _KEY not in session.metrics:
        return
    metric = session.metrics[_KEY]
    names = [it for it in session.experiment.properties if it.startswith("timeout")]
    more = f" ({', '.join(names)})" if names else ""
    for arm, reference in session.references.items():
        late, of = _counted(session, arm, metric)
        others, of_others = _counted(session, reference, metric)
        if late * of_others > others * of:
            yield (
                f"{arm}: the programs of {late} of {amount(of, 'answer')} timed out, and of "
                f"{others} of {of_others} of {reference}. Those that are only slow may pass with "
                f"a higher limit{more}."
            )


def _counted(session: CaseSession, arm: str, metric: Metric) -> tuple[int, int]:
    read = metric.read
    assert read
    values = [read(record) for record in session.records if record.arm == arm]
    own = [value for value in values if value is not None]
    return int(sum(own)), len(own)
