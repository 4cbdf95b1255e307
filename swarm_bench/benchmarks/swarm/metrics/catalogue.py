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

METRICS = Metrics(
    (
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
)
