"""What Gemini CLI leaves in its home and does not print: the tokens of each request, and which MCP
servers it lost. Nothing here trusts what lies there, and nothing of it is text that is kept."""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from swarm_bench.agents._gemini_names import server_name
from swarm_bench.agents._json_lines import Json, count_of, in_line, object_of, text_of
from swarm_bench.core.outcome import Usage
from swarm_bench.runtime.inside import read_inside

DEBUG_LOG = "gemini-debug.log"
"""Below the home; there it writes whatever it does not show."""
SERVERS = "gemini-servers.json"
"""Below the home; names of the MCP servers that it was given, which nothing it writes says."""

CHATS = ".gemini/tmp/*/chats/session-*.jsonl"
_LOST = re.compile(rb"^\S+ \[LOG\] \[MCP error\] .*? MCP server '([^'\n]+)'", re.MULTILINE)
_FILE_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Left:
    """What was found; `None` where it was not."""

    turn_usage: tuple[Usage, ...] | None = None
    servers: dict[str, str] | None = None


def write_servers(home: Path, aliases: Collection[str]) -> None:
    """Keeps for `left_in` which servers a run is given."""
    names = [server_name(alias) for alias in aliases]
    (home / SERVERS).write_text(json.dumps({"servers": names}), encoding="utf-8")


def left_in(home: Path | None) -> Left:
    """What a run left in `request.home`."""
    if home is None:
        return Left()
    return Left(turn_usage=_turn_usage(home), servers=_servers(home))


def usage_of(prompt: int | None, cached: int | None, output: int | None) -> Usage:
    """`prompt` includes `cached`. Nobody is billed for writing to the implicit cache of the Gemini
    API, so 0 is a true figure for that wherever the prompt is known."""
    if prompt is None or cached is None or cached > prompt:
        return Usage(output=output)
    return Usage(input=prompt - cached, cache_read=cached, cache_create=0, output=output)


def _turn_usage(home: Path) -> tuple[Usage, ...] | None:
    """Per request. An answer is written again when its tools have run; the last one counts."""
    files = sorted(str(file.relative_to(home)) for file in home.glob(CHATS))
    if not files:
        return None
    answers: dict[str, Json] = {}
    for file in files:
        for entry in _entries(home, file):
            key = text_of(entry.get("id"))
            if key is not None and entry.get("type") == "gemini":
                answers[key] = object_of(entry.get("tokens"))
    return tuple(_usage(tokens) for tokens in answers.values())


def _usage(tokens: Json) -> Usage:
    given = {name: count_of(tokens.get(name)) for name in ("input", "cached", "output", "thoughts")}
    output = None
    if given["output"] is not None:
        output = given["output"] + (given["thoughts"] or 0)
    return usage_of(given["input"], given["cached"], output)


def _servers(home: Path) -> dict[str, str] | None:
    """It waits for all of them before its first request: one that it did not lose is there."""
    log = read_inside(home, DEBUG_LOG, _FILE_BYTES)
    names = next((entry.get("servers") for entry in _entries(home, SERVERS)), None)
    if log is None or not isinstance(names, list):
        return None
    lost = {server_name(alias.decode("utf-8", "replace")) for alias in _LOST.findall(log)}
    return {
        name: "failed" if name in lost else "connected" for name in names if isinstance(name, str)
    }


def _entries(home: Path, inner: str) -> Iterator[Json]:
    data = read_inside(home, inner, _FILE_BYTES) or b""
    for line in data.splitlines():
        yield from (found.value for found in in_line(line))
