"""Tells from names and schemas which of a program's tools search, read or run commands."""

from collections.abc import Callable, Mapping, Sequence

from swarm_bench.core.ports import ToolSpec
from swarm_bench.models.tool_roles import argument, name_parts, properties, required
from swarm_bench.programs.rehearsal.thinking.schema_answer import smallest

PATTERN = ("pattern", "regex", "regexp", "query", "search")
FOLDER = ("path", "dir_path", "directory", "dir", "root")
INCLUDE = ("include", "glob", "include_pattern", "file_pattern", "includes")
FILE = ("file_path", "filePath", "absolute_path", "path", "target_file", "file")
COMMAND = ("command", "cmd", "commands", "script")
_SPOKEN = ("description", "explanation", "reason", "purpose", "thought")


def content_search(tools: Sequence[ToolSpec]) -> ToolSpec | None:
    """The tool that looks for a regular expression in files."""
    return _best(tools, PATTERN, _searches_content)


def name_search(tools: Sequence[ToolSpec]) -> ToolSpec | None:
    """The tool that finds files by a glob pattern."""
    return _best(tools, ("pattern", "glob", "glob_pattern"), _searches_names)


def file_read(tools: Sequence[ToolSpec]) -> ToolSpec | None:
    """The tool that gives the lines of a text file."""
    return _best(tools, FILE, _reads)


def shell(tools: Sequence[ToolSpec]) -> ToolSpec | None:
    """The tool that runs a command line."""
    return _best(tools, COMMAND, _runs)


def server_and_tool(name: str, tools: Sequence[ToolSpec]) -> tuple[str, str] | None:
    """The MCP server of a tool, and what the tool is called there; `None` for a tool of the program
    itself. `tools` are all that the program offers: how it names those of servers depends on it."""
    if "__" in name:  # also of a namespace
        server, _, tool = name.removeprefix("mcp__").partition("__")
        return (server, tool) if server and tool else None
    if name.startswith("mcp_"):
        server, _, tool = name.removeprefix("mcp_").partition("_")
        return (server, tool) if server and tool else None
    # opencode, which is known by how it spells a file's path, names its own tools without it.
    if "_" in name and any("filePath" in properties(tool) for tool in tools):
        server, _, tool = name.partition("_")
        return (server, tool) if server and tool else None
    return None


def filled(tool: ToolSpec, given: Mapping[str, object], doing: str) -> dict[str, object]:
    """Arguments with everything else that the tool requires. `doing` says in words what the call
    is for."""
    arguments = dict(given)
    # A model that is offered a description gives one, required or not.
    for name in [*required(tool), *(["description"] if "description" in properties(tool) else [])]:
        if name in arguments:
            continue
        schema = properties(tool).get(name)
        schema = schema if isinstance(schema, Mapping) else {}
        if name in _SPOKEN:
            arguments[name] = doing
        else:
            arguments[name] = schema["default"] if "default" in schema else smallest(schema)
    return arguments


def _best(
    tools: Sequence[ToolSpec], arguments: Sequence[str], fits: Callable[[ToolSpec, set[str]], bool]
) -> ToolSpec | None:
    """The fitting tool with the shortest name: those of MCP servers have longer ones."""
    found = [
        tool
        for tool in tools
        if server_and_tool(tool.name, tools) is None
        and argument(tool, arguments)
        and fits(tool, name_parts(tool.name))
    ]
    return min(found, key=lambda tool: len(tool.name), default=None)


def _searches_content(tool: ToolSpec, words: set[str]) -> bool:
    if words & {"grep", "ripgrep", "rg"}:
        return True
    if "web" in words or "search" not in words:
        return False
    return bool(words & {"content", "contents", "text", "code"}) or (
        "regular expression" in tool.description.lower()
    )


def _searches_names(tool: ToolSpec, words: set[str]) -> bool:
    return "glob" in words or (bool(words & {"find", "search"}) and bool(words & {"file", "files"}))


def _reads(tool: ToolSpec, words: set[str]) -> bool:
    if words & {"write", "edit", "list", "mcp", "image", "notebook"}:
        return False
    return words == {"read"} or (bool(words & {"read", "view", "cat", "open"}) and "file" in words)


def _runs(tool: ToolSpec, words: set[str]) -> bool:
    return bool(words & {"bash", "shell", "exec", "command", "terminal"})
