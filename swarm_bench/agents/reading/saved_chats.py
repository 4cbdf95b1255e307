"""Conversations that Gemini CLI, and Qwen Code which was made from it, save in their home: lines
of JSON. Nothing here trusts what lies there."""

import json
from itertools import islice
from pathlib import Path

from swarm_bench.agents.reading.json_lines import Json, as_list, as_object, as_text, parse_objects
from swarm_bench.runtime.mcp.results import read_result
from swarm_bench.runtime.untrusted import read_inside

MAX_CHATS = 100
MAX_CHAT_BYTES = 32 * 1024 * 1024
"""Limit for all conversations together."""


def chats_in(home: Path, pattern: str) -> tuple[Json, ...] | None:
    """Read the entries of all conversations; `None` without any, or when there are too many:
    figures from a part of them would be wrong."""
    matches = islice(home.glob(pattern), MAX_CHATS + 1)
    files = sorted(str(file.relative_to(home)) for file in matches)
    read, room = list[bytes](), MAX_CHAT_BYTES
    for file in files:
        data = read_inside(home, file, room)
        if data is not None:
            read.append(data)
            room -= len(data)
    if not read or room <= 0 or len(files) > MAX_CHATS:
        return None
    return tuple(entry.value for data in read for entry in parse_objects(data))


def answer_text(parts: object) -> str | None:
    """Return a tool's answer as the model gets it; `None` when not all of it is text."""
    texts = [text for part in map(as_object, as_list(parts)) for text in _read_texts(part)]
    strings = [text for text in texts if text is not None]
    return "".join(strings) if strings and len(strings) == len(texts) else None


def _read_texts(part: Json) -> list[str | None]:
    """Return the texts of a part: what a tool of a server gave is a result in one of the values, or
    all of them, and other values are JSON for the model."""
    if (text := as_text(part.get("text"))) is not None:
        return [text]
    function_response = as_object(part.get("functionResponse"))
    response = as_object(function_response.get("response"))
    if not response or function_response.get("parts"):
        return [None]
    values = [response] if read_result(response) else list(response.values())
    return [_format_value(value) for value in values]


def _format_value(value: object) -> str | None:
    if (result := read_result(value)) is not None:
        return "".join(result.parts) if result.is_complete else None
    return as_text(json.dumps(value, ensure_ascii=False))
