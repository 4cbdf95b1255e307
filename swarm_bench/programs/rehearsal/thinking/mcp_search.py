"""Searches with the user's own MCP servers, whatever their tools are called.

The rules know canopy's tools and the built-in ones. Of any other server they call one tool once, if
it has one that searches or tells what there is: so a rehearsal shows whether the server can be
used. What it finds is used if it can be read as `path:line:text`.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from swarm_bench.core.ports import ToolCall, ToolSpec
from swarm_bench.models import tool_roles
from swarm_bench.models.lexical import tool_results
from swarm_bench.models.lexical.terms import Term
from swarm_bench.programs.rehearsal.thinking import tool_kinds
from swarm_bench.programs.rehearsal.thinking.prompts import without_reminders
from swarm_bench.programs.rules import patterns

NAME = "mcp search"
"""Of such a call in scout's terms; no tool of a program has a blank in its name."""

_NAMED = re.compile(r"\bmcp__\w{1,64}__\w{1,64}")
_DOING = "Search the code for words of the task"


def named(tools: Sequence[ToolSpec]) -> list[ToolSpec]:
    """The tools of MCP servers with the names by which `rules` tells them from others."""
    found = ((tool_kinds.server_and_tool(tool.name, tools), tool) for tool in tools)
    return [
        ToolSpec(name=f"mcp__{place[0]}__{place[1]}", description=tool.description)
        for place, tool in found
        if place
    ]


def tools_of(tools: Sequence[ToolSpec]) -> list[ToolSpec]:
    """The tool of each server that searches, best one that needs nothing unknown and looks into
    code, else one that tells what there is; servers without either are left out."""
    best: dict[str, tuple[tuple[bool, bool, int], ToolSpec]] = {}
    for tool in tools:
        place = tool_kinds.server_and_tool(tool.name, tools)
        if place is None:
            continue
        role = tool_roles.role(place[1], tool)
        is_known = role == "search"
        searches = is_known or _can_be_tried(place[1], tool)
        if searches or role == "overview":
            rank = (is_known, searches, tool_roles.worth(place[1], tool))
            if place[0] not in best or rank > best[place[0]][0]:
                best[place[0]] = (rank, tool)
    return [tool for _, tool in best.values()]


def _can_be_tried(name: str, tool: ToolSpec) -> bool:
    """Whether a search may be asked with something made up, so that it shows whether the server can
    be used. The path of a file cannot be made up."""
    asked = tool_roles.query(tool)
    if asked is None or not tool_roles.searches(name):
        return False
    unknown = set(tool_roles.required(tool)) - set(
        tool_roles.with_required(tool, {asked: ""}, None)
    )
    return not any(map(tool_roles.is_path, unknown))


def hidden_named(told: Iterable[str]) -> list[ToolSpec]:
    """The same for tools that a program only tells about."""
    return [ToolSpec(name=name, description="") for name in hidden(told)]


def hidden(told: Iterable[str]) -> list[str]:
    """Names of such tools that a program only tells about."""
    names = {name for text in told for name in _NAMED.findall(text)}
    bare = ((name, name.split("__", 2)[2]) for name in names)
    return sorted(
        name for name, tool in bare if tool_roles.searches(tool) or tool_roles.looks_over(tool)
    )


def described(found: str) -> Iterator[ToolSpec]:
    """Hidden tools as a program describes them when it was asked for them."""
    pieces = (piece.rpartition("<function>")[2] for piece in found.split("</function>"))
    for text in pieces:
        try:
            tool = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(tool, Mapping) and isinstance(tool.get("name"), str):
            schemas = [tool.get(key) for key in ("parameters", "parametersJsonSchema")]
            schema = next((one for one in schemas if isinstance(one, Mapping)), {})
            yield ToolSpec(name=tool["name"], description="", schema=schema)


def arguments(tool: ToolSpec, terms: Sequence[Term], workspace: str | None) -> dict[str, object]:
    """Arguments of a search for the terms, or of a look at what there is."""
    given = tool_roles.with_required(tool, {}, workspace)
    if tool_roles.query(tool):
        given = tool_roles.search_arguments(tool, terms, workspace)
    return tool_kinds.filled(tool, given, _DOING)


def own(tool: ToolSpec, terms: Sequence[Term]) -> ToolCall:
    """The search in scout's terms, as it is remembered until its result is there."""
    found = {"pattern": patterns.mentions(terms), "output_mode": "content", "tool": tool.name}
    return ToolCall(id="", name=NAME, arguments=found)


def hits_in(result: str, workspace: str | None) -> str:
    """What the server found, as `path:line:text`, a line each."""
    places = tool_results.locations(without_reminders(result), workspace or ".")
    return "\n".join(f"{place.path}:{place.line}:{place.text}" for place in places if place.line)
