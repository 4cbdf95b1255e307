"""The few keys of a trial's line that say whether the trial must run again; and several lines of
one trial, folded. A record is appended when its trial ends, and may be once more when its group has
ended and its labels are final. Nothing else replaces what was measured."""

import json
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError

from swarm_bench.core.session.audit import Key
from swarm_bench.core.session.base import SCHEMA_VERSION, StoredRecord
from swarm_bench.core.status import CONSEQUENCES, Cause
from swarm_bench.engine.lines import KEY as SEAL
from swarm_bench.engine.lines import (
    Checked,
    Keyed,
    is_intact,
    number_lines,
    parse_checked,
    read_checked,
)

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
    return {key: value for key, value in content.items() if key not in {*labels, SEAL}}
