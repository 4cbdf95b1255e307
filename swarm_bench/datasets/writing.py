"""Writes task files as a person would: readable, and easy to correct and extend."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import yaml

from swarm_bench.core.session.tasks import TASK_FILE, AnswerKey, Task

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
