"""Metrics of packages that cannot be used, or that failed on some records."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.metric import Metric
from swarm_bench.core.roles.metric_reader import Guarded
from swarm_bench.core.session.base import RecordView


def describe_failed_metrics(selection: Selection) -> Iterator[str]:
    """Say which metrics of packages are omitted, and which failed on trials or swarms."""
    yield from selection.metrics.omitted
    for metric in selection.metrics:
        yield from describe_failed_trials(metric, selection.trials)
        yield from _describe_failures(metric.key, metric.read_swarm, selection.swarms, "swarm")


def describe_failed_trials(metric: Metric, trials: Sequence[RecordView]) -> Iterator[str]:
    """Say on how many trials a metric of a package failed, if on any."""
    for read in (metric.read, metric.row.read if metric.row else None):
        yield from _describe_failures(metric.key, read, trials, "trial")


def _describe_failures(key: str, read: object, records: Iterable[Any], noun: str) -> Iterator[str]:
    if not isinstance(read, Guarded):
        return
    tried = [read.attempt(record)[1] for record in records]
    clauses = [clause for clause in tried if clause is not None]
    if clauses:
        yield (
            f"The metric {key} failed on {len(clauses)} of {quantify(len(tried), noun)}, and is "
            f"missing there. The first says: {' '.join(clauses[0].split())[:300]}"
        )
