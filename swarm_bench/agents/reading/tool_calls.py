"""What a transcript's tool calls cost, seconds and tokens by the ids of the calls, and the commands
and paths in them, cut: they are examined and not kept."""

import math
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from swarm_bench.agents.reading.json_lines import as_object, as_text
from swarm_bench.runtime.mcp.results import read_result
from swarm_bench.text import tokens

MAX_ENTRIES = 1_000
"""Different commands, and different paths, of an agent that are examined."""
MAX_LENGTH = 4_000
"""Characters of each."""
_COMMAND = ("command", "cmd", "script", "commands")
_PATH = (
    *("file_path", "filePath", "absolute_path", "path", "paths", "dir_path", "notebook_path"),
    *("directory", "target_file", "file", "files", "relative_path", "filename", "uri"),
)
_WRITING = frozenset(
    {"write", "edit", "multiedit", "notebookedit", "writefile", "replace", "applypatch", "delete"}
)
"""Tools, without `_` and in lower case, that read nothing."""


@dataclass(frozen=True)
class Span:
    """The time in which a call was open, in seconds of the same clock."""

    begin: float
    end: float


def sum_seconds(calls: Mapping[str, str], spans: Mapping[str, Span]) -> dict[str, float] | None:
    """Sum up the time in which at least one call of a tool was open, by its name: what calls that
    were made together share is counted once. A tool is omitted when one of its calls has no span;
    `None` when there are calls and none has one."""
    if calls and not calls.keys() & spans.keys():
        return None
    of_tools = defaultdict[str, list[Span | None]](list)
    for key, name in calls.items():
        of_tools[name].append(spans.get(key))
    known_spans = {
        name: [span for span in of_tool if span is not None] for name, of_tool in of_tools.items()
    }
    return {
        name: round(_sum_covered(known_spans[name]), 6)
        for name, of_tool in of_tools.items()
        if len(known_spans[name]) == len(of_tool)
    }


def _sum_covered(spans: list[Span]) -> float:
    total, covered_until = 0.0, -math.inf
    for span in sorted(spans, key=lambda span: span.begin):
        total += max(0.0, span.end - max(span.begin, covered_until))
        covered_until = max(covered_until, span.end)
    return total


def tokens_by_tool(calls: Mapping[str, str], counts: Mapping[str, int | None]) -> dict[str, int]:
    """Sum up the tokens of a tool's results, by its name; a call without a result put nothing
    before the model. A tool is omitted when one of its results could not be counted."""
    missing = {name for key, name in calls.items() if counts.get(key, 0) is None}
    total = Counter[str]()
    for key, name in calls.items():
        total[name] += counts.get(key, 0) or 0
    return {name: tokens for name, tokens in total.items() if name not in missing}


def count_tokens(content: object) -> int | None:
    """Count the tokens of a result, in any form of `read_result`; `None` when not all of it is
    text."""
    result = read_result(content)
    return (
        tokens.count("".join(result.parts)) if result is not None and result.is_complete else None
    )


def parse_time(value: object) -> datetime | None:
    """Parse a time with its zone, as ISO 8601 writes it."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo is not None else None


def make_span(begin: datetime | None, end: datetime | None) -> Span | None:
    """Return the span of two moments; `None` when one is missing, or the clock was set back."""
    if begin is None or end is None or end < begin:
        return None
    return Span(begin.timestamp(), end.timestamp())


def make_span_until(end: datetime | None, seconds: float | None) -> Span | None:
    """Return the span of so many seconds up to a moment; `None` when one of the two is missing."""
    if end is None or seconds is None:
        return None
    return Span(end.timestamp() - seconds, end.timestamp())


class Commands:
    """The commands and paths of calls, whatever the tools are called: by the names of arguments."""

    def __init__(self) -> None:
        self._lines: dict[str, None] = {}
        self._paths: dict[str, None] = {}

    def add_call(self, tool: str, arguments: object) -> None:
        """Note what a call names."""
        values = as_object(arguments)
        for key in filter(values.__contains__, _COMMAND):
            _note(self._lines, _lines(values[key]))
        if tool.replace("_", "").lower() not in _WRITING:
            for key in filter(values.__contains__, _PATH):
                _note(self._paths, _texts(values[key]))

    def outcome_fields(self, has_events: bool) -> dict[str, Any]:
        """Return command lines of shells, and files and folders that were read or searched, as
        fields of an outcome; missing where there are no events (`has_events`)."""
        if not has_events:
            return {}
        return {"commands": tuple(self._lines), "paths": tuple(self._paths)}


def limit_texts(texts: Iterable[str]) -> tuple[str, ...]:
    """Cut the texts, and their number, to what is examined."""
    entries: dict[str, None] = {}
    _note(entries, texts)
    return tuple(entries)


def _note(entries: dict[str, None], texts: Iterable[str]) -> None:
    for text in texts:
        if len(entries) < MAX_ENTRIES:
            entries.setdefault(text[:MAX_LENGTH])


def _lines(value: object) -> list[str]:
    """Return a command line, also where it is a list of arguments."""
    texts = _texts(value)
    return [shlex.join(texts)] if isinstance(value, list) and texts else texts


def _texts(value: object) -> list[str]:
    items = value if isinstance(value, list) else [value]
    return [text for item in items if (text := as_text(item)) is not None]
