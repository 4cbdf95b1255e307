"""Finds files that give the answers to tasks away: they hold a question, or its id, together with
what the answer key names. By content, whatever the format: case, quotes, escapes, line breaks and
marks between words do not matter."""

import html
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from swarm_bench.core.session.tasks import SYMBOL_MARK, AnswerKey, Task

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
_CHUNK = 1_000_000
_WORD = re.compile(r"[^\W_]+")
_PLAIN_WORD = re.compile(r"(?<![^\s!#$%()*+,\-./:;=?@\[\\\]^_`{|}~])[A-Za-z0-9]+", re.ASCII)
"""One that every escape leaves as it is: what JSON or HTML may write otherwise before it could be
read as a part of it."""
_AFTER_ESCAPE = re.compile(rb"\\[nrtbf]([A-Za-z0-9]+)")
_ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|x([0-9a-f]{2})|(.))", re.DOTALL)
_LABEL = re.compile(
    r"(?:id|task|case|name|prompt|question)(?:[\"'`]?\s*[:=]\s*\\?[\"'`]?|>)$"
)
_NEXT = re.compile(r"(?<![a-z/])(?:task_?)?id(?:[\"'`]?\s*[:=]|>)")
_ANSWER = re.compile(r"(?:files?|symbols?|facts?|keys?|answers?|expected|solution)\\?[\"'`]?\s*[:=>]")
_OWN_FORMAT = tuple(f" key {part} " for part in AnswerKey.model_fields)
_WITHIN = re.compile(r"[\w/.\\-]")
_FOLDED = bytes(
    byte | 0x20 if 65 <= byte <= 90 else byte if chr(byte).isalnum() and byte < 128 else 32
    for byte in range(256)
)


class Exposed(NamedTuple):
    """A task whose answer a file gives away."""

    task: str
    """Its id."""
    line: int
    """Where its prompt or its id stands in the file, from 1."""


@dataclass(frozen=True, kw_only=True)
class _Part:
    """One file, symbol or fact of an answer key."""

    words: str
    path: str
    """The file that it is about; empty for a fact."""
    needed: frozenset[bytes]
    """Words without which it stands in no file."""


@dataclass(frozen=True, kw_only=True)
class _Name:
    """An id, or a prompt that is as short as one."""

    pattern: re.Pattern[str]
    is_common: bool
    """Whether it may stand in any file."""
    needed: frozenset[bytes]

    def found(self, text: str) -> Iterator[re.Match[str]]:
        """Yield where it stands for itself, and not in a path or a longer name."""
        for match in self.pattern.finditer(text):  # which is fast without a look behind
            if not _WITHIN.search(text, match.start() - 1, match.start()):
                yield match


@dataclass(frozen=True, kw_only=True)
class _Sought:
    """A task with a key."""

    id: str
    prompt: str
    """Its words; empty for one that is short."""
    needed: frozenset[bytes]
    names: tuple[_Name, ...]
    parts: tuple[_Part, ...]

    def fits(self, words: Collection[bytes]) -> bool:
        """Tell whether a file of these words may hold it with its key."""
        asked = self._asked(words) or any(self.named(words))
        return asked and any(part.needed <= words for part in self.parts)

    def _asked(self, words: Collection[bytes]) -> bool:
        return bool(self.prompt) and self.needed <= words

    def named(self, words: Collection[bytes]) -> Iterator[_Name]:
        """Yield its names that may stand in a file of these words."""
        return (name for name in self.names if name.needed <= words)


class Finder:
    """The tasks of a session that have keys."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        sought = (_sought(task, task.key) for task in tasks if task.key)
        self._tasks = [task for task in sought if task.parts]
        self._by_word = defaultdict[bytes, list[_Sought]](list)
        for task in self._tasks:
            longest = {max(part.needed, key=len, default=b"") for part in task.parts}
            for word in longest:
                self._by_word[word].append(task)
        self._words = frozenset(self._by_word)

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def exposed(self, path: str, content: bytes) -> list[Exposed]:
        """List the tasks whose answer a file gives away, in the order of their lines. That a file
        is where it is gives nothing away: its own path in it does not count."""
        if content.startswith((b"\xff\xfe", b"\xfe\xff")):
            content = content.decode("utf-16", "replace").encode("utf-8", "replace")
        words = _words_of(content)
        hits = self._words & words
        fitting = {task.id: task for word in hits for task in self._by_word[word]}
        tasks = [task for task in fitting.values() if task.fits(words)]
        lines: dict[str, int] = {}
        for reading in _readings(content.decode("utf-8", "replace")) if tasks else ():
            for task, at in self._in_reading(_Reading(reading, path, words), tasks):
                lines.setdefault(task, reading.count("\n", 0, at) + 1)
        return sorted((Exposed(*item) for item in lines.items()), key=lambda it: it.line)

    def _in_reading(
        self, reading: "_Reading", tasks: Sequence[_Sought]
    ) -> Iterator[tuple[str, int]]:
        for task in tasks:
            if (at := reading.asked(task)) is not None:
                yield task.id, at
        rows = {task.id: row for task in tasks if (row := reading.row(task)) is not None}
        yield from ((id, row.at) for id, row in rows.items() if row.is_certain)
        telling = {id: row for id, row in rows.items() if not row.is_common}
        if len(telling) >= min(2, len(self._tasks)):
            yield from ((id, row.at) for id, row in telling.items())
        if len(rows) >= max(2, len(self._tasks) / 2):
            yield from ((id, row.at) for id, row in rows.items())


class _Row(NamedTuple):
    """An id, and behind it what its key names."""

    at: int
    is_certain: bool
    """Whether it is so written that nothing else can be meant."""
    is_common: bool


@dataclass(frozen=True)
class _Reading:
    """The text of a file, by one way to read it."""

    text: str
    path: str
    file_words: Collection[bytes]

    @cached_property
    def folded(self) -> str:
        return self.text.lower()

    @cached_property
    def words(self) -> str:
        return _words(self.text)

    def asked(self, task: _Sought) -> int | None:
        """Return where the prompt stands in a text that holds the key too; else `None`."""
        if not task.prompt or not task.needed <= self.file_words:
            return None
        at = self.words.find(task.prompt)
        if at < 0 or not any(self._holds(part, at, task) for part in task.parts):
            return None
        before = self.words.count(" ", 0, at)
        return next(islice(_WORD.finditer(self.folded), before, None)).start()

    def _holds(self, part: _Part, at: int, task: _Sought) -> bool:
        if part.path == self.path:
            return False
        if len(part.words) >= _SHORT + 2:
            return part.words in self.words
        end = at + len(task.prompt)
        return part.words in self.words[max(0, at - _NEAR) : end + _NEAR]

    def row(self, task: _Sought) -> _Row | None:
        """Return where the id stands with the key behind it, the most certain place."""
        best = None
        for name in task.named(self.file_words):
            for match in islice(name.found(self.folded), _MOST_PLACES):
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
        words = _words(record)
        places = (words.find(part.words) for part in task.parts if part.path != self.path)
        first = min((place for place in places if place >= 0), default=None)
        if first is None:
            return None
        before = words[: first + 1]
        if not is_labelled and before.count(" ") - 1 > _CELLS:
            return None
        is_certain = is_labelled is not None and (
            any(begin in before for begin in _OWN_FORMAT)
            or (not name.is_common and _ANSWER.search(record) is not None)
        )
        return _Row(match.start(), is_certain, name.is_common)


def _sought(task: Task, key: AnswerKey) -> _Sought:
    prompt, id_words = _words(task.prompt), _words(task.id)
    is_long = prompt.count(" ") > FEWEST_WORDS or (
        not prompt.isascii() and len(prompt) >= FEWEST_CHARACTERS + 2
    )
    names = [_name(task.id, re.escape(task.id.lower()), id_words)]
    if not is_long and prompt.strip():
        between = r"[\W_]+".join(map(re.escape, prompt.split()))
        names.append(_name(task.prompt, between, prompt))
    parts = {part.words: part for part in _parts(key)}
    # What the question says itself is no answer to it.
    secret = (
        part for part in parts.values() if part.words not in prompt and part.words not in id_words
    )
    return _Sought(
        id=task.id,
        prompt=prompt if is_long else "",
        needed=_needed(task.prompt),
        names=tuple(names),
        parts=tuple(part for part in secret if part.words.strip()),
    )


def _name(text: str, pattern: str, words: str) -> _Name:
    is_common = len(text) < FEWEST_WORDS or re.fullmatch(r"[A-Z]*[a-z]*", text) is not None
    return _Name(
        pattern=re.compile(rf"{pattern}(?![\w/\\-]|\.\w)"),
        is_common=is_common or (" " in text and words.count(" ") < 4),
        needed=_needed(text),
    )


def _parts(key: AnswerKey) -> Iterator[_Part]:
    for file in key.files:
        yield _part(file, file)
    for symbol in key.symbols:
        path, _, name = symbol.partition(SYMBOL_MARK)
        yield _part(path, path)
        yield _part(name, path)
    for fact in key.facts:
        yield _part(fact, "")


def _part(text: str, path: str) -> _Part:
    return _Part(words=_words(text), path=path, needed=_needed(text))


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.lower()))} "


def _needed(text: str) -> frozenset[bytes]:
    return frozenset(word.lower().encode() for word in _PLAIN_WORD.findall(text))


def _words_of(content: bytes) -> set[bytes]:
    """Return the words of letters and digits, in small letters; also without the letter of an
    escape before them. An empty one is always there."""
    words, start, folded = {b""}, 0, content.translate(_FOLDED)
    while start < len(folded):
        end = folded.find(b" ", start + _CHUNK)
        end = len(folded) if end < 0 else end
        words.update(folded[start:end].split())
        start = end
    if b"\\" in content:
        words.update(word.lower() for word in _AFTER_ESCAPE.findall(content))
    return words


def _readings(text: str) -> Iterator[str]:
    """Yield the text as it is, and as what reads it would; lines stay lines."""
    yield text
    if "\\" in text:
        once = _ESCAPE.sub(_meant, text)
        yield once
        if "\\" in once:  # JSON within JSON
            yield _ESCAPE.sub(_meant, once)
    if "&" in text:
        yield html.unescape(text)


def _meant(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code:
        return chr(int(code, 16))
    return " " if match[3] in "nrtbf0" else match[3]


