"""The commands and paths in a transcript's tool calls, cut: they are examined and not kept."""

import shlex
from collections.abc import Iterable
from typing import Any

from swarm_bench.agents.reading.json_lines import as_object, as_text

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
