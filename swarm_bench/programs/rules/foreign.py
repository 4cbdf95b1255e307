"""The search with the tools of arbitrary servers, and the reading with theirs.

A server's tool that searches is asked for the words of the task; of a server without a search its
overview is looked at. What is read of the files that were named, and when that is enough,
`reading_plan` decides.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from swarm_bench.core.ports import ToolSpec
from swarm_bench.models import tool_roles
from swarm_bench.models.lexical import tool_results
from swarm_bench.models.lexical.ranking import rank
from swarm_bench.models.lexical.terms import Term
from swarm_bench.models.lexical.tool_results import Location
from swarm_bench.programs.rules import baseline, canopy_search, patterns, reading_plan
from swarm_bench.programs.rules.observations import Call, Observations, Step
from swarm_bench.programs.rules.readers import Reader
from swarm_bench.programs.rules.reading_plan import BUDGET, Budget, Candidate, Reading

_WORKSPACE = re.compile(r"\n\nWorking directory: (/[^\n]*)\Z")


@dataclass(frozen=True, kw_only=True)
class ForeignTools:
    """The tools of foreign servers by what they are good for."""

    first: tuple[ToolSpec, ...]
    """One of each server, to begin with."""
    reader: Reader | None
    workspace: str


def with_workspace(prompt: str, workspace: str) -> str:
    """Append what a server must know: where the files are."""
    return f"{prompt}\n\nWorking directory: {workspace}"


def without_workspace(prompt: str) -> str:
    return _WORKSPACE.sub("", prompt)


def tools_of(offered: Sequence[ToolSpec]) -> list[ToolSpec]:
    """List the tools of servers other than canopy."""
    canopys = canopy_search.tools_of(offered)
    ours = canopys.pack.rpartition("__")[0] + "__" if canopys else ""
    return [
        tool
        for tool in offered
        if tool.name.startswith("mcp__") and not (ours and tool.name.startswith(ours))
    ]


def unusable(offered: Sequence[ToolSpec]) -> list[str] | None:
    """Name the foreign tools whose use stays unclear; `None` without any foreign tool. Those that
    change something are not for searching, and no loss."""
    foreign = tools_of(offered)
    return [tool.name for tool in foreign if _role(tool) is None] if foreign else None


def usable_tools(offered: Sequence[ToolSpec], prompt: str) -> ForeignTools | None:
    """Sort the foreign tools by what they are good for; `None` when none can be used."""
    by_server: dict[str, dict[str, ToolSpec]] = {}
    for tool in tools_of(offered):
        role = _role(tool)
        if role in ("search", "read", "overview"):
            best = by_server.setdefault(tool.name.split("__")[1], {})
            if role not in best or _worth(tool) > _worth(best[role]):
                best[role] = tool
    if not by_server:
        return None
    where = _WORKSPACE.search(prompt)
    workspace = where[1] if where else "."
    first = (best.get("search") or best.get("overview") for best in by_server.values())
    return ForeignTools(
        first=tuple(tool for tool in first if tool),
        reader=_reader(by_server.values(), workspace),
        workspace=workspace,
    )


def _reader(servers: Iterable[Mapping[str, ToolSpec]], workspace: str) -> Reader | None:
    """Choose the first reader that can be asked for some lines of a file. One that gives whole
    files is of use only where its server has nothing else: they are more than the budget allows."""
    readers = [
        (Reader(tool=best["read"], workspace=workspace), "search" in best)
        for best in servers
        if "read" in best
    ]
    usable = (reader for reader, searches in readers if reader.takes_lines or not searches)
    return next(usable, None)


def next_calls(
    terms: Sequence[Term], taken: Sequence[Step], others: ForeignTools, observed: Observations
) -> list[Call]:
    """Make the first calls to the servers, then read on in the files that they have named; nothing
    when there is no more to be had from them."""
    if not taken and others.first:
        return _first_calls(terms, others)
    if again := _word_by_word(terms, taken, others):
        return again
    planned = reading_plan.plan(
        _candidates(terms, taken, others), terms, _remaining_budget(taken, others)
    )
    chosen = reading_plan.next_of(planned, attempted(taken, others), observed, BUDGET)
    return [read(wanted, taken, others) for wanted in chosen]


def _first_calls(terms: Sequence[Term], others: ForeignTools) -> list[Call]:
    """Search with each server, or look at its overview."""
    calls: list[Call] = []
    for tool in others.first:
        if _role(tool) != "search":
            calls.append((tool.name, tool_roles.with_required(tool, {}, others.workspace)))
            continue
        one_by_one = tool_roles.takes_one_name(tool)
        for part in [[term] for term in terms] if one_by_one else [terms]:
            calls.append((tool.name, tool_roles.search_arguments(tool, part, others.workspace)))
    return calls


def _word_by_word(terms: Sequence[Term], taken: Sequence[Step], others: ForeignTools) -> list[Call]:
    """Ask the same question in single words of servers that gave nothing for all of them together:
    many want every word of a question in one passage."""
    calls: list[Call] = []
    for tool in others.first if len(terms) > 1 else ():
        steps = [step for step in taken if step.call.name == tool.name]
        is_open = len(steps) == 1 and not steps[0].result.is_error and _role(tool) == "search"
        if is_open and not tool_roles.takes_expression(tool) and not _locations(steps[0], others):
            singles = [replace(term, word=term.roots[0]) for term in terms]
            asked = [
                tool_roles.search_arguments(tool, [word], others.workspace) for word in singles
            ]
            calls += [(tool.name, arguments) for arguments in asked]
    return calls


def _candidates(
    terms: Sequence[Term], taken: Sequence[Step], others: ForeignTools
) -> list[Candidate]:
    """List what the servers have named, best first: the parts of files that they name themselves,
    and else files with the lines that they have shown."""
    locations = _ranked(terms, taken, others)
    lines: dict[str, dict[int, str]] = {}
    for location in locations:
        if not location.last:
            by_number = lines.setdefault(location.path, {})
            by_number |= {location.line: location.text} if location.line else {}
    candidates: list[Candidate] = []
    for location in locations:
        if location.line and location.last:
            part = range(location.line, location.last + 1)
            candidates.append(Candidate(path=location.path, part=part))
        elif location.path in lines:
            candidates.append(Candidate(path=location.path, lines=lines.pop(location.path)))
    return candidates


def _remaining_budget(taken: Sequence[Step], others: ForeignTools) -> Budget:
    """Subtract the lines that the servers' answers have shown: those are read."""
    shown = [tool_results.windows(_locations(step, others)) for step in taken]
    lines = sum(len(lines) for windows in shown for _, _, lines in windows)
    return replace(BUDGET, lines=BUDGET.lines - lines)


def attempted(taken: Sequence[Step], others: ForeignTools) -> set[tuple[str, int]]:
    """Return where the readings begin that were asked for. What a reader could not give may be
    asked for once more, of the built-in tool."""
    starts = baseline.attempted(taken)
    reader = others.reader
    if reader and not reader.has_failed(taken):
        starts |= {start for step in taken if (start := reader.start(step))}
    return starts


def read(wanted: Reading, taken: Sequence[Step], others: ForeignTools) -> Call:
    """Make the call that reads some lines, with the reader of a server if there is one that
    works."""
    reader = others.reader
    if reader is None or reader.has_failed(taken):
        return baseline.read(wanted)
    return reader.call(wanted)


def ranked(terms: Sequence[Term], taken: Sequence[Step], others: ForeignTools) -> list[str]:
    """Rank the files that searches have named, best first."""
    return list(dict.fromkeys(location.path for location in _ranked(terms, taken, others)))


def _ranked(terms: Sequence[Term], taken: Sequence[Step], others: ForeignTools) -> list[Location]:
    """Rank the locations that searches have named, best first. Hits of words come in an order of
    the server's own, those of a pattern in none."""
    by_words: list[Location] = []
    by_pattern: list[Location] = []
    tools = {tool.name: tool for tool in others.first if _role(tool) == "search"}
    for step in taken:
        if tool := tools.get(step.call.name):
            bucket = by_pattern if tool_roles.takes_expression(tool) else by_words
            bucket += _locations(step, others)
    shown = {path for path, _, _ in tool_results.windows(by_words)}
    # What a server shows comes before what it only mentions.
    by_words.sort(key=lambda location: location.path not in shown)
    hits: dict[str, Counter[str]] = {term.word: Counter() for term in terms}
    for location in by_pattern:
        hits[terms[0].word].setdefault(location.path, 0)
        for term in terms:
            hits[term.word][location.path] += bool(patterns.in_text(term).search(location.text))
    order = {path: at for at, (path, _) in enumerate(rank(terms, hits))}
    by_pattern.sort(key=lambda location: order[location.path])
    # Some searches also find folders, which cannot be read.
    return sorted(
        [*by_words, *by_pattern], key=lambda location: not PurePosixPath(location.path).suffix
    )


def add_shown(observed: Observations, taken: Sequence[Step], others: ForeignTools) -> None:
    """Add what the servers have shown to the observations."""
    for step in taken:
        if window := others.reader and others.reader.window(step):
            observed.add_window(*window)
        for shown in tool_results.windows(_locations(step, others)):
            observed.add_window(*shown)
        for location in _locations(step, others):
            if location.line and location.text.strip():
                observed.add_line(location.path, location.line, location.text)


def _locations(step: Step, others: ForeignTools) -> Sequence[Location]:
    if step.result.is_error or step.call.name not in {tool.name for tool in others.first}:
        return ()
    return tool_results.locations(step.result.text, others.workspace)


def _role(tool: ToolSpec) -> tool_roles.Role | None:
    return tool_roles.role(tool.name.split("__", 2)[-1], tool)


def _worth(tool: ToolSpec) -> int:
    return tool_roles.worth(tool.name.split("__", 2)[-1], tool)
