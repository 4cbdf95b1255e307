"""The metrics of the swarm benchmark, in the order of the tables and columns that have them."""

from swarm_bench.benchmarks.swarm.metrics.answers import WRITTEN
from swarm_bench.benchmarks.swarm.metrics.correctness import CITED, OF_KEYS
from swarm_bench.benchmarks.swarm.metrics.effort import EFFORT
from swarm_bench.benchmarks.swarm.metrics.rehearsal import REHEARSAL
from swarm_bench.benchmarks.swarm.metrics.seeing import SHOWN
from swarm_bench.benchmarks.swarm.metrics.sheet_columns import OVERHEAD, TOOLS
from swarm_bench.benchmarks.swarm.metrics.spending import SPENT
from swarm_bench.benchmarks.swarm.metrics.sweeping import SWEEPING
from swarm_bench.benchmarks.swarm.metrics.times import TIMES
from swarm_bench.benchmarks.swarm.metrics.tool_use import TOOL_USE
from swarm_bench.core.metric import Metrics
from swarm_bench.core.roles.metric_reader import guarded_metric

_ALL = (
    *OF_KEYS,
    *SHOWN,
    *TIMES,
    *EFFORT,
    *SPENT,
    *WRITTEN,
    *CITED,
    *TOOL_USE,
    *REHEARSAL,
    *SWEEPING,
    *TOOLS,
    *OVERHEAD,
)
METRICS = Metrics(tuple(guarded_metric(it) if it.is_share else it for it in _ALL))
"""A file may hold any number as a score."""
