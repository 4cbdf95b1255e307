"""What Gemini CLI writes into its home and does not print: the tokens of each request, each tool's
answer, and which MCP servers it lost. Nothing here trusts what lies there, and no text of it is
stored."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from swarm_bench.agents.gemini.names import plain_name, server_name
from swarm_bench.agents.reading.json_lines import Json, as_count, as_list, as_object, as_text
from swarm_bench.agents.reading.saved_chats import answer_text, chats_in
from swarm_bench.core.outcome import Usage
from swarm_bench.runtime.untrusted import read_inside

DEBUG_LOG = "gemini-debug.log"
"""Below the home; there it writes whatever it does not show."""
CHATS = ".gemini/tmp/*/chats/session-*.jsonl"
"""Pattern of the files below the home with the conversations, those of sub-agents among them."""
_LOST_SERVER = re.compile(rb"^\S+ \[LOG\] \[MCP error\] .*? MCP server '([^'\n]+)'", re.MULTILINE)
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
        answers=None if chats is None else _read_answers(chats),
        servers=_read_servers(home, servers),
    )


def read_usage(prompt: int | None, cached: int | None, output: int | None) -> Usage:
    """Split off what was cached, which `prompt` includes. Writing to the implicit cache of the
    Gemini API is not billed, so 0 is a true figure for that wherever the prompt has one."""
    if prompt is None or cached is None or cached > prompt:
        return Usage(output=output)
    return Usage(input=prompt - cached, cache_read=cached, cache_create=0, output=output)


def _turn_usage(chats: Iterable[Json]) -> tuple[Usage, ...]:
    """Read the tokens per request. An answer is written again when its tools have run; the last one
    counts."""
    answers: dict[str, Json] = {}
    for entry in chats:
        key = as_text(entry.get("id"))
        if key is not None and entry.get("type") == "gemini":
            answers[key] = as_object(entry.get("tokens"))
    return tuple(_read_usages(tokens) for tokens in answers.values())


def _read_answers(chats: Iterable[Json]) -> dict[str, str | None]:
    calls = (as_object(call) for entry in chats for call in as_list(entry.get("toolCalls")))
    return {
        key: answer_text(call.get("result"))
        for call in calls
        if (key := as_text(call.get("id"))) is not None
    }


def _read_usages(tokens: Json) -> Usage:
    output = as_count(tokens.get("output"))
    if output is not None:
        output += as_count(tokens.get("thoughts")) or 0
    return read_usage(as_count(tokens.get("input")), as_count(tokens.get("cached")), output)


def _read_servers(home: Path, servers: Collection[str]) -> dict[str, str] | None:
    """Return the servers' statuses. It waits for all of them before its first request: one that it
    did not lose is there."""
    log = read_inside(home, DEBUG_LOG, MAX_LOG_BYTES)
    if log is None:
        return None
    lost_servers = {
        server_name(alias.decode("utf-8", "replace")) for alias in _LOST_SERVER.findall(log)
    }
    names = map(plain_name, servers)
    return {name: "failed" if name in lost_servers else "connected" for name in names}
