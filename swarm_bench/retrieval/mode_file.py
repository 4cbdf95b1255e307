"""What may stand in a mode file: an ordinary `mcpServers` file with one key of ours."""

import json
import re
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from swarm_bench.core.errors import ConfigError
from swarm_bench.core.validation import first_error, place_of, words_of
from swarm_bench.retrieval.variables import QUERY, placeholders_in

_HTTP = ("http", "streamable-http", "streamableHttp")
_NOT_IN_A_TOOL = re.compile(r"[^A-Za-z0-9_-]")
"""What agents write as `_` when a server's name becomes part of the name of a tool."""


class Server(BaseModel):
    """One MCP server. Agents have keys of their own here, so unknown ones are passed on."""

    model_config = ConfigDict(extra="allow")
    command: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    type: str | None = None
    url: str | None = None
    headers: dict[str, str] = {}

    @model_validator(mode="after")
    def _says_how_to_reach_it(self) -> "Server":
        if (self.command is None) == (self.url is None):
            raise ValueError("needs either 'command' or 'url'")
        if self.type not in (None, *(("stdio",) if self.url is None else _HTTP)):
            raise ValueError(
                f"has the type {self.type!r}, which is not spoken; give a server with 'command' "
                "the type 'stdio', and one with 'url' the type 'http' (streamable HTTP)"
            )
        return self


class Index(BaseModel):
    """The call that builds a server's index."""

    model_config = ConfigDict(extra="forbid")
    tool: str = Field(min_length=1)
    arguments: dict[str, Any] = {}


class Search(BaseModel):
    """The server's own search, and how places are read from its answer."""

    model_config = ConfigDict(extra="forbid")
    tool: str = Field(min_length=1)
    arguments: dict[str, Any]
    pattern: str | None = None
    json_path: str | None = None

    @model_validator(mode="after")
    def _can_be_asked(self) -> "Search":
        if QUERY not in placeholders_in(self.arguments):
            raise ValueError('needs "{{ query }}" in its arguments, where the question goes')
        if self.pattern is not None and self.json_path is not None:
            raise ValueError("has both 'pattern' and 'json_path'; give one of them")
        if self.pattern is not None:
            _check_pattern(self.pattern)
        if self.json_path is not None:
            _check_json_path(self.json_path)
        return self


def _check_pattern(pattern: str) -> None:
    import regex  # only for a mode that has one

    try:
        names = regex.compile(pattern, regex.MULTILINE).groupindex
    except regex.error as error:
        raise ValueError(f"has a pattern that is no regular expression: {error}") from error
    if "path" not in names:
        raise ValueError("has a pattern without the named group 'path': (?P<path>...)")


def _check_json_path(json_path: str) -> None:
    from jsonpath import JSONPathEnvironment, JSONPathError  # only for a mode that has one

    try:
        JSONPathEnvironment().compile(json_path)
    except JSONPathError as error:
        raise ValueError(f"has a json_path that is none: {error}") from error


def _is_below(path: str) -> str:
    """A relative path that stays where it begins. Raises `ValueError` for another."""
    parts = PurePosixPath(path).parts
    if not parts or parts[0] in ("/", "~") or ".." in parts:
        raise ValueError("must be a path below a folder, and neither absolute nor with '~' or '..'")
    return path


class Own(BaseModel):
    """The key of ours."""

    model_config = ConfigDict(extra="forbid")
    description: str = ""
    instructions: str = ""
    control: str = ""
    index: Index | None = None
    search: Search | None = None
    keep: list[Annotated[str, AfterValidator(_is_below)]] = []
    services: list[Literal["canopy-service"]] = []
    probes: list[Literal["feedback", "service"]] = []


class ModeFile(BaseModel):
    model_config = ConfigDict(extra="forbid")
    schema_: str = Field(default="", alias="$schema")
    """Of the file itself, for editors."""
    servers: dict[str, Server] = Field(alias="mcpServers")
    own: Own = Field(default=Own(), alias="swarmBench")

    @model_validator(mode="after")
    def _tells_its_servers_apart(self) -> "ModeFile":
        seen: dict[str, str] = {}
        for name in self.servers:
            other = seen.setdefault(_NOT_IN_A_TOOL.sub("_", name), name)
            if other != name:
                raise ValueError(
                    f"has the servers {other!r} and {name!r}, which agents cannot tell apart: the "
                    "name of a tool has '_' for other signs; rename one of them"
                )
        return self


def parse(path: Path) -> ModeFile:
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text)
        if isinstance(content, dict) and "servers" in content and "mcpServers" not in content:
            raise ConfigError(
                f"The mode file {path} has 'servers', as an editor's file has; call it 'mcpServers'"
            )
        json.dumps(content, ensure_ascii=False).encode()  # JSON can carry what UTF-8 cannot
        return ModeFile.model_validate(content)
    except OSError as error:
        raise ConfigError(
            f"The mode file {path} cannot be read: {error.strerror}; "
            "'swarm-bench modes' lists what is there"
        ) from error
    except (json.JSONDecodeError, UnicodeError, RecursionError) as error:
        raise ConfigError(f"The mode file {path} is not JSON: {error}; mend the file") from error
    except ValidationError as error:
        first = first_error(error)
        raise ConfigError(
            f"The mode file {path} is wrong: {place_of(first)} {words_of(first)}; mend the file"
        ) from error
