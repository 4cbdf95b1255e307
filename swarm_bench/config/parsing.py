"""What a person writes for an option, as the value that it means. A type carries that for pydantic,
which is imported where values are read: `--help` and completion do without."""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

REPLAY = "replay:"
"""Beginning of a value of `--agent` that names a recording."""
COMMAND = "command"
"""The agent that a YAML file describes."""
YAML = (".yaml", ".yml")
_YES: tuple[object, ...] = (True, "true", "1", "yes", "on")
_NO: tuple[object, ...] = (False, "false", "0", "no", "off", "")


class Converter(NamedTuple):
    """A function that makes a value of what was written, before the type is checked."""

    function: Callable[[Any], object]

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_before_validator_function(self.function, handler(source))


class Checker(NamedTuple):
    """A function that checks a value of the type."""

    function: Callable[[Any], object]

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(self.function, handler(source))


class Limits:
    """What pydantic's schemas of numbers call `ge`, `le`, `gt` and `allow_inf_nan`."""

    def __init__(self, **limits: float) -> None:
        self._limits = limits

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        return {**handler(source), **self._limits}


def parse_names(value: object) -> object:
    """Split a text at spaces and commas, and the parts of a list at commas only."""
    if isinstance(value, str):
        value = value.split()
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        return value
    separated: list[str] = []
    for word in value:  # the path of a mode file may hold a comma
        separated += [word] if _is_file(word) else filter(None, word.split(","))
    return separated


def check_not_empty(value: list[str]) -> list[str]:
    """Return the list. Raises `ValueError` for one without any item."""
    if not value:
        raise ValueError("must not be empty")
    return value


def parse_controls(value: object) -> object:
    """Take yes as the arm of the instructions, like a bare `--controls`, and no as none."""
    word = value.strip().lower() if isinstance(value, str) else value
    if word in _YES or word in _NO:
        return ["instructions"] if word in _YES else []
    kinds = parse_names(value)
    return list(dict.fromkeys(kinds)) if isinstance(kinds, list) else kinds


def parse_yes_or_no(word: str) -> bool | None:
    """Read a yes or a no; `None` for a word that is neither."""
    answer = word.strip().lower()
    return answer in _YES if answer in _YES or answer in _NO else None


def parse_numbers(value: object) -> object:
    """Make a list of a number, or of a text with spaces or commas between numbers."""
    if isinstance(value, list):
        return [number for part in value for number in _split_numbers(part)]
    return _split_numbers(value)


def _split_numbers(value: object) -> list[object]:
    if not isinstance(value, str):
        return [value]
    numerals = value.replace(",", " ").split()
    if not numerals:
        raise ValueError("must be a number, or several")
    return [*numerals]


def check_distinct(value: list[int]) -> list[int]:
    if len(set(value)) < len(value):
        raise ValueError("must be numbers that differ")
    return value


def parse_arguments(value: object) -> object:
    """Read a list of texts as JSON has it, and split any other text as a shell would."""
    import json  # help and completion do without
    import shlex

    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError):
            return json.loads(value)
    try:
        return shlex.split(value) if isinstance(value, str) else value
    except ValueError as error:
        raise ValueError(f"cannot be read as a shell would: {error}") from error


def check_variables(value: list[str]) -> list[str]:
    for word in value:
        if not re.fullmatch(r"[A-Za-z_]\w*(=.*)?", word, re.DOTALL):
            raise ValueError("must be NAME or NAME=VALUE")
    return value


_DURATION = (
    r"(?:(?P<hours>[\d.]+)\s*h)?\s*(?:(?P<minutes>[\d.]+)\s*m(?:in)?)?\s*"
    r"(?:(?P<seconds>[\d.]+)\s*s)?"
)
_UNITS = {"hours": 3600, "minutes": 60, "seconds": 1}


def parse_seconds(value: object) -> object:
    """Read a time: a number of seconds, or a text such as `90s`, `5m` and `1h30m`."""
    if not isinstance(value, str):
        return value
    match = re.fullmatch(_DURATION, value.strip())
    parts = {unit: number for unit, number in match.groupdict().items() if number} if match else {}
    try:
        if not parts:
            return float(value)
        return sum(float(number) * _UNITS[unit] for unit, number in parts.items())
    except ValueError:
        raise ValueError(
            "must be a number of seconds, or a time such as 90s, 5m or 1h30m"
        ) from None


def parse_share(value: object) -> object:
    """Read `10%` as 0.1; a number without a sign is a share already."""
    if not isinstance(value, str):
        return value
    number = value.strip().removesuffix("%")
    try:
        return float(number) / (100 if value.strip().endswith("%") else 1)
    except ValueError:
        raise ValueError("must be a percentage such as 10%, or a share such as 0.1") from None


def check_any_share(value: float) -> float:
    """Return a share that may be nothing, or all. Raises `ValueError` for more or less."""
    if not 0 <= value <= 1:
        raise ValueError("must be from 0% to 100%, such as 10% or 0.1")
    return value


def check_share(value: float) -> float:
    """Return a share. Raises `ValueError` where it is nothing, or all."""
    if not 0 < value < 1:
        raise ValueError("must be more than 0% and less than 100%, such as 20% or 0.2")
    return value


def check_model(value: str) -> str:
    if not value.strip():
        raise ValueError("must name a model; omit it for the agent's own choice")
    return value


def check_slice(value: str) -> str:
    number, _, of = value.partition("/")
    if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of) <= 1000):
        raise ValueError("must be I/N, as 2/6, with I from 1 to N and N at most 1000")
    return f"{int(number)}/{int(of)}"


def check_folder(value: object) -> object:
    if value == "":
        raise ValueError("must name a folder; . is this one")
    if isinstance(value, str | Path) and re.match(r"\w+:/|[\w.-]+@[\w.-]+:", str(value)):
        raise ValueError("must be a folder; clone the repository, and give where it lies")
    return value


def _is_file(word: str) -> bool:
    try:
        return Path(word).is_file()
    except (OSError, ValueError):  # too long for a path, or a NUL in it
        return False


def check_address(value: str) -> str:
    if not re.fullmatch(r"https?://[^/@\s]+/?", value):
        raise ValueError("must be an address such as http://127.0.0.1:3000, without a password")
    return value


def anchor_agent(agent: str) -> str:
    """Anchor the file in a value of `--agent`. A class has none: it is looked up by its name."""
    if agent.startswith(REPLAY):
        folder, at, recorded_agent = agent.removeprefix(REPLAY).rpartition("@")
        recording = _anchor_path(folder if at else recorded_agent)
        return (
            f"{REPLAY}{recording}@{anchor_agent(recorded_agent)}" if at else f"{REPLAY}{recording}"
        )
    prefix = f"{COMMAND}:"
    if agent.startswith(prefix):
        return f"{prefix}{_anchor_path(agent.removeprefix(prefix))}"
    return _anchor_path(agent) if agent.endswith(YAML) else agent


def anchor_modes(modes: Iterable[str]) -> list[str]:
    """Anchor the files among names of modes."""
    from swarm_bench.config.shipped import MODES  # help and completion do without

    return [_anchor_path(mode) if MODES.is_path(mode) else mode for mode in modes]


def anchor_suite(suite: str) -> str:
    """Anchor the file of a task suite that is named by it."""
    from swarm_bench.config.shipped import SUITES  # help and completion do without

    return _anchor_path(suite) if SUITES.is_path(suite) else suite


def anchor_folder(folder: str) -> str:
    """Anchor a folder, where it really is."""
    return str(Path(folder).expanduser().resolve())


def _anchor_path(path: str) -> str:
    """Return the path without `..`; a file keeps its name, also when that is a link."""
    file = Path(path).expanduser()
    return str(file.parent.resolve() / file.name)
