"""Finds JSON objects in output that may hold anything. Never raises on content.

One object per line is the ordinary case; an array of objects, objects in sequence, and objects
spread over lines are read as well. An object within a line of other words is somebody's quotation.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarm_bench.runtime.untrusted import open_untrusted
from swarm_bench.text.terminal import strip_formatting

Json = dict[str, Any]

_SURROGATES = re.compile("[\ud800-\udfff]+")
_MARK = r"[ \t\ufeff]|data:|[\x9b\udc9b][0-?]*[ -/]*[@-~]"
"""Text that can stand before JSON on a line, beside what `plain` takes out; `data:` in a stream of
server-sent events, which programs pass on."""
_BEGIN = re.compile(rf"(?:\A|[\r\n])(?:{_MARK})*(?=[\[{{])")
_END = re.compile(rf"(?:{_MARK})*(?:[\r\n\[{{]|\Z)")
_BETWEEN = re.compile(rf"(?:[\r\n]|{_MARK})*")
_IN_ARRAY = re.compile(rf"(?:[\r\n,\[\]]|{_MARK})*")
_CONVINCING = re.compile(r'\{\s*(?:"|\Z)|\[\s*\{')
"""Beginning of JSON rather than of a line of a log."""
MAX_WHOLE_BYTES = 16 * 1024 * 1024
MAX_FIGURE = 2**53
MAX_NOISE = 10_000
"""Lines that begin as JSON and are none; with more of them it is not worth the time to read the
rest."""
_MAX_TRIED = 16
"""How many times the length of a text is read in vain: what a line begins may only show at the end
that it is no JSON."""


@dataclass(frozen=True, kw_only=True)
class JsonObject:
    """An object and the bytes it was read from."""

    value: Json
    raw: bytes


def read_objects(path: Path) -> Iterator[JsonObject]:
    """Yield the JSON objects of a file in their order; what is no JSON is passed over.

    In a file of more than 16 MiB each object must be on a line of its own.
    """
    with open_untrusted(path) as file:
        data = file.read(MAX_WHOLE_BYTES + 1)
        if len(data) <= MAX_WHOLE_BYTES:
            yield from parse_objects(data)
            return
        file.seek(0)
        noise = 0
        for line in file:
            item = None
            for item in parse_objects(line):
                yield item
            noise += item is None and line.lstrip()[:1] in (b"{", b"[")
            if noise > MAX_NOISE:
                return


def events_in(line: bytes) -> Iterator[Json]:
    """Yield the objects of one line that say what kind of event they are."""
    return (item.value for item in parse_objects(line) if isinstance(item.value.get("type"), str))


def may_end_document(line: bytes) -> bool:
    """Tell whether a document that is spread over lines may end with this one."""
    return len(line) < 100 and strip_formatting(line).rstrip() in (b"}", b"]")


def broken_off(data: bytes) -> str | None:
    """Return an object or array that begins a line, the last one or the first, and breaks off at
    the end of an output; `None` without one."""
    text = strip_formatting(data).decode("utf-8", "replace").rstrip("\r\n")
    last = _next_begin(text, text.rfind("\n") if "\n" in text else 0)
    for start in dict.fromkeys((last, _next_begin(text, 0))):
        try:
            _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            at_end = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
            if at_end and _CONVINCING.match(text, start):
                return text[start:]
        except (ValueError, RecursionError):
            continue
    return None


def parse_objects(data: bytes) -> Iterator[JsonObject]:
    """Yield the objects that begin a line or follow one there, also inside of one array."""
    # surrogateescape, so that the raw bytes can be given back as they were.
    text = strip_formatting(data).decode("utf-8", "surrogateescape")
    for value, begin, end in _parse_values(text, _IN_ARRAY):
        if isinstance(value, dict):
            raw = text[begin:end].encode("utf-8", "surrogateescape")
            yield JsonObject(value=value, raw=raw)


def parse_documents(data: bytes) -> list[Any]:
    """Return the JSON documents of an output: all of it, or else those between its other lines,
    where a list without objects counts only if there is nothing else."""
    text = strip_formatting(data).decode("utf-8", "surrogateescape")
    with suppress(ValueError, RecursionError):
        return [_DECODER.decode(text.strip("\ufeff \t\r\n"))]
    candidates = [value for value, _, end in _parse_values(text, _BETWEEN) if _END.match(text, end)]
    return [
        value for value in candidates if isinstance(value, dict) or _has_objects(value)
    ] or candidates


def _has_objects(values: list[Any]) -> bool:
    return any(isinstance(value, dict | list) for value in values)


def _parse_values(text: str, between: re.Pattern[str]) -> Iterator[tuple[Any, int, int]]:
    """Yield objects and arrays that begin a line, or follow one after what may stand between them;
    each with its beginning and its end."""
    position, noise, tried = _next_begin(text, 0), 0, 0
    while position < len(text) and noise <= MAX_NOISE and tried <= _MAX_TRIED * len(text):
        begin = _skip(between, text, position)
        value = None
        try:
            value, end = _DECODER.raw_decode(text, begin)
        except json.JSONDecodeError as error:
            tried += error.pos - begin
        except (ValueError, RecursionError):  # a number without end, or brackets
            tried += len(text) - begin
        if isinstance(value, dict | list):
            yield value, begin, end
            position = _skip(between, text, end)
            if text[position : position + 1] not in ("{", "["):
                position = _next_begin(text, position)
        else:
            noise += 1
            position = _next_begin(text, begin + 1)


def _skip(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position


def _next_begin(text: str, position: int) -> int:
    """Return where the next line begins with an object or an array; the end when there is none."""
    begin = _BEGIN.search(text, position)
    return begin.end() if begin else len(text)


def _no_number(_text: str) -> None:
    """Read NaN and the infinities as nothing: they are no figures."""


_DECODER = json.JSONDecoder(parse_constant=_no_number)


def as_text(value: object) -> str | None:
    """Return a string that can be written as UTF-8, or `None`."""
    if not isinstance(value, str):
        return None
    return value if value.isascii() else _SURROGATES.sub("\ufffd", value)


def as_clause(value: object, limit: int = 300) -> str | None:
    """Put a string on one line, and cut it; `None` when it is empty or no string."""
    line = " ".join((as_text(value) or "").split())
    return (line if len(line) <= limit else line[: limit - 1] + "…") or None


def as_count(value: object) -> int | None:
    """Return a number of things, or `None` for whatever else stands there."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_FIGURE:
        return None
    return value


def as_amount(value: object) -> float | None:
    """Return a figure of at least 0, or `None` for whatever else stands there."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= MAX_FIGURE else None


def as_object(value: object) -> Json:
    """Return the object, or an empty one for whatever else stands there."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return the list, or an empty one for whatever else stands there."""
    return value if isinstance(value, list) else []
