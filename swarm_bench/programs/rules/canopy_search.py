"""The search with canopy's tools: ask for an evidence pack, once more if its guidance says so, and
expand what `reading_plan` chooses of its handles.

An empty list of calls means that canopy has nothing (more) to give, and the built-in tools have to
do.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swarm_bench.core.ports import ToolSpec
from swarm_bench.programs.rules import baseline, reading_plan
from swarm_bench.programs.rules.observations import Call, Observations, Step
from swarm_bench.programs.rules.reading_plan import BUDGET, Candidate
from swarm_bench.text.terms import Term

MAX_WORDS = 8
MAX_PACKS = 2

_HEADER = re.compile(r"^// h?([0-9a-f]{24})$")
_FAILED = "// Failed to expand:"


@dataclass(frozen=True, kw_only=True)
class Tools:
    """Names of canopy's tools, as they are offered."""

    pack: str
    expand: str
    query: str | None = None
    """Tool that finds the users of a name; without it they are not asked for."""


@dataclass(frozen=True, kw_only=True)
class Handle:
    """A part of a file that canopy offers to expand."""

    id: str
    path: str
    first: int
    last: int

    @property
    def lines(self) -> range:
        """Numbers of its lines."""
        return range(self.first, self.last + 1)


@dataclass(frozen=True, kw_only=True)
class Pack:
    """An evidence pack: its handles, which of them come first, and whether to ask again."""

    handles: tuple[Handle, ...]
    suggested: tuple[str, ...]
    refine: bool
    more_queries: int


def find_tools(tools: Sequence[ToolSpec]) -> Tools | None:
    """Pick canopy's tools among those offered; `None` when evidence packs cannot be had or
    expanded."""
    names = [tool.name for tool in tools if tool.name.startswith("mcp__")]
    pack = next((name for name in names if name.endswith("evidence_pack")), None)
    expand = next((name for name in names if name.endswith("canopy_expand")), None)
    query = next((name for name in names if name.endswith("canopy_query")), None)
    return Tools(pack=pack, expand=expand, query=query) if pack and expand else None


def next_calls(
    terms: Sequence[Term],
    past_steps: Sequence[Step],
    tools: Tools,
    observed: Observations,
    used: str | None = None,
) -> list[Call]:
    """Ask canopy the next question, or read on in its answers; nothing when it is done or has
    failed. `used` is a name whose uses are asked for."""
    packs = [step for step in past_steps if step.call.name == tools.pack]
    if not packs:
        calls: list[Call] = [(tools.pack, _query(_query_words(terms)))]
        if used and tools.query:
            uses = {"symbol": used, "kind": "reference", "limit": BUDGET.results}
            calls.append((tools.query, uses))
        return calls
    expanded = [step for step in past_steps if step.call.name == tools.expand]
    if any(step.result.is_error for step in (packs[-1], *expanded)):
        return []
    last = parse_pack(packs[-1])
    wants_more = not last.handles or (last.refine and last.more_queries > 0)
    other_words = _other_words(terms)
    if wants_more and len(packs) < MAX_PACKS and other_words:
        return [(tools.pack, _query(other_words))]
    return _reads(terms, past_steps, tools, observed)


def _reads(
    terms: Sequence[Term], past_steps: Sequence[Step], tools: Tools, observed: Observations
) -> list[Call]:
    """Expand the handles that are read next, in one call. What is too long to be read whole is
    begun with the built-in tool, because an expansion has no limit."""
    ranked = rank_handles(past_steps, tools)
    attempted = {(handle.path, handle.first) for handle in _list_expanded(past_steps, tools)}
    attempted |= baseline.find_attempted(past_steps)
    planned = reading_plan.plan([_candidate(handle) for handle in ranked], terms, BUDGET)
    readings = reading_plan.choose_next(planned, attempted, observed, BUDGET)
    ids_by_span = {(handle.path, handle.lines): handle.id for handle in reversed(ranked)}
    ids = [ids_by_span[reading.span] for reading in readings if reading.span in ids_by_span]
    calls: list[Call] = [(tools.expand, {"handle_ids": ids})] if ids else []
    return calls + [
        baseline.read(reading) for reading in readings if reading.span not in ids_by_span
    ]


def rank_handles(past_steps: Sequence[Step], tools: Tools) -> list[Handle]:
    """Rank the handles of all answers: those that use what is asked for, then the last pack first,
    and in each what it suggests to expand."""
    uses = [parse_pack(step) for step in past_steps if step.call.name == tools.query]
    packs = [parse_pack(step) for step in past_steps if step.call.name == tools.pack]
    by_id = find_handles(past_steps, tools)
    ids = [_strip_prefix(handle.id) for pack in uses for handle in pack.handles]
    ids += [_strip_prefix(id) for pack in reversed(packs) for id in pack.suggested]
    ids += [_strip_prefix(handle.id) for pack in reversed(packs) for handle in pack.handles]
    return [by_id[id] for id in dict.fromkeys(ids)]


def _list_expanded(past_steps: Sequence[Step], tools: Tools) -> list[Handle]:
    """List the handles that canopy was asked to expand."""
    by_id = find_handles(past_steps, tools)
    ids = [id for step in past_steps if step.call.name == tools.expand for id in _ids_in(step)]
    return [by_id[_strip_prefix(id)] for id in ids]


def _ids_in(step: Step) -> list[str]:
    return [id for id in _list(step.call.arguments.get("handle_ids")) if isinstance(id, str)]


def _candidate(handle: Handle) -> Candidate:
    return Candidate(path=handle.path, part=handle.lines)


def find_handles(past_steps: Sequence[Step], tools: Tools) -> dict[str, Handle]:
    """Map every handle of every answer, by id without the leading `h`."""
    packs = [parse_pack(step) for step in past_steps if step.call.name in (tools.pack, tools.query)]
    return {_strip_prefix(handle.id): handle for pack in packs for handle in pack.handles}


def observe_expanded(observed: Observations, past_steps: Sequence[Step], tools: Tools) -> None:
    """Add the expanded texts to the observations. Canopy gives a text without its position; the
    pack that offered it has the position."""
    handles = find_handles(past_steps, tools)
    for step in past_steps:
        if step.call.name == tools.expand and not step.result.is_error:
            for id, lines in _sections(step.result.text, set(handles)):
                handle = handles[id]
                observed.add_window(handle.path, handle.first, lines[: len(handle.lines)])


def parse_pack(step: Step) -> Pack:
    """Parse an evidence pack, or the handles of a query; empty when the text is neither."""
    try:
        data = json.loads(step.result.text)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or step.result.is_error:
        return Pack(handles=(), suggested=(), refine=True, more_queries=1)
    guidance = _object(data.get("guidance"))
    suggested = [id for id in _list(data.get("expand_suggestion")) if isinstance(id, str)]
    handles = tuple(_handles(data))
    ids = {_strip_prefix(handle.id) for handle in handles}
    suggested = [id for id in suggested if _strip_prefix(id) in ids]
    max_queries = guidance.get("max_additional_queries")
    return Pack(
        handles=handles,
        suggested=tuple(suggested),
        refine=guidance.get("recommended_action") == "refine_query",
        more_queries=max_queries if isinstance(max_queries, int) else 0,
    )


def _handles(data: Mapping[str, Any]) -> Iterator[Handle]:
    for entry in map(_object, _list(data.get("handles"))):
        id, path, lines = entry.get("id"), entry.get("file_path"), entry.get("line_range")
        if not isinstance(id, str) or not isinstance(path, str):
            continue
        match lines:
            case [int(first), int(last)] if 1 <= first <= last:
                yield Handle(id=id, path=path, first=first, last=last)


def _sections(text: str, ids: set[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield id and lines of each expanded handle."""
    current: str | None = None
    lines: list[str] = []
    for line in [*text.split("\n"), None]:
        header = _HEADER.match(line) if line is not None else None
        is_end = line is None or line.startswith(_FAILED) or (header and header[1] in ids)
        if not is_end:
            lines.append(line or "")
            continue
        if current is not None:
            yield current, _drop_blank_end(lines)
        current, lines = (header[1] if header else None), []


def _drop_blank_end(lines: list[str]) -> list[str]:
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return lines[:end]


def _query(patterns: Sequence[str]) -> dict[str, object]:
    return {"patterns": list(patterns), "match": "any", "max_handles": BUDGET.results}


def _query_words(terms: Sequence[Term]) -> list[str]:
    """List the words of the task, then the first root of each: canopy has no stemming."""
    query_words = [term.word for term in terms] + [term.roots[0] for term in terms]
    return list(dict.fromkeys(query_words))[:MAX_WORDS]


def _other_words(terms: Sequence[Term]) -> list[str]:
    """List other words for the same ideas, for a second question."""
    used_words = _query_words(terms)
    candidates = [root for term in terms for root in (*term.roots[1:], *term.related)]
    candidates = [root for root in candidates if root not in used_words]
    return list(dict.fromkeys(candidates))[:MAX_WORDS]


def _strip_prefix(id: str) -> str:
    return id.removeprefix("h")


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
