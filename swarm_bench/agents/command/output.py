"""Places of an answer, figures and failures in what a program printed or wrote, as a command file
describes it, and the reading of that output."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from swarm_bench.agents.command.locators import (
    JsonPath,
    Locators,
    Material,
    Pattern,
    Stream,
    first_text,
)
from swarm_bench.agents.reading.endings import tail
from swarm_bench.agents.reading.json_lines import broken_off, parse_documents, parse_objects
from swarm_bench.core.outcome import AgentExit
from swarm_bench.core.status import CONSEQUENCES, Cause, Status
from swarm_bench.runtime.sink import replace_secrets
from swarm_bench.runtime.untrusted import open_untrusted, read_inside
from swarm_bench.text.terminal import plain_text

LARGEST = 32 * 1024 * 1024
"""Bytes of an output; parsed JSON takes many times as much memory."""
TAIL = 1024 * 1024
"""Bytes of a stream that patterns see beside the output."""
FILE = "file:"
"""Prefix of a source that is a file; the path of what the program writes follows."""
_FILE = re.compile(r"\{\{\s*home\s*\}\}/(?P<path>.+)")
CAUSES = {
    str(cause): cause
    for cause, consequence in CONSEQUENCES.items()
    if consequence.status in (Status.AGENT_FAILED, Status.PROVIDER_LIMITED)
    or cause in (Cause.MAX_TURNS, Cause.COST_LIMIT)
}
"""Causes that an agent can report of itself; the others are observed from outside."""


@dataclass(frozen=True, kw_only=True)
class ProgramOutput:
    """The output of a program that has ended."""

    material: Material
    empty: bool = False
    """Whether there is nothing in it, or no such file."""
    problem: str | None = None
    """Reason why it cannot be read, or not to its end, as a sentence without its end."""
    is_cut: bool = False
    """Whether its JSON breaks off."""
    payload: bytes | None = None


def read_output(
    exit: AgentExit,
    source: str,
    format: Literal["json", "json-lines", "text"],
    answer: Locators = (),
) -> ProgramOutput:
    """Read `stdout`, `stderr`, or `file:` with a path in the agent's folder. Of several documents,
    where one is expected, the one counts that has an `answer`. Never raises on content."""
    streams: dict[Stream, str] = {
        "stdout": tail(exit.stdout, TAIL),
        "stderr": tail(exit.stderr, TAIL),
    }
    name, data = _read_data(exit, source)
    if data is None or not data.strip():
        sentence = f"There is {'no' if data is None else 'nothing in'} {name}"
        return _build_unreadable(streams, sentence, empty=True)
    if len(data) > LARGEST:
        return _build_unreadable(streams, f"There are more than {LARGEST // 2**20} MiB in {name}")
    streams["output"] = plain_text(data)
    if format == "text":
        return ProgramOutput(material=Material(texts=streams))
    parse = parse_documents if format == "json" else _parse_lines
    values = parse(data)
    cut = broken_off(data)
    problem = f"The JSON in {name} is cut after {len(cut.encode())} bytes" if cut else None
    if not values:
        return ProgramOutput(
            material=Material(texts=streams, readable=False),
            problem=problem or _describe_missing_json(name, data),
            is_cut=bool(cut),
        )
    if format == "json-lines":
        lines = Material(texts=streams, json=values, is_json=True)
        return ProgramOutput(material=lines, problem=problem, is_cut=bool(cut))
    documents = [Material(texts=streams, json=value, is_json=True) for value in values]
    having = _select_with_answer(answer, documents)
    if len(having) != 1:
        sentence = f"There are {len(values)} JSON documents in {name}, where one is expected"
        return _build_unreadable(streams, sentence)
    return ProgramOutput(material=having[0], payload=data)


def _parse_lines(data: bytes) -> list[Any]:
    return [item.value for item in parse_objects(data)]


def _select_with_answer(answer: Locators, documents: list[Material]) -> list[Material]:
    """Choose of several documents those that have an answer; one that two processes printed from
    one buffer counts once."""
    if len(documents) == 1:
        return documents
    having = [document for document in documents if first_text(answer, document) is not None]
    are_same = all(document.json == having[0].json for document in having)
    return having[:1] if are_same else having


def _describe_missing_json(name: str, data: bytes) -> str:
    if b'{"' in data:
        return f"There is no JSON in {name} that begins a line"
    return f"There is no JSON in {name}"


def _build_unreadable(
    streams: dict[Stream, str], problem: str, *, empty: bool = False
) -> ProgramOutput:
    return ProgramOutput(
        material=Material(texts=streams, readable=False), problem=problem, empty=empty
    )


def _read_data(exit: AgentExit, source: str) -> tuple[str, bytes | None]:
    match source:
        case "stdout":
            return "standard output", _read(exit.stdout)
        case "stderr":
            return "standard error", _read(exit.stderr)
    inner = source.removeprefix(FILE)
    name = f"file {inner!r} in the agent's folder"
    if exit.home is None:
        return name, None
    data = read_inside(exit.home, inner, LARGEST + 1)
    return name, data and replace_secrets(data, exit.secrets)


def _read(path: Path) -> bytes:
    with open_untrusted(path) as file:
        return file.read(LARGEST + 1)


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
    """Part of a line of its output that is shown while the agent works."""

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
