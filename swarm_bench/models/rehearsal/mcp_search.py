"""Searches with the user's own MCP servers, whatever their tools are called.

The rules know canopy's tools and the built-in ones. Of any other server they call one tool once, if
it has one that searches: so a rehearsal shows whether the server can be used. What it finds is used
if it can be read as `path:line:text`.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from swarm_bench.core.ports import ToolCall, ToolSpec
from swarm_bench.models.rehearsal import tool_kinds
from swarm_bench.models.rehearsal.prompts import without_reminders
from swarm_bench.models.rules import patterns
from swarm_bench.models.rules.terms import Term

NAME = "mcp search"
"""Of such a call in scout's terms; no tool of a program has a blank in its name."""

_SEARCHING = {"search", "grep", "rg", "ripgrep", "find", "query", "lookup", "retrieve"}
_OF_CODE = {"code", "content", "contents", "text", "grep", "rg", "ripgrep", "source", "regex"}
_CHANGING = {"add", "create", "delete", "edit", "insert", "patch", "post", "put", "remove"}
_CHANGING |= {"rename", "replace", "run", "send", "set", "update", "write"}
_EXPRESSIONS = ("pattern", "regex", "regexp")
_QUERIES = (
    *("query", "q", "search", "search_query", "searchQuery", *_EXPRESSIONS, "text"),
    *("keywords", "keyword", "terms", "term", "question", "input"),
)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
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
    """The tool of each server that searches, best in code; servers without one are left out."""
    best: dict[str, tuple[bool, ToolSpec]] = {}
    for tool in tools:
        place = tool_kinds.server_and_tool(tool.name, tools)
        if place is None or not _searches(place[1]) or _query(tool) is None:
            continue
        rank = bool(_words(place[1]) & _OF_CODE)
        if place[0] not in best or rank > best[place[0]][0]:
            best[place[0]] = (rank, tool)
    return [tool for _, tool in best.values()]


def hidden_named(told: Iterable[str]) -> list[ToolSpec]:
    """The same for tools that a program only tells about."""
    return [ToolSpec(name=name, description="") for name in hidden(told)]


def hidden(told: Iterable[str]) -> list[str]:
    """Names of searching tools that a program only tells about."""
    names = {name for text in told for name in _NAMED.findall(text)}
    return sorted(name for name in names if _searches(name.split("__", 2)[2]))


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
    """Arguments of a search for the terms."""
    words = [term.word for term in terms]
    name = _query(tool) or "query"
    value: object = " ".join(words)
    if name in _EXPRESSIONS:
        value = "|".join(words)
    elif _kind(tool, name) == "array":
        value = words
    given = {name: value}
    for folder in tool_kinds.FOLDER:
        if (
            folder != name
            and folder in tool_kinds.required(tool)
            and _kind(tool, folder) == "string"
        ):
            given[folder] = workspace or "."
    return tool_kinds.filled(tool, given, _DOING)


def own(tool: ToolSpec, terms: Sequence[Term]) -> ToolCall:
    """The search in scout's terms, as it is remembered until its result is there."""
    found = {"pattern": patterns.mentions(terms), "output_mode": "content", "tool": tool.name}
    return ToolCall(id="", name=NAME, arguments=found)


def text_of(result: str) -> str:
    """What the server said: its text, or the texts in its JSON."""
    text = without_reminders(result)
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=0)
    try:
        value = json.loads(text[start:])
    except (ValueError, RecursionError):
        return text
    return "\n".join(_texts(value))


def _texts(value: object) -> Iterator[str]:
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case dict() as entries:
                waiting += reversed(entries.values())
            case list() as items:
                waiting += reversed(items)


def _searches(tool: str) -> bool:
    words = _words(tool)
    return bool(words & _SEARCHING) and not words & (_CHANGING | {"web"})


def _words(tool: str) -> set[str]:
    return {word.lower() for word in _WORDS.findall(tool)}


def _query(tool: ToolSpec) -> str | None:
    """The argument that takes words to look for."""
    known = [name for name in _QUERIES if name in tool_kinds.properties(tool)]
    return next((name for name in known if _kind(tool, name) in ("string", "array")), None)


def _kind(tool: ToolSpec, name: str) -> str:
    schema = tool_kinds.properties(tool).get(name)
    given: Any = schema.get("type", "string") if isinstance(schema, Mapping) else "string"
    if isinstance(given, list):
        given = next((kind for kind in given if kind != "null"), "null")
    return given.lower() if isinstance(given, str) else ""
