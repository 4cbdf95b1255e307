"""The words of a text in whatever format: its escapes, quotes and line breaks are undone."""

import html
import re
import sys
import unicodedata
from collections.abc import Iterator
from itertools import accumulate
from urllib.parse import unquote

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
"""One that every escape leaves as it is: what JSON or HTML may write otherwise before it could be
read as a part of it."""
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
