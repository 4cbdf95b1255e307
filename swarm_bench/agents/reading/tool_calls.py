"""The tool calls of a transcript: what they cost, what was answered, and the commands and paths in
them, and texts in results that may be paths, cut: these are examined and not kept."""

import json
import math
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self

from swarm_bench.agents.reading.json_lines import as_object, as_text
from swarm_bench.agents.reading.tool_answers import digest_answer
from swarm_bench.core.outcome import AgentExit, CallContent, Retrieved, ToolAnswer, Usage
from swarm_bench.runtime.mcp.results import read_result
from swarm_bench.source.references.marking import end_of_mark
from swarm_bench.source.references.mentions import STOPS
from swarm_bench.source.references.snapshot import Snapshot, snapshot_of
from swarm_bench.text import tokens
from swarm_bench.text.terminal import SEQUENCE

MAX_CALLS = 10_000
MAX_ALL_MENTIONS = 50_000
MAX_MENTIONS = 2_000
"""Different ones of a call."""
MAX_MENTION = 300
"""Characters of a mention; a longer one is no path."""
MAX_CHARACTERS = 1 << 20
"""Characters of a call's arguments and result that are examined."""
_WORD = re.compile(rf"[^{STOPS}?]+")
_FORGE = re.compile(r"(?!https?:)|.*/(?:blob|tree|raw|src|edit)/")
"""Addresses that may be of files of a repository."""
_PATH_LIKE = re.compile(r"[/\\]|\w\.[A-Za-z]\w{0,9}$")
_POSITION = re.compile(r"[:#]L?\d.*|-\d+-$", re.DOTALL)
"""Text behind a path in the output of a search: `:12:`, `#L12`, `-12-`."""
_NO_FILES = snapshot_of(frozenset(), "")
MAX_ENTRIES = 1_000
"""Different commands, and different paths, of an agent that are examined."""
MAX_LENGTH = 4_000
"""Characters of each."""
_SERVERS = "mcp__"
"""How the names of servers' tools begin."""
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


class ToolCalls:
    """The calls of a transcript and their results, whatever the tools are called."""

    def __init__(
        self,
        files: frozenset[str] = frozenset(),
        *,
        figures_only: bool = False,
        with_contents: bool = False,
    ) -> None:
        """Look in results for the names of these files, or in no result with `figures_only`; keep
        all texts with `with_contents`."""
        self.tools: dict[str, str] = {}
        """Tool name by call id, those of sub-agents among them."""
        self.failures: dict[str, str] = {}
        self.answered: dict[str, None] = {}
        """Ids of the calls with a result, in the order of the first ones."""
        self._arguments: dict[str, object] = {}
        self._figures_only = figures_only or with_contents
        self._results: dict[str, str] | None = {} if with_contents else None
        self._snapshot = snapshot_of(files, "")
        self._answers: dict[str, ToolAnswer] = {}
        self._mentions: dict[str, tuple[str, ...]] = {}
        self._room = MAX_ALL_MENTIONS
        self._commands: dict[str, None] = {}
        self._paths: dict[str, None] = {}

    @classmethod
    def start(cls, exit: AgentExit) -> Self:
        """Take those of an output, as far as they are asked for."""
        return cls(exit.files, figures_only=exit.figures_only, with_contents=exit.with_contents)

    def add(self, call: str, tool: str, arguments: object) -> None:
        """Note a call by its id; commands and paths are known by the names of arguments."""
        self.tools[call] = tool
        if not self._figures_only or self._results is not None:
            self._arguments[call] = arguments
        values = as_object(arguments)
        for key in filter(values.__contains__, _COMMAND):
            _note(self._commands, _lines(values[key]))
        if tool.replace("_", "").lower() not in _WRITING:
            for key in filter(values.__contains__, _PATH):
                _note(self._paths, _texts(values[key]))

    def add_result(self, call: str, content: object, *, failed: bool = False) -> None:
        """Note the result of a call, in any form of `read_result`; the last one of a call counts.
        A call that failed once has failed, and a result without a call is of none."""
        if call not in self.tools:
            return
        self.answered.setdefault(call)
        if failed:
            self.failures[call] = self.tools[call]
        if self._results is not None:
            self._results[call] = _write_result(content)
        if self._figures_only:
            return
        self._answers.pop(call, None)
        if self.tools[call].startswith(_SERVERS) and call not in self.failures:
            self._answers[call] = digest_answer(self.tools[call], self._arguments[call], content)
        self._find_mentions(call, content)

    def _find_mentions(self, call: str, content: object) -> None:
        """Look for paths. What a call that failed had asked for was not shown."""
        if len(self._mentions) < MAX_CALLS:
            arguments = None if call in self.failures else self._arguments[call]
            self._room += len(self._mentions.get(call, ()))
            limit = min(MAX_MENTIONS, self._room)
            self._mentions[call] = mentions_in([arguments, content], self._snapshot, limit)
            self._room -= len(self._mentions[call])

    @property
    def answers(self) -> tuple[ToolAnswer, ...]:
        """The answers of servers' tools that were no errors."""
        return tuple(self._answers.values())

    def list_retrieved(
        self, timeline: Timeline, texts: Mapping[str, str | None] | None = None
    ) -> tuple[Retrieved, ...]:
        """Return what the answered calls put before the agent; `texts` are results as the model
        got them, by the ids of their calls, where what is printed is for a person."""
        for call in self._mentions:
            if texts is not None and (text := texts.get(call)) is not None:
                self._find_mentions(call, text)
        return tuple(
            Retrieved(
                tool=self.tools[call],
                turn=timeline.turns.get(call),
                seconds=timeline.seconds(call),
                tokens=timeline.tokens(call),
                mentions=mentions,
            )
            for call, mentions in self._mentions.items()
        )

    def list_contents(self, timeline: Timeline) -> tuple[CallContent, ...] | None:
        """Return the calls with their texts; `None` where they were not asked for."""
        if self._results is None:
            return None
        return tuple(
            CallContent(
                tool=tool,
                arguments=_write_json(self._arguments[call]),
                result=self._results.get(call),
                failed=call in self.failures,
                turn=timeline.turns.get(call),
                seconds=timeline.seconds(call),
            )
            for call, tool in self.tools.items()
        )

    def make_fields(
        self,
        timeline: Timeline,
        spans: Mapping[str, Span] | None,
        tokens: Mapping[str, int | None] | None,
        texts: Mapping[str, str | None] | None = None,
    ) -> dict[str, Any]:
        """Return all that the calls show, as fields of an outcome; without `spans` or `tokens` of
        results, by the ids of calls, no figures of these."""
        unanswered = (tool for call, tool in self.tools.items() if call not in self.answered)
        return {
            "tool_calls": dict(Counter(self.tools.values())),
            "tool_failures": dict(Counter(self.failures.values())),
            "tool_unanswered": dict(Counter(unanswered)),
            "tool_seconds": None if spans is None else sum_seconds(self.tools, spans),
            "tool_result_tokens": None if tokens is None else tokens_by_tool(self.tools, tokens),
            "tool_answers": self.answers,
            "retrieved": self.list_retrieved(timeline, texts),
            "contents": self.list_contents(timeline),
            "commands": tuple(self._commands),
            "paths": tuple(self._paths),
        }


def _write_result(content: object) -> str:
    result = read_result(content)
    return _write_json(content) if result is None else result.text


def _write_json(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


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
    if not 0 < len(mention) <= MAX_MENTION or not _PATH_LIKE.search(mention):
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
