"""Tools of MCP servers, under whatever name and behind whatever door a program offers them."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swarm_bench.core.ports import ToolSpec
from swarm_bench.programs.rehearsal.thinking import tool_kinds
from swarm_bench.programs.rehearsal.thinking.prompts import drop_reminders
from swarm_bench.text import tool_roles

_RETRIEVAL = re.compile(r"(?:^|_)(canopy_[a-z_]+)$")
_TOOL_NAME = re.compile(r"\bmcp_\w{0,64}canopy_(?:evidence_pack|expand)\b")
_WRAPPED = re.compile(r"\A\s*<untrusted_context>\n?(.*?)\n?</untrusted_context>\s*\Z", re.DOTALL)
_TIMED = re.compile(r"\AWall time: [\d.]+ seconds\s+Output:\s*")


@dataclass(frozen=True, kw_only=True)
class Route:
    """The way to a tool of an MCP server."""

    name: str
    """As the program calls it."""
    door: str | None = None
    """The tool that calls hidden tools, if this one is hidden."""

    def build_call(self, arguments: Mapping[str, Any]) -> tuple[str, dict[str, object]]:
        """Name and arguments of the call, as the program knows its tool."""
        if self.door is None:
            return self.name, dict(arguments)
        return self.door, {"name": self.name, "arguments": dict(arguments)}


def map_offered_tools(tools: Sequence[ToolSpec]) -> dict[str, Route]:
    """Map the tools of canopy that can be called at once, by their names in `rules`."""
    return {
        _rules_name(tool.name): Route(name=tool.name) for tool in tools if _is_canopys(tool.name)
    }


def find_mentioned_tools(texts: Iterable[str]) -> list[str]:
    """Name canopy's tools that a program only mentions. `texts` must not have results of tools in
    it: a file that names the tools makes none."""
    return sorted({name for prompt in texts for name in _TOOL_NAME.findall(prompt)})


def map_hidden_tools(door: ToolSpec, names: Sequence[str]) -> dict[str, Route]:
    """Map hidden tools that another tool calls."""
    return {_rules_name(name): Route(name=name, door=door.name) for name in names}


def finder(tools: Sequence[ToolSpec]) -> ToolSpec | None:
    """Return the tool that reveals hidden tools."""
    return next((tool for tool in tools if _letters(tool.name) == "toolsearch"), None)


def door(tools: Sequence[ToolSpec]) -> ToolSpec | None:
    """Return the tool that calls hidden tools."""
    return next(
        (
            tool
            for tool in tools
            if _letters(tool.name) in ("toolcall", "calltool")
            and {"name", "arguments"} <= set(tool_roles.properties(tool))
        ),
        None,
    )


def fill_finder(tool: ToolSpec, names: Sequence[str]) -> dict[str, object]:
    """Fill in the call that reveals hidden tools."""
    query = {"query": "select:" + ",".join(names)}
    return tool_kinds.fill_required(tool, query, "Find the tools named in the task")


def text_of(result: str) -> str:
    """Extract the server's text from what the program wrote around it."""
    text = drop_reminders(result)
    if wrapped := _WRAPPED.match(text):
        text = wrapped[1]
    text = _TIMED.sub("", text)
    return text if _is_json(text) else _object_in(text) or text


def _rules_name(name: str) -> str:
    match = _RETRIEVAL.search(name)
    if name.startswith("mcp__") or not match:
        return name
    return "mcp__canopy__canopy_" + match[1].rpartition("canopy_")[2]


def _is_canopys(name: str) -> bool:
    return _RETRIEVAL.search(name) is not None


def _letters(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _object_in(text: str) -> str | None:
    """Find the JSON object in a text. Text with a comment before the object is one of canopy's
    expansions, where the object belongs to a file."""
    inner = text[text.find("{") : text.rfind("}") + 1]
    before = text[: text.find("{")]
    return inner if inner and "// " not in before and _is_json(inner) else None
