"""Lines of a session's files: what can be read, and whether they are as they were written."""

import gc
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic import ValidationError

from swarm_bench.core.session.audit import Audit, Key
from swarm_bench.core.stored import Stored
from swarm_bench.engine.seal import is_whole
from swarm_bench.runtime.untrusted import read_if_there


class Keyed(Protocol):
    """A line of a trial."""

    @property
    def key(self) -> Key: ...


class OfMode(Protocol):
    """A line on something beside the trials of a mode."""

    @property
    def mode(self) -> str: ...


MOST_BYTES = 1024 * 1024 * 1024
"""Of the lines of a session; a trial's has a few thousand."""
Line = TypeVar("Line", bound=Stored)
Checked = tuple[int, bool | None, Line | None]
"""The number of a line, whether it is as it was written (`None` without a checksum), and what it
says; `None` where it is torn."""


def raw_lines(path: Path) -> list[tuple[int, bytes, None]]:
    """Return the lines of a file with their numbers, unparsed."""
    lines = enumerate(read_if_there(path, MOST_BYTES).split(b"\n"), 1)
    return [(number, line, None) for number, line in lines if line.strip()]


def read_lines(path: Path, kind: type[Line]) -> list[tuple[int, bytes, Line | None]]:
    """Read the lines of a file: number, bytes and record, which is `None` where the line is
    torn."""
    return [(number, line, _parse(line, kind)) for number, line, _ in raw_lines(path)]


def read_checked(path: Path, kind: type[Line]) -> list[Checked[Line]]:
    """Read the records of a file, and whether their lines are as they were written."""
    return checked(raw_lines(path), kind)


def checked(lines: list[tuple[int, bytes, Any]], kind: type[Line]) -> list[Checked[Line]]:
    """Read the lines as records. The list is emptied meanwhile, as a large session has no room for
    both."""
    with _uncollected():
        return [(number, is_whole(line), _parse(line, kind)) for number, line in _taken(lines)]


def _taken(lines: list[tuple[int, bytes, Any]]) -> Iterator[tuple[int, bytes]]:
    lines.reverse()
    while lines:
        number, line, _ = lines.pop()
        yield number, line


@contextmanager
def _uncollected() -> Iterator[None]:
    """Pause the collection of cycles: to find none in records takes as long as to read them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def torn_lines(path: Path, lines: Sequence[tuple[int, object, Stored | None]]) -> tuple[str, ...]:
    """Return a sentence on the lines of a file that cannot be read, if there are any."""
    numbers = [str(number) for number, _, record in lines if record is None]
    if not numbers:
        return ()
    return (f"{path.name}: lines {', '.join(numbers)} cannot be read and are omitted",)


def second_lines(path: Path, numbers: Collection[int]) -> tuple[str, ...]:
    """Return a sentence on the lines whose trial has an earlier line, if there are any."""
    if not numbers:
        return ()
    shown = ", ".join(map(str, sorted(numbers)))
    return (f"{path.name}: lines {shown} are second lines of their trials and are omitted",)


def changed_lines(path: Path, lines: Sequence[tuple[int, bool | None, object]]) -> tuple[str, ...]:
    """Name the lines of a file that are not as they were written, in a sentence for each kind."""
    kinds = {False: "were changed after they were written", None: "have no checksum"}
    numbers = {
        why: [str(number) for number, state, _ in lines if state is kind]
        for kind, why in kinds.items()
    }
    return tuple(
        f"{path.name}: lines {', '.join(some)} {why}; do not rely on the figures"
        for why, some in numbers.items()
        if some
    )


def audit_of(
    trials: Sequence[tuple[int, bool | None, Keyed | None]],
    beside: Mapping[str, Sequence[tuple[int, bool | None, OfMode | None]]],
) -> Audit:
    """Sum up the checksums of the lines that can be read: those of trials, and others by the name
    of their file."""
    whole = [(record.key, state) for _, state, record in trials if record is not None]
    others = [
        ((file, record.mode), state)
        for file, lines in beside.items()
        for _, state, record in lines
        if record is not None
    ]
    return Audit(
        sealed=sum(state is not None for _, state in whole),
        edited=frozenset(key for key, state in whole if state is False),
        bare=frozenset(key for key, state in whole if state is None),
        edited_beside=Counter(key for key, state in others if state is False),
        bare_beside=Counter(key for key, state in others if state is None),
    )


def _parse(line: bytes, kind: type[Line]) -> Line | None:
    try:
        return kind.from_json(line)
    except ValidationError:
        return None
