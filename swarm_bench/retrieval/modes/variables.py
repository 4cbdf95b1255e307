"""What a mode file leaves open: `{{ placeholder }}`s of ours, and the user's variables as Claude
Code writes them, `${VAR}` and `${VAR:-default}`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from swarm_bench.core.errors import ConfigError

PLACEHOLDERS = ("workspace", "service_url", "canopy_mcp")
"""What `{{ … }}` may name, beside the folder of the mode file itself."""
MODE_FOLDER = "mode_folder"
QUERY = "query"
"""What a search looks for; known in the arguments of `search` only."""
EXPANDED = ("command", "args", "env", "url", "headers")
"""Keys of a server in which variables are filled in."""

# A file may be a stranger's: every expression here takes time in proportion to the text.
_WORD = r"[^{}\s]*+"
_PLACEHOLDER = rf"\{{\{{\s*+(?P<placeholder>{_WORD}(?:[^\S\n]++[^{{}}\s]++)*+)\s*+\}}\}}"
_LONGEST_DEFAULT = 2000
"""Characters."""
_DEFAULT = rf"(?:\{{\{{[^{{}}\n]*+\}}\}}|[^}}]){{0,{_LONGEST_DEFAULT}}}+"
_VARIABLE = rf"\$\{{(?P<variable>[A-Za-z_][A-Za-z0-9_]*+)(?::-(?P<default>{_DEFAULT}))?\}}"
_OPEN = re.compile(f"{_PLACEHOLDER}|{_VARIABLE}")
_UNCLOSED = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*+:-|\{\{")
"""Begins what would have to be filled in, where it is none of the above."""
_OTHER = re.compile(r"\$\{(?:env|input|command|config):(?!-)[^}]{0,2000}+\}")


@dataclass(frozen=True, kw_only=True)
class Filling:
    """What is put in. One pass: what a value holds is not looked at again."""

    file: str
    """The mode file, to be named in errors."""
    placeholders: Mapping[str, str] | None
    """`None` leaves them as they are written."""
    variables: Mapping[str, str] | None
    """The same for variables."""

    def server(self, server: Mapping[str, Any]) -> dict[str, Any]:
        """A server with everything filled in. Raises `ConfigError` for what cannot be."""
        plain = Filling(file=self.file, placeholders=self.placeholders, variables=None)
        return {
            key: (self if key in EXPANDED else plain).value(value) for key, value in server.items()
        }

    def value(self, node: Any) -> Any:
        if isinstance(node, str):
            return self._text(node)
        if isinstance(node, list):
            return [self.value(item) for item in node]
        if isinstance(node, dict):
            return {key: self.value(item) for key, item in node.items()}
        return node

    def _text(self, text: str) -> str:
        if other := _OTHER.search(text):
            raise ConfigError(
                f"The mode file {self.file} has {other[0]}, which only an editor fills in; "
                "write ${NAME} for a variable of your environment"
            )
        self._check_closed(_OPEN.sub(" ", text))
        return _OPEN.sub(self._one, text)

    def _check_closed(self, rest: str) -> None:
        """`rest` is a text without all that can be filled in. Raises `ConfigError`."""
        if opening := _UNCLOSED.search(rest):
            raise ConfigError(
                f"The mode file {self.file} has {opening[0]} without its end; close it, and give a "
                f"default of at most {_LONGEST_DEFAULT} characters"
            )

    def _one(self, match: re.Match[str]) -> str:
        name = match["variable"]
        if name is None:
            return self._placeholder(match)
        if self.variables is None:
            return match[0]
        if name in self.variables:
            return self.variables[name]
        if match["default"] is not None:
            self._check_closed(re.sub(_PLACEHOLDER, " ", match["default"]))
            return re.sub(_PLACEHOLDER, self._placeholder, match["default"])
        raise ConfigError(
            f"The mode file {self.file} needs the variable {name}, which is not set; export it, "
            f"or write a default into the file: ${{{name}:-value}}"
        )

    def _placeholder(self, match: re.Match[str]) -> str:
        if self.placeholders is None:
            return match[0]
        if match["placeholder"] not in self.placeholders:
            raise ConfigError(
                f"The mode file {self.file} has the placeholder {match[0]}, which cannot be "
                f"filled; known are {', '.join((*PLACEHOLDERS, MODE_FOLDER))}"
            )
        return self.placeholders[match["placeholder"]]


def named(servers: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """The variables that servers name."""
    return named_in([server.get(key) for server in servers.values() for key in EXPANDED])


def named_in(node: Any) -> set[str]:
    """The variables that are named anywhere in a piece of JSON."""
    return {found["variable"] for text in texts_in(node) for found in _OPEN.finditer(text)} - {None}


def placeholders(servers: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """The placeholders that servers name."""
    return placeholders_in(servers)


def placeholders_in(node: Any) -> set[str]:
    """The placeholders that are named anywhere in a piece of JSON."""
    return {match[1] for text in texts_in(node) for match in re.finditer(_PLACEHOLDER, text)}


def texts_in(node: Any) -> Iterator[str]:
    """All texts of a piece of JSON, keys aside."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, Mapping | list):
        for item in node.values() if isinstance(node, Mapping) else node:
            yield from texts_in(item)
