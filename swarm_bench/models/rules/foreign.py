"""The policy with tools that nobody here has heard of: search, read what was found.

A server's tool that searches is asked for the words of the task, and one that reads is given the
files that come first. Of a server without a search its overview is looked at.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from swarm_bench.core.ports import ToolSpec
from swarm_bench.models import tool_roles
from swarm_bench.models.rules import canopy, patterns, results
from swarm_bench.models.rules.baseline import WINDOW, Call
from swarm_bench.models.rules.evidence import Seen, Step
from swarm_bench.models.rules.ranking import rank
from swarm_bench.models.rules.results import Place
from swarm_bench.models.rules.terms import Term

MAX_READS = 4
_FIRST = ("offset", "start_line")

_TOLD = re.compile(r"\n\nWorking directory: (/[^\n]*)\Z")


@dataclass(frozen=True, kw_only=True)
class Others:
    """The tools of foreign servers by what they are good for."""

    first: tuple[ToolSpec, ...]
    """One of each server, to begin with."""
    reader: ToolSpec | None
    workspace: str


def told(prompt: str, workspace: str) -> str:
    """A prompt with what a server must be told: where the files are."""
    return f"{prompt}\n\nWorking directory: {workspace}"


def without_told(prompt: str) -> str:
    return _TOLD.sub("", prompt)


def tools_of(offered: Sequence[ToolSpec]) -> list[ToolSpec]:
    """The tools of servers that are not canopy."""
    known = canopy.tools_of(offered)
    ours = known.pack.rpartition("__")[0] + "__" if known else ""
    return [
        tool
        for tool in offered
        if tool.name.startswith("mcp__") and not (ours and tool.name.startswith(ours))
    ]


def unusable(offered: Sequence[ToolSpec]) -> list[str] | None:
    """Names of foreign tools of which it cannot be told how to use them; `None` without any foreign
    tool. Those that change something are not for searching, and no loss."""
    foreign = tools_of(offered)
    return [tool.name for tool in foreign if _role(tool) is None] if foreign else None


def others_of(offered: Sequence[ToolSpec], prompt: str) -> Others | None:
    """What the foreign tools are good for; `None` when there is none to be used."""
    by_server: dict[str, dict[str, ToolSpec]] = {}
    for tool in tools_of(offered):
        role = _role(tool)
        if role in ("search", "read", "overview"):
            best = by_server.setdefault(tool.name.split("__")[1], {})
            if role not in best or _worth(tool) > _worth(best[role]):
                best[role] = tool
    if not by_server:
        return None
    first = (best.get("search") or best.get("overview") for best in by_server.values())
    readers = (best["read"] for best in by_server.values() if "read" in best)
    where = _TOLD.search(prompt)
    return Others(
        first=tuple(tool for tool in first if tool),
        reader=next(readers, None),
        workspace=where[1] if where else ".",
    )


def first_calls(terms: Sequence[Term], others: Others) -> list[Call]:
    """A search with each server, or its overview."""
    return [
        (
            tool.name,
            tool_roles.search_arguments(tool, terms, others.workspace)
            if _role(tool) == "search"
            else tool_roles.placed(tool, {}, others.workspace),
        )
        for tool in others.first
    ]


def next_calls(terms: Sequence[Term], taken: Sequence[Step], others: Others) -> list[Call]:
    """The calls of the next turn; none when there is nothing (more) to be had from the servers."""
    if not terms:
        return []
    if not taken and others.first:
        return first_calls(terms, others)
    if any(step.call.name not in {tool.name for tool in others.first} for step in taken):
        return []
    lines = _lines_by_path(taken, others)
    return [
        _read(path, _window(lines[path]), others)
        for path in ranked(terms, taken, others)[:MAX_READS]
    ]


def through_reader(
    calls: Sequence[Call], taken: Sequence[Step], others: Others
) -> list[Call] | None:
    """The same reading with the reader of a server; `None` when there is none, or it was asked."""
    reads = [arguments for name, arguments in calls if name == "Read"]
    if not reads or others.reader is None or _readings(taken, others):
        return None
    first: dict[str, int] = {}
    for arguments in reads:
        path, line = str(arguments["file_path"]), arguments["offset"]
        first.setdefault(path, line if isinstance(line, int) else 1)
    return [_read(path, line, others) for path, line in list(first.items())[:MAX_READS]]


def is_read(taken: Sequence[Step], others: Others) -> bool:
    """Whether files that a server found, or its reader gave, have been read."""
    if any(_window_of(step, others) for step in _readings(taken, others)):
        return True
    own = [step for step in taken if not step.call.name.startswith("mcp__")]
    return bool(own) and {step.call.name for step in own} == {"Read"}


def ranked(terms: Sequence[Term], taken: Sequence[Step], others: Others) -> list[str]:
    """The files that searches have named, best first. What was found by words comes in an order of
    the server's own, what fits a pattern in none."""
    by_words: list[str] = []
    by_pattern: dict[str, Counter[str]] = {term.word: Counter() for term in terms}
    tools = {tool.name: tool for tool in others.first}
    for step in taken:
        tool = tools.get(step.call.name)
        if tool is None or _role(tool) != "search":
            continue
        for place in _places(step, others):
            if not tool_roles.takes_expression(tool):
                by_words.append(place.path)
                continue
            by_pattern[terms[0].word].setdefault(place.path, 0)
            for term in terms:
                found = patterns.in_text(term).search(place.text)
                by_pattern[term.word][place.path] += 1 if found else 0
    order = dict.fromkeys([*by_words, *(path for path, _ in rank(terms, by_pattern))])
    # Some searches also find folders, which cannot be read.
    return sorted(order, key=lambda path: not PurePosixPath(path).suffix)


def add_found(seen: Seen, taken: Sequence[Step], others: Others) -> None:
    """Adds what the servers have shown to what was seen."""
    for step in taken:
        if window := _window_of(step, others):
            seen.add_window(*window)
        elif step.call.name in {tool.name for tool in others.first}:
            for place in _places(step, others):
                if place.line and place.text.strip():
                    seen.add_line(place.path, place.line, place.text)


def _places(step: Step, others: Others) -> list[Place]:
    return [] if step.result.is_error else results.places(step.result.text, others.workspace)


def _read(path: str, first: int, others: Others) -> Call:
    """A reading with the reader of a server, else with the built-in tool."""
    tool = others.reader
    if tool is None:
        return "Read", {"file_path": path, "offset": first, "limit": WINDOW}
    name = tool_roles.argument(tool, tool_roles.FILE) or "path"
    said = name + tool_roles.said_of(tool, name)
    given: dict[str, object] = {name: path if "relative" in said else f"{others.workspace}/{path}"}
    known = tool_roles.properties(tool)
    if {"offset", "limit"} <= set(known):
        given |= {"offset": first - _zero(tool), "limit": WINDOW}
    elif {"start_line", "end_line"} <= set(known):
        start = first - _zero(tool)
        given |= {"start_line": start, "end_line": start + WINDOW - 1}
    return tool.name, tool_roles.placed(tool, given, others.workspace)


def _readings(taken: Sequence[Step], others: Others) -> list[Step]:
    return [step for step in taken if others.reader and step.call.name == others.reader.name]


def _window_of(step: Step, others: Others) -> tuple[str, int, list[str]] | None:
    """Path, first line and lines of what a reader gave; `None` when it gave none."""
    tool = others.reader
    if tool is None or step.call.name != tool.name or step.result.is_error:
        return None
    name = tool_roles.argument(tool, tool_roles.FILE) or "path"
    path = results.below(step.argument(name), others.workspace)
    asked = [step.call.arguments[key] for key in _FIRST if key in step.call.arguments]
    first = asked[0] + _zero(tool) if asked else 1
    found = results.content(step.result.text, first)
    return (path, *found) if path and found else None


def _zero(tool: ToolSpec) -> int:
    """1 when the tool counts lines from 0."""
    said = "".join(tool_roles.said_of(tool, name) for name in _FIRST)
    return int("0-based" in said or "zero-based" in said)


def _lines_by_path(taken: Sequence[Step], others: Others) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place in (place for step in taken for place in _places(step, others)):
        found.setdefault(place.path, []).extend([place.line] if place.line else [])
    return found


def _window(lines: Sequence[int]) -> int:
    """The first line of the window with most of the lines in it."""
    best = max(
        sorted(set(lines)),
        key=lambda line: sum(line <= other < line + WINDOW - 3 for other in lines),
        default=1,
    )
    return max(1, best - 3)


def _role(tool: ToolSpec) -> tool_roles.Role | None:
    return tool_roles.role(tool.name.split("__", 2)[-1], tool)


def _worth(tool: ToolSpec) -> int:
    return tool_roles.worth(tool.name.split("__", 2)[-1], tool)
