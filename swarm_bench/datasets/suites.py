"""Task suites: YAML files that say what agents are asked. They are written as a person would:
readable, and easy to correct and extend."""

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from math import prod
from pathlib import Path
from typing import Annotated, Any, Self

import regex
import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from swarm_bench.config.located import Located, read_located
from swarm_bench.config.shipped import SUITES
from swarm_bench.core.errors import ConfigError, UsageError
from swarm_bench.core.listing import Listing
from swarm_bench.core.session.tasks import SYMBOL_MARK, TASK_FILE, AnswerKey, Task, Weight
from swarm_bench.core.validation import Problem, build_file_error

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")

_REPETITION = re.compile(r"\{\s*([0-9]+)")
_LONGEST_PATTERN = 1000
_MOST_REPETITIONS = 10_000
"""Most repetitions: the product of all numbers in a pattern, as repetitions may be within each
other."""

_MAX_NAMED = 3
LARGEST = 768 * 1024
"""Bytes of a task file: about 1,200 tasks that a program made."""


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


def _whole_hash(commit: str) -> str:
    if not _COMMIT.fullmatch(commit):
        raise ValueError("must be the whole hash of a commit")
    return commit


def _path_of_a_file(path: str) -> str:
    parts = path.split("/")
    if not path.strip() or path.startswith("/") or not {".", "..", ""}.isdisjoint(parts):
        raise ValueError("must be the path of a file below the root of the repository")
    return path


def _symbol(symbol: str) -> str:
    path, mark, name = symbol.partition(SYMBOL_MARK)
    if not mark or not name.strip():
        raise ValueError(f"must be written as path/of/file.py{SYMBOL_MARK}name")
    _path_of_a_file(path)
    return symbol


def _pattern(text: str) -> str:
    """Check a pattern. Raises `ValueError`, also for one that the library takes gigabytes for, or
    crashes at: each repetition is written out."""
    if len(text) > _LONGEST_PATTERN:
        raise ValueError(f"must have at most {_LONGEST_PATTERN:,} characters")
    if prod(max(1, int(number)) for number in _REPETITION.findall(text)) > _MOST_REPETITIONS:
        raise ValueError(f"must not repeat anything more than {_MOST_REPETITIONS:,} times")
    try:
        regex.compile(text)
    except (regex.error, RecursionError) as error:
        raise ValueError(f"must be a regular expression: {error}") from error
    return text


class _KeyEntry(BaseModel):
    model_config = ConfigDict(extra="forbid")
    files: list[Annotated[str, AfterValidator(_path_of_a_file)]] = []
    symbols: list[Annotated[str, AfterValidator(_symbol)]] = []
    facts: list[Annotated[str, AfterValidator(_pattern)]] = []

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not (self.files or self.symbols or self.facts):
            raise ValueError("must name files, symbols or facts")
        return self


class _TaskEntry(BaseModel):
    model_config = ConfigDict(extra="forbid")
    id: Annotated[str, AfterValidator(_fit_for_a_folder)]
    title: Annotated[str, AfterValidator(_not_blank)]
    prompt: Annotated[str, AfterValidator(_not_blank)]
    keywords: str = ""
    commit: Annotated[str, AfterValidator(_whole_hash)] | None = None
    written: date | None = None
    key: _KeyEntry | None = None
    weight: Weight = 1.0
    tags: list[str] = []
    group: Annotated[str, AfterValidator(_not_blank)] = ""


class _SuiteFile(BaseModel):
    model_config = ConfigDict(extra="forbid")
    description: str = ""
    answer_format: str = ""
    made: str = ""
    since: date | None = None
    scorers: list[str] | None = None
    tasks: list[_TaskEntry] = Field(min_length=1)


@dataclass(frozen=True, kw_only=True)
class Suite:
    """A named list of tasks."""

    name: str
    source: str
    description: str
    answer_format: str
    """Format of every answer; put after each task in the prompt."""
    made: str
    """Description of how a program made it; empty for one that a person wrote."""
    since: date | None
    """Tasks that were written before may be in a model's training data."""
    scorers: tuple[str, ...] | None
    """Names of those that score its answers, `module:Class` too; `None` for all there are."""
    tasks: tuple[Task, ...]


def list_suites() -> list[Listing]:
    """Return every suite in the shipped folder and in `tasks/` of the working folder."""
    return [_listing(path) for path in SUITES.files()]


def find_suite(name: str) -> Suite:
    """Return the suite of that name, or of a path to a YAML file.

    Raises `UnknownName` for a name without a file and `ConfigError` for a file that is wrong.
    """
    return read_suite(SUITES.find(name))


def located_suite(path: Path) -> Located:
    """Read the YAML of a task file. Raises `ConfigError`."""
    return read_located(path, "task file", largest=LARGEST)


def read_suite(path: Path) -> Suite:
    """Read the suite that a file defines. Raises `ConfigError` naming file and line."""
    located = located_suite(path)
    repeated = list(_repeated_ids(located))
    try:
        suite = _SuiteFile.model_validate(located.content)
    except ValidationError as error:
        raise build_file_error(
            path, error, _SuiteFile, located.line, repeated, located.content
        ) from error
    if repeated:
        raise build_file_error(path, None, _SuiteFile, located.line, repeated)
    return Suite(
        name=path.stem,
        source=str(path),
        description=suite.description,
        answer_format=suite.answer_format.strip(),
        made=suite.made,
        since=suite.since,
        scorers=None if suite.scorers is None else tuple(suite.scorers),
        tasks=tuple(map(_task, suite.tasks)),
    )


def find_unjudged(tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks without a key where others have one: who gives up in them seems to save."""
    without = [task for task in tasks if task.key is None]
    return without if len(without) < len(tasks) else []


def check_keys(suite: Suite, earlier: Sequence[Task]) -> Suite:
    """Return a suite whose tasks are all judged, or none; `before` are those of a session that gets
    it, which may have begun otherwise. Raises `UsageError`."""
    ids = {task.id for task in earlier}
    all_tasks = [*earlier, *(task for task in suite.tasks if task.id not in ids)]
    if find_unjudged(suite.tasks):  # also those that lack a key which the session has
        all_tasks = [*suite.tasks]
    without = [task.id for task in find_unjudged(all_tasks)]
    if without and not find_unjudged(earlier):
        first_ids = ", ".join(without[:_MAX_NAMED]) + ", …" * (len(without) > _MAX_NAMED)
        raise UsageError(
            f"{suite.source}: {len(without)} of {len(all_tasks)} tasks "
            f"{'has' if len(without) == 1 else 'have'} no answer key ({first_ids}): "
            "nobody would see that an agent gave up in them; give them keys, or put them into a "
            "file of their own"
        )
    return suite


def _task(entry: _TaskEntry) -> Task:
    return Task(
        id=entry.id,
        title=entry.title,
        prompt=entry.prompt.strip(),
        keywords=entry.keywords.strip(),
        commit=entry.commit,
        written=entry.written,
        key=None if entry.key is None else AnswerKey.model_validate(entry.key.model_dump()),
        weight=entry.weight,
        tags=tuple(entry.tags),
        group=entry.group.strip() or None,
    )


def _listing(path: Path) -> Listing:
    try:
        suite = read_suite(path)
    except ConfigError as error:
        return Listing(name=path.stem, about="", source=str(path), problem=str(error))
    noun = "task" if len(suite.tasks) == 1 else "tasks"
    description = f"{len(suite.tasks)} {noun}. {suite.description}"
    return Listing(name=suite.name, about=description, source=suite.source)


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


_WIDTH = 88
_HEADER = f"""\
{TASK_FILE} Correct and extend it by hand; 'swarm-bench tasks check' compares it
# with the repository.
#
#   prompt    what an agent is asked; keywords: the same in a few words, for a search
#   commit    the commit that it is asked on; written: when the answer came into the repository
#   key       what a right answer names: files, and symbols as path::Class.method; add facts,
#             regular expressions that a right answer matches, where you want to
#   weight    of the task in means, 1 where it is not written; tags: tell kinds of tasks apart
"""


@dataclass(frozen=True, kw_only=True)
class TaskFile:
    """What a task file says."""

    description: str
    answer_format: str
    made: str
    since: date | None
    tasks: Sequence[Task]


class _Folded(str):
    """A text that is broken into lines of a readable length."""


class _Flow(list[str]):
    """A list on one line."""


class _Dumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists below their keys."""
        del indentless
        super().increase_indent(flow, False)


_Dumper.add_representer(
    _Folded,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style=">"),
)
_Dumper.add_representer(
    _Flow,
    lambda dumper, items: dumper.represent_sequence(
        "tag:yaml.org,2002:seq", items, flow_style=True
    ),
)


def write_suite(file: TaskFile) -> str:
    """Return the text of a task file; the same tasks give the same text."""
    head = {
        "description": _Folded(file.description),
        "answer_format": _Folded(file.answer_format),
        "made": _Folded(file.made),
        "since": file.since,
    }
    parts = [_yaml({key: value for key, value in head.items() if value}), "tasks:\n"]
    return "\n".join([_HEADER, *parts]) + "\n".join(map(_entry, file.tasks))


def _entry(task: Task) -> str:
    return textwrap.indent(_yaml([dict(_keys(task))]), "  ")


def _keys(task: Task) -> Iterator[tuple[str, Any]]:
    yield "id", task.id
    yield "title", task.title
    yield "prompt", _Folded(task.prompt)
    if task.keywords:
        yield "keywords", task.keywords
    if task.commit is not None:
        yield "commit", task.commit
    if task.written is not None:
        yield "written", task.written
    if task.key is not None:
        yield "key", dict(_parts(task.key))
    if task.weight != 1:
        yield "weight", task.weight
    if task.tags:
        yield "tags", _Flow(task.tags)
    if task.group is not None:
        yield "group", task.group


def _parts(key: AnswerKey) -> Iterator[tuple[str, list[str]]]:
    for name in ("files", "symbols", "facts"):
        if values := list(getattr(key, name)):
            yield name, values


def _yaml(content: object) -> str:
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)
