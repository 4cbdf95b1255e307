"""What the tool calls of a transcript put before the agent: texts that may be paths, cut. They are
compared with the files that there are, and not kept."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from swarm_bench.agents.reading.json_lines import as_text
from swarm_bench.core.outcome import AgentExit, Retrieved, Usage
from swarm_bench.source.references.marking import end_of_mark
from swarm_bench.source.references.mentions import STOPS
from swarm_bench.source.references.snapshot import Snapshot, snapshot_of
from swarm_bench.text.terminal import SEQUENCE

MAX_CALLS = 10_000
MAX_MENTIONS = 2_000
"""Different ones of a call."""
MAX_ALL_MENTIONS = 50_000
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


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """Times when calls were made and answered, by their ids, as far as the program reports them."""

    turns: Mapping[str, int] = field(default_factory=dict)
    """Request of the main conversation that made the call, from 1."""
    end_times: Mapping[str, float] = field(default_factory=dict)
    """Times when results came, in seconds of the epoch."""
    usage: Sequence[Usage] = ()
    """Tokens of the requests of the main conversation."""
    started: datetime | None = None
    """Time when the process was started."""

    def seconds(self, call: str) -> float | None:
        """Return the seconds from the start to the result."""
        end = self.end_times.get(call)
        if end is None or self.started is None:
            return None
        seconds = end - self.started.timestamp()
        return round(seconds, 6) if seconds >= 0 else None

    def tokens(self, call: str) -> int | None:
        """Return what the requests had taken when the call was made."""
        turn = self.turns.get(call)
        if turn is None or not 0 < turn <= len(self.usage):
            return None
        return Usage.total(self.usage[:turn]).effective


class Retrievals:
    """The calls of a transcript and their results, whatever the tools are called."""

    def __init__(self, files: frozenset[str] = frozenset(), *, passed_over: bool = False) -> None:
        """Look for the names of these files, or for nothing where calls are `passed_over`."""
        self._passed_over = passed_over
        self._snapshot = snapshot_of(files, "")
        self._calls: dict[str, tuple[str, object]] = {}
        self._answers: dict[str, tuple[str, ...]] = {}
        self._failed = set[str]()
        self._room = MAX_ALL_MENTIONS

    @classmethod
    def start(cls, exit: AgentExit) -> Self:
        """Take those of an output, as far as they are asked for."""
        return cls(exit.files, passed_over=exit.figures_only)

    def add_call(self, call: str, tool: str, arguments: object) -> None:
        """Note a call by its id."""
        if not self._passed_over:
            self._calls[call] = (tool, arguments)

    def add_answer(self, call: str, content: object, *, failed: bool = False) -> None:
        """Note the result of a call; the last one of a call counts, in the place of the first. What
        a call that failed had asked for was not shown."""
        if call not in self._calls or len(self._answers) >= MAX_CALLS:
            return
        if failed:
            self._failed.add(call)
        arguments = None if call in self._failed else self._calls[call][1]
        self._room += len(self._answers.get(call, ()))
        limit = min(MAX_MENTIONS, self._room)
        self._answers[call] = mentions_in([arguments, content], self._snapshot, limit)
        self._room -= len(self._answers[call])

    def all(
        self, timeline: Timeline, texts: Mapping[str, str | None] | None = None
    ) -> tuple[Retrieved, ...]:
        """Return what the answered calls put before the agent; `texts` are results as the model
        got them, by the ids of their calls, where what is printed is for a person."""
        for call in self._answers:
            if texts is not None and (text := texts.get(call)) is not None:
                self.add_answer(call, text)
        return tuple(
            Retrieved(
                tool=self._calls[call][0],
                turn=timeline.turns.get(call),
                seconds=timeline.seconds(call),
                tokens=timeline.tokens(call),
                mentions=mentions,
            )
            for call, mentions in self._answers.items()
        )


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
