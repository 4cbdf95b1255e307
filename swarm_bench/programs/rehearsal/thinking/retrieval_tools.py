"""Tools of MCP servers, under whatever name and behind whatever door a program offers them."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swarm_bench.core.ports import ToolSpec
from swarm_bench.programs.rehearsal.thinking.prompts import drop_reminders
from swarm_bench.programs.rehearsal.thinking.schema_answer import build_smallest
from swarm_bench.text import tool_roles
from swarm_bench.text.tool_roles import find_argument, list_required, name_parts, properties

_RETRIEVAL = re.compile(r"(?:^|_)(canopy_[a-z_]+)$")
_TOOL_NAME = re.compile(r"\bmcp_\w{0,64}canopy_(?:evidence_pack|expand)\b")
_WRAPPED = re.compile(r"\A\s*<untrusted_context>\n?(.*?)\n?</untrusted_context>\s*\Z", re.DOTALL)
_TIMED = re.compile(r"\AWall time: [\d.]+ seconds\s+Output:\s*")
PATTERN = ("pattern", "regex", "regexp", "query", "search")
FOLDER = ("path", "dir_path", "directory", "dir", "root")
INCLUDE = ("include", "glob", "include_pattern", "file_pattern", "includes")
FILE = ("file_path", "filePath", "absolute_path", "path", "target_file", "file")
COMMAND = ("command", "cmd", "commands", "script")
_DESCRIPTION_NAMES = ("description", "explanation", "reason", "purpose", "thought")


@dataclass(frozen=True, kw_only=True)
class Route:
    """The way to a tool of an MCP server."""

    name: str
    """Name by which the program calls the tool."""
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
    return fill_required(tool, query, "Find the tools named in the task")


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


def content_search(tools: Sequence[ToolSpec]) -> ToolSpec | None:
    """Return the tool that looks for a regular expression in files."""
    return _best(tools, PATTERN, _searches_content)


def name_search(tools: Sequence[ToolSpec]) -> ToolSpec | None:
    """Return the tool that finds files by a glob pattern."""
    return _best(tools, ("pattern", "glob", "glob_pattern"), _searches_names)


def file_read(tools: Sequence[ToolSpec]) -> ToolSpec | None:
    """Return the tool that gives the lines of a text file."""
    return _best(tools, FILE, _reads)


def shell(tools: Sequence[ToolSpec]) -> ToolSpec | None:
    """Return the tool that runs a command line."""
    return _best(tools, COMMAND, _runs)


def server_and_tool(name: str, tools: Sequence[ToolSpec]) -> tuple[str, str] | None:
    """Split a tool's name into its MCP server and what it is called there; `None` for a tool of the
    program itself. `tools` are all that the program offers: how it names those of servers depends
    on it."""
    if "__" in name:  # also of a namespace
        server, _, tool = name.removeprefix("mcp__").partition("__")
        return (server, tool) if server and tool else None
    if name.startswith("mcp_"):
        server, _, tool = name.removeprefix("mcp_").partition("_")
        return (server, tool) if server and tool else None
    # opencode, recognised by how it spells a file's path, names its own tools without it.
    if "_" in name and any("filePath" in properties(tool) for tool in tools):
        server, _, tool = name.partition("_")
        return (server, tool) if server and tool else None
    return None


def fill_required(
    tool: ToolSpec, arguments: Mapping[str, object], activity: str
) -> dict[str, object]:
    """Complete arguments by everything else that the tool requires. `doing` says in words what the
    call is for."""
    completed = dict(arguments)
    # A model that is offered a description gives one, required or not.
    for name in [
        *list_required(tool),
        *(["description"] if "description" in properties(tool) else []),
    ]:
        if name in completed:
            continue
        schema = properties(tool).get(name)
        schema = schema if isinstance(schema, Mapping) else {}
        if name in _DESCRIPTION_NAMES:
            completed[name] = activity
        else:
            completed[name] = schema["default"] if "default" in schema else build_smallest(schema)
    return completed


def _best(
    tools: Sequence[ToolSpec], arguments: Sequence[str], fits: Callable[[ToolSpec, set[str]], bool]
) -> ToolSpec | None:
    """Return the fitting tool with the shortest name: those of MCP servers have longer ones."""
    fitting = [
        tool
        for tool in tools
        if server_and_tool(tool.name, tools) is None
        and find_argument(tool, arguments)
        and fits(tool, name_parts(tool.name))
    ]
    return min(fitting, key=lambda tool: len(tool.name), default=None)


def _searches_content(tool: ToolSpec, parts: set[str]) -> bool:
    if parts & {"grep", "ripgrep", "rg"}:
        return True
    if "web" in parts or "search" not in parts:
        return False
    return bool(parts & {"content", "contents", "text", "code"}) or (
        "regular expression" in tool.description.lower()
    )


def _searches_names(tool: ToolSpec, parts: set[str]) -> bool:
    return "glob" in parts or (bool(parts & {"find", "search"}) and bool(parts & {"file", "files"}))


def _reads(tool: ToolSpec, parts: set[str]) -> bool:
    if parts & {"write", "edit", "list", "mcp", "image", "notebook"}:
        return False
    return parts == {"read"} or (bool(parts & {"read", "view", "cat", "open"}) and "file" in parts)


def _runs(tool: ToolSpec, parts: set[str]) -> bool:
    return bool(parts & {"bash", "shell", "exec", "command", "terminal"})
