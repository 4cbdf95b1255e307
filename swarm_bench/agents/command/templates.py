"""`{{ … }}` in what a command file writes: filled in when an agent is started."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from swarm_bench.config.placeholders import check_placeholders, placeholders, substitute

ARGUMENTS = "arguments"
"""Marks where the values of `--agent-arg` stand; an entry of its own."""
PLACEHOLDERS = (
    "prompt", "model", "max_turns", "workspace", "home", "folder", "seed",
    "mcp_config", "mcp_servers_json", "rehearsal",
)  # fmt: skip
"""What can be filled in. `model` and `rehearsal` can be empty."""
Values = Mapping[str, str | None]

_ARGUMENTS = "{{ arguments }}"


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
