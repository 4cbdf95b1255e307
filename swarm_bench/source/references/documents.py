"""The strings of a JSON document that may name files, with the lines and symbols beside them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from swarm_bench.text import tool_results

_PATHS = (*tool_results.PATHS, "uri", "filepath", "fileName", "file_name")
_NAMES = ("name", "symbol", "qualified_name", "qualifiedName", "name_path", "function")
_QUOTED = frozenset({*tool_results.TEXTS, "docstring", "doc", "body", "source", "code"})


@dataclass(frozen=True, kw_only=True)
class Value:
    """A string of a document."""

    text: str
    first_line: int | None = None
    last_line: int | None = None
    symbol: str | None = None
    is_again: bool = False
    """Whether it stands further above: a part of a file has its symbol and its lines."""


def values(
    document: object, subject: str = "", depth: int = tool_results.MAX_DEPTH
) -> Iterator[Value]:
    """Yield the strings of a document in its order, but for quoted source. `about` is the path of
    the file that it is about, if any."""
    match document:
        case _ if depth == 0:
            return
        case str() as text:
            yield Value(text=text)
        case list() as items:
            for item in items:
                yield from values(item, subject, depth - 1)
        case dict() as entries:
            yield from _entries(entries, subject, depth)


def _entries(entries: Mapping[str, Any], subject: str, depth: int) -> Iterator[Value]:
    path_key = next(
        (key for key in _PATHS if isinstance(entries.get(key), str) and entries[key]), None
    )
    first, last = tool_results.lines_of(entries)
    symbol = next((entries[key] for key in _NAMES if isinstance(entries.get(key), str)), None)
    if subject and not path_key and first and symbol:
        yield Value(text=subject, first_line=first, last_line=last, symbol=symbol, is_again=True)
    path = entries[path_key] if path_key else subject
    for key, value in entries.items():
        if key == path_key:
            yield Value(text=value, first_line=first, last_line=last, symbol=symbol)
        elif isinstance(value, list | dict):
            yield Value(text=key)
            yield from values(value, path, depth - 1)
        elif isinstance(value, str) and not (path and key in _QUOTED):
            yield from values(value, path, depth - 1)
