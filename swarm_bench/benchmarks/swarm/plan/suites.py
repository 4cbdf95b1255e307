"""Task suites: YAML files that say what agents are asked."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from swarm_bench.config.located import Located, read_located
from swarm_bench.config.shipped import SUITES
from swarm_bench.core.errors import ConfigError
from swarm_bench.core.listing import Listing
from swarm_bench.core.session.experiment import Task
from swarm_bench.core.validation import Problem, wrong_file

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def _fit_for_a_folder(id: str) -> str:
    if not _ID.fullmatch(id):
        raise ValueError(
            "must be 1-64 letters, digits, '.', '_' or '-', beginning with a letter or digit"
        )
    return id


def _not_blank(text: str) -> str:
    """Check what becomes an argument of a program, which cannot hold a NUL. Raises
    `ValueError`."""
    if not text.strip():
        raise ValueError("must not be empty")
    if "\0" in text:
        raise ValueError("must not hold a NUL")
    return text


class _TaskEntry(BaseModel):
    model_config = ConfigDict(extra="forbid")
    id: Annotated[str, AfterValidator(_fit_for_a_folder)]
    title: Annotated[str, AfterValidator(_not_blank)]
    prompt: Annotated[str, AfterValidator(_not_blank)]


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
    """Return every suite in the shipped folder and in `tasks/` of the working folder."""
    return [_listing(path) for path in SUITES.files()]


def find_suite(name: str) -> Suite:
    """Return the suite of that name, or of a path to a YAML file.

    Raises `UnknownName` for a name without a file and `ConfigError` for a file that is wrong.
    """
    return read_suite(SUITES.find(name))


def read_suite(path: Path) -> Suite:
    """Read the suite that a file defines. Raises `ConfigError` naming file and line."""
    located = read_located(path, "task file")
    repeated = list(_repeated_ids(located))
    try:
        suite = _SuiteFile.model_validate(located.content)
    except ValidationError as error:
        raise ConfigError(wrong_file(path, error, _SuiteFile, located.line, repeated)) from error
    if repeated:
        raise ConfigError(wrong_file(path, None, _SuiteFile, located.line, repeated))
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
    noun = "task" if len(suite.tasks) == 1 else "tasks"
    about = f"{len(suite.tasks)} {noun}. {suite.description}"
    return Listing(name=suite.name, about=about, source=suite.source)


def _repeated_ids(located: Located) -> Iterator[Problem]:
    """Yield repeated ids, also of a file that is wrong in other ways."""
    tasks = located.content.get("tasks") if isinstance(located.content, dict) else None
    earlier = set[str]()
    for number, task in enumerate(tasks if isinstance(tasks, list) else ()):
        id = task.get("id") if isinstance(task, dict) else None
        if not isinstance(id, str):
            continue
        if id in earlier:
            line = located.line(("tasks", number, "id"))
            yield line, f"the id {id!r} is taken; give each task its own"
        earlier.add(id)
