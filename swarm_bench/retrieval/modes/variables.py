"""What is filled in in a mode file: `{{ placeholder }}`s of ours, and variables of the user as
Claude Code writes them, `${VAR}` and `${VAR:-default}`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from swarm_bench.config.text_file import PLACEHOLDER, check_placeholders, remove_closed, substitute
from swarm_bench.config.text_file import placeholders as names_in
from swarm_bench.core.errors import ConfigError
from swarm_bench.core.validation import format_path

PLACEHOLDERS = ("workspace", "service_url", "canopy_mcp")
"""Names that `{{ … }}` may have, beside those that are the same in every session."""
MODE_FOLDER = "mode_folder"
PYTHON = "python"
"""The interpreter of swarm-bench, which has its programs."""
_NAMES = (*PLACEHOLDERS, MODE_FOLDER, PYTHON)
_FILLED_KEYS = ("prepare", "index", "warm_up", "teardown", "version")
"""Keys of ours in which placeholders are filled in, beside the arguments of `search`."""
QUERY = "query"
"""Name for what a search looks for; allowed in the arguments of `search` only."""
KEYWORDS = "words"
"""The telling words of it; allowed there too."""
EXPANDED = ("command", "args", "env", "url", "headers")
"""Keys of a server in which variables are filled in."""

Values = Mapping[str, str | list[str]]
"""Values that placeholders are filled with."""
KeyPath = tuple[str | int, ...]
"""Keys and positions in JSON, from its root."""

# A file may be a stranger's: every expression here takes time in proportion to the text.
_LONGEST_DEFAULT = 2000
"""Characters."""
_DEFAULT = rf"(?:\{{\{{[^{{}}\n]*+\}}\}}|[^}}]){{0,{_LONGEST_DEFAULT}}}+"
_VARIABLE = rf"\$\{{(?P<variable>[A-Za-z_][A-Za-z0-9_]*+)(?::-(?P<default>{_DEFAULT}))?\}}"
_OPEN = re.compile(f"{PLACEHOLDER}|{_VARIABLE}")
_SINGLE = re.compile(PLACEHOLDER)
_UNCLOSED = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*+:-|\{\{")
"""Begins what would have to be filled in, where it is none of the above."""
_EDITOR_VARIABLE = re.compile(r"\$\{(?:env|input|command|config):(?!-)[^}]{0,2000}+\}")


@dataclass(frozen=True, kw_only=True)
class Filling:
    """What is put in. One pass: what a value holds is not looked at again."""

    file: str
    """The mode file, to be named in errors."""
    placeholders: Values | None
    """`None`: they stay as they are written. A list takes the place of the text that it stands in
    alone."""
    variables: Mapping[str, str] | None
    """Values of variables; `None`: variables stay as they are written."""

    def fill_server(self, server: Mapping[str, Any]) -> dict[str, Any]:
        """Fill in all of a server. Raises `ConfigError` for what cannot be."""
        plain = Filling(file=self.file, placeholders=self.placeholders, variables=None)
        return {
            key: (self if key in EXPANDED else plain).fill(value) for key, value in server.items()
        }

    def fill(self, node: Any) -> Any:
        if isinstance(node, str):
            single = _SINGLE.fullmatch(node)
            value = (self.placeholders or {}).get(single["placeholder"]) if single else None
            return [*value] if isinstance(value, list) else self._fill_text(node)
        if isinstance(node, list):
            return [self.fill(item) for item in node]
        if isinstance(node, dict):
            return {key: self.fill(item) for key, item in node.items()}
        return node

    def _fill_text(self, text: str) -> str:
        if editor_variable := _EDITOR_VARIABLE.search(text):
            raise ConfigError(
                f"The mode file {self.file} has {editor_variable[0]}, which only an editor fills "
                "in; write ${NAME} for a variable of your environment"
            )
        self._check_closed(_OPEN.sub(" ", text))
        return _OPEN.sub(self._replace, text)

    def _check_closed(self, text: str) -> None:
        """Check `rest`, a text without all that can be filled in. Raises `ConfigError`."""
        if opening := _UNCLOSED.search(remove_closed(text)):
            raise ConfigError(
                f"The mode file {self.file} has {opening[0]} without its end; close it, and give a "
                f"default of at most {_LONGEST_DEFAULT} characters"
            )

    def _replace(self, match: re.Match[str]) -> str:
        name = match["variable"]
        if name is None:
            keeps_placeholders = self.placeholders is None
            return match[0] if keeps_placeholders else self._fill_placeholder(match["placeholder"])
        if self.variables is None:
            return match[0]
        if name in self.variables:
            return self.variables[name]
        if match["default"] is not None:
            self._check_closed(match["default"])
            keeps_placeholders = self.placeholders is None
            return (
                match["default"]
                if keeps_placeholders
                else substitute(match["default"], self._fill_placeholder)
            )
        raise ConfigError(
            f"The mode file {self.file} needs the variable {name}, which is not set; export it, "
            f"or write a default into the file: ${{{name}:-value}}"
        )

    def _fill_placeholder(self, name: str) -> str:
        values = self.placeholders or {}
        if name not in values:
            raise ConfigError(
                f"The mode file {self.file} has the placeholder {{{{ {name} }}}}, which cannot be "
                f"filled; known are {', '.join(_NAMES)}"
            )
        value = values[name]
        if isinstance(value, list):
            raise ConfigError(
                f"The mode file {self.file} has the list {{{{ {name} }}}} within a text; let it "
                "stand alone, or say under 'search' what to 'join' it by"
            )
        return value


def find_mistakes(content: object) -> Iterator[tuple[KeyPath, str]]:
    """Yield where a mode file, as JSON, has placeholders that cannot be filled in, with a clause
    for each."""
    for path, text in _find_texts(content):
        allowed: tuple[str, ...]
        match path:
            case ("mcpServers", _, _, *_):
                allowed = _NAMES
            case ("swarmBench", "search", "arguments", *_):
                allowed = (*_NAMES, QUERY, KEYWORDS)
            case ("swarmBench", key, *_) if key in _FILLED_KEYS:
                allowed = _NAMES
            case _:
                continue
        try:
            check_placeholders(text, allowed)
        except ValueError as error:
            yield path, f"{format_path(path)} {error}"


def _find_texts(content: object) -> Iterator[tuple[KeyPath, str]]:
    """Yield all texts of a piece of JSON with their paths."""
    nodes: list[tuple[KeyPath, object]] = [((), content)]
    while nodes:
        path, node = nodes.pop()
        if isinstance(node, str):
            yield path, node
        elif isinstance(node, dict | list):
            items = node.items() if isinstance(node, dict) else enumerate(node)
            nodes += [((*path, key), item) for key, item in items]


def find_variables(servers: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """Return the variables that servers name."""
    return find_variables_in([server.get(key) for server in servers.values() for key in EXPANDED])


def find_variables_in(node: Any) -> set[str]:
    """Return the variables that are named anywhere in a piece of JSON."""
    return {match["variable"] for text in find_texts(node) for match in _OPEN.finditer(text)} - {
        None
    }


def find_placeholders(servers: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """Return the placeholders that servers name."""
    return find_placeholders_in(servers)


def find_placeholders_in(node: Any) -> set[str]:
    """Return the placeholders that are named anywhere in a piece of JSON."""
    return {name for text in find_texts(node) for name in names_in(text)}


def find_texts(node: Any) -> Iterator[str]:
    """Yield all texts of a piece of JSON, but not its keys."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, Mapping | list):
        for item in node.values() if isinstance(node, Mapping) else node:
            yield from find_texts(item)
