"""What Gemini CLI leaves in its home and does not print: the tokens of each request, and which MCP
servers it lost. Nothing here trusts what lies there, and nothing of it is text that is kept."""

import re
from dataclasses import dataclass
from pathlib import Path

from swarm_bench.agents._claude_json import Json, count_of, object_of, objects, text_of
from swarm_bench.agents._gemini_names import server_name
from swarm_bench.core.outcome import Usage

DEBUG_LOG = "gemini-debug.log"
"""Below the home; there it writes whatever it does not show."""

_CHATS = ".gemini/tmp/*/chats/session-*.jsonl"
_LOST = re.compile(rb"^\S+ \[LOG\] \[MCP error\] .*? MCP server '([^'\n]+)'", re.MULTILINE)
_LOG_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Left:
    """What was found; `None` where it was not."""

    turn_usage: tuple[Usage, ...] | None = None
    servers: dict[str, str] | None = None


def left_in(home: Path | None) -> Left:
    """What a run left in `request.home`."""
    if home is None:
        return Left()
    try:
        return Left(turn_usage=_turn_usage(home), servers=_servers(home))
    except OSError:
        return Left()  # the agent may have removed it, or made something else of it


def usage_of(prompt: int | None, cached: int | None, output: int | None) -> Usage:
    """`prompt` includes `cached`. Nobody is billed for writing to the implicit cache of the Gemini
    API, so 0 is a true figure for that wherever the prompt is known."""
    if prompt is None or cached is None or cached > prompt:
        return Usage(output=output)
    return Usage(input=prompt - cached, cache_read=cached, cache_create=0, output=output)


def _turn_usage(home: Path) -> tuple[Usage, ...] | None:
    """Per request. An answer is written again when its tools have run; the last one counts."""
    files = sorted(home.glob(_CHATS))
    if not files:
        return None
    answers: dict[str, Json] = {}
    for file in files:
        for found in objects(file):
            key = text_of(found.value.get("id"))
            if key is not None and found.value.get("type") == "gemini":
                answers[key] = object_of(found.value.get("tokens"))
    return tuple(_usage(tokens) for tokens in answers.values())


def _usage(tokens: Json) -> Usage:
    given = {name: count_of(tokens.get(name)) for name in ("input", "cached", "output", "thoughts")}
    output = None
    if given["output"] is not None:
        output = given["output"] + (given["thoughts"] or 0)
    return usage_of(given["input"], given["cached"], output)


def _servers(home: Path) -> dict[str, str] | None:
    """It waits for all of them before its first request: one that it did not lose is there."""
    log, settings = home / DEBUG_LOG, home / ".gemini" / "settings.json"
    if not log.is_file() or not settings.is_file():
        return None
    given = next((found.value for found in objects(settings) if "mcpServers" in found.value), {})
    with log.open("rb") as file:
        lost = {name.decode("utf-8", "replace") for name in _LOST.findall(file.read(_LOG_BYTES))}
    return {
        server_name(alias): "failed" if alias in lost else "connected"
        for alias in object_of(given.get("mcpServers"))
    }
