"""The metrics of the swarm benchmark, in the order of the tables and columns that have them, and
those that packages on this machine register."""

from collections.abc import Iterable
from dataclasses import replace

from swarm_bench.benchmarks.swarm.metrics.answers import ANSWER_METRICS, CITED, OF_KEYS
from swarm_bench.benchmarks.swarm.metrics.effort import EFFORT, REHEARSAL, TIMES
from swarm_bench.benchmarks.swarm.metrics.spending import SPENDING_METRICS
from swarm_bench.benchmarks.swarm.metrics.tool_use import (
    OVERHEAD,
    SEEING_METRICS,
    SWEEPING,
    TOOL_USE,
    TOOLS,
)
from swarm_bench.core import entry_points
from swarm_bench.core.entry_points import Plugin
from swarm_bench.core.errors import ConfigError
from swarm_bench.core.metric import Metric, Metrics, fault, guarded_metric

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


def load_metrics() -> Metrics:
    """Load the metrics that packages register as `swarm_bench.metrics`, behind those that come with
    the benchmark. One that cannot be used is omitted, and a sentence says so."""
    try:
        plugins = entry_points.list_plugins("metrics")
    except ConfigError as error:
        return replace(METRICS, omitted=(f"No metric of a package is shown: {error}.",))
    return add_plugins(METRICS, plugins)


def add_plugins(metrics: Metrics, plugins: Iterable[Plugin]) -> Metrics:
    """Add the metrics of the plugins, each of which may name those before it."""
    for plugin in plugins:
        try:
            metrics = replace(metrics, all=(*metrics, _load(plugin, metrics)))
        except ConfigError as error:
            omitted = f"The metric {plugin.name} of {plugin.distribution} is omitted: {error}."
            metrics = replace(metrics, omitted=(*metrics.omitted, omitted))
    return metrics


def _load(plugin: Plugin, metrics: Metrics) -> Metric:
    """Load one; raise `ConfigError` with a clause when it cannot be shown beside the others."""
    metric = entry_points.load("metrics", plugin.name)
    if not isinstance(metric, Metric):
        raise ConfigError(f"it is a {type(metric).__name__} and no Metric")
    if clause := fault(metric):
        raise ConfigError(f"it {clause}")
    if metric.compared and not metric.relative:
        raise ConfigError("it asks for ratios, and is not relative")
    if metric.key in metrics:
        raise ConfigError(f"its key {metric.key!r} is that of another metric")
    neighbour = metric.column.beside if metric.column else ""
    if neighbour and neighbour not in metrics:
        raise ConfigError(f"its column stands beside {neighbour!r}, which is no metric")
    return guarded_metric(metric)
