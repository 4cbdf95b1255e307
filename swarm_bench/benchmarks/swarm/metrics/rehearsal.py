"""The metrics of what the programs asked of the rehearsal server."""

from swarm_bench.analysis.aggregates import read_field
from swarm_bench.core.metric import How, Metric, Row, Style

_TABLE = "Rehearsal"

REHEARSAL = (
    Metric(
        key="rehearsal_requests",
        title="Model requests/agent",
        unit="requests",
        style=Style.WHOLE,
        definition="Answers that the agent asked the server for.",
        read=read_field("rehearsal_requests"),
        row=Row(
            table=_TABLE,
            how=How.MEAN,
            definition="Mean number of answers that an agent asked the server for, those of "
            "sub-agents and titles included (rehearsal_requests).",
        ),
        rehearsal_only=True,
    ),
    Metric(
        key="rehearsal_request_tokens",
        title="First request",
        unit="tokens",
        style=Style.WHOLE,
        definition="The first request that offered tools.",
        read=read_field("rehearsal_request_tokens"),
        row=Row(
            table=_TABLE,
            how=How.WHOLE_MEAN,
            definition="Mean size of an agent's first request that offered tools: system prompt, "
            "tools and task (rehearsal_request_tokens).",
        ),
        rehearsal_only=True,
    ),
    Metric(
        key="rehearsal_tool_tokens",
        title="Tools, in every request",
        unit="tokens",
        style=Style.WHOLE,
        definition="The descriptions of all tools that were offered.",
        read=read_field("rehearsal_tool_tokens"),
        row=Row(
            table=_TABLE,
            how=How.WHOLE_MEAN,
            definition="Mean size of the descriptions of all tools that were offered "
            "(rehearsal_tool_tokens).",
        ),
        rehearsal_only=True,
    ),
    Metric(
        key="rehearsal_mcp_tokens",
        title="The mode's MCP tools, in every request",
        unit="tokens",
        style=Style.WHOLE,
        definition="The descriptions of the tools of the mode's MCP servers.",
        read=read_field("rehearsal_mcp_tokens"),
        row=Row(
            table=_TABLE,
            how=How.WHOLE_MEAN,
            definition="Of them, those of the mode's MCP servers (rehearsal_mcp_tokens).",
        ),
        rehearsal_only=True,
        tool_only=True,
    ),
    Metric(
        key="rehearsal_faults",
        title="Faults played",
        unit="requests",
        style=Style.WHOLE,
        definition="Requests to the server that were answered with a fault.",
        read=read_field("rehearsal_faults"),
        row=Row(
            table=_TABLE,
            how=How.TOTAL,
            definition="Requests that were answered with a fault, summed over the agents "
            "(rehearsal_faults).",
        ),
        rehearsal_only=True,
    ),
)
