"""How long Claude Code, and scout like it, waits for an MCP server."""

from swarm_bench.core.outcome import START_SECONDS


def start_timeout(seconds: float) -> dict[str, str]:
    """Return the variable for a waiting time other than the program's own, in milliseconds."""
    return {} if seconds == START_SECONDS else {"MCP_TIMEOUT": f"{seconds * 1000:.0f}"}
