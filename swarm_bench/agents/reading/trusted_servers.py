"""MCP servers as Gemini CLI has them in its settings, and Qwen Code, which was made from it."""

from typing import Any

TIMEOUT_MS = 120_000
"""For an MCP server to connect, and for each of its answers. The programs' own limit is 10 minutes,
in which a server that hangs at its start keeps the agent from its first request."""


def trust_server(configured: dict[str, Any]) -> dict[str, Any]:
    """Return a server as their settings have one; `trust` because nobody can be asked."""
    server = {"timeout": TIMEOUT_MS, **configured, "trust": True}
    kind = str(server.pop("type", "http")).lower()
    if "url" in server and kind != "sse":
        server["httpUrl"] = server.pop("url")
    return server
