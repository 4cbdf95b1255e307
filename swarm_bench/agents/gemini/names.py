"""Names of MCP servers and of their tools, as Gemini CLI has them and as a record has them."""

import re

from swarm_bench.core.errors import UsageError


def server_alias(name: str) -> str:
    """Return a server's name for Gemini CLI's settings.

    It names a tool `mcp_<server>_<tool>`, and looks for the end of the server's name at the first
    `_`: also in its own rules, which then fail for a server with a `_`. So `_` is written `--`.
    Raises `UsageError` for a name that would be ambiguous afterwards.
    """
    if "--" in name:
        raise UsageError(
            f"Gemini CLI cannot be given an MCP server called {name!r}, since '--' stands for "
            "'_' in its names; rename the server in the mode's file"
        )
    return plain_name(name).replace("_", "--")


def plain_name(name: str) -> str:
    """Return a server's name as a record has it, without what the name of a tool cannot have."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def server_name(alias: str) -> str:
    """Return the name that an alias stands for, as a record has it."""
    return alias.replace("--", "_")


def treatment_name(tool: str) -> str:
    """Turn `mcp_my--server_query` into `mcp__my_server__query`; a built-in tool stays as it is."""
    match = re.match(r"mcp_([^_]+)_(.*)", tool, re.DOTALL)
    if match is None:
        return tool
    server, name = match.groups()
    return f"mcp__{server_name(server)}__{name}"
