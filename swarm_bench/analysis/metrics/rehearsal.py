"""The metrics of what the programs asked of the rehearsal server."""

from dataclasses import replace

from swarm_bench.analysis.metrics.aggregates import mean, total, whole_mean
from swarm_bench.analysis.metrics.measure import Measure, metric
from swarm_bench.core.report.report import Style

_MEASURES = (
    Measure(
        metric=metric(
            "rehearsal_requests",
            "Model requests/agent",
            "requests",
            Style.AVERAGE,
            "Mean number of answers that an agent asked the server for, those of sub-agents and "
            "titles included (rehearsal_requests).",
        ),
        of=mean("rehearsal_requests"),
    ),
    Measure(
        metric=metric(
            "rehearsal_request_tokens",
            "First request",
            "tokens",
            Style.WHOLE,
            "Mean size of an agent's first request that offered tools: system prompt, tools and "
            "task (rehearsal_request_tokens).",
        ),
        of=whole_mean("rehearsal_request_tokens"),
    ),
    Measure(
        metric=metric(
            "rehearsal_tool_tokens",
            "Tools, in every request",
            "tokens",
            Style.WHOLE,
            "Mean size of the descriptions of all tools that were offered (rehearsal_tool_tokens).",
        ),
        of=whole_mean("rehearsal_tool_tokens"),
    ),
    Measure(
        metric=metric(
            "rehearsal_mcp_tokens",
            "The mode's MCP tools, in every request",
            "tokens",
            Style.WHOLE,
            "Of them, those of the mode's MCP servers (rehearsal_mcp_tokens).",
        ),
        of=whole_mean("rehearsal_mcp_tokens"),
        tool_only=True,
    ),
    Measure(
        metric=metric(
            "rehearsal_faults",
            "Faults played",
            "requests",
            Style.WHOLE,
            "Requests that were answered with a fault, summed over the agents (rehearsal_faults).",
        ),
        of=total("rehearsal_faults"),
    ),
)
REHEARSAL = tuple(replace(measure, rehearsal_only=True) for measure in _MEASURES)
