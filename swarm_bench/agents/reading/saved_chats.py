"""Conversations that Gemini CLI, and Qwen Code which was made from it, save in their home: lines
of JSON. Nothing here trusts what lies there."""

from itertools import islice
from pathlib import Path

from swarm_bench.agents.reading.json_lines import Json, in_text, list_of, object_of, text_of
from swarm_bench.runtime.untrusted import read_inside

MAX_CHATS = 100
MAX_CHAT_BYTES = 32 * 1024 * 1024
"""Of all conversations together."""


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
    return tuple(entry.value for data in read for entry in in_text(data))


def answer_text(parts: object) -> str | None:
    """Return a tool's answer as the model gets it; `None` when not all of it is text."""
    texts: list[object] = []
    for part in map(object_of, list_of(parts)):
        response = object_of(part.get("functionResponse")).get("response")
        texts += object_of(response).values() or [None]
    strings = [text for text in map(text_of, texts) if text is not None]
    return "".join(strings) if strings and len(strings) == len(texts) else None
