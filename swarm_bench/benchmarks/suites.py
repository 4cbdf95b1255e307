"""Task suites: YAML files that say what agents are asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from swarm_bench.core import shipped
from swarm_bench.core.errors import ConfigError
from swarm_bench.core.experiment import Task
from swarm_bench.core.listing import Listing
from swarm_bench.core.validation import first_error, place_of, words_of

FOLDER, SUFFIX = "tasks", ".yaml"


class _TaskEntry(BaseModel):
    model_config = ConfigDict(extra="forbid")
    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    title: str = Field(min_length=1)
    prompt: str = Field(min_length=1, pattern=r"^[^\x00]*$")
    """It becomes an argument of a program, which cannot hold a NUL."""


class _SuiteFile(BaseModel):
    model_config = ConfigDict(extra="forbid")
    description: str = ""
    answer_format: str = ""
    tasks: list[_TaskEntry] = Field(min_length=1)


@dataclass(frozen=True, kw_only=True)
class Suite:
    """A named list of tasks."""

    name: str
    source: str
    description: str
    answer_format: str
    """What every answer should look like; put after each task in the prompt."""
    tasks: tuple[Task, ...]


def list_suites() -> list[Listing]:
    """Every suite in the shipped folder and in `tasks/` of the working folder."""
    return [_listing(path) for path in shipped.files(FOLDER, SUFFIX)]


def find_suite(name: str) -> Suite:
    """The suite that the word stands for: a name, or a path to a YAML file.

    Raises `UnknownName` for a name without a file and `ConfigError` for a file that is wrong.
    """
    return read_suite(shipped.find("task suite", FOLDER, SUFFIX, name))


def read_suite(path: Path) -> Suite:
    """The suite that a file defines. Raises `ConfigError` naming file and line."""
    content, root = _parse(path)
    try:
        suite = _SuiteFile.model_validate(content)
    except ValidationError as error:
        first = first_error(error)
        line = _line_of(root, first["loc"])
        raise ConfigError(
            f"{path}:{line}: {place_of(first)} {words_of(first)}; mend the file"
        ) from error
    _check_ids(path, root, suite)
    return Suite(
        name=path.stem,
        source=str(path),
        description=suite.description,
        answer_format=suite.answer_format.strip(),
        tasks=tuple(
            Task(id=task.id, title=task.title, prompt=task.prompt.strip()) for task in suite.tasks
        ),
    )


def _listing(path: Path) -> Listing:
    try:
        suite = read_suite(path)
    except ConfigError as error:
        return Listing(name=path.stem, about="", source=str(path), problem=str(error))
    about = f"{len(suite.tasks)} tasks. {suite.description}"
    return Listing(name=suite.name, about=about, source=suite.source)


def _parse(path: Path) -> tuple[object, yaml.Node | None]:
    try:
        text = path.read_text(encoding="utf-8")
        return yaml.safe_load(text), yaml.compose(text, Loader=yaml.SafeLoader)
    except OSError as error:
        raise ConfigError(
            f"The task file {path} cannot be read: {error.strerror}; "
            "'swarm-bench tasks' lists what is there"
        ) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: 2026-99-99
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or error
        raise ConfigError(f"{path}{line}: not YAML: {problem}; mend the file") from error


def _check_ids(path: Path, root: yaml.Node | None, suite: _SuiteFile) -> None:
    seen = set[str]()
    for number, task in enumerate(suite.tasks):
        if task.id in seen:
            line = _line_of(root, ("tasks", number, "id"))
            raise ConfigError(f"{path}:{line}: the id {task.id!r} is taken; give each task its own")
        seen.add(task.id)


def _line_of(root: yaml.Node | None, place: Sequence[int | str]) -> int:
    """The line of the node at `place`, or of the nearest one around it that exists."""
    node = root
    line = 1
    for part in place:
        node = _child(node, part)
        if node is None:
            break
        line = node.start_mark.line + 1
    return line


def _child(node: yaml.Node | None, part: int | str) -> yaml.Node | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
        return node.value[part] if part < len(node.value) else None
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == part), None)
    return None
