"""Lines of a session's files: what can be read, and whether they are as they were written."""

import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic import ValidationError

from swarm_bench.core.session.audit import Key
from swarm_bench.core.session.base import SCHEMA_VERSION
from swarm_bench.core.stored import Stored
from swarm_bench.engine.seal import is_whole
from swarm_bench.runtime.cycles import uncollected
from swarm_bench.runtime.untrusted import read_if_there


class Keyed(Protocol):
    """A line of a trial."""

    @property
    def key(self) -> Key: ...


MOST_BYTES = 1024 * 1024 * 1024
"""Of the lines of a session; a trial's has a few thousand."""
Line = TypeVar("Line", bound=Stored)
Checked = tuple[int, bool | None, Line | None]
"""The number of a line, whether it is as it was written (`None` without a checksum), and what it
says; `None` where it is torn."""


def raw_lines(path: Path) -> list[tuple[int, bytes, None]]:
    """Return the lines of a file with their numbers, unparsed."""
    return [(number, line, None) for number, line in numbered_lines(path)]


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file that are not empty, with their numbers from 1."""
    lines = enumerate(read_if_there(path, MOST_BYTES).split(b"\n"), 1)
    return ((number, line) for number, line in lines if line.strip())


def read_lines(path: Path, kind: type[Line]) -> list[tuple[int, bytes, Line | None]]:
    """Read the lines of a file: number, bytes and record, which is `None` where the line is
    torn."""
    return [(number, line, _parse(line, kind)) for number, line in numbered_lines(path)]


def read_checked(path: Path, kind: type[Line]) -> list[Checked[Line]]:
    """Read the records of a file, and whether their lines are as they were written."""
    return checked(raw_lines(path), kind)


@uncollected()
def checked(lines: list[tuple[int, bytes, Any]], kind: type[Line]) -> list[Checked[Line]]:
    """Read the lines as records. The list is emptied meanwhile, as a large session has no room for
    both."""
    return [(number, is_whole(line), _parse(line, kind)) for number, line in _taken(lines)]


def _taken(lines: list[tuple[int, bytes, Any]]) -> Iterator[tuple[int, bytes]]:
    lines.reverse()
    while lines:
        number, line, _ = lines.pop()
        yield number, line


def torn_lines(path: Path, lines: Sequence[tuple[int, object, Stored | None]]) -> tuple[str, ...]:
    """Name the lines of a file that cannot be read, in a sentence for each reason."""
    torn = {number for number, _, record in lines if record is None}
    again = numbered_lines(path) if torn else ()
    newer = {number for number, line in again if number in torn and is_newer(line)}
    reasons = (
        (torn - newer, "cannot be read and is omitted", "cannot be read and are omitted"),
        (
            newer,
            "was written by a newer swarm-bench and is omitted; update this one",
            "were written by a newer swarm-bench and are omitted; update this one",
        ),
    )
    return tuple(about_lines(path, numbers, *why) for numbers, *why in reasons if numbers)


def about_lines(path: Path, numbers: Collection[int], of_one: str, of_several: str) -> str:
    """Say something of lines of a file, or of a single one."""
    listed = ", ".join(map(str, sorted(numbers)))
    what = f"line {listed} {of_one}" if len(numbers) == 1 else f"lines {listed} {of_several}"
    return f"{path.name}: {what}"


def is_newer(line: bytes) -> bool:
    """Tell whether a line that cannot be read says that it is of a newer version."""
    try:
        return bool(json.loads(line)["schema_version"] > SCHEMA_VERSION)
    except (ValueError, RecursionError, TypeError, KeyError):
        return False


def second_lines(path: Path, numbers: Collection[int]) -> tuple[str, ...]:
    """Return a sentence on the lines whose trial has an earlier line, if there are any."""
    if not numbers:
        return ()
    of_one = "is the second line of its trial and is omitted"
    return (about_lines(path, numbers, of_one, "are second lines of their trials and are omitted"),)


def changed_lines(path: Path, lines: Sequence[tuple[int, bool | None, object]]) -> tuple[str, ...]:
    """Name the lines of a file that are not as they were written, in a sentence for each kind."""
    kinds = (
        (False, "was changed after it was written", "were changed after they were written"),
        (None, "has no checksum", "have no checksum"),
    )
    return tuple(
        f"{about_lines(path, some, *why)}; do not rely on the figures"
        for kind, *why in kinds
        if (some := [number for number, state, _ in lines if state is kind])
    )


def _parse(line: bytes, kind: type[Line]) -> Line | None:
    try:
        return kind.from_json(line)
    except ValidationError:
        return None
