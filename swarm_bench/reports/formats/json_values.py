"""Values of transcripts and records as strict JSON, whatever an agent printed."""

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

_SURROGATES = re.compile("[\ud800-\udfff]")
_MOST_LEVELS = 50
"""Levels of lists and objects that every reader of JSON takes."""
_MOST_BITS = 63


def write_json(value: Any) -> str:
    """Write a value on one line of ASCII, so that no terminal obeys it."""
    return json.dumps(clean(value), allow_nan=False).replace("\x7f", "\\u007f")


def clean(value: Any, level: int = 0) -> Any:
    """Return a value that every reader takes: halves of surrogate pairs are replaced, numbers that
    JSON lacks or that exceed 64 bits are texts, and what is nested too deeply is a text of its
    own."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, int):
        return value if value.bit_length() <= _MOST_BITS else f"{value:#x}"
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if level >= _MOST_LEVELS:
        return f"(omitted: nested deeper than {_MOST_LEVELS} levels)"
    if isinstance(value, Mapping):
        return {clean_text(str(key)): clean(item, level + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [clean(item, level + 1) for item in value]
    return clean_text(str(value))


def clean_text(text: str) -> str:
    """Replace halves of surrogate pairs, which UTF-8 cannot hold."""
    return str(text) if text.isascii() else _SURROGATES.sub("\ufffd", text)


def drop_missing(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries that there are: a format must not read what is missing as a value."""
    return {key: value for key, value in values.items() if value is not None}


def write_moment(seconds: float) -> str | None:
    """Write seconds of the epoch as ISO 8601, in UTC; `None` for what no calendar has."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None
