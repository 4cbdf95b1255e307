"""What Gemini CLI leaves in its home and does not print: the tokens of each request, and which MCP
servers it lost. Nothing here trusts what lies there, and nothing of it is text that is kept."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from swarm_bench.agents._gemini_names import plain_name, server_name
from swarm_bench.agents._json_lines import Json, count_of, in_line, object_of, text_of
from swarm_bench.core.outcome import Usage
from swarm_bench.runtime.inside import read_inside

DEBUG_LOG = "gemini-debug.log"
"""Below the home; there it writes whatever it does not show."""
"""Pattern of the files below the home with the conversations, those of sub-agents among them."""
CHATS = ".gemini/tmp/*/chats/session-*.jsonl"
_LOST = re.compile(rb"^\S+ \[LOG\] \[MCP error\] .*? MCP server '([^'\n]+)'", re.MULTILINE)
MAX_LOG_BYTES = 16 * 1024 * 1024
MAX_CHATS = 100
MAX_CHAT_BYTES = 32 * 1024 * 1024
"""Of all conversations together."""


@dataclass(frozen=True, kw_only=True)
class Left:
    """What was found; `None` where it was not."""

    turn_usage: tuple[Usage, ...] | None = None
    servers: dict[str, str] | None = None


def left_in(home: Path | None, servers: Collection[str]) -> Left:
    """What a run left in `request.home` that was given `servers`."""
    if home is None:
        return Left()
    return Left(turn_usage=_turn_usage(home), servers=_servers(home, servers))


def usage_of(prompt: int | None, cached: int | None, output: int | None) -> Usage:
    """`prompt` includes `cached`. Nobody is billed for writing to the implicit cache of the Gemini
    API, so 0 is a true figure for that wherever the prompt is known."""
    if prompt is None or cached is None or cached > prompt:
        return Usage(output=output)
    return Usage(input=prompt - cached, cache_read=cached, cache_create=0, output=output)


def _turn_usage(home: Path) -> tuple[Usage, ...] | None:
    """Per request. An answer is written again when its tools have run; the last one counts."""
    found = islice(home.glob(CHATS), MAX_CHATS + 1)
    files = sorted(str(file.relative_to(home)) for file in found)
    read, room = list[bytes](), MAX_CHAT_BYTES
    for file in files:
        data = read_inside(home, file, room)
        if data is not None:
            read.append(data)
            room -= len(data)
    if not read or room <= 0 or len(files) > MAX_CHATS:
        return None  # of a part of the requests, the figures would be wrong
    answers: dict[str, Json] = {}
    for data in read:
        for entry in _entries(data):
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


def _servers(home: Path, given: Collection[str]) -> dict[str, str] | None:
    """It waits for all of them before its first request: one that it did not lose is there."""
    log = read_inside(home, DEBUG_LOG, MAX_LOG_BYTES)
    if log is None:
        return None
    lost = {server_name(alias.decode("utf-8", "replace")) for alias in _LOST.findall(log)}
    names = map(plain_name, given)
    return {name: "failed" if name in lost else "connected" for name in names}


def _entries(data: bytes) -> Iterator[Json]:
    for line in data.splitlines():
        yield from (found.value for found in in_line(line))
