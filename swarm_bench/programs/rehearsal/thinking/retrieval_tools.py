"""Tools of MCP servers, under whatever name and behind whatever door a program offers them."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swarm_bench.core.ports import ToolSpec
from swarm_bench.models import tool_roles
from swarm_bench.programs.rehearsal.thinking import tool_kinds
from swarm_bench.programs.rehearsal.thinking.prompts import without_reminders

_RETRIEVAL = re.compile(r"(?:^|_)(canopy_[a-z_]+)$")
_NAMED = re.compile(r"\bmcp_\w{0,64}canopy_(?:evidence_pack|expand)\b")
_WRAPPED = re.compile(r"\A\s*<untrusted_context>\n?(.*?)\n?</untrusted_context>\s*\Z", re.DOTALL)
_TIMED = re.compile(r"\AWall time: [\d.]+ seconds\s+Output:\s*")


@dataclass(frozen=True, kw_only=True)
class Route:
    """How a tool of an MCP server is reached."""

    name: str
    """As the program calls it."""
    door: str | None = None
    """The tool that calls hidden tools, if this one is hidden."""

    def asking(self, arguments: Mapping[str, Any]) -> tuple[str, dict[str, object]]:
        """Name and arguments of the call, as the program knows its tool."""
        if self.door is None:
            return self.name, dict(arguments)
        return self.door, {"name": self.name, "arguments": dict(arguments)}


def offered(tools: Sequence[ToolSpec]) -> dict[str, Route]:
    """The tools of canopy that can be called at once, by the name under which `rules` knows
    them."""
    return {_known(tool.name): Route(name=tool.name) for tool in tools if _is_canopys(tool.name)}


def hidden(told: Iterable[str]) -> list[str]:
    """Names of canopy's tools that a program only tells about. `told` must not have results of
    tools in it: a file that names the tools makes none."""
    return sorted({name for text in told for name in _NAMED.findall(text)})


def behind(door: ToolSpec, names: Sequence[str]) -> dict[str, Route]:
    """Hidden tools that another tool calls."""
    return {_known(name): Route(name=name, door=door.name) for name in names}


def finder(tools: Sequence[ToolSpec]) -> ToolSpec | None:
    """The tool that makes hidden tools known."""
    return next((tool for tool in tools if _letters(tool.name) == "toolsearch"), None)


def door(tools: Sequence[ToolSpec]) -> ToolSpec | None:
    """The tool that calls hidden tools."""
    return next(
        (
            tool
            for tool in tools
            if _letters(tool.name) in ("toolcall", "calltool")
            and {"name", "arguments"} <= set(tool_roles.properties(tool))
        ),
        None,
    )


def finding(tool: ToolSpec, names: Sequence[str]) -> dict[str, object]:
    """Arguments that make hidden tools known."""
    query = {"query": "select:" + ",".join(names)}
    return tool_kinds.filled(tool, query, "Find the tools named in the task")


def text_of(result: str) -> str:
    """What the server said, without what the program wrote around it."""
    text = without_reminders(result)
    if wrapped := _WRAPPED.match(text):
        text = wrapped[1]
    text = _TIMED.sub("", text)
    return text if _is_json(text) else _object_in(text) or text


def _known(name: str) -> str:
    found = _RETRIEVAL.search(name)
    if name.startswith("mcp__") or not found:
        return name
    return "mcp__canopy__canopy_" + found[1].rpartition("canopy_")[2]


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
    """The JSON object that some text has around it. Text with a comment before the object is one
    of canopy's expansions, where the object belongs to a file."""
    found = text[text.find("{") : text.rfind("}") + 1]
    before = text[: text.find("{")]
    return found if found and "// " not in before and _is_json(found) else None
