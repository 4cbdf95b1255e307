"""What may stand in a mode file: an ordinary `mcpServers` file with one key of ours."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from swarm_bench.config.located import json_object, located_json
from swarm_bench.config.text_file import read_text
from swarm_bench.core.errors import ConfigError, UnknownName
from swarm_bench.core.outcome import START_SECONDS
from swarm_bench.core.session.experiment import PROBE_NAME, Mode
from swarm_bench.core.treatment.mode_parts import Preparation, SearchTool, ToolCall
from swarm_bench.core.validation import Problem, build_file_error
from swarm_bench.retrieval.locations import check_json_path, check_pattern
from swarm_bench.retrieval.modes.variables import (
    KEYWORDS,
    QUERY,
    KeyPath,
    find_mistakes,
    find_placeholders_in,
)
from swarm_bench.runtime.mcp.transports import HTTP_TYPES, STDIO_TYPES

_MOST_KEYS = 100
"""Keys of a server that are compared with those that exist."""
_NOT_IN_A_TOOL = re.compile(r"[^A-Za-z0-9_-]")
"""Characters that agents write as `_` when a server's name becomes part of the name of a tool."""
_AS_WORDS = 'must be a command as a list of words, such as ["make", "index"]'


def _is_address(url: str) -> bool:
    """Tell whether it can be an address once it is filled in."""
    if "${" in url or "{{" in url:
        return True
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


class Server(BaseModel):
    """One MCP server. Agents have keys of their own here, so unknown ones are passed on, but for
    those that are misspelt."""

    model_config = ConfigDict(extra="allow")
    command: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    type: str | None = None
    url: str | None = None
    headers: dict[str, str] = {}

    @model_validator(mode="after")
    def _says_how_to_reach_it(self) -> "Server":
        keys = [*Server.model_fields, "cwd"]
        for key in [*(self.model_extra or {})][:_MOST_KEYS]:
            close = [] if key in keys else get_close_matches(key.lower(), keys, n=1, cutoff=0.8)
            if close:
                raise ValueError(f"has the key {key!r}; did you mean {close[0]!r}?")
        if (self.command is None) == (self.url is None):
            raise ValueError("needs either 'command' or 'url'")
        if self.url is not None and not _is_address(self.url):
            raise ValueError("needs a 'url' such as http://127.0.0.1:3000/mcp")
        if self.type not in (None, *(STDIO_TYPES if self.url is None else HTTP_TYPES)):
            raise ValueError(
                f"has the type {self.type!r}, which is not supported; give a server with 'command' "
                "the type 'stdio', and one with 'url' the type 'http' (streamable HTTP)"
            )
        return self


def _check_words(value: Any) -> Any:
    if not isinstance(value, list):
        raise ValueError(_AS_WORDS)
    return value


Argv = Annotated[
    list[Annotated[str, Field(min_length=1)]], Field(min_length=1), BeforeValidator(_check_words)
]
"""Program and arguments."""


class Call(BaseModel):
    """The call of a server's own tool."""

    model_config = ConfigDict(extra="forbid")
    tool: str = Field(min_length=1)
    arguments: dict[str, Any] = {}

    def convert(self) -> ToolCall:
        """Convert it to what a mode has."""
        return ToolCall(tool=self.tool, arguments=self.arguments)


class Prepare(BaseModel):
    """A command, or the call of a server's own tool."""

    model_config = ConfigDict(extra="forbid")
    command: Argv | None = None
    tool: str | None = None
    arguments: dict[str, Any] = {}
    when: Literal["always", "warm"] | None = None
    copyable: bool = False

    @model_validator(mode="before")
    @classmethod
    def _may_be_a_command_alone(cls, value: Any) -> Any:
        if isinstance(value, list):
            return {"command": value}
        if not isinstance(value, dict):
            raise ValueError(f"{_AS_WORDS}, or a mapping with 'command' or 'tool'")
        return value

    @model_validator(mode="after")
    def _has_command_or_tool(self) -> "Prepare":
        if (self.command is None) == (not self.tool):
            raise ValueError("needs either 'command' or 'tool'")
        if self.command is not None and self.arguments:
            raise ValueError("has 'arguments', which are a tool's; put them into 'command'")
        return self

    def convert(self) -> Preparation:
        """Convert it to what a mode has. What a command makes is needed; what a tool makes, it
        makes itself when it is first asked."""
        return Preparation(
            command=tuple(self.command or ()),
            tool=self.tool or "",
            arguments=self.arguments,
            when=self.when or ("always" if self.command else "warm"),
            copyable=self.copyable,
        )


class Search(Call):
    """The server's own search, and how places are read from its answer."""

    arguments: dict[str, Any]
    join: str | None = None
    per_word: bool = False
    pattern: str | None = None
    json_path: str | None = None

    @model_validator(mode="after")
    def _can_be_asked(self) -> "Search":
        names = find_placeholders_in(self.arguments)
        if not names & {QUERY, KEYWORDS}:
            raise ValueError(
                'needs "{{ query }}" in its arguments, where the question goes, or "{{ words }}"'
            )
        if (self.join is not None or self.per_word) and KEYWORDS not in names:
            raise ValueError(
                "says how words are given, and has no {{ words }} in its arguments; put it where "
                "they go"
            )
        if self.join is not None and self.per_word:
            raise ValueError("has both 'join' and 'per_word'; give one of them")
        return self

    @model_validator(mode="after")
    def _can_be_read(self) -> "Search":
        if self.pattern is not None and self.json_path is not None:
            raise ValueError("has both 'pattern' and 'json_path'; give one of them")
        if self.pattern is not None:
            check_pattern(self.pattern)
        if self.json_path is not None:
            check_json_path(self.json_path)
        return self

    def convert(self) -> SearchTool:
        """Convert it to what a mode has."""
        return SearchTool(
            tool=self.tool,
            arguments=self.arguments,
            join=self.join,
            per_word=self.per_word,
            pattern=self.pattern,
            json_path=self.json_path,
        )


def _is_glob(pattern: str) -> str:
    from pathspec import GitIgnoreSpec  # only for a mode that has one

    if not pattern.strip() or pattern.lstrip().startswith(("#", "!")):
        raise ValueError("must be a glob, such as .index/")
    GitIgnoreSpec.from_lines([pattern])
    return pattern


def _is_below(path: str) -> str:
    """Check that a path is relative and stays where it begins. Raises `ValueError`."""
    parts = PurePosixPath(path).parts
    if not parts or parts[0] in ("/", "~") or ".." in parts:
        raise ValueError("must be a path below a folder, and neither absolute nor with '~' or '..'")
    return path


def _is_probe(word: str) -> str:
    from swarm_bench.retrieval.probes.registered import check_name  # only for a mode that has one

    if not PROBE_NAME.fullmatch(word):
        raise ValueError("must be the name of a probe, or module:Class")
    try:
        return check_name(word)
    except UnknownName as error:
        raise ValueError(f"{error}") from error


class Own(BaseModel):
    """The key of ours."""

    model_config = ConfigDict(extra="forbid")
    description: str = ""
    instructions: str = ""
    control: str = ""
    prepare: Prepare | None = None
    index: Prepare | None = None
    """The older name of `prepare`."""
    start_seconds: float = Field(default=START_SECONDS, gt=0, le=3600, allow_inf_nan=False)
    warm_up: Call | None = None
    teardown: Argv | None = None
    version: Argv | None = None
    search: Search | None = None
    may_create: list[Annotated[str, AfterValidator(_is_glob)]] = []
    keep: list[Annotated[str, AfterValidator(_is_below)]] = []
    services: list[Literal["canopy-service"]] = []
    probes: list[Annotated[str, AfterValidator(_is_probe)]] = []

    @model_validator(mode="after")
    def _has_one_preparation(self) -> "Own":
        if self.prepare is not None and self.index is not None:
            raise ValueError("has 'prepare' and 'index', its older name; give one of them")
        return self


class ModeFile(BaseModel):
    model_config = ConfigDict(extra="forbid")
    schema_: str = Field(default="", alias="$schema")
    """Schema of the file itself, for editors."""
    servers: dict[str, Server] = Field(alias="mcpServers")
    own: Own = Field(default=Own(), alias="swarmBench")

    @model_validator(mode="after")
    def _tells_its_servers_apart(self) -> "ModeFile":
        by_tool_name: dict[str, str] = {}
        if "" in self.servers:
            raise ValueError("has a server without a name; give it one")
        for name in self.servers:
            same_named = by_tool_name.setdefault(_NOT_IN_A_TOOL.sub("_", name), name)
            if same_named != name:
                raise ValueError(
                    f"has the servers {same_named!r} and {name!r}, which agents cannot tell apart: "
                    "the name of a tool has '_' for other signs; rename one of them"
                )
        return self

    def convert(self, name: str, path: Path) -> Mode:
        """Convert it to what an experiment has."""
        settings = self.own
        prepare = settings.prepare or settings.index
        return Mode(
            name=name,
            source=str(path.absolute()),
            description=settings.description,
            servers={
                key: server.model_dump(exclude_unset=True) for key, server in self.servers.items()
            },
            instructions=settings.instructions,
            control=settings.control,
            prepare=prepare.convert() if prepare else None,
            start_seconds=settings.start_seconds,
            warm_up=settings.warm_up.convert() if settings.warm_up else None,
            teardown=tuple(settings.teardown or ()),
            version=tuple(settings.version or ()),
            search=settings.search.convert() if settings.search else None,
            may_create=tuple(settings.may_create),
            keep=tuple(settings.keep),
            services=tuple(settings.services),
            probes=tuple(settings.probes),
        )


def parse(path: Path, also: Callable[[object], Iterable[Problem]]) -> ModeFile:
    text = read_text(path, "mode file", "'swarm-bench modes' lists what is there")
    duplicates = list[str]()
    try:
        content = json.loads(text, object_pairs_hook=partial(json_object, duplicates=duplicates))
        if isinstance(content, dict) and "servers" in content and "mcpServers" not in content:
            raise ConfigError(
                f"The mode file {path} has 'servers', as an editor's file has; call it 'mcpServers'"
            )
        json.dumps(content, ensure_ascii=False).encode()  # JSON can carry what UTF-8 cannot
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"The mode file {path} is not JSON: {error}; fix the file") from error
    try:
        mode_file, problem = ModeFile.model_validate(content), None
    except ValidationError as error:
        mode_file, problem = None, error
    blanks = [*find_mistakes(content)]
    if mode_file is None or duplicates or blanks:
        raise ConfigError(
            _describe_wrong(path, text, duplicates, problem, also(content), blanks)
        ) from problem
    return mode_file


def _describe_wrong(
    path: Path,
    text: str,
    duplicates: Sequence[str],
    error: ValidationError | None,
    also: Iterable[Problem],
    blanks: Iterable[tuple[KeyPath, str]],
) -> str:
    """Write a sentence on what is wrong in a file that is JSON."""
    located = located_json(text)
    repeated = [*located.duplicate_keys()] if located and duplicates else []
    line = located.line if located else None
    problems = [*also, *((line(path) if line else 0, clause) for path, clause in blanks)]
    for number, key in repeated or [(0, key) for key in duplicates]:
        problems.append((number, f"the key {key!r} appears twice; keep one of them"))
    return f"The mode file is wrong: {build_file_error(path, error, ModeFile, line, problems)}"
