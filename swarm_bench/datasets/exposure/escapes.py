"""The words of a text in whatever format: its escapes, quotes and line breaks are undone."""

import html
import re
import sys
from collections.abc import Iterator

_CHUNK = 1_000_000
"""Bytes that are parted into words at a time."""
WORD = re.compile(r"[^\W_]+")
_PLAIN_WORD = re.compile(r"(?<![^\s!#$%()*+,\-./:;=?@\[\\\]^_`{|}~])[A-Za-z0-9]+", re.ASCII)
"""One that every escape leaves as it is: what JSON or HTML may write otherwise before it could be
read as a part of it."""
_AFTER_ESCAPE = re.compile(rb"\\[nrtbf]([A-Za-z0-9]+)")
_ESCAPE = re.compile(
    r"\\(?:u([\dA-Fa-f]{4})|U(00[01][\dA-Fa-f]{5})|x([\dA-Fa-f]{2})|(.))", re.DOTALL | re.ASCII
)
_FOLDED = bytes(
    byte | 0x20 if 65 <= byte <= 90 else byte if chr(byte).isalnum() and byte < 128 else 32
    for byte in range(256)
)


def tokens_in(text: str) -> str:
    """Return its words, with a space before and behind each."""
    return f" {' '.join(WORD.findall(text))} "


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
    if b"\\" in content:
        tokens.update(word.lower() for word in _AFTER_ESCAPE.findall(content))
    return tokens


def readings(text: str) -> Iterator[str]:
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
    if code := match[1] or match[2] or match[3]:
        number = int(code, 16)
        return chr(number) if number <= sys.maxunicode else " "
    return " " if match[4] in "nrtbf0" else match[4]
