"""Puts the wishes of `rules` into the terms of whatever tools a program offers."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from swarm_bench.core.ports import ToolCall, ToolSpec
from swarm_bench.programs.rehearsal.thinking import retrieval_tools
from swarm_bench.programs.rehearsal.thinking.retrieval_tools import (
    FILE,
    FOLDER,
    INCLUDE,
    PATTERN,
    Route,
)
from swarm_bench.text import tool_roles

ProgramCall = tuple[str, dict[str, object]]
"""Name and arguments of a call, as the program knows its tool."""

_COUNT_LIMIT = 250
"""Files asked for where counts come in no useful order."""
_SAME_NAME = 4
"""A search by a file's name also finds its namesakes in other folders, so more is asked for."""
_LIMITS = ("head_limit", "total_max_matches", "limit", "max_results")
_ACTIVITIES = {
    "Grep": "Search the files for words of the task",
    "Glob": "Find files named after words of the task",
    "Read": "Read part of a file",
}
MAX_COLUMNS = 310
# Claude Code replaces grep and find by programs of its own, which read other dialects.
_GREP = "LC_ALL=C command grep"
_COUNTING = "-rIcE"
_SKIPPED = (".git", ".canopy", ".hg", ".svn")
_BRACES = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, kw_only=True)
class Toolbox:
    """The tools of a program by what they are good for."""

    grep: ToolSpec | None
    glob: ToolSpec | None
    read: ToolSpec | None
    shell: ToolSpec | None
    workspace: str | None
    """Absolute path, if the program names it."""
    routes: Mapping[str, Route] = field(default_factory=dict)
    """Tools of MCP servers by the name under which `rules` knows them."""

    @classmethod
    def sort(
        cls,
        tools: Sequence[ToolSpec],
        workspace: str | None,
        routes: Mapping[str, Route],
        broken: frozenset[str] = frozenset(),
    ) -> "Toolbox":
        """Sort the tools. `broken` names those that have failed and are not to be asked again; a
        failing command says nothing of the shell."""
        usable = [tool for tool in tools if tool.name not in broken]
        return cls(
            grep=retrieval_tools.content_search(usable),
            glob=retrieval_tools.name_search(usable),
            read=retrieval_tools.file_read(usable),
            shell=retrieval_tools.shell(tools),
            workspace=workspace,
            routes=routes,
        )

    def list_tools(self) -> list[ToolSpec]:
        """List the tools that `rules` may use."""
        kinds = {"Grep": self.grep, "Glob": self.glob, "Read": self.read}
        names = [name for name, tool in kinds.items() if tool or self.shell]
        return [ToolSpec(name=name, description="") for name in [*names, *self.routes]]

    def translate(self, call: ToolCall) -> ProgramCall:
        """Put a call of one of the tools offered into the program's terms."""
        if route := self.routes.get(call.name):
            return route.build_call(call.arguments)
        match call.name:
            case "Grep" if self.grep and self._can_search(self.grep, call):
                return self._search(self.grep, call)
            case "Glob" if self.glob:
                return self._find(self.glob, call)
            case "Read" if self.read:
                return self._read(self.read, call)
        if self.shell is None:
            raise ValueError(f"no tool for {call.name}")
        return self._run(self.shell, call)

    def _can_search(self, tool: ToolSpec, call: ToolCall) -> bool:
        counts = call.arguments.get("output_mode") == "count"
        return not counts or self.shell is None or "count" in _modes(tool)

    def _search(self, tool: ToolSpec, call: ToolCall) -> ProgramCall:
        wish = call.arguments
        mode = str(wish.get("output_mode"))
        arguments: dict[str, object] = {}
        if name := tool_roles.find_argument(tool, PATTERN):
            arguments[name] = plain(str(wish["pattern"]))
        if mode in _modes(tool):
            arguments["output_mode"] = mode
        limit = wish.get("head_limit", _COUNT_LIMIT)
        if path := wish.get("path"):
            restriction = self._restrict_to_file(tool, str(path))
            limit = (
                limit * _SAME_NAME
                if tool_roles.find_argument(tool, INCLUDE) in restriction
                else limit
            )
            arguments |= restriction
        if name := tool_roles.find_argument(tool, _LIMITS):
            arguments[name] = _COUNT_LIMIT if mode == "count" else limit
        properties = tool_roles.properties(tool)
        arguments |= {"-n": True} if "-n" in properties and mode == "content" else {}
        arguments |= {"case_sensitive": True} if "case_sensitive" in properties else {}
        return tool.name, retrieval_tools.fill_required(tool, arguments, _ACTIVITIES["Grep"])

    def _restrict_to_file(self, tool: ToolSpec, path: str) -> dict[str, object]:
        """Restrict a search to one file. Some programs search folders only, whatever their schema
        says."""
        folder, include = (
            tool_roles.find_argument(tool, FOLDER),
            tool_roles.find_argument(tool, INCLUDE),
        )
        parent, name = str(PurePosixPath(path).parent), PurePosixPath(path).name
        if not folder:
            return {include: path} if include else {}
        if not include:
            return {folder: self._path(tool, folder, path)}
        name = "".join("?" if letter in "*?[]{}!" else letter for letter in name)
        arguments: dict[str, object] = {include: name}
        return arguments if parent == "." else {folder: parent, **arguments}

    def _find(self, tool: ToolSpec, call: ToolCall) -> ProgramCall:
        name = tool_roles.find_argument(tool, ("pattern", "glob", "glob_pattern")) or "pattern"
        arguments: dict[str, object] = {name: call.arguments["pattern"]}
        if "case_sensitive" in tool_roles.properties(tool):
            arguments["case_sensitive"] = True
        return tool.name, retrieval_tools.fill_required(tool, arguments, _ACTIVITIES["Glob"])

    def _read(self, tool: ToolSpec, call: ToolCall) -> ProgramCall:
        name = tool_roles.find_argument(tool, FILE) or "path"
        first, limit = call.arguments.get("offset", 1), call.arguments.get("limit", 200)
        properties = tool_roles.properties(tool)
        arguments: dict[str, object] = {
            name: self._path(tool, name, str(call.arguments["file_path"]))
        }
        if "offset" in properties and "limit" in properties:
            from_zero = "0-based" in tool_roles.description_of(tool, "offset")
            arguments |= {"offset": first - 1 if from_zero else first, "limit": limit}
        elif "start_line" in properties and "end_line" in properties:
            arguments |= {"start_line": first, "end_line": first + limit - 1}
        return tool.name, retrieval_tools.fill_required(tool, arguments, _ACTIVITIES["Read"])

    def _run(self, tool: ToolSpec, call: ToolCall) -> ProgramCall:
        line = command(call.name, call.arguments)
        name = tool_roles.find_argument(tool, retrieval_tools.COMMAND) or "command"
        schema = tool_roles.properties(tool)[name]
        takes_list = isinstance(schema, Mapping) and schema.get("type") == "array"
        arguments: dict[str, object] = {name: ["bash", "-lc", line] if takes_list else line}
        required: Any = tool.schema.get("required")
        for folder in ("workdir", "directory", "cwd", "dir_path"):
            if self.workspace and isinstance(required, list) and folder in required:
                arguments[folder] = self.workspace
        return tool.name, retrieval_tools.fill_required(tool, arguments, _ACTIVITIES[call.name])

    def _path(self, tool: ToolSpec, name: str, path: str) -> str:
        """Write a path as the tool wants it: absolute if it says so and the workspace is known."""
        wants_absolute = name.startswith("absolute") or "absolute" in (
            tool_roles.description_of(tool, name) + tool.description.lower()
        )
        return f"{self.workspace}/{path}" if wants_absolute and self.workspace else path


def _modes(tool: ToolSpec) -> list[Any]:
    """List the values of `output_mode` that a tool knows."""
    schema = tool_roles.properties(tool).get("output_mode")
    modes = schema.get("enum") if isinstance(schema, Mapping) else None
    return modes if isinstance(modes, list) else []


def command(name: str, arguments: Mapping[str, Any]) -> str:
    """Write the command line that does what a call of scout's Grep, Glob or Read does."""
    match name:
        case "Grep" if arguments.get("output_mode") == "count":
            return _count(arguments)
        case "Grep":
            return _lines(arguments)
        case "Glob":
            return _find(str(arguments["pattern"]))
    return _window(arguments)


def counts(arguments: Mapping[str, Any]) -> bool:
    """Tell whether a call runs a command line of ours that counts."""
    return any(f"{_GREP} {_COUNTING} " in str(value) for value in arguments.values())


def plain(pattern: str) -> str:
    """Write the same expression in the dialect that grep -E, ripgrep, JavaScript and Python
    share."""
    return re.sub(r"(?<!\\)\(\?:", "(", pattern)


def expand_braces(glob: str) -> list[str]:
    """Write out the patterns that one with `{a,b}` stands for."""
    braces = _BRACES.search(glob)
    if not braces:
        return [glob]
    before, after = glob[: braces.start()], glob[braces.end() :]
    return [
        pattern for part in braces[1].split(",") for pattern in expand_braces(before + part + after)
    ]


def relative_path(path: str) -> str:
    """Write a path of the workspace as the commands print it."""
    return path if path.startswith(("/", "./")) else f"./{path}"


def _count(arguments: Mapping[str, Any]) -> str:
    search = f"{_GREP} {_COUNTING} {_write_exclusions()} -e {_pattern(arguments)} ."
    return f"{search} | grep -v ':0$' | sort -t: -k2,2nr -k1,1{_head(arguments)}"


def _lines(arguments: Mapping[str, Any]) -> str:
    cut = f"{_head(arguments)} | cut -c1-{MAX_COLUMNS}"
    if path := arguments.get("path"):
        return (
            f"{_GREP} -InHE -e {_pattern(arguments)} {shlex.quote(relative_path(str(path)))}{cut}"
        )
    search = f"{_GREP} -rInE {_write_exclusions()} -e {_pattern(arguments)} ."
    return f"{search} | sort -s -t: -k1,1{cut}"


def _find(glob: str) -> str:
    names = " -o ".join(_name(pattern) for pattern in expand_braces(glob))
    pruned = " -o ".join(f"-name {folder}" for folder in _SKIPPED)
    search = f"command find . \\( {pruned} \\) -prune -o -type f \\( {names} \\) -print"
    return f"{search} | sort | head -n 200"


def _name(glob: str) -> str:
    name = glob.removeprefix("**/")
    if "/" in name:
        return f"-path {shlex.quote('./' + glob.replace('**/', '*').replace('**', '*'))}"
    return f"-name {shlex.quote(name)}"


def _window(arguments: Mapping[str, Any]) -> str:
    first = arguments.get("offset", 1)
    last = first + arguments.get("limit", 200) - 1
    path = shlex.quote(relative_path(str(arguments["file_path"])))
    return f"cat -n {path} | sed -n '{first},{last}p' | cut -c1-{MAX_COLUMNS}"


def _pattern(arguments: Mapping[str, Any]) -> str:
    return shlex.quote(plain(str(arguments["pattern"])))


def _write_exclusions() -> str:
    return " ".join(f"--exclude-dir={folder}" for folder in _SKIPPED)


def _head(arguments: Mapping[str, Any]) -> str:
    limit = arguments.get("head_limit")
    return f" | head -n {limit}" if isinstance(limit, int) else ""
