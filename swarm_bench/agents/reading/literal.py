"""Values of an MCP server that a program must take as they stand. What was to be filled in has been
filled in when an adapter gets a mode's servers, and a key may well have a `$` in it."""

from collections.abc import Callable
from typing import Any

UNSET = "SWARM_BENCH_UNSET"
"""A variable that no agent has."""
DOLLAR = f"${{{UNSET}:-$}}"
"""Stands for a `$` where a program fills in variables once: what comes out is not looked at."""


def escape(value: str) -> str:
    """Protect a value from a program that fills in variables."""
    return value.replace("$", DOLLAR)


def map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Change every text in lists and objects, but for the keys."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [map_texts(item, change) for item in value]
    if isinstance(value, dict):
        return {key: map_texts(item, change) for key, item in value.items()}
    return value
