"""What became of the retrieval tool in one trial, from what the agent itself reports."""

from collections.abc import Collection

from swarm_bench.core.outcome import Outcome
from swarm_bench.core.records import Treatment

MCP_PREFIX = "mcp__"
"""Agents name an MCP tool `mcp__<server>__<tool>`."""


def treatment(given: Collection[str], outcome: Outcome) -> Treatment:
    """The label of a trial in a mode that gives the MCP servers `given`."""
    offered = {_server(tool) for tool in outcome.tools_offered or () if _is_mcp(tool)}
    called = {_server(tool) for tool in outcome.tool_calls or {} if _is_mcp(tool)}
    seen = set(outcome.servers or {})
    if (seen | offered | called) - set(given):
        return Treatment.CONTAMINATED
    if called:
        return Treatment.USED
    if outcome.servers is None and outcome.tools_offered is None:
        return Treatment.UNKNOWN
    if not given:
        return Treatment.NOT_GIVEN
    connected = {name for name, status in (outcome.servers or {}).items() if status == "connected"}
    return Treatment.UNUSED if connected | offered else Treatment.NOT_CONNECTED


def mcp_calls(outcome: Outcome) -> int | None:
    """Calls of MCP tools; `None` when the agent does not show its calls."""
    if outcome.tool_calls is None:
        return None
    return sum(count for tool, count in outcome.tool_calls.items() if _is_mcp(tool))


def _is_mcp(tool: str) -> bool:
    return tool.startswith(MCP_PREFIX)


def _server(tool: str) -> str:
    return tool.removeprefix(MCP_PREFIX).partition("__")[0]
