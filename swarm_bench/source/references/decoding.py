"""A text as it reads when names in it are decoded that programs write otherwise."""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from typing import cast
from unicodedata import normalize
from urllib.parse import unquote

_ESCAPED = re.compile(
    r"(?P<bytes>(?:\\[0-3][0-7]{2})+)|(?P<units>(?:\\u[0-9a-fA-F]{4})+)|(?P<quote>'\\''|'\"'\"')"
    r"|(?P<hex>(?:\\x[0-9a-fA-F]{2})+)|\\(?:u\{(?P<point>[0-9a-fA-F]{1,5})\}|U000(?P<long>[0-9a-fA-F]{5}))"
    r"|\\(?P<plain>[^A-Za-z0-9])|\\(?P<blank>[tn])"
)
"""Escapes of shells, git, JSON, Markdown and literals of programs."""
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2})+")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-z]{2,6});")
_SEPARATORS = re.compile(r"\\+/?")


@dataclass(frozen=True)
class View:
    """A text as it reads when what is written otherwise is decoded."""

    text: str
    at: Callable[[int], int]
    """Function from a position in this text to one in the original text."""

    def decode(self, pattern: re.Pattern[str], decode: Callable[[re.Match[str]], str]) -> "View":
        """Replace what the pattern matches."""
        pieces: list[str] = []
        source_offsets, target_offsets = [0], [0]
        end = length = 0
        for match in pattern.finditer(self.text):
            piece = decode(match)
            pieces += [self.text[end : match.start()], piece]
            length += match.start() - end
            source_offsets += [length, length + len(piece)]
            target_offsets += match.span()
            length += len(piece)
            end = match.end()
        if not pieces:
            return self
        source_offsets.append(length + len(self.text) - end)
        target_offsets.append(len(self.text))

        def at(position: int) -> int:
            nearest = bisect_right(source_offsets, position) - 1
            last = target_offsets[min(nearest + 1, len(target_offsets) - 1)]
            return self.at(min(target_offsets[nearest] + position - source_offsets[nearest], last))

        return View("".join([*pieces, self.text[end:]]), at)


def views(text: str, *, composes: bool) -> Iterator[View]:
    """Yield the text as it stands, and as it reads when it is decoded in one of the ways.
    `composes` says whether letters are composed in it as well."""
    plain = View(text, lambda position: position)
    decoders = [
        plain,
        plain.decode(_ESCAPED, _decode_escape),
        plain.decode(_SEPARATORS, lambda _: "/"),
        plain.decode(_PERCENT, lambda match: unquote(match[0])),
        plain.decode(_ENTITY, lambda match: unescape(match[0])),
    ]
    for number, view in enumerate(decoders):
        if number and view is plain:
            continue
        if not composes or view.text.isascii():
            yield view
        else:
            yield view.decode(_composing(), _compose)


def decode_escapes(name: str) -> str:
    """Decode a name that is written as for a shell."""
    return _ESCAPED.sub(_decode_escape, name)


def nfc(text: str) -> str:
    return normalize("NFC", text)


def lower(text: str) -> str:
    """Return a text of the same length without capital letters."""
    return text.replace("\u0130", "i").lower()


@lru_cache(maxsize=1)
def _composing() -> re.Pattern[str]:
    """Match letters with the marks above them, as many as any language has, and letters that are
    others in a composed text."""
    import regex  # only where a repository has such names

    pattern = r"\P{M}\p{M}{1,30}+|[\u1100-\u115f][\u1160-\u11a7][\u11a8-\u11ff]?|[^\x00-\x7f]"
    return cast("re.Pattern[str]", regex.compile(pattern))


def _compose(match: re.Match[str]) -> str:
    return nfc(match[0])


def _decode_escape(match: re.Match[str]) -> str:
    """Decode what backslashes and quotes stand for."""
    if octal := match["bytes"]:
        return bytes(int(code, 8) for code in octal.split("\\")[1:]).decode(
            "utf-8", "surrogateescape"
        )
    if codes := match["hex"]:
        return _decode_bytes(bytes.fromhex(codes.replace("\\x", "")))
    if point := match["point"] or match["long"]:
        return chr(int(point, 16))
    if units := match["units"]:
        return str(json.loads(f'"{units}"'))
    if match["quote"]:
        return "'"
    return {"t": "\t", "n": "\n"}.get(match["blank"] or "") or match["plain"]


def _decode_bytes(codes: bytes) -> str:
    """Decode UTF-8, or single letters where it is none."""
    try:
        return codes.decode()
    except UnicodeDecodeError:
        return codes.decode("latin-1")
