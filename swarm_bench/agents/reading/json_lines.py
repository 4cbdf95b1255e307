"""Finds JSON objects in output that may hold anything. Never raises on content.

One object per line is the ordinary case; an array of objects, objects in sequence, and objects
spread over lines are read as well.
"""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarm_bench.runtime.untrusted import opened

Json = dict[str, Any]

_SURROGATES = re.compile("[\ud800-\udfff]+")
_BEGIN = re.compile(r"^[ \t]*[\[{]", re.MULTILINE)
_BETWEEN = re.compile(r"[ \t\r\n,\[\]]*")
MAX_WHOLE_BYTES = 16 * 1024 * 1024
MAX_FIGURE = 2**53
MAX_NOISE = 10_000
"""Lines that begin as an object and are none, or values that are none; with more of them it is not
worth the time to read the rest."""


@dataclass(frozen=True, kw_only=True)
class JsonObject:
    """An object and the bytes it was read from."""

    value: Json
    raw: bytes


def objects(path: Path) -> Iterator[JsonObject]:
    """Yield the JSON objects of a file, line by line; bytes that are not JSON are passed over.

    A file without a single object on a line of its own is tried as a whole, up to 16 MiB.
    """
    anything, noise = False, 0
    with opened(path) as file:
        for line in file:
            item = None
            for item in in_line(line):
                anything = anything or isinstance(item.value.get("type"), str)
                yield item
            noise += item is None and line.lstrip()[:1] in (b"{", b"[")
            if noise > MAX_NOISE:
                break
        if not anything and file.seek(0, os.SEEK_END) <= MAX_WHOLE_BYTES:
            file.seek(0)
            yield from in_text(file.read())


def in_line(line: bytes) -> Iterator[JsonObject]:
    """Return the objects of one line; none when the line does not begin with one."""
    stripped = line.strip()
    return in_text(stripped) if stripped[:1] in (b"{", b"[") else iter(())


def event_in(line: bytes) -> Json:
    """Return the first object of one line, or an empty one."""
    return next((item.value for item in in_line(line)), {})


def in_text(data: bytes) -> Iterator[JsonObject]:
    """Yield objects in sequence, also inside one array, until something else comes."""
    # surrogateescape, so that the raw bytes can be given back as they were.
    text = data.decode("utf-8", "surrogateescape")
    position, noise = _after(text, _first_object(text)), 0
    while position < len(text) and noise <= MAX_NOISE:
        try:
            value, end = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            return
        if isinstance(value, dict):
            raw = text[position:end].encode("utf-8", "surrogateescape")
            yield JsonObject(value=value, raw=raw)
        else:
            noise += 1
        position = _after(text, end)


def _after(text: str, position: int) -> int:
    """Return where the next value begins: past white space, commas and brackets."""
    between = _BETWEEN.match(text, position)
    return between.end() if between else position


def _first_object(text: str) -> int:
    """Return where a line begins with an object or an array; the end when there is none."""
    begin = _BEGIN.search(text)
    return begin.start() if begin else len(text)


def _no_number(_text: str) -> None:
    """Refuse NaN and the infinities, which are no figures."""


_DECODER = json.JSONDecoder(parse_constant=_no_number)


def text_of(value: object) -> str | None:
    """Return a string that can be written as UTF-8, or `None`."""
    if not isinstance(value, str):
        return None
    return value if value.isascii() else _SURROGATES.sub("\ufffd", value)


def clause_of(value: object, limit: int = 300) -> str | None:
    """Put a string on one line, and cut it; `None` when it is empty or no string."""
    line = " ".join((text_of(value) or "").split())
    return (line if len(line) <= limit else line[: limit - 1] + "…") or None


def count_of(value: object) -> int | None:
    """Return a number of things, or `None` for whatever else stands there."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_FIGURE:
        return None
    return value


def amount_of(value: object) -> float | None:
    """Return a figure of at least 0, or `None` for whatever else stands there."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= MAX_FIGURE else None


def object_of(value: object) -> Json:
    """Return the object, or an empty one for whatever else stands there."""
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    """Return the list, or an empty one for whatever else stands there."""
    return value if isinstance(value, list) else []
