"""The metrics of the swarm benchmark, in the order of the tables and columns that have them."""

from swarm_bench.benchmarks.swarm.metrics.answers import ANSWER_METRICS
from swarm_bench.benchmarks.swarm.metrics.correctness import CITED, OF_KEYS
from swarm_bench.benchmarks.swarm.metrics.effort import EFFORT
from swarm_bench.benchmarks.swarm.metrics.rehearsal import REHEARSAL
from swarm_bench.benchmarks.swarm.metrics.seeing import SEEING_METRICS
from swarm_bench.benchmarks.swarm.metrics.sheet_columns import OVERHEAD, TOOLS
from swarm_bench.benchmarks.swarm.metrics.spending import SPENDING_METRICS
from swarm_bench.benchmarks.swarm.metrics.sweeping import SWEEPING
from swarm_bench.benchmarks.swarm.metrics.times import TIMES
from swarm_bench.benchmarks.swarm.metrics.tool_use import TOOL_USE
from swarm_bench.core.metric import Metrics
from swarm_bench.core.roles.metric_reader import guarded_metric

_ALL = (
    *OF_KEYS,
    *SEEING_METRICS,
    *TIMES,
    *EFFORT,
    *SPENDING_METRICS,
    *ANSWER_METRICS,
    *CITED,
    *TOOL_USE,
    *REHEARSAL,
    *SWEEPING,
    *TOOLS,
    *OVERHEAD,
)
METRICS = Metrics(tuple(guarded_metric(metric) if metric.is_share else metric for metric in _ALL))
"""A file may hold any number as a score."""
