"""The metrics of the swarm benchmark, in the order of the tables and columns that have them."""

from swarm_bench.analysis.metrics.answers import WRITTEN
from swarm_bench.analysis.metrics.effort import EFFORT
from swarm_bench.analysis.metrics.rehearsal import REHEARSAL
from swarm_bench.analysis.metrics.spending import SPENT
from swarm_bench.analysis.metrics.sweeping import SWEEPING
from swarm_bench.analysis.metrics.times import TIMES
from swarm_bench.analysis.metrics.tool_use import TOOL_USE
from swarm_bench.core.metric import Metrics

METRICS = Metrics((*TIMES, *EFFORT, *SPENT, *WRITTEN, *TOOL_USE, *REHEARSAL, *SWEEPING))
