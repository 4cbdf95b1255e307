"""What the tools of a server are for, as its schemas say it: whether a call of one is retrieval.

No server is known by name. A tool that asks for terms and one that gives text retrieve; one that
tells the state of the tool itself, keeps its index or changes something does not. What fits
neither, such as a list of folders, is left open.
"""

import re

from swarm_bench.core.ports import ToolSpec
from swarm_bench.core.session.experiment import Mode
from swarm_bench.core.treatment.mode_parts import Purpose
from swarm_bench.retrieval.handshake import Handshakes
from swarm_bench.text import tool_roles

_ASKS = frozenset(
    {"query", "queries", "question", "q", "searchquery", "keyword", "keywords", "terms", "patterns"}
)
"""Arguments, without `_` and in lower case, that take what is searched for."""
_GIVES = frozenset({"expand", "extract", "fetch", "open", "read", "view", "cat"})
_CODE = frozenset(
    {
        *("body", "source", "snippet", "definition", "definitions", "references", "usages"),
        *("implementation", "implementations", "callers", "callees"),
    }
)
_NAMING = re.compile(
    r"(?:^|_)(?:ids?|handles?|refs?|paths?|files?|filenames?|uris?|symbols?|names?|patterns?)$",
    re.IGNORECASE,
)
"""Arguments that name what is to be given."""
_UPKEEP = frozenset(
    {
        *("status", "health", "ping", "version", "help", "readme", "instructions", "manual"),
        *("stats", "statistics", "metrics", "config", "configure", "configuration", "settings"),
        *("index", "reindex", "indexing", "build", "rebuild", "refresh", "sync", "warm", "watch"),
        *("invalidate", "clear", "reset", "init", "initialize", "activate", "register", "setup"),
        *("install", "uninstall", "login", "logout", "auth", "feedback", "onboarding"),
        *("add", "append", "apply", "checkout", "commit", "copy", "create", "delete", "edit"),
        *("insert", "merge", "move", "patch", "push", "rebase", "remove", "rename", "replace"),
        *("set", "update", "upload", "write"),
    }
)


def find_purposes(mode: Mode, handshakes: Handshakes) -> dict[str, Purpose | None]:
    """Say what each tool that the mode's servers listed is for, by the name that agents give it;
    `None` where that is unknown."""
    return {
        make_agent_name(handshake.server, tool.name): find_purpose(mode, tool)
        for handshake in handshakes.get(mode.name, {}).values()
        for tool in handshake.tools
    }


def find_purpose(mode: Mode, tool: ToolSpec) -> Purpose | None:
    """Say what a tool is for, under the name that its server gives it. The mode's file comes
    first."""
    if mode.search is not None and mode.search.tool == tool.name:
        return "search"
    upkeep = bool(tool_roles.name_parts(tool.name) & _UPKEEP)
    if _searches(tool):
        # `clear_search(query)` may do either, and `ask(question)` may ask a person.
        return None if upkeep or _asks_anybody(tool) else "search"
    if upkeep:
        return "other"
    return "read" if _reads(tool) else None


def make_agent_name(server: str, tool: str) -> str:
    """Name a server's tool as agents do, with `_` for what a name cannot have."""
    return "mcp__" + "__".join(re.sub(r"[^A-Za-z0-9_-]", "_", name) for name in (server, tool))


def _searches(tool: ToolSpec) -> bool:
    if tool_roles.role(tool.name, tool) == "search":
        return True
    arguments = {name.replace("_", "").lower() for name in tool_roles.properties(tool)}
    if arguments & _ASKS:
        return True
    return tool_roles.searches(tool.name) and (tool_roles.query(tool) is not None or _names(tool))


def _asks_anybody(tool: ToolSpec) -> bool:
    """Tell whether a tool asks something other than the repository, or does not say what it
    asks."""
    if tool_roles.is_elsewhere(tool.name):
        return True
    if "ask" not in tool_roles.name_parts(tool.name) or tool_roles.is_of_code(tool.name):
        return False
    return not any(map(tool_roles.is_path, tool_roles.properties(tool)))


def _reads(tool: ToolSpec) -> bool:
    if tool_roles.role(tool.name, tool) == "read":
        return True
    gives = tool_roles.name_parts(tool.name) & (_GIVES | _CODE)
    return bool(gives) and _names(tool) and not tool_roles.is_elsewhere(tool.name)


def _names(tool: ToolSpec) -> bool:
    return any(map(_NAMING.search, tool_roles.properties(tool)))
