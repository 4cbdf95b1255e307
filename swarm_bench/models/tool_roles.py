"""Tells from names and schemas what the tools of a server are good for, and fills in their calls.

Nothing is known of the servers: what is called `search_files` and takes a `pattern` searches.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from swarm_bench.core.ports import ToolSpec
from swarm_bench.models.rules.terms import Term

FILE = (
    *("file_path", "filePath", "absolute_path", "path", "target_file", "file"),
    *("relative_path", "filename"),
)
PLACE = (
    *("path", "dir_path", "directory", "dir", "root", "repo_path", "repository_path"),
    *("project_path", "root_path", "base_path", "workspace", "cwd", "folder", "relative_path"),
)
"""Arguments that take the folder to work in."""
_EXPRESSIONS = ("pattern", "regex", "regexp", "substring_pattern")
_GLOBS = ("glob", "glob_pattern", "file_mask", "file_pattern")
_QUERIES = (
    *("query", "q", "search", "search_query", "searchQuery", *_EXPRESSIONS, *_GLOBS, "text"),
    *("keywords", "keyword", "terms", "term", "question", "input"),
)
_LIMITS = ("limit", "max_results", "maxResults", "count", "max_count", "top_k", "k", "n")
_LIMIT = 50

_SEARCHING = {"search", "grep", "rg", "ripgrep", "find", "query", "lookup", "retrieve"}
_OF_CODE = {"code", "content", "contents", "text", "grep", "rg", "ripgrep", "source", "regex"}
_READING = {"read", "view", "cat", "open", "get", "show"}
_OF_FILES = {"file", "files", "text", "content", "contents", "source"}
_NO_TEXT = {"media", "image", "binary", "notebook", "info", "metadata", "size", "stat", "url"}
_OVERVIEWS = (
    *("overview", "structure", "outline", "summary", "map", "tree", "list", "ls"),
    *("log", "history", "status"),
)
_CHANGING = {
    *("add", "apply", "append", "checkout", "clear", "commit", "copy", "create", "delete", "drop"),
    *("edit", "exec", "execute", "insert", "install", "kill", "merge", "move", "patch", "post"),
    *("pull", "push", "put", "rebase", "remove", "rename", "replace", "reset", "run", "send"),
    *("set", "start", "stop", "store", "toggle", "update", "upload", "write"),
}
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

Role = Literal["search", "read", "overview", "change"]


def role(name: str, tool: ToolSpec) -> Role | None:
    """What a tool is for, which its server calls `name`; `None` when that cannot be told, or when
    it needs something that cannot be told."""
    words = words_in(name)
    if words & _CHANGING:
        return "change"
    if searches(name) and query(tool):
        return "search" if _is_enough(tool, str(query(tool))) else None
    if words & _READING and words & _OF_FILES and not words & _NO_TEXT:
        file = argument(tool, FILE)
        return "read" if file and kind(tool, file) == "string" and _is_enough(tool, file) else None
    return "overview" if looks_over(name) and _is_enough(tool, "") else None


def worth(name: str, tool: ToolSpec) -> int:
    """How good a tool is in its role; more is better."""
    words = words_in(name)
    views = [at for at, word in enumerate(reversed(_OVERVIEWS)) if word in words]
    of_code = 100 if words & _OF_CODE else 0
    outdated = 1000 if "deprecated" in tool.description.lower() else 0
    return of_code + max(views, default=0) - outdated


def searches(name: str) -> bool:
    """Whether a tool of that name looks for something."""
    words = words_in(name)
    return bool(words & _SEARCHING) and not words & (_CHANGING | {"web"})


def looks_over(name: str) -> bool:
    """Whether a tool of that name tells what there is."""
    words = words_in(name)
    return bool(words & set(_OVERVIEWS)) and not words & _CHANGING


def query(tool: ToolSpec) -> str | None:
    """The argument that takes what to look for."""
    known = [name for name in _QUERIES if name in properties(tool)]
    return next((name for name in known if kind(tool, name) in ("string", "array")), None)


def takes_expression(tool: ToolSpec) -> bool:
    """Whether it looks for a pattern and not for words."""
    return query(tool) in (*_EXPRESSIONS, *_GLOBS)


def search_arguments(
    tool: ToolSpec, terms: Sequence[Term], workspace: str | None
) -> dict[str, object]:
    """Arguments of a search for the terms."""
    name = query(tool) or "query"
    roots = list(dict.fromkeys(root for term in terms for root in (term.word, *term.roots[:2])))
    value: object = " ".join(term.word for term in terms)
    if _is_glob(tool, name):
        value = "**/*{" + ",".join(roots) + "}*"
    elif name in _EXPRESSIONS:
        value = "|".join(roots)
    elif kind(tool, name) == "array":
        value = [term.word for term in terms]
    return placed(tool, {name: value}, workspace)


def placed(tool: ToolSpec, given: Mapping[str, object], workspace: str | None) -> dict[str, object]:
    """Arguments with the place and the limit that a tool requires."""
    arguments = dict(given)
    for name in required(tool):
        if name in arguments:
            continue
        if name in PLACE and kind(tool, name) == "string":
            arguments[name] = "." if name.startswith("relative") else workspace or "."
        elif name in _LIMITS and kind(tool, name) in ("integer", "number"):
            arguments[name] = _LIMIT
        elif _has_default(tool, name):
            arguments[name] = properties(tool)[name]["default"]
    return arguments


def properties(tool: ToolSpec) -> Mapping[str, Any]:
    """The schemas of a tool's arguments by name."""
    found = tool.schema.get("properties")
    return found if isinstance(found, Mapping) else {}


def argument(tool: ToolSpec, names: Sequence[str]) -> str | None:
    """The first of the names that is an argument of the tool."""
    return next((name for name in names if name in properties(tool)), None)


def said_of(tool: ToolSpec, name: str) -> str:
    """What the schema says of an argument, in lower case."""
    schema = properties(tool).get(name)
    said = schema.get("description") if isinstance(schema, Mapping) else None
    return said.lower() if isinstance(said, str) else ""


def required(tool: ToolSpec) -> list[str]:
    """Names of the arguments that a tool cannot do without."""
    found = tool.schema.get("required")
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def kind(tool: ToolSpec, name: str) -> str:
    """The JSON type of an argument; empty when the schema names none that is one."""
    schema = properties(tool).get(name)
    given: Any = schema.get("type", "string") if isinstance(schema, Mapping) else "string"
    if isinstance(given, list):
        given = next((one for one in given if one != "null"), "null")
    return given.lower() if isinstance(given, str) else ""


def words_in(name: str) -> set[str]:
    """The words of a name, however it joins them."""
    return {word.lower() for word in _WORDS.findall(name)}


def _is_glob(tool: ToolSpec, name: str) -> bool:
    said = said_of(tool, name) + tool.description.lower()
    return name in _GLOBS or (name in _EXPRESSIONS and "glob" in said)


def _has_default(tool: ToolSpec, name: str) -> bool:
    schema = properties(tool).get(name)
    return isinstance(schema, Mapping) and "default" in schema


def _is_enough(tool: ToolSpec, given: str) -> bool:
    """Whether a tool can be called with one argument and a place."""
    return set(required(tool)) <= set(placed(tool, {given: ""}, None))
