"""The part of a command file that says where an answer, figures and failures are found."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from swarm_bench.agents.command.locators import JsonPath, Pattern, Places
from swarm_bench.core.status import CONSEQUENCES, Cause, Status

FILE = "file:"
"""Before the path of a file that the program writes, as a source."""
_FILE = re.compile(r"\{\{\s*home\s*\}\}/(?P<path>.+)")
CAUSES = {
    str(cause): cause
    for cause, consequence in CONSEQUENCES.items()
    if consequence.status in (Status.AGENT_FAILED, Status.PROVIDER_LIMITED)
    or cause in (Cause.MAX_TURNS, Cause.COST_LIMIT)
}
"""What an agent can end with by itself; the rest is seen from outside."""


def _cause(given: Any) -> Any:
    if given not in CAUSES:
        raise ValueError(f"cannot be {given!r}; known are {', '.join(CAUSES)}")
    return CAUSES[given]


def inside(given: Any) -> Any:
    """A path below the agent's own folder."""
    path = PurePosixPath(str(given))
    if path.is_absolute() or ".." in path.parts or not path.parts or not str(given).isprintable():
        raise ValueError(f"cannot be {given!r}: it must be a path below the agent's own folder")
    return str(path)


def _source(given: Any) -> Any:
    if given in ("stdout", "stderr"):
        return given
    found = _FILE.fullmatch(given) if isinstance(given, str) else None
    if found is None:
        raise ValueError("must be stdout, stderr, or a file '{{ home }}/…' that the program writes")
    return FILE + inside(found["path"])


class Strict(BaseModel):
    """A mapping of which every key is known."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Tokens(Strict):
    """Where token figures stand."""

    each: JsonPath | None = None
    """One node per request; the places are looked up in each, and added."""
    input: Places = ()
    cache_read: Places = ()
    cache_create: Places = ()
    output: Places = ()
    input_includes_cached: bool = False

    @model_validator(mode="after")
    def _can_separate(self) -> "Tokens":
        if self.input_includes_cached and not self.cache_read:
            raise ValueError("says input_includes_cached, and needs 'cache_read' to take it out")
        return self


class Answers(Strict):
    """Where the answers of tools stand."""

    each: JsonPath
    """One node per answer; the places are looked up in each."""
    tool: Annotated[Places, Field(min_length=1)]
    result: Annotated[Places, Field(min_length=1)]
    arguments: Places = ()
    failed: Places = ()
    """Something other than `null` and `false` stands there when the answer is an error."""


class Tools(Strict):
    """Where the names of tools stand."""

    calls: Places = ()
    failures: Places = ()
    offered: Places = ()
    servers: Places = ()
    """Names of the MCP servers that are connected."""
    answers: Answers | None = None
    commands: Places = ()
    """Command lines that its shell was given."""
    paths: Places = ()
    """Files and folders that its tools read or searched."""
    mcp: Pattern | None = None
    """Recognises the program's name of an MCP tool; has the groups `server` and `tool`."""

    @model_validator(mode="after")
    def _names_both(self) -> "Tools":
        if self.mcp and not {"server", "tool"} <= set(re.findall(r"\?P?<(\w+)>", self.mcp)):
            raise ValueError("has 'mcp' without the groups (?P<server>…) and (?P<tool>…)")
        return self


class OutputOf(Strict):
    """Where the answer and the figures are found."""

    source: Annotated[str, BeforeValidator(_source)] = "stdout"
    format: Literal["json", "json-lines", "text"]
    answer: Annotated[Places, Field(min_length=1)]
    error: Places = ()
    tokens: Tokens = Tokens()
    tools: Tools = Tools()
    turns: Places = ()
    cost: Places = ()
    duration_ms: Places = ()
    model: Places = ()
    retries: Places = ()
    compactions: Places = ()
    subagents: Places = ()
    activity: Pattern | None = None
    """What of a line of its output is shown while the agent works."""

    @property
    def written(self) -> str | None:
        """The file that the program writes, by its path in the agent's folder."""
        return self.source.removeprefix(FILE) if self.source.startswith(FILE) else None

    @model_validator(mode="after")
    def _text_has_no_paths(self) -> "OutputOf":
        each = self.tokens.each or self.tools.answers
        if self.format == "text" and (each or any(p.path for p in _places(self))):
            raise ValueError("has a JSONPath, and 'format: text'; use patterns, or another format")
        return self


class Failure(Strict):
    """What an end means: the exit code, and what is found."""

    cause: Annotated[Cause, BeforeValidator(_cause)]
    exit_code: int | Literal["failing"] | None = None
    when: Annotated[Places, Field(max_length=1)] = ()

    @model_validator(mode="after")
    def _has_a_sign(self) -> "Failure":
        if self.exit_code is None and not self.when:
            raise ValueError("needs 'exit_code', 'when' or both")
        return self


def _places(part: BaseModel) -> Iterator[Any]:
    """Every place below a part of the file."""
    for name in type(part).model_fields:
        value = getattr(part, name)
        if isinstance(value, tuple):
            yield from value
        elif isinstance(value, Tokens | Tools):
            yield from _places(value)
