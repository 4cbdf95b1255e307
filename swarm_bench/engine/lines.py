"""Lines of a session's files: what can be read, and whether they are as they were written."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from swarm_bench.core.audit import Audit
from swarm_bench.core.overhead import Overhead
from swarm_bench.core.records import SwarmRecord, TrialRecord
from swarm_bench.core.stored import Stored
from swarm_bench.engine.seal import is_whole
from swarm_bench.runtime.untrusted import read_if_there

MOST_BYTES = 1024 * 1024 * 1024
"""Of the lines of a session; a trial's has a few thousand."""
Line = TypeVar("Line", bound=Stored)


def read_lines(path: Path, kind: type[Line]) -> list[tuple[int, bytes, Line | None]]:
    """The lines of a file with their numbers, and what each says; `None` where it is torn."""
    content = read_if_there(path, MOST_BYTES)
    lines = [(number, line) for number, line in enumerate(content.split(b"\n"), 1) if line.strip()]
    return [(number, line, _parse(line, kind)) for number, line in lines]


def torn_lines(path: Path, lines: Sequence[tuple[int, bytes, Stored | None]]) -> tuple[str, ...]:
    """A sentence on the lines of a file that cannot be read, if there are any."""
    numbers = [str(number) for number, _, record in lines if record is None]
    if not numbers:
        return ()
    return (f"{path.name}: lines {', '.join(numbers)} cannot be read and are left out",)


def second_lines(path: Path, numbers: Collection[int]) -> tuple[str, ...]:
    """A sentence on the lines that are of a trial with a line before, if there are any."""
    if not numbers:
        return ()
    shown = ", ".join(map(str, sorted(numbers)))
    return (f"{path.name}: lines {shown} are second lines of their trials and are left out",)


def audit_of(
    trials: Sequence[tuple[int, bytes, TrialRecord | None]],
    beside: Mapping[str, Sequence[tuple[int, bytes, SwarmRecord | Overhead | None]]],
) -> Audit:
    """What the checksums say of the lines that can be read: those of trials, and others by the name
    of their file."""
    whole = [(record.key, is_whole(line)) for _, line, record in trials if record is not None]
    others = [
        ((file, record.mode), is_whole(line))
        for file, lines in beside.items()
        for _, line, record in lines
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
