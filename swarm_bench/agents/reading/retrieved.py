"""What the tool calls of a transcript put before the agent: texts that may be paths, cut. They are
compared with the files that there are, and not kept."""

import json
import re
from collections.abc import Iterator

from swarm_bench.agents.reading.json_lines import as_text
from swarm_bench.source.references.marking import end_of_mark
from swarm_bench.source.references.mentions import STOPS
from swarm_bench.source.references.snapshot import Snapshot, snapshot_of
from swarm_bench.text.terminal import SEQUENCE

MAX_MENTIONS = 2_000
"""Different ones of a call."""
MAX_LENGTH = 300
"""Characters of a mention; a longer one is no path."""
MAX_CHARACTERS = 1 << 20
"""Characters of a call's arguments and result that are examined."""
_WORD = re.compile(rf"[^{STOPS}?]+")
_FORGE = re.compile(r"(?!https?:)|.*/(?:blob|tree|raw|src|edit)/")
"""Addresses that may be of files of a repository."""
_PATH = re.compile(r"[/\\]|\w\.[A-Za-z]\w{0,9}$")
_POSITION = re.compile(r"[:#]L?\d.*|-\d+-$", re.DOTALL)
"""Text behind a path in the output of a search: `:12:`, `#L12`, `-12-`."""
_NO_FILES = snapshot_of(frozenset(), "")


def mentions_in(
    content: object, snapshot: Snapshot = _NO_FILES, limit: int = MAX_MENTIONS
) -> tuple[str, ...]:
    """Return the texts in a value of JSON that may be paths, each once, in their order."""
    mentions: dict[str, None] = {}
    room = MAX_CHARACTERS
    for text in _iterate_texts(content):
        if "\x1b" in text:
            text = SEQUENCE.sub("", text)
        for word in _WORD.finditer(snapshot.mark(text[:room])):
            if len(mentions) >= limit:
                return tuple(mentions)
            if (mention := _find_mention(word[0])) is not None:
                mentions.setdefault(snapshot.marks.unmark(mention))
        room -= min(room, len(text))
    return tuple(mentions)


def _find_mention(word: str) -> str | None:
    if (
        "/" not in word and "." not in word and "\\" not in word
    ):  # most words; no pattern is as fast
        return None
    if (end := end_of_mark(word)) is not None:
        return word[:end]
    mention = _POSITION.sub("", word).rstrip(".,:!\\")
    if not 0 < len(mention) <= MAX_LENGTH or not _PATH.search(mention):
        return None
    return mention if "://" not in mention or _FORGE.match(mention) else None


def _iterate_texts(content: object) -> Iterator[str]:
    """Yield all texts in a value, also in JSON that is written in one. Without recursion: its depth
    is unknown."""
    pending = [content]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            pending += [part for pair in reversed(value.items()) for part in reversed(pair)]
        elif isinstance(value, list):
            pending += reversed(value)
        elif isinstance(value, str):
            inner = _parse_json(value)
            if inner is None:
                yield as_text(value) or ""
            else:
                pending.append(inner)


def _parse_json(text: str) -> object:
    """Parse a text that is a list or an object; `None` for any other."""
    if text.lstrip()[:1] not in ("{", "[") or len(text) > MAX_CHARACTERS:
        return None
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value
