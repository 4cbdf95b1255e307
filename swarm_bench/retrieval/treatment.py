"""What became of the retrieval tool in one trial, from what the agent itself reports."""

import re
from collections.abc import Collection, Iterable

from swarm_bench.core.outcome import Outcome
from swarm_bench.core.records import Treatment

MCP_PREFIX = "mcp__"
"""Agents name an MCP tool `mcp__<server>__<tool>`, with `_` for what a tool's name cannot have."""


def treatment(given: Collection[str], outcome: Outcome) -> Treatment:
    """The label of a trial in a mode that gives the MCP servers `given`."""
    prefixes = tuple(f"{MCP_PREFIX}{_normal(name)}__" for name in given)
    calls, failures = outcome.tool_calls or {}, outcome.tool_failures or {}
    tools = [*(outcome.tools_offered or ()), *calls]
    foreign_servers = set(map(_normal, outcome.servers or ())) - set(map(_normal, given))
    if foreign_servers or not all(tool.startswith(prefixes) for tool in _mcp(tools)):
        return Treatment.CONTAMINATED
    if any(calls[tool] > failures.get(tool, 0) for tool in _mcp(calls)):
        return Treatment.USED
    if outcome.servers is None and outcome.tools_offered is None and not _mcp(calls):
        return Treatment.UNKNOWN
    if not given:
        return Treatment.NOT_GIVEN
    connected = "connected" in (outcome.servers or {}).values()
    return Treatment.UNUSED if connected or _mcp(tools) else Treatment.NOT_CONNECTED


def mcp_calls(outcome: Outcome) -> int | None:
    """Calls of MCP tools; `None` when the agent does not show its calls."""
    if outcome.tool_calls is None:
        return None
    return sum(outcome.tool_calls[tool] for tool in _mcp(outcome.tool_calls))


def is_of_server(tool: str, servers: Collection[str]) -> bool:
    """Whether a tool, as a model sees its name, belongs to one of the servers: most programs write
    `mcp__<server>__<tool>`, Gemini CLI `mcp_<server>_<tool>`."""
    # Gemini CLI's adapter has `--` for `_`: that program ends a server's name at the first `_`.
    names = "|".join(re.escape(_normal(name)).replace("_", "(?:_|--)") for name in servers)
    return bool(names) and re.match(rf"(mcp__({names})__|mcp_(?!_)({names})_)", tool) is not None


def _mcp(tools: Iterable[str]) -> list[str]:
    return [tool for tool in tools if tool.startswith(MCP_PREFIX)]


def _normal(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)
