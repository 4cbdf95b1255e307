"""The keys of a command file, an agent program as a person describes it, with what is filled in for
`{{ … }}` in them when an agent is started."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from swarm_bench.agents.command.locators import Pattern
from swarm_bench.agents.command.output import Failure, OutputOf, Strict, check_relative_path
from swarm_bench.config.located import read_located
from swarm_bench.config.text_file import check_placeholders, placeholders, substitute
from swarm_bench.core.validation import build_file_error

ARGUMENTS = "arguments"
"""Marks where the values of `--agent-arg` stand; an entry of its own."""
PLACEHOLDERS = (
    "prompt", "model", "max_turns", "workspace", "home", "folder", "seed",
    "mcp_config", "mcp_servers_json", "rehearsal",
)  # fmt: skip
"""Names that can be filled in. `model` and `rehearsal` can be empty."""
Values = Mapping[str, str | None]

_ARGUMENTS = "{{ arguments }}"
KIND = "agent file"
SERVERS_FILE = "mcp.json"
"""The file in an agent's folder that holds the servers of its mode."""


class Unset(Exception):
    """A placeholder without a value stands where it cannot be omitted."""

    def __init__(self, name: str, template: str) -> None:
        super().__init__(name)
        self.name = name
        self.template = template


def fill(template: str, values: Values) -> str:
    """Fill the placeholders of a text. Raises `Unset` for one without a value."""

    def put(name: str) -> str:
        value = values[name]
        if value is None:
            raise Unset(name, template)
        return value

    return substitute(template, put)


def fill_arguments(arguments: Iterable[tuple[str, ...] | str], values: Values) -> Iterator[str]:
    """Yield the arguments of a command. A group, in which a placeholder has no value, is
    omitted."""
    for entry in arguments:
        if isinstance(entry, str):
            yield fill(entry, values)
        elif all(values[name] is not None for word in entry for name in placeholders(word)):
            yield from (fill(word, values) for word in entry)


def fill_all(templates: Mapping[str, str], values: Values) -> dict[str, str]:
    """Fill texts by name. One in which a placeholder has no value is omitted."""
    return {
        name: fill(template, values)
        for name, template in templates.items()
        if all(values[used] is not None for used in placeholders(template))
    }


def is_arguments(entry: tuple[str, ...] | str) -> bool:
    """Tell whether the entry stands for the values of `--agent-arg`."""
    return isinstance(entry, str) and placeholders(entry) == {ARGUMENTS}


def check_template(template: str) -> str:
    """Check a text as it may stand in a command file. Raises `ValueError` with a clause."""
    if "\0" in template:
        raise ValueError("has a NUL character, which no program accepts; remove it")
    if ARGUMENTS in placeholders(template):
        raise ValueError(f"has {_ARGUMENTS}, which must be an entry of 'command' of its own")
    check_placeholders(template, PLACEHOLDERS)
    return template


def _check_arguments(value: Any) -> Any:
    if not isinstance(value, list | tuple) or not value:
        raise ValueError("must be a list of words, such as [my-agent, --task, '{{ prompt }}']")
    return tuple(_entry(entry, number) for number, entry in enumerate(value, 1))


def _entry(entry: Any, number: int) -> tuple[str, ...] | str:
    if isinstance(entry, list | tuple):
        return tuple(_word(word, number) for word in entry)
    if isinstance(entry, str) and is_arguments(entry):
        if not entry.startswith("{{") or not entry.endswith("}}") or entry.count("{{") > 1:
            raise ValueError(f"has {_ARGUMENTS} inside entry {number}; make it an entry of its own")
        return entry
    return _word(entry, number)


def _word(word: Any, number: int) -> str:
    if not isinstance(word, str):
        raise ValueError(
            f"has {word!r} in entry {number}, which is no text; put it in quotes (an entry can "
            "also be a list of texts, which are omitted together)"
        )
    try:
        return check_template(word)
    except ValueError as error:
        raise ValueError(f"{error} (entry {number})") from error


Template = Annotated[str, AfterValidator(check_template)]
Arguments = Annotated[tuple[tuple[str, ...] | str, ...], BeforeValidator(_check_arguments)]


def _file_name(name: Any) -> Any:
    if name == SERVERS_FILE:
        raise ValueError(
            f"is taken: swarm-bench puts the MCP servers into {SERVERS_FILE}; rename yours"
        )
    return check_relative_path(name)


def _variable(name: Any) -> Any:
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise ValueError(f"cannot be {name!r}: it must be the name of a variable")
    if name == "HOME":
        raise ValueError("is set by swarm-bench: each agent has a folder of its own; omit it")
    return name


def _check_fixed(word: str) -> str:
    """Check a text that is needed before an agent is started: it has no placeholder but
    `folder`."""
    if unknown := placeholders(word) - {"folder"}:
        raise ValueError(f"has {{{{ {min(unknown)} }}}}, and can have only {{{{ folder }}}} here")
    return word


def _is_program(word: str) -> bool:
    """Tell whether a name finds the same program wherever it is started."""
    return (
        "/" not in word
        or word.startswith("/")
        or re.match(r"\{\{\s*folder\s*\}\}/", word) is not None
    )


FixedArgument = Annotated[Template, AfterValidator(_check_fixed)]
Variable = Annotated[str, BeforeValidator(_variable)]


class VersionOf(Strict):
    """The command that prints the program's version."""

    command: list[FixedArgument] = Field(min_length=1)
    pattern: Pattern = r"\d+(?:\.\d+)+(?:[-+][0-9A-Za-z.+-]+)?"


class FileText(Strict):
    """A file for the agent's own folder: a template, or as it stands."""

    template: Template | None = None
    literal: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        if isinstance(value, dict) and set(value) == {"literal"}:
            return value
        if not isinstance(value, str):
            raise ValueError("must be a string, or {literal: STRING} for one without placeholders")
        return {"template": value}


class RehearsalOf(Strict):
    """The differences when the rehearsal server answers."""

    model: str | None = None
    arguments: Arguments = ()
    environment: dict[Variable, Template] = {}


class Turns(Strict):
    """The turn budget, and who keeps it."""

    limit: Literal["program", "counted", "none"] = "program"
    ends: Pattern | None = None
    """Matches every line of its output that ends a turn with another to follow."""

    @model_validator(mode="after")
    def _can_count(self) -> "Turns":
        if (self.limit == "counted") != (self.ends is not None):
            raise ValueError(
                "needs 'ends', a pattern for the lines that end a turn, with 'limit: counted' "
                "and only then"
            )
        return self


class CommandFile(Strict):
    """A command file."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    about: str = ""
    install: str | None = None
    version: VersionOf | None = None
    command: Arguments
    environment: dict[Variable, Template] = {}
    inherit: list[Variable] = []
    files: dict[Annotated[str, BeforeValidator(_file_name)], FileText] = {}
    mcp: Literal["none"] | None = None
    rehearsal: RehearsalOf | None = None
    turns: Turns = Turns()
    stop_signal: Literal["SIGINT", "SIGTERM"] = "SIGTERM"
    output: OutputOf
    failures: list[Failure] = []

    def list_placeholders(self) -> set[str]:
        """Return the placeholders of the ordinary start."""
        return {name for text in _list_templates(self) for name in placeholders(text)}

    def used_in_rehearsal(self) -> set[str]:
        """Return the placeholders of a start in a rehearsal, which adds its own."""
        rehearsal = self.rehearsal or RehearsalOf()
        texts = [*_list_texts(rehearsal.arguments), *rehearsal.environment.values()]
        return self.list_placeholders() | {name for text in texts for name in placeholders(text)}

    @model_validator(mode="after")
    def _is_consistent(self) -> "CommandFile":
        used = self.list_placeholders()
        first = self.command[0]
        if not isinstance(first, str) or placeholders(first) - {"folder"} or not _is_program(first):
            raise ValueError(
                f"begins 'command' with {first!r}; begin it with the name of a program, its whole "
                "path, or {{ folder }}/… for one that lies beside this file"
            )
        takes_mcp = bool(used & {"mcp_config", "mcp_servers_json"})
        if sum(map(is_arguments, self.command)) > 1:
            raise ValueError("has {{ arguments }} twice in 'command'; keep one of them")
        if "prompt" not in used:
            raise ValueError("never uses {{ prompt }}; put it where the program takes its task")
        if self.turns.limit == "program" and "max_turns" not in used:
            raise ValueError(
                "never uses {{ max_turns }}; put it where the program takes its limit, or write "
                "'turns: {limit: counted, ends: a pattern}', or 'turns: {limit: none}'"
            )
        if takes_mcp == (self.mcp == "none"):
            raise ValueError(
                "must either use {{ mcp_config }} or {{ mcp_servers_json }} to hand over the MCP "
                "servers of a mode, or have 'mcp: none'"
            )
        if self.rehearsal and "rehearsal" not in self.used_in_rehearsal():
            raise ValueError(
                "has 'rehearsal' and never uses {{ rehearsal }}; put it where the program takes "
                "the address of its model, or a rehearsal would ask the real one"
            )
        return self


def read_command_file(path: Path) -> CommandFile:
    """Read a command file. Raises `ConfigError` naming file, line and key."""
    located = read_located(path, KIND)
    try:
        return CommandFile.model_validate(located.content)
    except ValidationError as error:
        raise build_file_error(path, error, CommandFile, located.line) from error


def _list_templates(file: CommandFile) -> Iterator[str]:
    yield from _list_texts(file.command)
    yield from file.environment.values()
    yield from (text.template or "" for text in file.files.values())


def _list_texts(arguments: tuple[tuple[str, ...] | str, ...]) -> Iterator[str]:
    for entry in arguments:
        yield from (entry,) if isinstance(entry, str) else entry
