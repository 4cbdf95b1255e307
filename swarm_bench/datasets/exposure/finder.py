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

from swarm_bench.core.session.tasks import SYMBOL_MARK, AnswerKey, Task
from swarm_bench.datasets.exposure.escapes import (
    WORD,
    line_of_word,
    plain_words,
    readings,
    tokens_in,
    words_of,
)

FEWEST_WORDS = 5
"""Of a prompt that is looked for wherever it stands. A shorter one is taken for a name, as an id
is: it may stand in any file."""
FEWEST_CHARACTERS = 8
"""Of such a prompt in a script that does not part its words."""
_RECORD = 1500
"""Characters behind an id in which what belongs to it stands."""
_CELLS = 8
"""Words between an id and what stands in the same row of a table, or is mapped to it."""
_SHORT = 6
"""Characters of a fact or name that may stand in any text: it counts only near the prompt."""
_NEAR = 600
_MOST_PLACES = 200
"""Of one id in a file that are looked at."""
_LABEL = re.compile(r"(?:id|task|case|name|prompt|question)(?:[\"'`]?\s*[:=]\s*\\?[\"'`]?|>)$")
_NEXT = re.compile(r"(?<![a-z/])(?:task_?)?id(?:[\"'`]?\s*[:=]|>)")
_ANSWER = re.compile(
    r"(?:files?|symbols?|facts?|keys?|answers?|expected|solution)\\?[\"'`]?\s*[:=>]"
)
_OWN_FORMAT = tuple(f" key {part} ".encode() for part in AnswerKey.model_fields)
_WITHIN = re.compile(r"[\w/.\\-]")


class Exposed(NamedTuple):
    """A task whose answer a file gives away."""

    task: str
    """Its id."""
    line: int
    """Where its prompt or its id stands first in the file, from 1."""


@dataclass(frozen=True, kw_only=True)
class _Part:
    """One file, symbol or fact of an answer key."""

    tokens: bytes
    needed: frozenset[bytes]
    """Words without which it stands in no file."""


@dataclass(frozen=True, kw_only=True)
class _Name:
    """An id, or a prompt that is as short as one."""

    pattern: re.Pattern[str]
    is_common: bool
    """Whether it may stand in any file."""
    needed: frozenset[bytes]

    def standing_in(self, text: str) -> Iterator[re.Match[str]]:
        """Yield where it stands for itself, and not in a path or a longer name."""
        for match in self.pattern.finditer(text):  # which is fast without a look behind
            if not _WITHIN.search(text, match.start() - 1, match.start()):
                yield match


@dataclass(frozen=True, kw_only=True)
class _Sought:
    """A task with a key."""

    id: str
    prompt: bytes
    """Its words; empty for one that is short."""
    needed: frozenset[bytes]
    names: tuple[_Name, ...]
    parts: tuple[_Part, ...]
    files: frozenset[str]
    """Those that a right answer names, which are what has to be found."""

    def fits(self, tokens: Set[bytes]) -> bool:
        """Tell whether a file of these words may hold it with its key."""
        asked = self._asked(tokens) or any(self.named(tokens))
        return asked and any(part.needed <= tokens for part in self.parts)

    def _asked(self, tokens: Set[bytes]) -> bool:
        return bool(self.prompt) and self.needed <= tokens

    def named(self, tokens: Set[bytes]) -> Iterator[_Name]:
        """Yield its names that may stand in a file of these words."""
        return (name for name in self.names if name.needed <= tokens)


class Finder:
    """The tasks of a session that have keys."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        sought = (_sought(task, task.key) for task in tasks if task.key)
        self._tasks = [task for task in sought if task.parts]
        self._by_token = defaultdict[bytes, list[_Sought]](list)
        for task in self._tasks:
            longest = {max(part.needed, key=len, default=b"") for part in task.parts}
            for word in longest:
                self._by_token[word].append(task)
        self._triggers = frozenset(self._by_token)

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def exposed(self, path: str, content: bytes) -> list[Exposed]:
        """List the tasks whose answer a file gives away, in the order of their lines. A file that
        a key names does not give itself away."""
        if content.startswith((b"\xff\xfe", b"\xfe\xff")):
            content = content.decode("utf-16", "replace").encode("utf-8", "replace")
        tokens = words_of(content)
        hits = self._triggers & tokens
        fitting = {task.id: task for word in hits for task in self._by_token[word]}
        tasks = [task for task in fitting.values() if path not in task.files and task.fits(tokens)]
        lines: dict[str, int] = {}
        for reading in readings(content.decode("utf-8", "replace")) if tasks else ():
            for task, line in self._in_reading(_Reading(reading, tokens), tasks):
                lines[task] = min(line, lines.get(task, line))
        return sorted((Exposed(*item) for item in lines.items()), key=lambda it: it.line)

    def _in_reading(
        self, reading: "_Reading", tasks: Sequence[_Sought]
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

    text: str
    file_tokens: Set[bytes]

    @cached_property
    def folded(self) -> str:
        return self.text.lower()

    @cached_property
    def tokens(self) -> bytes:
        return tokens_in(self.folded)

    def asked(self, task: _Sought) -> int | None:
        """Return the line of the prompt in a text that holds the key too; else `None`."""
        if not task.prompt or not task.needed <= self.file_tokens:
            return None
        at = self.tokens.find(task.prompt)
        if at < 0 or not any(self._holds(part, at, task) for part in task.parts):
            return None
        return line_of_word(self.folded, self.tokens.count(b" ", 0, at))

    def _holds(self, part: _Part, at: int, task: _Sought) -> bool:
        if len(part.tokens) >= _SHORT + 2:
            return part.tokens in self.tokens
        end = at + len(task.prompt)
        return part.tokens in self.tokens[max(0, at - _NEAR) : end + _NEAR]

    def row(self, task: _Sought) -> _Row | None:
        """Return where the id stands with the key behind it, the most certain place."""
        best = None
        for name in task.named(self.file_tokens):
            for match in islice(name.standing_in(self.folded), _MOST_PLACES):
                row = self._row(task, name, match)
                if row and (best is None or row.is_certain or (best.is_common > row.is_common)):
                    best = row
                if best and best.is_certain:
                    return best
        return best

    def _row(self, task: _Sought, name: _Name, match: re.Match[str]) -> _Row | None:
        is_labelled = _LABEL.search(self.folded, max(0, match.start() - 40), match.start())
        if name.is_common and not is_labelled:
            return None
        record = _NEXT.split(self.folded[match.end() : match.end() + _RECORD], maxsplit=1)[0]
        tokens = tokens_in(record)
        starts = (tokens.find(part.tokens) for part in task.parts)
        first = min((start for start in starts if start >= 0), default=None)
        if first is None:
            return None
        before = tokens[: first + 1]
        if not is_labelled and before.count(b" ") - 1 > _CELLS:
            return None
        is_certain = is_labelled is not None and (
            any(begin in before for begin in _OWN_FORMAT)
            or (not name.is_common and _ANSWER.search(record) is not None)
        )
        line = self.folded.count("\n", 0, match.start()) + 1
        return _Row(line, is_certain, name.is_common)


def _sought(task: Task, key: AnswerKey) -> _Sought:
    prompt, id_tokens = tokens_in(task.prompt.lower()), tokens_in(task.id.lower())
    is_long = prompt.count(b" ") > FEWEST_WORDS or (
        not prompt.isascii() and len(task.prompt) >= FEWEST_CHARACTERS
    )
    names = [_name(task.id, re.escape(task.id.lower()), id_tokens)]
    if not is_long and prompt.strip():
        between = r"[\W_]+".join(map(re.escape, WORD.findall(task.prompt.lower())))
        names.append(_name(task.prompt, between, prompt))
    parts = {part.tokens: part for part in _parts(key)}
    # What the question says itself is no answer to it.
    secret = (
        part
        for part in parts.values()
        if part.tokens not in prompt and part.tokens not in id_tokens
    )
    return _Sought(
        id=task.id,
        prompt=prompt if is_long else b"",
        needed=plain_words(task.prompt),
        names=tuple(names),
        parts=tuple(part for part in secret if part.tokens.strip()),
        files=frozenset([*key.files, *(it.partition(SYMBOL_MARK)[0] for it in key.symbols)]),
    )


def _name(text: str, pattern: str, tokens: bytes) -> _Name:
    is_common = len(text) < FEWEST_WORDS or re.fullmatch(r"[A-Z]*[a-z]*", text) is not None
    return _Name(
        pattern=re.compile(rf"{pattern}(?![\w/\\-]|\.\w)"),
        is_common=is_common or (" " in text and tokens.count(b" ") < 4),
        needed=plain_words(text),
    )


def _parts(key: AnswerKey) -> Iterator[_Part]:
    for file in key.files:
        yield _part(file)
    for symbol in key.symbols:
        path, _, name = symbol.partition(SYMBOL_MARK)
        yield _part(path)
        yield _part(name)
    for fact in key.facts:
        yield _part(fact)


def _part(text: str) -> _Part:
    return _Part(tokens=tokens_in(text.lower()), needed=plain_words(text))
