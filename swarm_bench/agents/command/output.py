"""The part of a command file that describes where an answer, figures and failures stand."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from swarm_bench.agents.command.locators import JsonPath, Locators, Pattern
from swarm_bench.core.status import CONSEQUENCES, Cause, Status

FILE = "file:"
"""Prefix of a source that is a file; the path of what the program writes follows."""
_FILE = re.compile(r"\{\{\s*home\s*\}\}/(?P<path>.+)")
CAUSES = {
    str(cause): cause
    for cause, consequence in CONSEQUENCES.items()
    if consequence.status in (Status.AGENT_FAILED, Status.PROVIDER_LIMITED)
    or cause in (Cause.MAX_TURNS, Cause.COST_LIMIT)
}
"""What an agent can end with by itself; the rest is observed from outside."""


def _check_cause(value: Any) -> Any:
    if value not in CAUSES:
        raise ValueError(f"cannot be {value!r}; known are {', '.join(CAUSES)}")
    return CAUSES[value]


def check_relative_path(value: Any) -> Any:
    """Check a path, which must be below the agent's own folder."""
    path = PurePosixPath(str(value))
    if path.is_absolute() or ".." in path.parts or not path.parts or not str(value).isprintable():
        raise ValueError(f"cannot be {value!r}: it must be a path below the agent's own folder")
    return str(path)


def _check_source(value: Any) -> Any:
    if value in ("stdout", "stderr"):
        return value
    match = _FILE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError("must be stdout, stderr, or a file '{{ home }}/…' that the program writes")
    return FILE + check_relative_path(match["path"])


class Strict(BaseModel):
    """A mapping that refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Tokens(Strict):
    """The locators of token figures."""

    each: JsonPath | None = None
    """A node per request; the locators are applied to each, and the figures added."""
    input: Locators = ()
    cache_read: Locators = ()
    cache_create: Locators = ()
    output: Locators = ()
    input_includes_cached: bool = False

    @model_validator(mode="after")
    def _can_separate(self) -> "Tokens":
        if self.input_includes_cached and not self.cache_read:
            raise ValueError("has input_includes_cached, and needs 'cache_read' to subtract it")
        return self


class Answers(Strict):
    """The locators of tools' answers."""

    each: JsonPath
    """A node per answer; the locators are applied to each."""
    tool: Annotated[Locators, Field(min_length=1)]
    result: Annotated[Locators, Field(min_length=1)]
    arguments: Locators = ()
    failed: Locators = ()
    """Something other than `null` and `false` stands there when the answer is an error."""


class Tools(Strict):
    """The locators of tools' names."""

    calls: Locators = ()
    failures: Locators = ()
    offered: Locators = ()
    servers: Locators = ()
    """Names of the MCP servers that are connected."""
    answers: Answers | None = None
    commands: Locators = ()
    """Command lines of its shell."""
    paths: Locators = ()
    """Files and folders that its tools read or searched."""
    mcp: Pattern | None = None
    """Recognises the program's name of an MCP tool; has the groups `server` and `tool`."""

    @model_validator(mode="after")
    def _names_both(self) -> "Tools":
        if self.mcp and not {"server", "tool"} <= set(re.findall(r"\?P?<(\w+)>", self.mcp)):
            raise ValueError("has 'mcp' without the groups (?P<server>…) and (?P<tool>…)")
        return self


class OutputOf(Strict):
    """The locators of the answer and the figures."""

    source: Annotated[str, BeforeValidator(_check_source)] = "stdout"
    format: Literal["json", "json-lines", "text"]
    answer: Annotated[Locators, Field(min_length=1)]
    error: Locators = ()
    tokens: Tokens = Tokens()
    tools: Tools = Tools()
    turns: Locators = ()
    cost: Locators = ()
    duration_ms: Locators = ()
    model: Locators = ()
    retries: Locators = ()
    compactions: Locators = ()
    subagents: Locators = ()
    activity: Pattern | None = None
    """What of a line of its output is shown while the agent works."""

    @property
    def written_path(self) -> str | None:
        """The file that the program writes, by its path in the agent's folder."""
        return self.source.removeprefix(FILE) if self.source.startswith(FILE) else None

    @model_validator(mode="after")
    def _text_has_no_paths(self) -> "OutputOf":
        path = self.tokens.each or self.tools.answers
        if self.format == "text" and (path or any(p.path for p in _list_locators(self))):
            raise ValueError("has a JSONPath, and 'format: text'; use patterns, or another format")
        return self


class Failure(Strict):
    """The meaning of an end: of the exit code, and of what was printed."""

    cause: Annotated[Cause, BeforeValidator(_check_cause)]
    exit_code: int | Literal["failing"] | None = None
    when: Annotated[Locators, Field(max_length=1)] = ()

    @model_validator(mode="after")
    def _has_a_sign(self) -> "Failure":
        if self.exit_code is None and not self.when:
            raise ValueError("needs 'exit_code', 'when' or both")
        return self


def _list_locators(part: BaseModel) -> Iterator[Any]:
    """Yield every locator below a part of the file."""
    for name in type(part).model_fields:
        value = getattr(part, name)
        if isinstance(value, tuple):
            yield from value
        elif isinstance(value, Tokens | Tools):
            yield from _list_locators(value)
