"""What Gemini CLI writes into its home and does not print: the tokens of each request, each tool's
answer, and which MCP servers it lost. Nothing here trusts what lies there, and no text of it is
stored."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from swarm_bench.agents.gemini.names import plain_name, server_name
from swarm_bench.agents.reading.json_lines import Json, count_of, list_of, object_of, text_of
from swarm_bench.agents.reading.saved_chats import answer_text, chats_in
from swarm_bench.core.outcome import Usage
from swarm_bench.runtime.untrusted import read_inside

DEBUG_LOG = "gemini-debug.log"
"""Below the home; there it writes whatever it does not show."""
CHATS = ".gemini/tmp/*/chats/session-*.jsonl"
"""Pattern of the files below the home with the conversations, those of sub-agents among them."""
_LOST = re.compile(rb"^\S+ \[LOG\] \[MCP error\] .*? MCP server '([^'\n]+)'", re.MULTILINE)
MAX_LOG_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class HomeFigures:
    """The figures in the home; `None` where it has none."""

    turn_usage: tuple[Usage, ...] | None = None
    answers: dict[str, str | None] | None = None
    """The tools' answers by call id; `None` in it for what is not text alone."""
    servers: dict[str, str] | None = None


def figures_in(home: Path | None, servers: Collection[str]) -> HomeFigures:
    """Read what a run with `servers` wrote into its home."""
    if home is None:
        return HomeFigures()
    chats = chats_in(home, CHATS)
    return HomeFigures(
        turn_usage=None if chats is None else _turn_usage(chats),
        answers=None if chats is None else _answers(chats),
        servers=_servers(home, servers),
    )


def usage_of(prompt: int | None, cached: int | None, output: int | None) -> Usage:
    """Split off what was cached, which `prompt` includes. Nobody is billed for writing to the
    implicit cache of the Gemini API, so 0 is a true figure for that wherever the prompt has one."""
    if prompt is None or cached is None or cached > prompt:
        return Usage(output=output)
    return Usage(input=prompt - cached, cache_read=cached, cache_create=0, output=output)


def _turn_usage(chats: Iterable[Json]) -> tuple[Usage, ...]:
    """Read the tokens per request. An answer is written again when its tools have run; the last one
    counts."""
    answers: dict[str, Json] = {}
    for entry in chats:
        key = text_of(entry.get("id"))
        if key is not None and entry.get("type") == "gemini":
            answers[key] = object_of(entry.get("tokens"))
    return tuple(_usage(tokens) for tokens in answers.values())


def _answers(chats: Iterable[Json]) -> dict[str, str | None]:
    calls = (object_of(call) for entry in chats for call in list_of(entry.get("toolCalls")))
    return {
        key: answer_text(call.get("result"))
        for call in calls
        if (key := text_of(call.get("id"))) is not None
    }


def _usage(tokens: Json) -> Usage:
    output = count_of(tokens.get("output"))
    if output is not None:
        output += count_of(tokens.get("thoughts")) or 0
    return usage_of(count_of(tokens.get("input")), count_of(tokens.get("cached")), output)


def _servers(home: Path, servers: Collection[str]) -> dict[str, str] | None:
    """Return the servers' statuses. It waits for all of them before its first request: one that it
    did not lose is there."""
    log = read_inside(home, DEBUG_LOG, MAX_LOG_BYTES)
    if log is None:
        return None
    lost = {server_name(alias.decode("utf-8", "replace")) for alias in _LOST.findall(log)}
    names = map(plain_name, servers)
    return {name: "failed" if name in lost else "connected" for name in names}
