"""Infers from names and schemas what the tools of a server are good for, and fills in their calls.

No server is known in advance: what is called `search_files` and takes a `pattern` searches.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from swarm_bench.core.ports import ToolSpec
from swarm_bench.text.terms import Term

RESULTS = 10
"""Results that are asked of one search, whichever agent makes it."""
FILE = (
    *("file_path", "filePath", "absolute_path", "path", "target_file", "file"),
    *("relative_path", "filename"),
)
_FOLDER_WORDS = frozenset(
    {
        *("path", "paths", "dir", "directory", "folder", "root", "repo", "repository", "workspace"),
        *("project", "codebase", "cwd"),
    }
)
_NOT_FOLDERS = frozenset(
    {
        *("file", "files", "name", "names", "id", "url", "symbol", "glob", "pattern", "query"),
        *("include", "exclude", "type", "output", "save"),
    }
)
"""Words with which an argument is no folder, whatever else it is called."""
_EXPRESSIONS = ("pattern", "regex", "regexp", "substring_pattern")
_GLOBS = ("glob", "glob_pattern", "file_mask", "file_pattern", "file_glob", "filePattern")
_NAMES = ("name_path_pattern", "symbol", "symbol_name", "identifier")
"""Arguments that take a single name."""
_QUESTIONS = ("query", "q", "question", "search_query", "searchQuery", "search")
_QUERIES = (
    *(*_QUESTIONS, *_EXPRESSIONS, *_NAMES, "text", "keywords", "keyword", "terms", "term"),
    *("input", *_GLOBS),
)
_SWITCHES = ("regex", "is_regex", "isRegex", "use_regex", "useRegex", "regexp")
"""Arguments that say that a pattern is an expression."""
_PARTLY = ("substring_matching", "partial", "partial_match", "substring")
"""Arguments that say that a part of a name is enough."""
_RESULTS = ("limit", "max_results", "maxResults", "max_count", "top_k", "topK", "num_results")
LIMITS = (*_RESULTS, "count", "k", "n")
"""Arguments that say how many results are wanted."""

_SEARCHING = {"search", "grep", "rg", "ripgrep", "find", "query", "lookup", "retrieve", "explore"}
_NOT_CODE = {
    *("web", "internet", "docs", "documentation", "library", "dashboard", "issue"),
    *("issues", "user", "users", "human", "humans", "person", "people", "expert", "operator"),
    *("developer", "maintainer", "colleague", "team", "customer"),
}
"""Things that can be looked into, or asked, and are not the repository."""
_REPORTING = {
    *("log", "report", "vote", "notify", "notification", "alert", "announce", "message", "submit"),
    *("rate", "rating", "confirm", "confirmation", "approval", "permission", "clarification"),
    *("followup", "feedback", "comment", "reply", "tell", "remember", "think", "translate"),
}
"""Other actions that take words; `search_log` looks for them all the same."""
_OF_CODE = {
    *("code", "codebase", "content", "contents", "text", "grep", "rg", "ripgrep", "source"),
    *("regex", "symbol", "symbols", "graph"),
}
_READING = {"read", "view", "cat", "open", "get", "show"}
_OF_FILES = {"file", "files", "text", "content", "contents", "source"}
_NO_TEXT = {
    *("media", "image", "binary", "notebook", "info", "metadata", "size", "stat", "url"),
    *("summary", "overview", "outline", "structure", "diagnostic", "diagnostics", "problems"),
    *("symbol", "symbols", "imports", "dependencies", "history", "status", "tree"),
}
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
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SYNTAX = re.compile(r"\bast\b|\bsyntax tree", re.IGNORECASE)
_FOLDER = re.compile(r"folder|director|root|project|repo|workspace|code ?base")

Role = Literal["search", "read", "overview", "change"]


def role(name: str, tool: ToolSpec) -> Role | None:
    """Tell what a tool is for that its server calls `name`; `None` when that stays unclear, or when
    it needs an argument that cannot be guessed."""
    parts = name_parts(name)
    if parts & _CHANGING:
        return "change"
    query_name = query(tool)
    if query_name and (searches(name) or (_asks_only(tool) and not is_elsewhere(name))):
        return "search" if _is_enough(tool, query_name) else None
    if parts & _READING and parts & _OF_FILES and not parts & _NO_TEXT:
        file = find_argument(tool, FILE)
        return "read" if file and kind(tool, file) == "string" and _is_enough(tool, file) else None
    return "overview" if looks_over(name) and _is_enough(tool, "") else None


def rate_tool(name: str, tool: ToolSpec) -> int:
    """Rate how good a tool is in its role; more is better."""
    parts = name_parts(name)
    views = [at for at, part in enumerate(reversed(_OVERVIEWS)) if part in parts]
    of_code = 100 if parts & _OF_CODE else 0
    # A question is asked in the task's words; an expression finds whatever happens to have them.
    in_words = 200 if query(tool) in _QUESTIONS else 0
    in_sentences = 50 if "question" in properties(tool) else 0
    outdated = 1000 if "deprecated" in tool.description.lower() else 0
    return of_code + in_words + in_sentences + max(views, default=0) - outdated


def searches(name: str) -> bool:
    """Tell whether a tool of that name looks for something."""
    parts = name_parts(name)
    return bool(parts & _SEARCHING) and not parts & (_CHANGING | _NOT_CODE)


def is_elsewhere(name: str) -> bool:
    """Tell whether a tool of that name asks or tells something other than the repository."""
    parts = name_parts(name)
    return bool(parts & _NOT_CODE or (parts & _REPORTING and not parts & _SEARCHING))


def is_of_code(name: str) -> bool:
    """Tell whether a name says that it is about code, or where code is."""
    return bool(name_parts(name) & _OF_CODE) or is_path(name)


def looks_over(name: str) -> bool:
    """Tell whether a tool of that name gives an overview."""
    parts = name_parts(name)
    return bool(parts & set(_OVERVIEWS)) and not parts & _CHANGING


def query(tool: ToolSpec) -> str | None:
    """Return the argument that takes what to look for."""
    candidates = [name for name in _QUERIES if name in properties(tool)]
    return next((name for name in candidates if kind(tool, name) in ("string", "array")), None)


def takes_expression(tool: ToolSpec) -> bool:
    """Tell whether it looks for a pattern and not for words."""
    return query(tool) in (*_EXPRESSIONS, *_GLOBS, *_NAMES)


def takes_one_name(tool: ToolSpec) -> bool:
    """Tell whether it can be asked for one name at a time only: a symbol's, or a piece of
    syntax."""
    query_name = query(tool)
    is_syntax = _SYNTAX.search(f"{description_of(tool, query_name or '')} {tool.description}")
    return query_name in _NAMES or (query_name in _EXPRESSIONS and is_syntax is not None)


def search_arguments(
    tool: ToolSpec, terms: Sequence[Term], workspace: str | None
) -> dict[str, object]:
    """Fill in a search for the terms; for the first of them where it takes one name."""
    name = query(tool) or "query"
    roots = list(dict.fromkeys(root for term in terms for root in (term.word, *term.roots[:2])))
    value: object = " ".join(term.word for term in terms)
    if takes_one_name(tool):
        value = terms[0].roots[0]
    elif _is_glob(tool, name):
        value = "**/*{" + ",".join(roots) + "}*"
    elif name in _EXPRESSIONS:
        value = "|".join(roots)
    elif kind(tool, name) == "array":
        value = [term.word for term in terms]
    arguments: dict[str, object] = {name: value}
    switches = _PARTLY if name in _NAMES else _SWITCHES if name in _EXPRESSIONS else ()
    arguments |= {switch: True for switch in switches if kind(tool, switch) == "boolean"}
    limit = find_argument(tool, _RESULTS)
    if limit and kind(tool, limit) in ("integer", "number"):
        arguments[limit] = RESULTS * (len(terms) if takes_expression(tool) else 1)
    return complete_arguments(tool, arguments, workspace)


def complete_arguments(
    tool: ToolSpec, arguments: Mapping[str, object], workspace: str | None
) -> dict[str, object]:
    """Complete arguments by the folder, the limit and the defaults that a tool requires."""
    completed = dict(arguments)
    for name in list_required(tool):
        if name in completed:
            continue
        if takes_folder(tool, name):
            folder = "." if name.startswith("relative") else workspace or "."
            completed[name] = [folder] if kind(tool, name) == "array" else folder
        elif name in LIMITS and kind(tool, name) in ("integer", "number"):
            completed[name] = RESULTS
        elif name in _GLOBS and kind(tool, name) == "string":
            completed[name] = "**/*"
        elif _has_default(tool, name):
            completed[name] = properties(tool)[name]["default"]
    return completed


def takes_folder(tool: ToolSpec, name: str) -> bool:
    """Tell whether an argument takes the folder to work in."""
    parts = name_parts(name)
    if (
        not parts & _FOLDER_WORDS
        or parts & _NOT_FOLDERS
        or kind(tool, name) not in ("string", "array")
    ):
        return False
    description = description_of(tool, name)
    return "file" not in description or _FOLDER.search(description) is not None


def is_path(name: str) -> bool:
    """Tell whether an argument of that name takes a path of any kind."""
    return bool(name_parts(name) & (_FOLDER_WORDS | {"file", "files", "filename"}))


def properties(tool: ToolSpec) -> Mapping[str, Any]:
    """Return the schemas of a tool's arguments by name."""
    schemas = tool.schema.get("properties")
    return schemas if isinstance(schemas, Mapping) else {}


def find_argument(tool: ToolSpec, names: Sequence[str]) -> str | None:
    """Return the first of the names that is an argument of the tool."""
    return next((name for name in names if name in properties(tool)), None)


def description_of(tool: ToolSpec, name: str) -> str:
    """Return the description of an argument from the schema, in lower case."""
    schema = properties(tool).get(name)
    description = schema.get("description") if isinstance(schema, Mapping) else None
    return description.lower() if isinstance(description, str) else ""


def list_required(tool: ToolSpec) -> list[str]:
    """List the arguments that a tool cannot do without."""
    names = tool.schema.get("required")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def kind(tool: ToolSpec, name: str) -> str:
    """Return the JSON type of an argument; empty when there is none of that name, or when its
    schema names no real one."""
    schema = properties(tool).get(name, {"type": ""})
    kinds = list(_kinds(schema)) if isinstance(schema, Mapping) else []
    return next(
        (json_type for json_type in kinds if json_type != "null"), "string" if not kinds else ""
    )


def name_parts(name: str) -> set[str]:
    """Split a name into its words, however it joins them."""
    return {word.lower() for word in _WORD.findall(name)}


def _kinds(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the types that a value may have, the first choice first."""
    choices = [schema]
    for alternatives in (schema.get("anyOf"), schema.get("oneOf")):
        if isinstance(alternatives, list):
            choices += [entry for entry in alternatives if isinstance(entry, Mapping)]
    for choice in choices:
        types = choice.get("type")
        for entry in types if isinstance(types, list) else [types]:
            if isinstance(entry, str):
                yield entry.lower()


def _is_glob(tool: ToolSpec, name: str) -> bool:
    if name in _GLOBS:
        return True
    description = description_of(tool, name)
    if not name_parts(tool.name.rpartition("__")[2]) & _OF_CODE:
        # What searches content may take a glob besides, and says so too.
        description += tool.description.lower()
    return name in _EXPRESSIONS and "glob" in description


def _asks_only(tool: ToolSpec) -> bool:
    """Tell whether a question is all that a tool asks for, beside a folder."""
    query_name = query(tool)
    return query_name in _QUESTIONS and query_name in list_required(tool)


def _has_default(tool: ToolSpec, name: str) -> bool:
    schema = properties(tool).get(name)
    return isinstance(schema, Mapping) and "default" in schema


def _is_enough(tool: ToolSpec, name: str) -> bool:
    """Tell whether a tool can be called with one argument and a folder."""
    return set(list_required(tool)) <= set(complete_arguments(tool, {name: ""}, None))
