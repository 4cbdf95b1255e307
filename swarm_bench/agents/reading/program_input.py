"""What programs are given: MCP servers as their settings have them, and a prompt that is no command
of theirs."""

from collections.abc import Callable
from typing import Any

from swarm_bench.core.outcome import START_SECONDS

_TIMEOUT_MS = 120_000
"""Time that an MCP server may take to connect, and for each of its answers. The programs' own limit
is 10 minutes, in which a server that hangs at its start keeps the agent from its first request."""
_UNSET = "SWARM_BENCH_UNSET"
"""A variable that no agent has."""
_DOLLAR = f"${{{_UNSET}:-$}}"
"""Stands for a `$` where a program fills in variables once: what comes out is not looked at."""


def trust_server(configured: dict[str, Any]) -> dict[str, Any]:
    """Return a server as Gemini CLI has one in its settings, and Qwen Code, which was made from it;
    `trust` because there is no user to ask."""
    server = {"timeout": _TIMEOUT_MS, **configured, "trust": True}
    kind = str(server.pop("type", "http")).lower()
    if "url" in server and kind != "sse":
        server["httpUrl"] = server.pop("url")
    return server


def escape(value: str) -> str:
    """Protect a value from a program that fills in variables: a key may well have a `$` in it, and
    what was to be filled in has been when an adapter gets a mode's servers."""
    return value.replace("$", _DOLLAR)


def map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Change every text in lists and objects, but for the keys."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [map_texts(item, change) for item in value]
    if isinstance(value, dict):
        return {key: map_texts(item, change) for key, item in value.items()}
    return value


def start_timeout(seconds: float) -> dict[str, str]:
    """Return the variable with which Claude Code, and scout like it, waits for an MCP server longer
    than by itself, in milliseconds."""
    return {} if seconds == START_SECONDS else {"MCP_TIMEOUT": f"{seconds * 1000:.0f}"}


def not_a_command(prompt: str) -> str:
    """Keep a slash from the beginning: the prompt would be taken for a command, and not reach the
    model."""
    return f"\n{prompt}" if prompt.startswith("/") else prompt
