"""How long Claude Code, and scout like it, waits for an MCP server."""

from swarm_bench.core.outcome import START_SECONDS


def patience(seconds: float) -> dict[str, str]:
    """The variable that says so in milliseconds, if it is not what the program does anyway."""
    return {} if seconds == START_SECONDS else {"MCP_TIMEOUT": f"{seconds * 1000:.0f}"}
