"""What of a task is looked for in files: its prompt or its id, and what its key names. In whatever
format: escapes, quotes and line breaks are undone."""

import html
import re
import sys
import unicodedata
from collections.abc import Iterator, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import PurePosixPath
from urllib.parse import unquote

from swarm_bench.core.session.tasks import SYMBOL_MARK, AnswerKey, Task
from swarm_bench.source.facts import matching

_FEWEST_WORDS = 5
"""Fewest words of a prompt that is looked for wherever it stands. A shorter one is taken for a
name, as an id is: it may stand in any file."""
_FEWEST_CHARACTERS = 8
"""Fewest characters of such a prompt in a script that does not separate its words."""
_FEWEST_LETTERS = 3
"""Fewest letters of a word that is found within a longer one."""
_ANYTHING = "true false 0 1 2"
_PATH_PART = re.compile(r"/|\.\w+$")
_WITHIN = re.compile(r"[\w/.\\-]")


@dataclass(frozen=True, kw_only=True)
class Part:
    """One file, symbol or fact of an answer key."""

    tokens: bytes
    needed: frozenset[bytes]
    """Words without which it stands in no file."""
    short_forms: tuple[bytes, ...] = ()
    """Short forms that count right beside its question: a file without its folders, or as a
    module."""


@dataclass(frozen=True, kw_only=True)
class Name:
    """An id, or a prompt that is as short as one."""

    pattern: re.Pattern[str]
    is_common: bool
    """Whether it may stand in any file."""
    needed: frozenset[bytes]
    tokens: tuple[bytes, ...]
    is_prompt: bool
    is_numbered: bool
    """Whether it has letters and digits, as nothing but a name has."""

    def is_said_by(self, part: Part) -> bool:
        """Tell whether the part has its words anyway, as `app/rate_limit.py` has `rate-limit`."""
        letters = part.tokens.replace(b" ", b"")
        return all(
            (word in letters and len(word) >= _FEWEST_LETTERS) or b" %b " % word in part.tokens
            for word in self.tokens
        )

    def hints_at(self, part: Part) -> bool:
        """Tell whether one of its words is in the part, as `auth-rules` hints at `app/auth.py`."""
        letters = part.tokens.replace(b" ", b"")
        return any(word in letters and len(word) >= _FEWEST_LETTERS for word in self.tokens)

    def stands_in_path(self, path: str) -> bool:
        """Tell whether a folder or the file is called so."""
        return any(tokens_in(part).split() == [*self.tokens] for part in _PATH_PART.split(path))

    def standing_in(self, text: str) -> Iterator[re.Match[str]]:
        """Yield where it stands for itself, and not in a path or a longer name."""
        for match in self.pattern.finditer(text):  # which is fast without a look behind
            if not _WITHIN.search(text, match.start() - 1, match.start()):
                yield match


@dataclass(frozen=True, kw_only=True)
class Sought:
    """A task with a key."""

    id: str
    prompt: bytes
    """Words of the prompt; empty for one that is short."""
    triples: tuple[bytes, ...]
    """Groups of three words of the prompt that follow each other."""
    whole_words: tuple[bytes, ...]
    """Its words that every format has, of which the first may end a longer one, and the last begin
    one."""
    pattern: re.Pattern[str]
    """The words of the prompt."""
    needed: frozenset[bytes]
    """Words without which the prompt stands in no file: not the first and the last one, to which
    the fields of a database are joined."""
    names: tuple[Name, ...]
    parts: tuple[Part, ...]
    files: frozenset[str]
    """Files that a right answer names, which are what has to be found."""
    facts: frozenset[str]
    """Patterns that match neither the prompt nor anything else."""

    def fits(self, tokens: Set[bytes]) -> bool:
        """Tell whether a file of these words may hold it with its key."""
        if self.prompt and self.needed and self.needed <= tokens:
            return True
        has_prompt = (self.prompt and self.needed <= tokens) or any(self.find_names(tokens))
        return bool(has_prompt) and any(part.needed <= tokens for part in self.parts)

    def triggers(self) -> set[bytes]:
        """Return words of which each file that gives it away has one."""
        needed = [part.needed for part in self.parts]
        needed += [self.needed] if self.prompt and self.needed else []
        return {max(alternatives, key=len, default=b"") for alternatives in needed}

    def find_names(self, tokens: Set[bytes]) -> Iterator[Name]:
        """Yield its names that may stand in a file of these words."""
        return (name for name in self.names if name.needed <= tokens)


def build_sought(task: Task, key: AnswerKey) -> Sought:
    prompt, id_tokens = tokens_in(fold(task.prompt)), tokens_in(task.id.lower())
    is_long = prompt.count(b" ") > _FEWEST_WORDS or (
        not prompt.isascii() and len(task.prompt) >= _FEWEST_CHARACTERS
    )
    names = [_name(task.id, re.escape(task.id.lower()), id_tokens, is_prompt=False)]
    for text in [task.keywords, *([] if is_long else [task.prompt])]:
        if pattern := _split_name(text):
            names.append(_name(text, pattern, tokens_in(fold(text)), is_prompt=True))
    parts = {part.tokens: part for part in _parts(key)}
    # What the question says itself is no answer to it.
    secret = (
        part
        for part in parts.values()
        if part.tokens not in prompt and part.tokens not in id_tokens
    )
    inner = re.fullmatch(r"\s*\S+(.*)\s\S+\s*$", task.prompt, re.DOTALL)
    needed = plain_words(inner[1] if inner else task.prompt)
    return Sought(
        id=task.id,
        prompt=prompt if is_long else b"",
        triples=tuple(_triples(prompt.split())),
        whole_words=tuple(_find_whole_words(needed, prompt.split())),
        pattern=re.compile(_split_name(task.prompt)),
        needed=needed,
        names=tuple(names),
        parts=tuple(part for part in secret if part.tokens.strip()),
        files=frozenset(
            [*key.files, *(symbol.partition(SYMBOL_MARK)[0] for symbol in key.symbols)]
        ),
        facts=frozenset(_select_telling(key.facts, task.prompt)),
    )


def _triples(prompt: list[bytes]) -> Iterator[bytes]:
    for three in zip(prompt, prompt[1:], prompt[2:], strict=False):
        yield b" %b " % b" ".join(three)


def _find_whole_words(needed: frozenset[bytes], prompt: list[bytes]) -> Iterator[bytes]:
    yield from (b" %b " % word for word in needed)
    yield from (b"%b " % word for word in prompt[:1] if word.isascii())
    yield from (b" %b" % word for word in prompt[-1:] if word.isascii())


def _split_name(text: str) -> str:
    return r"[\W_]+".join(map(re.escape, WORD.findall(fold(text))))


def _select_telling(facts: tuple[str, ...], prompt: str) -> Iterator[str]:
    for fact in facts:
        with suppress(TimeoutError):
            if not matching([fact], f"{prompt}\n{_ANYTHING}"):
                yield fact


def _name(text: str, pattern: str, tokens: bytes, *, is_prompt: bool) -> Name:
    is_common = len(text) < _FEWEST_WORDS or re.fullmatch(r"[A-Z]*[a-z]*", text) is not None
    return Name(
        pattern=re.compile(rf"{pattern}(?![\w/\\-]|\.\w)"),
        is_common=is_common or (" " in text and tokens.count(b" ") < 4),
        needed=plain_words(text),
        tokens=tuple(tokens.split()),
        is_prompt=is_prompt,
        is_numbered=re.search(r"[^\W\d]", text) is not None and re.search(r"\d", text) is not None,
    )


def _parts(key: AnswerKey) -> Iterator[Part]:
    for file in key.files:
        short = [PurePosixPath(file).name, str(PurePosixPath(file).with_suffix(""))]
        forms = tuple(tokens_in(fold(form)) for form in short)
        needed = plain_words(PurePosixPath(file).name)
        yield replace(_part(file), needed=needed, short_forms=forms)
    for symbol in key.symbols:
        path, _, name = symbol.partition(SYMBOL_MARK)
        yield _part(path)
        yield _part(name)
    for fact in key.facts:
        yield _part(fact)


def _part(text: str) -> Part:
    return Part(tokens=tokens_in(fold(text)), needed=plain_words(text))


_CHUNK = 1_000_000
"""Bytes that are parted into words at a time."""
_START = 400
"""Bytes of a file by which UTF-16 and UTF-32 are told."""
_OLDER = ("latin-1", "cp437")
"""Encodings of a text that is no Unicode."""
WORD = re.compile(r"[^\W_]+")
_PLAIN_WORD = re.compile(
    r"(?<![^\s!#$%()*+,\-./:;=?@\[\\\]^_`{|}~])[A-Za-z0-9]+(?![A-Za-z0-9\x80-\U0010ffff])", re.ASCII
)
"""Word that every escape leaves as it is: before it there is no character whose escape in JSON or
HTML could be read as a part of it."""
_AFTER_ESCAPE = re.compile(
    rb"(?:\\(?:[nrtbf]|u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2})|%[\dA-Fa-f]{2})([A-Za-z0-9]+)"
)
_ESCAPE = re.compile(
    r"\\(?:u([\dA-Fa-f]{4})|U(00[01][\dA-Fa-f]{5})|x([\dA-Fa-f]{2})|(.))", re.DOTALL | re.ASCII
)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_PUNCTUATION = re.compile(rb"\xe2[\x80\x81].|\xc2[\xa0-\xbf]|\xe3\x80.|\xf0\x9f..", re.DOTALL)
"""Dashes, quotes, spaces and emoji; of UTF-8, all else beyond it is taken for letters."""
_FOLDED = bytes(
    byte | 0x20 if 65 <= byte <= 90 else byte if chr(byte).isalnum() and byte < 128 else 32
    for byte in range(256)
)
_LETTERS = _FOLDED[:128] + bytes(range(128, 256))


def text_of(content: bytes) -> bytes:
    """Return the bytes in UTF-8 if they are UTF-16 or UTF-32, with or without a mark."""
    start = content[:_START]
    zeros = [start[at::4].count(0) / max(1, len(start[at::4])) for at in range(4)]
    mark = None
    if start.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")) or (
        max(zeros[0], zeros[3]) > 0.9 > 0.1 > min(zeros[0], zeros[3]) and zeros[1] + zeros[2] > 1.8
    ):
        mark = "utf-32-be" if zeros[0] > zeros[3] else "utf-32-le"
    elif start.startswith((b"\xff\xfe", b"\xfe\xff")):
        mark = "utf-16"
    else:
        first, second = start[::2].count(0), start[1::2].count(0)
        if max(first, second) > max(len(start) * 0.4, 8 * min(first, second)):
            mark = "utf-16-le" if second > first else "utf-16-be"
    return content.decode(mark, "replace").encode("utf-8", "replace") if mark else content


def fold(text: str) -> str:
    """Return it in small letters, with each accent in one character with its letter."""
    return unicodedata.normalize("NFC", text.lower())


def tokens_in(text: str) -> bytes:
    """Return its words, with a space before and behind each. Ten times as fast as with an
    expression that knows the letters of all scripts."""
    return b" %b " % b" ".join(_split_words(text))


def line_of_word(text: str, number: int) -> int:
    """Return the line, from 1, in which the word of that number, from 0, stands."""
    lines = text.split("\n")
    line_ends = accumulate(len(_split_words(line)) for line in lines)
    return next((line for line, end in enumerate(line_ends, start=1) if end > number), len(lines))


def _split_words(text: str) -> list[bytes]:
    content = text.encode("utf-8", "replace")
    if not text.isascii():
        content = _PUNCTUATION.sub(b" ", content)
    return content.translate(_LETTERS).split()


def plain_words(text: str) -> frozenset[bytes]:
    """Return words without which a file cannot hold the text, whatever it escapes."""
    return frozenset(word.lower().encode() for word in _PLAIN_WORD.findall(text))


def words_of(content: bytes) -> set[bytes]:
    """Return the words of letters and digits, in small letters; also without the letter of an
    escape before them. An empty one is always there."""
    tokens, start, folded = {b""}, 0, content.translate(_FOLDED)
    while start < len(folded):
        end = folded.find(b" ", start + _CHUNK)
        end = len(folded) if end < 0 else end
        tokens.update(folded[start:end].split())
        start = end
    if b"\\" in content or b"%" in content:
        tokens.update(word.lower() for word in _AFTER_ESCAPE.findall(content))
    return tokens


def readings(content: bytes) -> Iterator[str]:
    """Yield the text as it is, and as what reads it would; lines stay lines."""
    try:
        yield from _readings(content.decode())
    except UnicodeDecodeError:
        yield from _readings(content.decode("utf-8", "replace"))
        yield from map(content.decode, _OLDER)


def _readings(text: str) -> Iterator[str]:
    yield text
    if "\\" in text:
        once = _ESCAPE.sub(_decode_escape, text)
        yield once
        if "\\" in once:  # JSON within JSON
            yield _ESCAPE.sub(_decode_escape, once)
    if "&" in text or "</" in text:
        yield html.unescape(_TAG.sub(_lines, text))
    if "%" in text:
        yield unquote(text)


def _lines(match: re.Match[str]) -> str:
    """Return the lines of a tag, so that lines stay lines."""
    return " " + "\n" * match[0].count("\n")


def _decode_escape(match: re.Match[str]) -> str:
    if code := match[1] or match[2] or match[3]:
        number = int(code, 16)
        return chr(number) if number <= sys.maxunicode else " "
    return " " if match[4] in "nrtbf0" else match[4]
