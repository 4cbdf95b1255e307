"""The metrics that only a sweep over sizes of swarms shows; `analysis/sweep` computes them."""

from swarm_bench.core.metric import Better, Metric, Style
from swarm_bench.retrieval.probes.service_metrics import ServiceMetricsProbe

SWEEPING = (
    Metric(
        key="call_seconds",
        title="Time per call",
        unit="seconds",
        style=Style.SECONDS,
        definition="Of the mode's tools, from a call to its result; the median over trials.",
        better=Better.LOWER,
        tool_only=True,
    ),
    Metric(
        key="failed_calls",
        title="Failed calls",
        unit="calls",
        style=Style.WHOLE,
        definition="Of the mode's tools, in all trials but contaminated ones.",
        better=Better.LOWER,
        tool_only=True,
    ),
    Metric(
        key="unanswered",
        title="Trials without an answer",
        unit="trials",
        style=Style.WHOLE,
        definition="Trials that did not complete, for whatever reason.",
        better=Better.LOWER,
    ),
    Metric(
        key="hit_rate",
        title="Query cache hits",
        unit="percent",
        style=Style.PERCENT,
        definition="Of the queries that the service counted, those it answered from its cache.",
        better=Better.HIGHER,
        probe=ServiceMetricsProbe.name,
    ),
)
