"""What a session comes to, with the metrics of the swarm benchmark."""

from functools import partial

import swarm_bench.analysis.noise.calibration
import swarm_bench.analysis.summary
import swarm_bench.analysis.sweep.series
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS

summarise = partial(swarm_bench.analysis.summary.summarise, metrics=METRICS)
calibration = partial(swarm_bench.analysis.noise.calibration.calibration, metrics=METRICS)
series = partial(swarm_bench.analysis.sweep.series.series, metrics=METRICS)
