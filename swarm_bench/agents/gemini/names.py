"""Names of MCP servers and of their tools, as Gemini CLI has them and as a record has them."""

import re

from swarm_bench.core.errors import UsageError


def server_alias(name: str) -> str:
    """What a server is called in Gemini CLI's settings.

    It names a tool `mcp_<server>_<tool>`, and looks for the end of the server's name at the first
    `_`: also in its own rules, which then fail for a server with a `_`. So `_` is written `--`.
    Raises `UsageError` for a name that could not be told from another one afterwards.
    """
    if "--" in name:
        raise UsageError(
            f"Gemini CLI cannot be given an MCP server called {name!r}, since '--' stands for "
            "'_' in its names; rename the server in the mode's file"
        )
    return plain_name(name).replace("_", "--")


def plain_name(name: str) -> str:
    """A server's name as a record has it, without what the name of a tool cannot have."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def server_name(alias: str) -> str:
    """The server that an alias stands for, as a record has its name."""
    return alias.replace("--", "_")


def treatment_name(tool: str) -> str:
    """`mcp_my--server_query` as `mcp__my_server__query`; a built-in tool as it is."""
    found = re.match(r"mcp_([^_]+)_(.*)", tool, re.DOTALL)
    if found is None:
        return tool
    server, name = found.groups()
    return f"mcp__{server_name(server)}__{name}"
