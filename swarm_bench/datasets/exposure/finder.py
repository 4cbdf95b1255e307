"""Finds files that give the answers to tasks away: they hold a question, or its id, together with
what the answer key names. By content, whatever the format: case, quotes, escapes, line breaks and
marks between words do not matter."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.datasets.exposure.key_texts import (
    WORD,
    Name,
    Part,
    Sought,
    build_sought,
    fold,
    line_of_word,
    readings,
    text_of,
    tokens_in,
    words_of,
)
from swarm_bench.source.facts import matching


class Exposed(NamedTuple):
    """A task whose answer a file gives away."""

    task: str
    """Id of the task."""
    line: int
    """Line in which its prompt or its id stands first in the file, from 1."""


class Finder:
    """The tasks of a session that have keys."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        with_keys = (build_sought(task, task.key) for task in tasks if task.key)
        self._tasks = [task for task in with_keys if task.parts]
        self._by_token = defaultdict[bytes, list[Sought]](list)
        for task in self._tasks:
            for word in task.triggers():
                self._by_token[word].append(task)
        self._triggers = frozenset(self._by_token)

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def find_exposed(self, path: str, content: bytes) -> list[Exposed]:
        """List the tasks whose answer a file gives away, in the order of their lines. A file that
        a key names does not give itself away."""
        content = text_of(content)
        tokens = words_of(content) | words_of(path.encode("utf-8", "replace"))
        hits = self._triggers & tokens
        fitting = {task.id: task for word in hits for task in self._by_token[word]}
        tasks = [task for task in fitting.values() if path not in task.files and task.fits(tokens)]
        lines: dict[str, int] = {}
        for reading in readings(content) if tasks else ():
            for task, line in self._search_reading(Reading(path.lower(), reading, tokens), tasks):
                lines[task] = min(line, lines.get(task, line))
        return sorted((Exposed(*item) for item in lines.items()), key=lambda hit: hit.line)

    def find_printed(self, content: bytes, own_prompt: str) -> list[str]:
        """List the tasks, other than that with the prompt `own`, whose prompt stands in a text
        close to what their key names: a program that printed it has read both. Here similar prompts
        are not the same one."""
        content, prompt_tokens = text_of(content), tokens_in(fold(own_prompt))
        tokens = words_of(content)
        tasks = [
            task
            for task in self._tasks
            if task.prompt and task.prompt not in prompt_tokens and task.needed <= tokens
        ]
        if not tasks:
            return []
        exposed = (
            task.id
            for reading in readings(content)
            for text in [Reading("", reading, tokens)]
            for task in tasks
            if text.is_beside(task)
        )
        return [*dict.fromkeys(exposed)]

    def _search_reading(
        self, reading: "Reading", tasks: Sequence[Sought]
    ) -> Iterator[tuple[str, int]]:
        for task in tasks:
            if (line := reading.find_prompt(task)) is not None:
                yield task.id, line
        rows = {task.id: row for task in tasks if (row := reading.row(task)) is not None}
        half_of_tasks = len(self._tasks) / 2
        enough = {
            Sign.CERTAIN: 1,
            Sign.LABELLED: min(2, len(self._tasks)),
            Sign.COMMON: max(2, half_of_tasks),
            Sign.BARE: max(FEWEST_PAIRS, half_of_tasks),
        }
        for sign, fewest in enough.items():
            lines_by_task = {id: row.line for id, row in rows.items() if row.sign <= sign}
            if len(lines_by_task) >= fewest:
                yield from lines_by_task.items()


_RECORD = 1500
"""Characters behind an id in which what belongs to it stands."""
_CELLS = 8
"""Words between an id and what stands in the same row of a table, or is mapped to it."""
FEWEST_PAIRS = 3
"""Ids with their keys, and half of all, that are no accident whatever stands around them."""
_SHORT = 6
"""Characters of a fact or name that may stand in any text: it counts only near the prompt."""
_NEAR = 600
_CONTEXT_TOKENS = 150
"""Characters around a prompt in which a file need not be named with its folders."""
_MOST_PLACES = 200
"""Most occurrences of one id in a file that are looked at."""
_LABEL = re.compile(
    r"((?:task|case|prompt|question|instance)(?:_?id)?|id)(?:[\"'`]?\s*[:=]\s*\\?[\"'`]?|>)$"
)
_NEXT = re.compile(r"(?<![a-z/])(?:(?:task|instance)_?)?id(?:[\"'`]?\s*[:=]|>)")
_ANSWER = re.compile(
    r"(?<![a-z-])(?:(?:files?|symbols?|facts?|keys?|answers?|expected|solution|gold|patch)"
    r"\\?[\"'`]?\s*[:=>]|answer is\b)"
)
_KEY_FILE = re.compile(r"(?<![a-z])(?:keys?|answers?|expected|gold|solutions?)(?![a-z])")
"""Pattern in the path of a file of keys."""
_HEADER = re.compile(
    r"(?<![a-z-])(?:(?:q?id|tasks?)[\"' ]*[|,;\t]"
    r"|(?:keys?|answers?|expected|gold|solutions?)[\"' ]*[|,;\t:=]"
    r"|answer keys?\b|answers? (?:of|to)\b)"
)
"""Pattern in the first characters of a table or a mapping of keys."""
_HEAD = 100
_OWN_FORMAT = tuple(f" key {part} ".encode() for part in AnswerKey.model_fields)


class Sign(IntEnum):
    """What an id with its key is written like, the surest first."""

    CERTAIN = 0
    """Sign that can mean nothing else."""
    LABELLED = 1
    """A header, a field or a path says that there are answers."""
    COMMON = 2
    """Sign as in `LABELLED`, where the id may stand in any file."""
    BARE = 3
    """No sign at all."""


class Row(NamedTuple):
    """An id, and beside it what its key names."""

    line: int
    sign: Sign


@dataclass(frozen=True)
class Reading:
    """The text of a file, by one way to read it."""

    path: str
    text: str
    file_tokens: Set[bytes]

    @cached_property
    def folded_text(self) -> str:
        return fold(self.text)

    @cached_property
    def tokens(self) -> bytes:
        return tokens_in(self.folded_text)

    def find_prompt(self, task: Sought) -> int | None:
        """Return the line of the prompt in a text that holds the key too; else `None`."""
        if not task.prompt or not task.needed <= self.file_tokens:
            return None
        if (span := self._span(task)) is None:
            return None
        if not any(self._holds(part, span, task) for part in task.parts) and not self._answers(
            task
        ):
            return None
        return line_of_word(self.folded_text, self.tokens.count(b" ", 0, span[0]))

    def is_beside(self, task: Sought) -> bool:
        """Tell whether the prompt as it is stands close to what the key names."""
        places = islice(re.finditer(re.escape(task.prompt), self.tokens), _MOST_PLACES)
        return any(
            part.tokens in self.tokens[max(0, at.start() - _NEAR) : at.end() + _NEAR]
            for at in places
            for part in task.parts
        )

    def _span(self, task: Sought) -> tuple[int, int] | None:
        """Return where the prompt begins and ends, also where marks stand between its words, or
        something is joined to its ends, as in the row of a database."""
        at = self.tokens.find(task.prompt)
        if at >= 0:
            return at, at + len(task.prompt)
        max_distance, fewest = 2 * len(task.prompt), max(FEWEST_PAIRS, len(task.triples) / 2)
        for triple in (
            sorted(task.triples, key=len, reverse=True) if fewest < len(task.triples) else ()
        ):
            for match in islice(re.finditer(re.escape(triple), self.tokens), _MOST_PLACES):
                start = max(0, match.start() - max_distance)
                near = self.tokens[start : match.end() + max_distance]
                places = [near.find(triple) for triple in task.triples if triple in near]
                if len(places) >= fewest and all(word in near for word in task.whole_words):
                    return start + min(places), start + max(places)
        return None

    def _answers(self, task: Sought) -> bool:
        """Tell whether what stands near the prompt matches a fact."""
        for match in islice(task.pattern.finditer(self.folded_text), _MOST_PLACES):
            near = self.folded_text[max(0, match.start() - _NEAR) : match.end() + _NEAR]
            try:
                if matching(task.facts, near):
                    return True
            except TimeoutError:
                return True  # nobody knows, and it has the whole question
        return False

    def _holds(self, part: Part, span: tuple[int, int], task: Sought) -> bool:
        if len(part.tokens) >= _SHORT + 2 and part.tokens in self.tokens:
            return True
        at, end = span
        context = self.tokens[max(0, at - _CONTEXT_TOKENS) : end + _CONTEXT_TOKENS]
        if any(form in context and form not in task.prompt for form in part.short_forms):
            return True
        near = self.tokens[max(0, at - _NEAR) : end + _NEAR]
        return (part.tokens.strip() if len(part.tokens) >= _SHORT + 2 else part.tokens) in near

    def row(self, task: Sought) -> Row | None:
        """Return where the id stands with the key beside it, the surest place."""
        best = None
        for name in task.find_names(self.file_tokens):
            if self._is_own_file(task, name):
                return Row(1, Sign.CERTAIN)
            for match in islice(name.standing_in(self.folded_text), _MOST_PLACES):
                row = self._row(task, name, match)
                if row and (best is None or row.sign < best.sign):
                    best = row
                if best and best.sign is Sign.CERTAIN:
                    return best
        return best

    def _is_own_file(self, task: Sought, name: Name) -> bool:
        """Tell whether the path has the id, and the file is one of keys or has nothing else."""
        if name.is_common or not name.stands_in_path(self.path):
            return False
        path = tokens_in(self.path)
        if any(part.tokens in path and not name.is_said_by(part) for part in task.parts):
            return True
        parts = [part for part in task.parts if part.tokens in self.tokens]
        if all(name.is_said_by(part) for part in parts):
            return False
        remaining = self.tokens
        for part in parts:
            remaining = remaining.replace(part.tokens, b" ")
        return _KEY_FILE.search(self.path) is not None or {*remaining.split()} <= {*name.tokens}

    def _row(self, task: Sought, name: Name, match: re.Match[str]) -> Row | None:
        label = _LABEL.search(self.folded_text, max(0, match.start() - 40), match.start())
        record = _NEXT.split(self.folded_text[match.end() : match.end() + _RECORD], maxsplit=1)[0]
        tokens = tokens_in(record)
        is_said, first = min(self._places(task, name, tokens), default=(True, -1))
        line = self.folded_text.count("\n", 0, match.start()) + 1
        preceding = tokens[: first + 1]
        cells = preceding.count(b" ") - 1
        if first < 0 or (not label and cells > _CELLS):
            return Row(line, Sign.BARE) if self._is_behind_key(task, name, match) else None
        is_answer = _ANSWER.search(_first_words(record, cells)) is not None
        is_of_task = label is not None and label[1] != "id"
        if label and any(begin in preceding for begin in _OWN_FORMAT):
            return Row(line, Sign.CERTAIN)
        if label and is_answer and not name.is_common and (is_of_task or not is_said):
            return Row(line, Sign.CERTAIN)
        if is_said:
            return None  # a file of the program may name its parts and their files
        if (label or not name.is_common) and (
            is_answer or is_of_task or name.is_prompt or self._is_key_table(match)
        ):
            return Row(line, Sign.COMMON if name.is_common else Sign.LABELLED)
        return Row(line, Sign.BARE) if _tells_nothing(name, task) else None

    def _places(self, task: Sought, name: Name, tokens: bytes) -> Iterator[tuple[bool, int]]:
        """Yield where parts of the key stand, and whether the id says them anyway."""
        for part in task.parts:
            for form in (part.tokens, *part.short_forms):
                if (at := tokens.find(form)) >= 0:
                    yield name.is_said_by(part), at

    def _is_behind_key(self, task: Sought, name: Name, match: re.Match[str]) -> bool:
        """Tell whether a part of the key stands before the id in its line."""
        if not _tells_nothing(name, task):
            return False
        start = self.folded_text.rfind("\n", 0, match.start()) + 1
        tokens = tokens_in(self.folded_text[start : match.start()][-_RECORD:])
        near = b" " + b" ".join(tokens.split()[-_CELLS:]) + b" "
        return any(self._places(task, name, near))

    def _is_key_table(self, match: re.Match[str]) -> bool:
        if _KEY_FILE.search(self.path):
            return True
        start = self.folded_text.rfind("\n\n", 0, match.start()) + 1
        return (
            _HEADER.search(self.folded_text, start, min(start + _HEAD, match.start())) is not None
        )


def _first_words(text: str, number: int) -> str:
    word = next(islice(WORD.finditer(text), number, None), None)
    return text[: word.start()] if word else text


def _tells_nothing(name: Name, task: Sought) -> bool:
    """Tell whether a name has nothing to do with the key, so that only an answer to the task would
    put the two beside each other."""
    return (name.is_numbered or not name.is_common) and not any(map(name.hints_at, task.parts))
