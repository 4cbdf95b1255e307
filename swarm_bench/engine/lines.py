"""Lines of a session's files: what can be read, and whether they are as they were written. The
checksum at the end of a line tells one that was changed later. It is no signature: who changes a
line on purpose can make a new one."""

import hashlib
import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic import ValidationError

from swarm_bench.core.session.audit import Key
from swarm_bench.core.session.base import SCHEMA_VERSION
from swarm_bench.core.stored import Stored
from swarm_bench.runtime.cycles import pause_collection
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
