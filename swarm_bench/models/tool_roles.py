"""Tells from names and schemas what the tools of a server are good for, and fills in their calls.

Nothing is known of the servers: what is called `search_files` and takes a `pattern` searches.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from swarm_bench.core.ports import ToolSpec
from swarm_bench.models.lexical.terms import Term

RESULTS = 10
"""Asked of one search, whoever makes it."""
FILE = (
    *("file_path", "filePath", "absolute_path", "path", "target_file", "file"),
    *("relative_path", "filename"),
)
_PLACES = frozenset(
    {
        *("path", "paths", "dir", "directory", "folder", "root", "repo", "repository", "workspace"),
        *("project", "codebase", "cwd"),
    }
)
_NO_PLACES = frozenset(
    {
        *("file", "files", "name", "names", "id", "url", "symbol", "glob", "pattern", "query"),
        *("include", "exclude", "type", "output", "save"),
    }
)
"""Words with which an argument is no place, whatever else it is called."""
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
"""What somebody may look into, or ask, that is not the repository."""
_TELLING = {
    *("log", "report", "vote", "notify", "notification", "alert", "announce", "message", "submit"),
    *("rate", "rating", "confirm", "confirmation", "approval", "permission", "clarification"),
    *("followup", "feedback", "comment", "reply", "tell", "remember", "think", "translate"),
}
"""What else may be done with words; `search_log` looks for them all the same."""
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
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SYNTAX = re.compile(r"\bast\b|\bsyntax tree", re.IGNORECASE)
_FOLDER = re.compile(r"folder|director|root|project|repo|workspace|code ?base")

Role = Literal["search", "read", "overview", "change"]


def role(name: str, tool: ToolSpec) -> Role | None:
    """What a tool is for, which its server calls `name`; `None` when that cannot be told, or when
    it needs something that cannot be told."""
    words = words_in(name)
    if words & _CHANGING:
        return "change"
    asked = query(tool)
    if asked and (searches(name) or (_asks_only(tool) and not is_elsewhere(name))):
        return "search" if _is_enough(tool, asked) else None
    if words & _READING and words & _OF_FILES and not words & _NO_TEXT:
        file = argument(tool, FILE)
        return "read" if file and kind(tool, file) == "string" and _is_enough(tool, file) else None
    return "overview" if looks_over(name) and _is_enough(tool, "") else None


def worth(name: str, tool: ToolSpec) -> int:
    """How good a tool is in its role; more is better."""
    words = words_in(name)
    views = [at for at, word in enumerate(reversed(_OVERVIEWS)) if word in words]
    of_code = 100 if words & _OF_CODE else 0
    # A question is asked in the task's words; an expression finds whatever happens to have them.
    in_words = 200 if query(tool) in _QUESTIONS else 0
    in_sentences = 50 if "question" in properties(tool) else 0
    outdated = 1000 if "deprecated" in tool.description.lower() else 0
    return of_code + in_words + in_sentences + max(views, default=0) - outdated


def searches(name: str) -> bool:
    """Whether a tool of that name looks for something."""
    words = words_in(name)
    return bool(words & _SEARCHING) and not words & (_CHANGING | _NOT_CODE)


def is_elsewhere(name: str) -> bool:
    """Whether a tool of that name asks or tells somebody else than the repository."""
    words = words_in(name)
    return bool(words & _NOT_CODE or (words & _TELLING and not words & _SEARCHING))


def is_of_code(name: str) -> bool:
    """Whether a name says that it is about code, or where code is."""
    return bool(words_in(name) & _OF_CODE) or is_path(name)


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
    return query(tool) in (*_EXPRESSIONS, *_GLOBS, *_NAMES)


def takes_one_name(tool: ToolSpec) -> bool:
    """Whether it can be asked for one name at a time only: a symbol's, or a piece of syntax."""
    asked = query(tool)
    is_syntax = _SYNTAX.search(f"{description_of(tool, asked or '')} {tool.description}")
    return asked in _NAMES or (asked in _EXPRESSIONS and is_syntax is not None)


def search_arguments(
    tool: ToolSpec, terms: Sequence[Term], workspace: str | None
) -> dict[str, object]:
    """Arguments of a search for the terms; for the first of them where it takes one name."""
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
    asked: dict[str, object] = {name: value}
    switches = _PARTLY if name in _NAMES else _SWITCHES if name in _EXPRESSIONS else ()
    asked |= {each: True for each in switches if kind(tool, each) == "boolean"}
    limit = argument(tool, _RESULTS)
    if limit and kind(tool, limit) in ("integer", "number"):
        asked[limit] = RESULTS * (len(terms) if takes_expression(tool) else 1)
    return placed(tool, asked, workspace)


def placed(tool: ToolSpec, given: Mapping[str, object], workspace: str | None) -> dict[str, object]:
    """Arguments with the place and the limit that a tool requires."""
    arguments = dict(given)
    for name in required(tool):
        if name in arguments:
            continue
        if is_place(tool, name):
            place = "." if name.startswith("relative") else workspace or "."
            arguments[name] = [place] if kind(tool, name) == "array" else place
        elif name in LIMITS and kind(tool, name) in ("integer", "number"):
            arguments[name] = RESULTS
        elif name in _GLOBS and kind(tool, name) == "string":
            arguments[name] = "**/*"
        elif _has_default(tool, name):
            arguments[name] = properties(tool)[name]["default"]
    return arguments


def is_place(tool: ToolSpec, name: str) -> bool:
    """Whether an argument takes the folder to work in."""
    words = words_in(name)
    if not words & _PLACES or words & _NO_PLACES or kind(tool, name) not in ("string", "array"):
        return False
    said = description_of(tool, name)
    return "file" not in said or _FOLDER.search(said) is not None


def is_path(name: str) -> bool:
    """Whether an argument of that name takes a path of any kind."""
    return bool(words_in(name) & (_PLACES | {"file", "files", "filename"}))


def properties(tool: ToolSpec) -> Mapping[str, Any]:
    """The schemas of a tool's arguments by name."""
    found = tool.schema.get("properties")
    return found if isinstance(found, Mapping) else {}


def argument(tool: ToolSpec, names: Sequence[str]) -> str | None:
    """The first of the names that is an argument of the tool."""
    return next((name for name in names if name in properties(tool)), None)


def description_of(tool: ToolSpec, name: str) -> str:
    """What the schema says of an argument, in lower case."""
    schema = properties(tool).get(name)
    said = schema.get("description") if isinstance(schema, Mapping) else None
    return said.lower() if isinstance(said, str) else ""


def required(tool: ToolSpec) -> list[str]:
    """Names of the arguments that a tool cannot do without."""
    found = tool.schema.get("required")
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def kind(tool: ToolSpec, name: str) -> str:
    """The JSON type of an argument; empty when there is none of that name, or when the schema names
    none that is one."""
    schema = properties(tool).get(name, {"type": ""})
    kinds = list(_kinds(schema)) if isinstance(schema, Mapping) else []
    return next((each for each in kinds if each != "null"), "string" if not kinds else "")


def words_in(name: str) -> set[str]:
    """The words of a name, however it joins them."""
    return {word.lower() for word in _WORDS.findall(name)}


def _kinds(schema: Mapping[str, Any]) -> Iterator[str]:
    """The types that a value may have, the first choice first."""
    choices = [schema]
    for more in (schema.get("anyOf"), schema.get("oneOf")):
        if isinstance(more, list):
            choices += [each for each in more if isinstance(each, Mapping)]
    for choice in choices:
        types = choice.get("type")
        for each in types if isinstance(types, list) else [types]:
            if isinstance(each, str):
                yield each.lower()


def _is_glob(tool: ToolSpec, name: str) -> bool:
    if name in _GLOBS:
        return True
    description = description_of(tool, name)
    if not words_in(tool.name.rpartition("__")[2]) & _OF_CODE:
        # What searches content may take a glob besides, and says so too.
        description += tool.description.lower()
    return name in _EXPRESSIONS and "glob" in description


def _asks_only(tool: ToolSpec) -> bool:
    """Whether a question is all that a tool asks for, beside a place."""
    asked = query(tool)
    return asked in _QUESTIONS and asked in required(tool)


def _has_default(tool: ToolSpec, name: str) -> bool:
    schema = properties(tool).get(name)
    return isinstance(schema, Mapping) and "default" in schema


def _is_enough(tool: ToolSpec, given: str) -> bool:
    """Whether a tool can be called with one argument and a place."""
    return set(required(tool)) <= set(placed(tool, {given: ""}, None))
