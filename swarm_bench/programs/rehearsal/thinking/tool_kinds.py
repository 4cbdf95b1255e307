"""Infers from names and schemas which of a program's tools search, read or run commands."""

from collections.abc import Callable, Mapping, Sequence

from swarm_bench.core.ports import ToolSpec
from swarm_bench.programs.rehearsal.thinking.schema_answer import build_smallest
from swarm_bench.text.tool_roles import find_argument, list_required, name_parts, properties

PATTERN = ("pattern", "regex", "regexp", "query", "search")
FOLDER = ("path", "dir_path", "directory", "dir", "root")
INCLUDE = ("include", "glob", "include_pattern", "file_pattern", "includes")
FILE = ("file_path", "filePath", "absolute_path", "path", "target_file", "file")
COMMAND = ("command", "cmd", "commands", "script")
_DESCRIPTION_NAMES = ("description", "explanation", "reason", "purpose", "thought")


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
