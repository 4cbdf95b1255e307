"""The search with tools that nobody here has heard of, and the reading with theirs.

A server's tool that searches is asked for the words of the task; of a server without a search its
overview is looked at. What is read of the files that were named, and when that is enough, is said
in `reading`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from swarm_bench.core.ports import ToolSpec
from swarm_bench.models import tool_roles
from swarm_bench.models.rules import baseline, canopy, patterns, reading, results
from swarm_bench.models.rules.evidence import Call, Seen, Step
from swarm_bench.models.rules.ranking import rank
from swarm_bench.models.rules.readers import Reader
from swarm_bench.models.rules.reading import BUDGET, Candidate, Reading
from swarm_bench.models.rules.results import Place
from swarm_bench.models.rules.terms import Term

_TOLD = re.compile(r"\n\nWorking directory: (/[^\n]*)\Z")


@dataclass(frozen=True, kw_only=True)
class Others:
    """The tools of foreign servers by what they are good for."""

    first: tuple[ToolSpec, ...]
    """One of each server, to begin with."""
    reader: Reader | None
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
    where = _TOLD.search(prompt)
    workspace = where[1] if where else "."
    first = (best.get("search") or best.get("overview") for best in by_server.values())
    return Others(
        first=tuple(tool for tool in first if tool),
        reader=_reader(by_server.values(), workspace),
        workspace=workspace,
    )


def _reader(servers: Iterable[Mapping[str, ToolSpec]], workspace: str) -> Reader | None:
    """The first reader that can be asked for some lines of a file. One that gives whole files is
    of use only where its server has nothing else: they are more than the budget allows."""
    readers = [
        (Reader(tool=best["read"], workspace=workspace), "search" in best)
        for best in servers
        if "read" in best
    ]
    usable = (reader for reader, searches in readers if reader.takes_lines or not searches)
    return next(usable, None)


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


def next_calls(
    terms: Sequence[Term], taken: Sequence[Step], others: Others, seen: Seen
) -> list[Call]:
    """The first calls to the servers, then what is read next of the places that they have named;
    nothing when there is no more to be had from them."""
    if not taken and others.first:
        return first_calls(terms, others)
    planned = reading.plan(candidates(terms, taken, others), terms, BUDGET)
    chosen = reading.next_of(planned, attempted(taken, others), seen, BUDGET)
    return [read(wanted, taken, others) for wanted in chosen]


def candidates(terms: Sequence[Term], taken: Sequence[Step], others: Others) -> list[Candidate]:
    """The files that the servers have named, best first, with the lines that they have shown."""
    lines: dict[str, dict[int, str]] = {}
    for place in (place for step in taken for place in _places(step, others)):
        if place.line:
            lines.setdefault(place.path, {}).setdefault(place.line, place.text)
    order = ranked(terms, taken, others)
    return [Candidate(path=path, lines=lines.get(path, {})) for path in order]


def attempted(taken: Sequence[Step], others: Others) -> set[tuple[str, int]]:
    """Where the readings begin that were asked for. What a reader could not give may be asked for
    once more, of the built-in tool."""
    starts = baseline.attempted(taken)
    reader = others.reader
    if reader and not reader.has_failed(taken):
        starts |= {start for step in taken if (start := reader.start(step))}
    return starts


def read(wanted: Reading, taken: Sequence[Step], others: Others) -> Call:
    """The call that reads some lines, with the reader of a server if there is one that works."""
    reader = others.reader
    if reader is None or reader.has_failed(taken):
        return baseline.read(wanted)
    return reader.call(wanted)


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
        if window := others.reader and others.reader.window(step):
            seen.add_window(*window)
        for place in _places(step, others):
            if place.line and place.text.strip():
                seen.add_line(place.path, place.line, place.text)


def _places(step: Step, others: Others) -> list[Place]:
    if step.result.is_error or step.call.name not in {tool.name for tool in others.first}:
        return []
    return results.places(step.result.text, others.workspace)


def _role(tool: ToolSpec) -> tool_roles.Role | None:
    return tool_roles.role(tool.name.split("__", 2)[-1], tool)


def _worth(tool: ToolSpec) -> int:
    return tool_roles.worth(tool.name.split("__", 2)[-1], tool)
