"""Finds files that give the answers to tasks away: they hold a question, or its id, together with
what the answer key names. By content, whatever the format: case, quotes, escapes, line breaks and
marks between words do not matter."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.datasets.exposure.escapes import (
    WORD,
    folded,
    line_of_word,
    readings,
    text_of,
    tokens_in,
    words_of,
)
from swarm_bench.datasets.exposure.sought import Name, Part, Sought, sought
from swarm_bench.source.facts import matching

_RECORD = 1500
"""Characters behind an id in which what belongs to it stands."""
_CELLS = 8
"""Words between an id and what stands in the same row of a table, or is mapped to it."""
_SHORT = 6
"""Characters of a fact or name that may stand in any text: it counts only near the prompt."""
_NEAR = 600
_BESIDE = 60
"""Characters behind a prompt in which a file need not be named with its folders."""
_MOST_PLACES = 200
"""Of one id in a file that are looked at."""
_LABEL = re.compile(
    r"((?:task|case|prompt|question)(?:_?id)?|id)(?:[\"'`]?\s*[:=]\s*\\?[\"'`]?|>)$"
)
_NEXT = re.compile(r"(?<![a-z/])(?:task_?)?id(?:[\"'`]?\s*[:=]|>)")
_ANSWER = re.compile(
    r"(?<![a-z-])(?:files?|symbols?|facts?|keys?|answers?|expected|solution)\\?[\"'`]?\s*[:=>]"
)
_KEY_FILE = re.compile(r"(?<![a-z])(?:keys?|answers?|expected|solutions?)(?![a-z])")
"""In the path of a file of keys."""
_HEADER = re.compile(
    r"(?<![a-z-])(?:(?:id|tasks?)[\"' ]*[|,;\t]"
    r"|(?:keys?|answers?|expected|solutions?)[\"' ]*[|,;\t:=])"
)
"""In the first characters of a table or a mapping of keys."""
_HEAD = 100
_OWN_FORMAT = tuple(f" key {part} ".encode() for part in AnswerKey.model_fields)


class Exposed(NamedTuple):
    """A task whose answer a file gives away."""

    task: str
    """Its id."""
    line: int
    """Where its prompt or its id stands first in the file, from 1."""


class Finder:
    """The tasks of a session that have keys."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        with_keys = (sought(task, task.key) for task in tasks if task.key)
        self._tasks = [task for task in with_keys if task.parts]
        self._by_token = defaultdict[bytes, list[Sought]](list)
        for task in self._tasks:
            for word in task.triggers():
                self._by_token[word].append(task)
        self._triggers = frozenset(self._by_token)

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def exposed(self, path: str, content: bytes) -> list[Exposed]:
        """List the tasks whose answer a file gives away, in the order of their lines. A file that
        a key names does not give itself away."""
        content = text_of(content)
        tokens = words_of(content) | words_of(path.encode("utf-8", "replace"))
        hits = self._triggers & tokens
        fitting = {task.id: task for word in hits for task in self._by_token[word]}
        tasks = [task for task in fitting.values() if path not in task.files and task.fits(tokens)]
        lines: dict[str, int] = {}
        for reading in readings(content.decode("utf-8", "replace")) if tasks else ():
            for task, line in self._in_reading(_Reading(path.lower(), reading, tokens), tasks):
                lines[task] = min(line, lines.get(task, line))
        return sorted((Exposed(*item) for item in lines.items()), key=lambda it: it.line)

    def _in_reading(
        self, reading: "_Reading", tasks: Sequence[Sought]
    ) -> Iterator[tuple[str, int]]:
        for task in tasks:
            if (line := reading.asked(task)) is not None:
                yield task.id, line
        rows = {task.id: row for task in tasks if (row := reading.row(task)) is not None}
        yield from ((id, row.line) for id, row in rows.items() if row.is_certain)
        telling = {id: row for id, row in rows.items() if not row.is_common}
        if len(telling) >= min(2, len(self._tasks)):
            yield from ((id, row.line) for id, row in telling.items())
        if len(rows) >= max(2, len(self._tasks) / 2):
            yield from ((id, row.line) for id, row in rows.items())


class _Row(NamedTuple):
    """An id, and behind it what its key names."""

    line: int
    is_certain: bool
    """Whether it is so written that nothing else can be meant."""
    is_common: bool


@dataclass(frozen=True)
class _Reading:
    """The text of a file, by one way to read it."""

    path: str
    text: str
    file_tokens: Set[bytes]

    @cached_property
    def folded(self) -> str:
        return folded(self.text)

    @cached_property
    def tokens(self) -> bytes:
        return tokens_in(self.folded)

    def asked(self, task: Sought) -> int | None:
        """Return the line of the prompt in a text that holds the key too; else `None`."""
        if not task.prompt or not task.needed <= self.file_tokens:
            return None
        at = self.tokens.find(task.prompt)
        if at < 0:
            return None
        if not any(self._holds(part, at, task) for part in task.parts) and not self._answers(task):
            return None
        return line_of_word(self.folded, self.tokens.count(b" ", 0, at))

    def _answers(self, task: Sought) -> bool:
        """Tell whether what stands near the prompt matches a fact."""
        for match in islice(task.pattern.finditer(self.folded), _MOST_PLACES):
            near = self.folded[max(0, match.start() - _NEAR) : match.end() + _NEAR]
            try:
                if matching(task.facts, near):
                    return True
            except TimeoutError:
                return True  # nobody knows, and it has the whole question
        return False

    def _holds(self, part: Part, at: int, task: Sought) -> bool:
        if len(part.tokens) >= _SHORT + 2 and part.tokens in self.tokens:
            return True
        end = at + len(task.prompt)
        beside = self.tokens[end - 1 : end + _BESIDE]
        if any(form in beside and form not in task.prompt for form in part.short_forms):
            return True
        return part.tokens in self.tokens[max(0, at - _NEAR) : end + _NEAR]

    def row(self, task: Sought) -> _Row | None:
        """Return where the id stands with the key behind it, the most certain place."""
        best = None
        for name in task.named(self.file_tokens):
            if self._is_own_file(task, name):
                return _Row(1, True, False)
            for match in islice(name.standing_in(self.folded), _MOST_PLACES):
                row = self._row(task, name, match)
                if row and (best is None or row.is_certain or (best.is_common > row.is_common)):
                    best = row
                if best and best.is_certain:
                    return best
        return best

    def _is_own_file(self, task: Sought, name: Name) -> bool:
        """Tell whether the path has the id, and the file is one of keys or has nothing else."""
        if name.is_common or not name.stands_in_path(self.path):
            return False
        parts = [part for part in task.parts if part.tokens in self.tokens]
        if all(name.is_said_by(part) for part in parts):
            return False
        rest = self.tokens
        for part in parts:
            rest = rest.replace(part.tokens, b" ")
        return _KEY_FILE.search(self.path) is not None or {*rest.split()} <= {*name.tokens}

    def _row(self, task: Sought, name: Name, match: re.Match[str]) -> _Row | None:
        label = _LABEL.search(self.folded, max(0, match.start() - 40), match.start())
        if name.is_common and not label:
            return None
        record = _NEXT.split(self.folded[match.end() : match.end() + _RECORD], maxsplit=1)[0]
        tokens = tokens_in(record)
        starts = ((name.is_said_by(part), tokens.find(part.tokens)) for part in task.parts)
        is_said, first = min((it for it in starts if it[1] >= 0), default=(True, -1))
        before = tokens[: first + 1]
        cells = before.count(b" ") - 1
        if first < 0 or (not label and cells > _CELLS):
            return None
        is_answer = _ANSWER.search(_first_words(record, cells)) is not None
        is_of_task = label is not None and label[1] != "id"
        line = self.folded.count("\n", 0, match.start()) + 1
        if (label and any(begin in before for begin in _OWN_FORMAT)) or (
            label and is_answer and not name.is_common and (is_of_task or not is_said)
        ):
            return _Row(line, True, name.is_common)
        if is_said or not (is_answer or is_of_task or name.is_prompt or self._is_key_table(match)):
            return None  # a file of the program may name its parts and their files
        return _Row(line, False, name.is_common)

    def _is_key_table(self, match: re.Match[str]) -> bool:
        if _KEY_FILE.search(self.path):
            return True
        start = self.folded.rfind("\n\n", 0, match.start()) + 1
        return _HEADER.search(self.folded, start, min(start + _HEAD, match.start())) is not None


def _first_words(text: str, number: int) -> str:
    word = next(islice(WORD.finditer(text), number, None), None)
    return text[: word.start()] if word else text
