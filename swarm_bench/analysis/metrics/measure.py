"""A metric together with the way it is computed."""

from dataclasses import dataclass

from swarm_bench.analysis.metrics.aggregates import Aggregate
from swarm_bench.core.report.report import Metric, Style


@dataclass(frozen=True, kw_only=True)
class Measure:
    metric: Metric
    of: Aggregate
    probe: str | None = None
    """The counter it is read from; the metric applies to modes that have it."""
    tool_only: bool = False
    """Applies to modes with a retrieval tool."""
    rehearsal_only: bool = False
    """Applies to sessions in which the rehearsal server answered."""
    dollars: bool = False
    """Can be an estimate."""


def metric(key: str, title: str, unit: str, style: Style, definition: str) -> Metric:
    return Metric(key=key, title=title, unit=unit, style=style, definition=definition)
