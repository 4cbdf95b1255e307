"""Modes: a mode is a file, an ordinary `mcpServers` file with one key of ours."""

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from swarm_bench.core import shipped
from swarm_bench.core.errors import ConfigError
from swarm_bench.core.experiment import MODE_NAME, NOT_STORED, IndexTool, Mode
from swarm_bench.core.listing import Listing
from swarm_bench.core.validation import first_error, place_of, words_of
from swarm_bench.retrieval.variables import MODE_FOLDER, PLACEHOLDERS, Filling, placeholders

FOLDER, SUFFIX = "mcp_configs", ".json"
_HTTP = ("http", "streamable-http", "streamableHttp")
_NOT_IN_A_TOOL = re.compile(r"[^A-Za-z0-9_-]")
"""What agents write as `_` when a server's name becomes part of the name of a tool."""
_NAMES_ONE = re.compile(r"(?:Bearer |Basic |Token )?\$\{\w+\}|\{\{\s*\w+\s*\}\}|")


class _Server(BaseModel):
    """One MCP server. Agents have keys of their own here, so unknown ones are passed on."""

    model_config = ConfigDict(extra="allow")
    command: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    type: str | None = None
    url: str | None = None
    headers: dict[str, str] = {}

    @model_validator(mode="after")
    def _says_how_to_reach_it(self) -> "_Server":
        if (self.command is None) == (self.url is None):
            raise ValueError("needs either 'command' or 'url'")
        if self.type not in (None, *(("stdio",) if self.url is None else _HTTP)):
            raise ValueError(
                f"has the type {self.type!r}, which is not spoken; give a server with 'command' "
                "the type 'stdio', and one with 'url' the type 'http' (streamable HTTP)"
            )
        return self


class _Index(BaseModel):
    """The call that builds a server's index."""

    model_config = ConfigDict(extra="forbid")
    tool: str = Field(min_length=1)
    arguments: dict[str, Any] = {}


class _Own(BaseModel):
    """The key of ours."""

    model_config = ConfigDict(extra="forbid")
    description: str = ""
    instructions: str = ""
    control: str = ""
    index: _Index | None = None
    services: list[Literal["canopy-service"]] = []
    probes: list[Literal["feedback", "service"]] = []


class _ModeFile(BaseModel):
    model_config = ConfigDict(extra="forbid")
    schema_: str = Field(default="", alias="$schema")
    """Of the file itself, for editors."""
    servers: dict[str, _Server] = Field(alias="mcpServers")
    own: _Own = Field(default=_Own(), alias="swarmBench")

    @model_validator(mode="after")
    def _tells_its_servers_apart(self) -> "_ModeFile":
        seen: dict[str, str] = {}
        for name in self.servers:
            other = seen.setdefault(_NOT_IN_A_TOOL.sub("_", name), name)
            if other != name:
                raise ValueError(
                    f"has the servers {other!r} and {name!r}, which agents cannot tell apart: the "
                    "name of a tool has '_' for other signs; rename one of them"
                )
        return self


def list_modes() -> list[Listing]:
    """Every mode file in the shipped folder and in `mcp_configs/` of the working folder."""
    return [_listing(path) for path in shipped.files(FOLDER, SUFFIX)]


def find_modes(names: list[str]) -> tuple[Mode, ...]:
    """The modes that the words stand for: a name, or a path to a mode file.

    Raises `UnknownName` for a name without a file and `ConfigError` for a file that is wrong.
    """
    modes = tuple(read_mode(shipped.find("mode", FOLDER, SUFFIX, name)) for name in names)
    seen: dict[str, Mode] = {}
    for mode in modes:
        other = seen.setdefault(mode.name, mode)
        if other is not mode:
            raise ConfigError(
                f"Two modes are called {mode.name!r} ({other.source} and {mode.source}); "
                "name each mode once, and rename one of two files"
            )
    return modes


def _listing(path: Path) -> Listing:
    try:
        mode = read_mode(path)
    except ConfigError as error:
        return Listing(name=path.stem, about="", source=str(path), problem=str(error))
    return Listing(name=path.stem, about=mode.description, source=mode.source)


def read_mode(path: Path) -> Mode:
    """The mode that a file defines. Raises `ConfigError` naming the file and the place."""
    content = _parse(path)
    name = mode_name(path)
    if not MODE_NAME.fullmatch(name):
        raise ConfigError(
            f"{path}: a mode takes its name from its file, and {name!r} is taken or cannot name "
            "a folder; rename the file"
        )
    mode = Mode(
        name=name,
        source=str(path.absolute()),
        description=content.own.description,
        servers={
            key: server.model_dump(exclude_unset=True) for key, server in content.servers.items()
        },
        instructions=content.own.instructions,
        control=content.own.control,
        index=_index(content.own.index),
        services=tuple(content.own.services),
        probes=tuple(content.own.probes),
    )
    render_servers(mode, dict.fromkeys(PLACEHOLDERS, ""), None)  # a wrong placeholder shows here
    _check_commands(mode)
    return mode


def _index(written: _Index | None) -> IndexTool | None:
    return IndexTool(tool=written.tool, arguments=written.arguments) if written else None


def mode_name(path: Path) -> str:
    """The name of the mode that a file defines: the file's, made fit for a folder."""
    stem = path.expanduser().name.removesuffix(SUFFIX).removeprefix(".")
    return re.sub(r"[^\w.-]+", "-", stem).strip("-.")


def _check_commands(mode: Mode) -> None:
    folder = Path(mode.source).parent
    for name, server in mode.servers.items():
        command = server.get("command")
        if command is None or "{{" in command or "${" in command:
            continue  # filled in later
        if shutil.which(str(folder / command) if "/" in command else command) is None:
            where = f"no program at {folder / command}" if "/" in command else "not on the PATH"
            raise ConfigError(
                f"The mode file {mode.source} starts its server {name!r} with {command!r}, which "
                f"is {where}; install it, or give its path"
            )


def _parse(path: Path) -> _ModeFile:
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text)
        if isinstance(content, dict) and "servers" in content and "mcpServers" not in content:
            raise ConfigError(
                f"The mode file {path} has 'servers', as an editor's file has; call it 'mcpServers'"
            )
        json.dumps(content, ensure_ascii=False).encode()  # JSON can carry what UTF-8 cannot
        return _ModeFile.model_validate(content)
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


def render_servers(
    mode: Mode, values: Mapping[str, str], environment: Mapping[str, str] | None
) -> dict[str, Any]:
    """The `mcpServers` content with placeholders and variables filled in; without an `environment`
    variables stay as they are written. Raises `ConfigError` for what cannot be filled."""
    folder = Path(mode.source).parent
    filling = Filling(
        file=mode.source,
        placeholders={**values, MODE_FOLDER: str(folder)},
        variables=environment,
    )
    return {name: _plain(filling.server(server), folder) for name, server in mode.servers.items()}


def _plain(server: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A server in the words that every agent knows, and its command from wherever it is started."""
    if "url" in server:
        return {**server, "type": "http"}
    command = server.get("command", "")  # of a recorded server there is only the name
    return {**server, "command": str(folder / command)} if _is_relative(command) else server


def _is_relative(command: str) -> bool:
    return "/" in command and not command.startswith(("/", "{{", "${"))


def uses(mode: Mode, placeholder: str) -> bool:
    """Whether a server of the mode has that placeholder."""
    return placeholder in placeholders(mode.servers)


def without_secrets(mode: Mode) -> Mode:
    """The mode as it may be stored: `env` and `headers` of a server hold keys, so their values are
    left out unless they only name a variable."""

    def hidden(server: dict[str, Any]) -> dict[str, Any]:
        held = {key: server[key] for key in ("env", "headers") if isinstance(server.get(key), dict)}
        return {**server, **{key: _hidden(values) for key, values in held.items()}}

    servers = {name: hidden(server) for name, server in mode.servers.items()}
    return mode.model_copy(update={"servers": servers})


def names_one(value: str) -> bool:
    """Whether the value of a server's variable only names another one, and is no secret."""
    return _NAMES_ONE.fullmatch(value) is not None


def _hidden(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value if isinstance(value, str) and names_one(value) else NOT_STORED
        for name, value in values.items()
    }


def with_secrets(stored: Mode) -> Mode:
    """A stored mode with the keys of its file. Raises `ConfigError` when its servers are others by
    now."""
    if NOT_STORED not in json.dumps(stored.servers):
        return stored
    try:
        servers = read_mode(Path(stored.source)).servers
    except ConfigError as error:
        raise ConfigError(f"{error}; its keys are not stored, so restore the file") from error
    mode = stored.model_copy(update={"servers": servers})
    if without_secrets(mode).servers != stored.servers:
        raise ConfigError(
            f"The servers of the mode file {stored.source} have changed since the session began; "
            "restore it, or begin a new session"
        )
    return mode
