"""What a worker's lines may say: the machine that prints them may be anybody's. Bounds of the lines
themselves, of events, of deliveries that are being stored, and of files."""

import json
import re
from base64 import b64decode
from collections.abc import Collection
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, get_args

import anyio
from pydantic import TypeAdapter, ValidationError

from swarm_bench.core.events import (
    Emit,
    FarEvent,
    Preparing,
    StepStarted,
    TrialActive,
    TrialStarted,
    WarningRaised,
)
from swarm_bench.core.figures import LARGEST
from swarm_bench.core.roles.executor import Deliver
from swarm_bench.core.session.base import Group
from swarm_bench.core.validation import describe_problem, format_path
from swarm_bench.executors.worker import PIECE
from swarm_bench.runtime.files import make_folder, write_piece

LONGEST_LINE = 8 * PIECE
LONGEST_DELIVERY = 1 << 28
"""Bytes of a line: one with a delivery has what an agent printed in it, several times."""
LONG_LINE = 2 * PIECE
"""Bytes from which on a line is read in a thread."""
MOST_VALUES = 4_000_000
"""Values of JSON in a line: each takes many times the memory of its text."""
MOST_BYTES = 1 << 28
"""Bytes of a file, and of all files of a group for each of its trials and for what it set up."""
MOST_FILES = 100
"""Files of a group, likewise."""
MOST_WARNINGS = 300
MOST_STEPS = 1_000
"""Steps that a worker may tell of before its first group."""
MOST_DELIVERIES = 1_000
"""Deliveries of a group that are stored at the same time, beside two for each of its trials."""
MOST_STORING = 1 << 29
"""Bytes of the lines of these."""
_LONGEST_TEXT = 500
"""Characters of what a person reads."""
_DELIVERY = b'{"job": "'
"""Start of the lines of deliveries, and of ends."""
_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)')
_EVENTS: dict[str, TypeAdapter[FarEvent]] = {
    kind.__name__: TypeAdapter(kind) for kind in get_args(FarEvent)
}


def make_line(text: object) -> str:
    """Make one line of what a worker, or an error, says, cut to what a person reads."""
    if isinstance(text, ValidationError):
        first = text.errors(include_url=False)[0]
        text = f"{format_path(first['loc']) or 'it'} {describe_problem(first)}"
    return _shorten(" ".join(str(text)[: 4 * _LONGEST_TEXT].split()))


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"


def check_length(line: bytes | bytearray) -> None:
    """Raise `ValueError` for a line that is longer than any, even if it has not ended."""
    limit = LONGEST_DELIVERY if line.startswith(_DELIVERY) else LONGEST_LINE
    if len(line) > limit:
        raise ValueError(f"{limit:,} bytes without an end")


async def parse_line(line: bytes) -> Any:
    """Parse a line. Raises `ValueError` and `RecursionError`."""
    check_length(line)
    if len(line) < LONG_LINE:
        return json.loads(line)
    return await anyio.to_thread.run_sync(_parse_long, line)


def _parse_long(line: bytes) -> Any:
    number = end = 0
    for text in _TEXT.finditer(line):
        number += 1 + _count_values(line, end, text.start())
        end = text.end()
        if number > MOST_VALUES:
            break
    if number + _count_values(line, end, len(line)) > MOST_VALUES:
        raise ValueError(f"more than {MOST_VALUES:,} values in a line")
    return json.loads(line)


def _count_values(line: bytes, start: int, end: int) -> int:
    if end - start <= len(", "):  # between two texts
        return 1
    return sum(line.count(mark, start, end) for mark in b",[{")


@dataclass(kw_only=True)
class FarGroup:
    """A group that a worker runs."""

    content: Any
    group: Group[Any]
    deliver: Deliver[Any]
    end: anyio.Event = field(default_factory=anyio.Event)
    """Set when nothing more is taken of it."""
    error: Exception | None = None
    patience: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    """Ends the wait for its end."""
    scopes: dict[int, anyio.CancelScope] = field(default_factory=dict)
    """Scopes of the deliveries that are being stored, by their numbers."""
    is_stored: anyio.Event = field(default_factory=anyio.Event)
    """Set when none of them is left."""
    storing: int = 0
    """Bytes of the lines of these deliveries."""
    files: dict[PurePosixPath, int] = field(default_factory=dict)
    """Its files, with their sizes."""
    started: set[int] = field(default_factory=set)
    """Numbers of the trials that it told the start of."""
    steps: int = 0
    """Steps that it told of."""

    @cached_property
    def numbers(self) -> frozenset[int]:
        """Numbers of its trials."""
        return frozenset(trial.number for trial in self.group.trials)

    async def settle(self, seconds: float) -> None:
        """Wait until what was delivered is stored; what waits for money to start does not, nor
        what takes longer than that."""
        for scope in list(self.scopes.values()):
            if not scope.shield:
                scope.cancel()
        for _ in range(2 if self.scopes else 0):
            with anyio.move_on_after(seconds):
                await self.is_stored.wait()
            for scope in list(self.scopes.values()):
                scope.cancel()

    def admit_delivery(self, number: int, size: int) -> None:
        """Take note of a delivery that is to be stored. Raises `ValueError` where there are more
        than an honest worker waits for."""
        if number in self.scopes:
            raise ValueError(f"the number {number} is used twice")
        limit = MOST_DELIVERIES + 2 * len(self.group.trials)
        if len(self.scopes) >= limit or self.storing + size > MOST_STORING:
            raise ValueError(f"more is delivered than can be stored: {len(self.scopes):,} at once")
        self.storing += size

    def drop_delivery(self, number: int, size: int) -> None:
        """Take note that it is not being stored any more."""
        del self.scopes[number]
        self.storing -= size
        if self.end.is_set() and not self.scopes:
            self.is_stored.set()

    def admits_event(self, event: StepStarted | TrialStarted | TrialActive) -> bool:
        """Tell whether an event can be of this group, and is not told more often than it can
        happen."""
        if (event.run, event.arm) != (self.group.run, self.group.arm):
            return False
        if isinstance(event, StepStarted):
            self.steps += 1
            return self.steps <= 100 + 10 * len(self.group.trials)
        if isinstance(event, TrialStarted):
            is_new = event.number in self.numbers and event.number not in self.started
            self.started |= {event.number} if is_new else set()
            return is_new
        return event.number in self.numbers


class ReceivedEvents:
    """Passes on what a worker says of the groups that it runs, and no more than a person reads."""

    def __init__(self, emit: Emit, node: str) -> None:
        self._emit = emit
        self._node = node
        self._warnings = 0
        self._steps = 0

    def take(self, message: Any, groups: Collection[FarGroup]) -> None:
        """Pass on the event of a line. Raises `ValueError`, `TypeError` and `LookupError` for what
        is none."""
        event = _bound(_EVENTS[message["event"]].validate_python(message["content"]))
        if isinstance(event, WarningRaised):
            self._warn(event)
        elif isinstance(event, Preparing):
            self._steps += 1
            if self._steps <= MOST_STEPS:
                self._emit(event)
        elif any(group.admits_event(event) for group in groups):
            is_placed = isinstance(event, StepStarted | TrialStarted)
            self._emit(replace(event, node=self._node) if is_placed else event)

    def _warn(self, warning: WarningRaised) -> None:
        self._warnings += 1
        if self._warnings <= MOST_WARNINGS:
            self._emit(warning)
        elif self._warnings == MOST_WARNINGS + 1:
            sentence = f"The node {self._node} gave {MOST_WARNINGS} warnings; others are left out"
            self._emit(WarningRaised(message=sentence))


def _bound(value: Any) -> Any:
    """Cut the texts of an event, and bound its numbers, all of which are counts."""
    if isinstance(value, str):
        return _shorten(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return min(max(value, 0), LARGEST)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{key.name: _bound(getattr(value, key.name)) for key in fields(value)}
        )
    return value


class Piece(NamedTuple):
    """Part of a file."""

    path: Path
    content: bytes
    offset: int

    def write(self) -> None:
        """Write it, in a thread. Raises `StoreError`."""
        make_folder(self.path.parent)
        write_piece(self.path, self.content, self.offset)


class ReceivedFiles:
    """Checks the pieces of files that a worker sends."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._sizes = dict[PurePosixPath, int]()

    def forget(self) -> None:
        """Forget what a worker has forgotten too: it sends whole files again."""
        self._sizes.clear()

    def take(self, name: PurePosixPath, message: Any, group: FarGroup) -> Piece:
        """Return the piece of a line, which is of a file of that group. Raises `ValueError` and
        `TypeError` where it cannot be written."""
        content, offset = b64decode(message["content"], validate=True), int(message["offset"])
        if offset not in (0, self._sizes.get(name)):
            raise ValueError(f"the file {name} is sent out of order")
        size, parts = offset + len(content), 1 + len(group.group.trials)
        group.files[name] = self._sizes[name] = size
        if size > MOST_BYTES or sum(group.files.values()) > parts * MOST_BYTES:
            raise ValueError(f"with the file {name}, more than {MOST_BYTES >> 20} MB of a trial")
        if len(group.files) > parts * MOST_FILES:
            raise ValueError(f"more than {MOST_FILES} files of a trial, such as {name}")
        return Piece(self._out / name, content, offset)


def read_name(message: Any) -> PurePosixPath:
    """Return the name of a file. Raises `ValueError` for one that leads elsewhere."""
    name = PurePosixPath(message["file"])
    if name.is_absolute() or ".." in name.parts or "\0" in str(name):
        raise ValueError(f"the file {name} leads elsewhere")
    return name


def read_number(message: Any) -> int:
    """Return the number of a delivery. Raises `ValueError`."""
    number = message["number"]
    if not isinstance(number, int) or not 0 <= number <= LARGEST:
        raise ValueError("a delivery without a number")
    return number
