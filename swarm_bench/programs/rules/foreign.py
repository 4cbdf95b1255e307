"""The search with the tools of arbitrary servers, and the reading with their tools.

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
from swarm_bench.programs.rules import baseline, canopy_search, patterns, reading_plan
from swarm_bench.programs.rules.observations import Call, Observations, Step
from swarm_bench.programs.rules.reading_plan import BUDGET, Budget, Candidate, Reading
from swarm_bench.text import tool_results, tool_roles
from swarm_bench.text.ranking import rank
from swarm_bench.text.terms import Term
from swarm_bench.text.tool_results import Location

_WITH_LENGTH = (("offset", "limit"),)
_WITH_LAST = (("start_line", "end_line"),)


@dataclass(frozen=True, kw_only=True)
class Reader:
    """A tool that gives the text of a file, or some lines of it."""

    tool: ToolSpec
    workspace: str

    @property
    def takes_lines(self) -> bool:
        """Whether it can be asked for some lines only."""
        return self._bounds is not None

    def call(self, reading: Reading) -> Call:
        """Make the call that reads some lines; the whole file where the tool knows nothing else."""
        hint = self._file + tool_roles.description_of(self.tool, self._file)
        path = reading.path if "relative" in hint else f"{self.workspace}/{reading.path}"
        arguments: dict[str, object] = {self._file: path}
        if self._bounds:
            begin, end = self._bounds
            start = reading.first - self._zero
            last = start + len(reading.lines) - 1
            arguments |= {begin: start}
            arguments |= {end: len(reading.lines) if self._bounds in _WITH_LENGTH else last}
        return self.tool.name, tool_roles.complete_arguments(self.tool, arguments, self.workspace)

    def start(self, step: Step) -> tuple[str, int] | None:
        """Return path and first line of what a call asked for; `None` for a call of another
        tool."""
        path = tool_results.make_relative(step.argument(self._file), self.workspace)
        if step.call.name != self.tool.name or path is None:
            return None
        first = step.call.arguments.get(self._bounds[0]) if self._bounds else None
        return path, first + self._zero if isinstance(first, int) else 1

    def window(self, step: Step) -> tuple[str, int, list[str]] | None:
        """Return path, first line and lines of what a call gave; `None` when it gave none."""
        start = self.start(step)
        if start is None or step.result.is_error:
            return None
        text = tool_results.read_content(step.result.text, start[1])
        return (start[0], *text) if text else None

    def has_failed(self, past_steps: Sequence[Step]) -> bool:
        """Tell whether a call of it was of no use, so that it is not asked again."""
        return any(self.start(step) and not self.window(step) for step in past_steps)

    @property
    def _file(self) -> str:
        return tool_roles.find_argument(self.tool, tool_roles.FILE) or "path"

    @property
    def _bounds(self) -> tuple[str, str] | None:
        names = set(tool_roles.properties(self.tool))
        pairs = [*_WITH_LENGTH, *_WITH_LAST]
        return next((pair for pair in pairs if names >= set(pair)), None)

    @property
    def _zero(self) -> int:
        """1 when the tool counts lines from 0."""
        hint = tool_roles.description_of(self.tool, self._bounds[0]) if self._bounds else ""
        return int("0-based" in hint or "zero-based" in hint)


_WORKSPACE = re.compile(r"\n\nWorking directory: (/[^\n]*)\Z")


@dataclass(frozen=True, kw_only=True)
class ForeignTools:
    """The tools of foreign servers by what they are good for."""

    first: tuple[ToolSpec, ...]
    """Tools to begin with, one of each server."""
    reader: Reader | None
    workspace: str


def add_workspace(prompt: str, workspace: str) -> str:
    """Append what a server must know: where the files are."""
    return f"{prompt}\n\nWorking directory: {workspace}"


def drop_workspace(prompt: str) -> str:
    return _WORKSPACE.sub("", prompt)


def list_tools(tools: Sequence[ToolSpec]) -> list[ToolSpec]:
    """List the tools of servers other than canopy."""
    canopys = canopy_search.find_tools(tools)
    canopy_prefix = canopys.pack.rpartition("__")[0] + "__" if canopys else ""
    return [
        tool
        for tool in tools
        if tool.name.startswith("mcp__")
        and not (canopy_prefix and tool.name.startswith(canopy_prefix))
    ]


def describe_unusable(tools: Sequence[ToolSpec]) -> list[str] | None:
    """Name the foreign tools whose use stays unclear; `None` without any foreign tool. Those that
    change something are not for searching, and no loss."""
    foreign = list_tools(tools)
    return [tool.name for tool in foreign if _role(tool) is None] if foreign else None


def find_usable_tools(tools: Sequence[ToolSpec], prompt: str) -> ForeignTools | None:
    """Sort the foreign tools by what they are good for; `None` when none can be used."""
    by_server: dict[str, dict[str, ToolSpec]] = {}
    for tool in list_tools(tools):
        role = _role(tool)
        if role in ("search", "read", "overview"):
            best = by_server.setdefault(tool.name.split("__")[1], {})
            if role not in best or _rate(tool) > _rate(best[role]):
                best[role] = tool
    if not by_server:
        return None
    match = _WORKSPACE.search(prompt)
    workspace = match[1] if match else "."
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
    terms: Sequence[Term],
    past_steps: Sequence[Step],
    foreign_tools: ForeignTools,
    observed: Observations,
) -> list[Call]:
    """Make the first calls to the servers, then read on in the files that they have named; nothing
    when there is no more to be had from them."""
    if not past_steps and foreign_tools.first:
        return _make_first_calls(terms, foreign_tools)
    if calls := _search_word_by_word(terms, past_steps, foreign_tools):
        return calls
    planned = reading_plan.plan(
        _list_candidates(terms, past_steps, foreign_tools),
        terms,
        _remaining_budget(past_steps, foreign_tools),
    )
    readings = reading_plan.choose_next(
        planned, find_attempted(past_steps, foreign_tools), observed, BUDGET
    )
    return [read(reading, past_steps, foreign_tools) for reading in readings]


def _make_first_calls(terms: Sequence[Term], foreign_tools: ForeignTools) -> list[Call]:
    """Search with each server, or look at its overview."""
    calls: list[Call] = []
    for tool in foreign_tools.first:
        if _role(tool) != "search":
            calls.append(
                (tool.name, tool_roles.complete_arguments(tool, {}, foreign_tools.workspace))
            )
            continue
        one_by_one = tool_roles.takes_one_name(tool)
        for part in [[term] for term in terms] if one_by_one else [terms]:
            calls.append(
                (tool.name, tool_roles.search_arguments(tool, part, foreign_tools.workspace))
            )
    return calls


def _search_word_by_word(
    terms: Sequence[Term], past_steps: Sequence[Step], foreign_tools: ForeignTools
) -> list[Call]:
    """Ask the same question in single words of servers that gave nothing for all of them together:
    many want every word of a question in one passage."""
    calls: list[Call] = []
    for tool in foreign_tools.first if len(terms) > 1 else ():
        steps = [step for step in past_steps if step.call.name == tool.name]
        is_open = len(steps) == 1 and not steps[0].result.is_error and _role(tool) == "search"
        if (
            is_open
            and not tool_roles.takes_expression(tool)
            and not _locations(steps[0], foreign_tools)
        ):
            singles = [replace(term, word=term.roots[0]) for term in terms]
            queries = [
                tool_roles.search_arguments(tool, [word], foreign_tools.workspace)
                for word in singles
            ]
            calls += [(tool.name, arguments) for arguments in queries]
    return calls


def _list_candidates(
    terms: Sequence[Term], past_steps: Sequence[Step], foreign_tools: ForeignTools
) -> list[Candidate]:
    """List what the servers have named, best first: the parts of files that they name themselves,
    and else files with the lines that they have shown."""
    locations = _rank_locations(terms, past_steps, foreign_tools)
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


def _remaining_budget(past_steps: Sequence[Step], foreign_tools: ForeignTools) -> Budget:
    """Subtract the lines that the servers' answers have shown: those are read."""
    spans = [tool_results.windows(_locations(step, foreign_tools)) for step in past_steps]
    lines = sum(len(lines) for windows in spans for _, _, lines in windows)
    return replace(BUDGET, lines=BUDGET.lines - lines)


def find_attempted(past_steps: Sequence[Step], foreign_tools: ForeignTools) -> set[tuple[str, int]]:
    """Return where the readings begin that were asked for. What a reader could not give may be
    asked for once more, of the built-in tool."""
    starts = baseline.find_attempted(past_steps)
    reader = foreign_tools.reader
    if reader and not reader.has_failed(past_steps):
        starts |= {start for step in past_steps if (start := reader.start(step))}
    return starts


def read(reading: Reading, past_steps: Sequence[Step], foreign_tools: ForeignTools) -> Call:
    """Make the call that reads some lines, with the reader of a server if there is one that
    works."""
    reader = foreign_tools.reader
    if reader is None or reader.has_failed(past_steps):
        return baseline.read(reading)
    return reader.call(reading)


def rank_files(
    terms: Sequence[Term], past_steps: Sequence[Step], foreign_tools: ForeignTools
) -> list[str]:
    """Rank the files that searches have named, best first."""
    return list(
        dict.fromkeys(
            location.path for location in _rank_locations(terms, past_steps, foreign_tools)
        )
    )


def _rank_locations(
    terms: Sequence[Term], past_steps: Sequence[Step], foreign_tools: ForeignTools
) -> list[Location]:
    """Rank the locations that searches have named, best first. Hits of words come in an order of
    the server's own, those of a pattern in none."""
    by_words: list[Location] = []
    by_pattern: list[Location] = []
    tools = {tool.name: tool for tool in foreign_tools.first if _role(tool) == "search"}
    for step in past_steps:
        if tool := tools.get(step.call.name):
            bucket = by_pattern if tool_roles.takes_expression(tool) else by_words
            bucket += _locations(step, foreign_tools)
    shown_paths = {path for path, _, _ in tool_results.windows(by_words)}
    # What a server shows comes before what it only mentions.
    by_words.sort(key=lambda location: location.path not in shown_paths)
    hits: dict[str, Counter[str]] = {term.word: Counter() for term in terms}
    for location in by_pattern:
        hits[terms[0].word].setdefault(location.path, 0)
        for term in terms:
            hits[term.word][location.path] += bool(
                patterns.match_in_text(term).search(location.text)
            )
    order = {path: at for at, (path, _) in enumerate(rank(terms, hits))}
    by_pattern.sort(key=lambda location: order[location.path])
    # Some searches also find folders, which cannot be read.
    return sorted(
        [*by_words, *by_pattern], key=lambda location: not PurePosixPath(location.path).suffix
    )


def observe_shown(
    observed: Observations, past_steps: Sequence[Step], foreign_tools: ForeignTools
) -> None:
    """Add what the servers have shown to the observations."""
    for step in past_steps:
        if window := foreign_tools.reader and foreign_tools.reader.window(step):
            observed.add_window(*window)
        for span in tool_results.windows(_locations(step, foreign_tools)):
            observed.add_window(*span)
        for location in _locations(step, foreign_tools):
            if location.line and location.text.strip():
                observed.add_line(location.path, location.line, location.text)


def _locations(step: Step, foreign_tools: ForeignTools) -> Sequence[Location]:
    if step.result.is_error or step.call.name not in {tool.name for tool in foreign_tools.first}:
        return ()
    return tool_results.locations(step.result.text, foreign_tools.workspace)


def _role(tool: ToolSpec) -> tool_roles.Role | None:
    return tool_roles.role(tool.name.split("__", 2)[-1], tool)


def _rate(tool: ToolSpec) -> int:
    return tool_roles.rate_tool(tool.name.split("__", 2)[-1], tool)
