"""Searches with the user's own MCP servers, whatever their tools are called.

The rules know canopy's tools and the built-in ones. Of any other server they call one tool once, if
it has one that searches or tells what there is: so a rehearsal shows whether the server can be
used. What it finds is used if it can be read as `path:line:text`.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from swarm_bench.core.ports import ToolCall, ToolSpec
from swarm_bench.programs.rehearsal.thinking import retrieval_tools
from swarm_bench.programs.rehearsal.thinking.prompts import drop_reminders
from swarm_bench.programs.rules import patterns
from swarm_bench.text import tool_results, tool_roles
from swarm_bench.text.terms import Term

NAME = "mcp search"
"""Name of such a call in scout's terms; no tool of a program has a blank in its name."""

_TOOL_NAME = re.compile(r"\bmcp__\w{1,64}__\w{1,64}")
_DOING = "Search the code for words of the task"


def rename_tools(tools: Sequence[ToolSpec]) -> list[ToolSpec]:
    """List the tools of MCP servers under the names by which `rules` tells them from others."""
    pairs = ((retrieval_tools.server_and_tool(tool.name, tools), tool) for tool in tools)
    return [
        ToolSpec(name=f"mcp__{origin[0]}__{origin[1]}", description=tool.description)
        for origin, tool in pairs
        if origin
    ]


def choose_tools(tools: Sequence[ToolSpec]) -> list[ToolSpec]:
    """Choose the tool of each server that searches, best one that needs nothing unknown and looks
    into code, else one that gives an overview; servers without either are omitted."""
    best: dict[str, tuple[tuple[bool, bool, int], ToolSpec]] = {}
    for tool in tools:
        origin = retrieval_tools.server_and_tool(tool.name, tools)
        if origin is None:
            continue
        role = tool_roles.role(origin[1], tool)
        is_known = role == "search"
        searches = is_known or _can_be_tried(origin[1], tool)
        if searches or role == "overview":
            rank = (is_known, searches, tool_roles.rate_tool(origin[1], tool))
            if origin[0] not in best or rank > best[origin[0]][0]:
                best[origin[0]] = (rank, tool)
    return [tool for _, tool in best.values()]


def _can_be_tried(name: str, tool: ToolSpec) -> bool:
    """Tell whether a search may be asked with something made up, so that it shows whether the
    server can be used. The path of a file cannot be made up."""
    query = tool_roles.query(tool)
    if query is None or not tool_roles.searches(name):
        return False
    unknown = set(tool_roles.list_required(tool)) - set(
        tool_roles.complete_arguments(tool, {query: ""}, None)
    )
    return not any(map(tool_roles.is_path, unknown))


def find_mentioned_tools(texts: Iterable[str]) -> list[ToolSpec]:
    """List tools that a program only mentions, under the same names."""
    return [ToolSpec(name=name, description="") for name in find_mentioned(texts)]


def find_mentioned(texts: Iterable[str]) -> list[str]:
    """Name such tools that a program only mentions."""
    names = {name for prompt in texts for name in _TOOL_NAME.findall(prompt)}
    tool_names = ((name, name.split("__", 2)[2]) for name in names)
    return sorted(
        name
        for name, tool in tool_names
        if tool_roles.searches(tool) or tool_roles.looks_over(tool)
    )


def parse_descriptions(listing: str) -> Iterator[ToolSpec]:
    """Parse hidden tools as a program describes them when it was asked for them."""
    pieces = (piece.rpartition("<function>")[2] for piece in listing.split("</function>"))
    for text in pieces:
        try:
            tool = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(tool, Mapping) and isinstance(tool.get("name"), str):
            schemas = [tool.get(key) for key in ("parameters", "parametersJsonSchema")]
            schema = next((schema for schema in schemas if isinstance(schema, Mapping)), {})
            yield ToolSpec(name=tool["name"], description="", schema=schema)


def fill_arguments(
    tool: ToolSpec, terms: Sequence[Term], workspace: str | None
) -> dict[str, object]:
    """Fill in a search for the terms, or a look at the overview."""
    values = tool_roles.complete_arguments(tool, {}, workspace)
    if tool_roles.query(tool):
        values = tool_roles.search_arguments(tool, terms, workspace)
    return retrieval_tools.fill_required(tool, values, _DOING)


def as_scout_call(tool: ToolSpec, terms: Sequence[Term]) -> ToolCall:
    """Put the search into scout's terms, as it is remembered until its result arrives."""
    remembered = {
        "pattern": patterns.match_mentions(terms),
        "output_mode": "content",
        "tool": tool.name,
    }
    return ToolCall(id="", name=NAME, arguments=remembered)


def hits_in(result: str, workspace: str | None) -> str:
    """List what the server found, as `path:line:text`, a line each."""
    locations = tool_results.locations(drop_reminders(result), workspace or ".")
    return "\n".join(
        f"{location.path}:{location.line}:{location.text}"
        for location in locations
        if location.line
    )
