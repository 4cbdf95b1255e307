"""Lines of a session's files, those of its trials above all: what can be read, and whether they are
as they were written. The checksum at the end of a line tells one that was changed later. It is no
signature: who changes a line on purpose can make a new one.

A record is appended when its trial ends, and may be once more when its group has ended and its
labels are final: several lines of one trial are folded. Nothing else replaces what was measured. A
few keys of a line, its head, say whether the trial must run again."""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from pydantic import ValidationError

from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.audit import Key
from swarm_bench.core.session.base import SCHEMA_VERSION, StoredRecord
from swarm_bench.core.status import CONSEQUENCES, Cause
from swarm_bench.core.stored import Stored
from swarm_bench.runtime.cycles import pause_collection
from swarm_bench.runtime.files import State, append_line, make_room, read_state, write_whole
from swarm_bench.runtime.untrusted import read_if_there


class Keyed(Protocol):
    """A line of a trial."""

    @property
    def key(self) -> Key: ...


MOST_BYTES = 1024 * 1024 * 1024
"""Most bytes of the lines of a session; a trial's has a few thousand."""
Line = TypeVar("Line", bound=Stored)
Checked = tuple[int, bool | None, Line | None]
"""The number of a line, whether it is as it was written (`None` without a checksum), and what it
says; `None` where it is torn."""


def read_raw_lines(path: Path) -> list[tuple[int, bytes, None]]:
    """Return the lines of a file with their numbers, unparsed."""
    return [(number, line, None) for number, line in number_lines(path)]


def number_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file that are not empty, with their numbers from 1."""
    lines = enumerate(read_if_there(path, MOST_BYTES).split(b"\n"), 1)
    return ((number, line) for number, line in lines if line.strip())


def read_lines(path: Path, kind: type[Line]) -> list[tuple[int, bytes, Line | None]]:
    """Read the lines of a file: number, bytes and record, which is `None` where the line is
    torn."""
    return [(number, line, _parse(line, kind)) for number, line in number_lines(path)]


def read_checked(path: Path, kind: type[Line]) -> list[Checked[Line]]:
    """Read the records of a file, and whether their lines are as they were written."""
    return parse_checked(read_raw_lines(path), kind)


@pause_collection()
def parse_checked(lines: list[tuple[int, bytes, Any]], kind: type[Line]) -> list[Checked[Line]]:
    """Read the lines as records. The list is emptied meanwhile, as a large session has no room for
    both."""
    return [(number, is_intact(line), _parse(line, kind)) for number, line in _take(lines)]


def _take(lines: list[tuple[int, bytes, Any]]) -> Iterator[tuple[int, bytes]]:
    lines.reverse()
    while lines:
        number, line, _ = lines.pop()
        yield number, line


def describe_torn_lines(
    path: Path, lines: Sequence[tuple[int, object, Stored | None]]
) -> tuple[str, ...]:
    """Name the lines of a file that cannot be read, in a sentence for each reason."""
    torn = {number for number, _, record in lines if record is None}
    reread = number_lines(path) if torn else ()
    newer = {number for number, line in reread if number in torn and is_newer(line)}
    reasons = (
        (torn - newer, "cannot be read and is omitted", "cannot be read and are omitted"),
        (
            newer,
            "was written by a newer swarm-bench and is omitted; update this one",
            "were written by a newer swarm-bench and are omitted; update this one",
        ),
    )
    return tuple(
        describe_lines(path, numbers, *phrases) for numbers, *phrases in reasons if numbers
    )


def describe_lines(path: Path, numbers: Collection[int], of_one: str, of_several: str) -> str:
    """Say something of lines of a file, or of a single one."""
    numbers_text = ", ".join(map(str, sorted(numbers)))
    subject = (
        f"line {numbers_text} {of_one}"
        if len(numbers) == 1
        else f"lines {numbers_text} {of_several}"
    )
    return f"{path.name}: {subject}"


def is_newer(line: bytes) -> bool:
    """Tell whether a line that cannot be read says that it is of a newer version."""
    try:
        return bool(json.loads(line)["schema_version"] > SCHEMA_VERSION)
    except (ValueError, RecursionError, TypeError, KeyError):
        return False


def describe_second_lines(path: Path, numbers: Collection[int]) -> tuple[str, ...]:
    """Return a sentence on the lines whose trial has an earlier line, if there are any."""
    if not numbers:
        return ()
    of_one = "is the second line of its trial and is omitted"
    return (
        describe_lines(path, numbers, of_one, "are second lines of their trials and are omitted"),
    )


def describe_changed_lines(
    path: Path, lines: Sequence[tuple[int, bool | None, object]]
) -> tuple[str, ...]:
    """Name the lines of a file that are not as they were written, in a sentence for each kind."""
    kinds = (
        (False, "was changed after it was written", "were changed after they were written"),
        (None, "has no checksum", "have no checksum"),
    )
    return tuple(
        f"{describe_lines(path, changed, *phrases)}; do not rely on the figures"
        for kind, *phrases in kinds
        if (changed := [number for number, state, _ in lines if state is kind])
    )


def _parse(line: bytes, kind: type[Line]) -> Line | None:
    try:
        return kind.from_json(line)
    except ValidationError:
        return None


KEY = "sha256"
_MARK = b',"sha256":"'
_LENGTH = len(_MARK) + 64 + len('"}')


def add_checksum(line: str) -> bytes:
    """Add the checksum of its bytes to a line, a JSON object, as its last key."""
    content = line.encode("utf-8", "replace")
    return content[:-1] + _make_checksum(content)


def is_intact(line: bytes) -> bool | None:
    """Tell whether a line is as it was sealed; `None` when it has no checksum."""
    line = line.strip()
    content, seal = line[:-_LENGTH] + b"}", line[-_LENGTH:]
    if seal == _make_checksum(content):
        return True
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return False if isinstance(content, dict) and KEY in content else None


def _make_checksum(content: bytes) -> bytes:
    return b'%s%s"}' % (_MARK, hashlib.sha256(content).hexdigest().encode())


Record = TypeVar("Record", bound=Keyed)
Entry = tuple[int, bytes, Record | None]
"""The number of a line, its bytes, and what it says; `None` where it is torn."""

_CAUSES = {cause.encode(): cause for cause in Cause}
_PLAIN = rb'(?:"[a-z_]+":(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"|[^"\[{,]++),)*?'
_HEAD = re.compile(
    rb'"schema_version":%d,%s"trial":"([0-9a-f]{12})","attempt":([0-9]{1,9}),%s"cause":"([a-z-]+)"'
    % (SCHEMA_VERSION, _PLAIN, _PLAIN)
)
"""The keys as they are written; within a string they would have backslashes."""
R = TypeVar("R", bound=StoredRecord)


class Head(NamedTuple):
    """What continuing a session needs to know of a line."""

    trial: str | None
    attempt: int
    cause: Cause | None

    @property
    def key(self) -> Key:
        return self.trial, self.attempt

    @property
    def conclusive(self) -> bool:
        return self.cause is not None and not CONSEQUENCES[self.cause].rerun


def read_heads(path: Path, kind: type[R]) -> list[Entry[Head]]:
    """Read the heads of all lines of trials, before they are folded; `kind` is that of their
    records."""
    return [(number, line, _read_head(line, kind)) for number, line in number_lines(path)]


def read_trials(path: Path, kind: type[R]) -> list[Checked[R]]:
    """Read the records of trials. They are folded, which takes a second reading, only where a trial
    has several lines."""
    trials = read_checked(path, kind)
    if not any(find_duplicates(trials)):
        return trials
    return parse_checked(fold_amendments(read_heads(path, kind), kind.labels), kind)


def _read_head(line: bytes, kind: type[R]) -> Head | None:
    """Read a head. A line that is as it was written holds a record; any other is parsed in full."""
    keys = _HEAD.search(line)
    cause = None if keys is None else _CAUSES.get(keys[3])
    if keys is not None and cause and cause not in kind.read_anew and is_intact(line):
        return Head(keys[1].decode(), int(keys[2]), cause)
    try:
        record = kind.from_json(line)
    except ValidationError:
        return None
    return Head(record.trial, record.attempt, record.cause)


def fold_amendments(lines: Iterable[Entry[Record]], labels: Collection[str]) -> list[Entry[Record]]:
    """Replace each line by its last amendment, which changes nothing but its labels. Other lines
    stay, also a second line of a trial that is no amendment."""
    result = list[Entry[Record]]()
    positions = dict[Key, int]()
    for entry in lines:
        key = _find_key(entry[2])
        position = positions.setdefault(key, len(result)) if key else len(result)
        if position < len(result) and _amends(entry[1], result[position][1], labels):
            result[position] = entry
        else:
            result.append(entry)
    return result


def find_duplicates(lines: Iterable[tuple[int, object, Record | None]]) -> Iterator[int]:
    """Yield the numbers of lines whose trial and attempt have an earlier line."""
    earlier = set[Key]()
    for number, _, record in lines:
        if (key := _find_key(record)) is not None:
            if key in earlier:
                yield number
            earlier.add(key)


def _amends(later: bytes, earlier: bytes, labels: Collection[str]) -> bool:
    """Tell whether a line amends an earlier one: it is as it was appended, and either differs only
    in its labels, or the earlier line has been changed since."""
    if not is_intact(later):
        return False
    return is_intact(earlier) is False or _drop_labels(later, labels) == _drop_labels(
        earlier, labels
    )


def _find_key(record: Keyed | None) -> Key | None:
    """Return what a line is of; `None` for one without a trial's id, which a script wrote."""
    key = record.key if record is not None else None
    return key if key and key[0] else None


def _drop_labels(line: bytes, labels: Collection[str]) -> dict[str, Any] | bytes:
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):  # whoever reads lines may allow more than this parser
        return line
    return {key: value for key, value in content.items() if key not in {*labels, KEY}}


METRICS = "metrics.jsonl"
SUPERSEDED = "superseded.jsonl"
"""Lines of attempts that say nothing about their arm, and what could not be read."""


class Records(Generic[R]):
    """The lines of the trials of one session."""

    def __init__(self, folder: Path, kind: type[R]) -> None:
        """`kind` is that of its records."""
        self._kind = kind
        self.path = folder / METRICS
        self._superseded = folder / SUPERSEDED
        self._read: tuple[State | None, int, list[Entry[Head]]] | None = None
        """The state of the file, the number of its lines, and those that stay when it is folded."""
        self._turn = Lock()

    def append(self, *records: R) -> None:
        """Append records, also again when their labels changed: readers fold them, and so does
        `fold`. Threads may do so at the same time."""
        if records:
            lines = [add_checksum(record.model_dump_json()) for record in records]
            with self._turn:
                append_line(self.path, b"\n".join(lines), max_bytes=MOST_BYTES)

    def fold(self) -> None:
        """Keep one line of each trial, where its first was. Nothing is written when nothing was
        amended."""
        make_room(self.path)
        self._read = None
        number, folded = self._read_folded()
        if len(folded) < number:
            write_whole(self.path, b"".join(line + b"\n" for _, line, _ in folded))
            self._read = read_state(self.path), len(folded), folded

    def read(self) -> list[Checked[R]]:
        """Read the records, the amended ones once."""
        return read_trials(self.path, self._kind)

    def read_set_aside(self) -> list[Checked[R]]:
        """Read the records of the attempts that were set aside."""
        return read_trials(self._superseded, self._kind)

    def read_heads(self) -> list[Head]:
        """Read the heads of the lines that can be read, the amended ones once."""
        return [head for _, _, head in self._read_folded()[1] if head is not None]

    def find_finished(self) -> set[str | None]:
        """Return the ids of the trials with a record that says something about their arm."""
        return {head.trial for head in self.read_heads() if head.conclusive}

    def count_attempts(self) -> dict[str, int]:
        """Return how often each trial was tried and set aside, by its id."""
        superseded = [head for _, _, head in read_heads(self._superseded, self._kind)]
        return {head.trial: head.attempt for head in superseded if head is not None and head.trial}

    @pause_collection()
    def set_aside_reruns(self) -> list[Head]:
        """Move the lines of trials that must run again to `superseded.jsonl`, and torn lines too.

        Returns what stays: one head a trial. So `metrics.jsonl` has one line per trial, and
        nothing that was recorded is lost. Lines are moved as they are. Raises `UsageError` when a
        line was written by a newer version: it may have cost money, and is not for this one to
        judge.
        """
        stay: dict[str | None, tuple[Head, bytes]] = {}
        removed = list[bytes]()
        lines, folded = self._read_folded()
        self._read = None
        for number, line, head in folded:
            if head is None:
                self._refuse_newer(number, line)
                removed.append(line)
            elif head.conclusive and head.trial is not None and head.trial not in stay:
                stay[head.trial] = (head, line)
            else:
                removed.append(line)
        if removed:
            append_line(self._superseded, b"\n".join(removed))
        if len(stay) < lines:
            write_whole(self.path, b"".join(line + b"\n" for _, line in stay.values()))
        return [head for head, _ in stay.values()]

    def set_aside_lost(self) -> set[str]:
        """Move the lines of trials that were lost with their node, likewise. Returns their ids."""
        self.fold()
        lines, rerun = list[bytes](), dict[str, bytes]()
        for _, line, head in self._read_folded()[1]:
            if head is not None and head.cause is Cause.NODE_LOST and head.trial is not None:
                rerun[head.trial] = line
            else:
                lines.append(line)
        if rerun:
            append_line(self._superseded, b"\n".join(rerun.values()))
            write_whole(self.path, b"".join(line + b"\n" for line in lines))
        self._read = None
        return {*rerun}

    def _refuse_newer(self, number: int, line: bytes) -> None:
        if is_newer(line):
            raise UsageError(
                f"{self.path}: line {number} was written by a newer swarm-bench; update this one"
            )

    def _read_folded(self) -> tuple[int, list[Entry[Head]]]:
        """Return the number of lines, and the folded ones; they are read again only if something
        was written meanwhile."""
        state = read_state(self.path)
        if self._read is None or self._read[0] != state:
            with pause_collection():
                lines = read_heads(self.path, self._kind)
                self._read = state, len(lines), fold_amendments(lines, self._kind.labels)
        return self._read[1:]
