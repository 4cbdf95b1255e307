"""The few keys of a trial's line that say whether the trial must run again."""

import re
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import ValidationError

from swarm_bench.core.session.audit import Key
from swarm_bench.core.session.base import SCHEMA_VERSION, StoredRecord
from swarm_bench.core.status import CONSEQUENCES, Cause
from swarm_bench.engine.folding import Entry, find_duplicates, fold_amendments
from swarm_bench.engine.lines import Checked, number_lines, parse_checked, read_checked
from swarm_bench.engine.seal import is_intact

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
