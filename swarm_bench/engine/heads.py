"""The few keys of a trial's line that say whether the trial must run again."""

from pathlib import Path

from pydantic import ValidationError

from swarm_bench.core.audit import Key
from swarm_bench.core.records import TrialRecord
from swarm_bench.core.status import CONSEQUENCES, Cause
from swarm_bench.core.stored import Stored
from swarm_bench.engine.folding import Entry
from swarm_bench.engine.lines import MOST_BYTES
from swarm_bench.engine.seal import is_whole
from swarm_bench.runtime.untrusted import read_if_there


class Head(Stored):
    """What continuing a session needs to know of a line."""

    trial: str | None = None
    attempt: int = 1
    cause: Cause | None = None

    @property
    def key(self) -> Key:
        return self.trial, self.attempt

    @property
    def conclusive(self) -> bool:
        return self.cause is not None and not CONSEQUENCES[self.cause].rerun


def read_heads(path: Path) -> list[Entry[Head]]:
    """Read the heads of all lines of trials, before they are folded. A line that is as it was
    written holds a record; any other one has to show it."""
    lines = enumerate(read_if_there(path, MOST_BYTES).split(b"\n"), 1)
    return [(number, line, _head(line)) for number, line in lines if line.strip()]


def _head(line: bytes) -> Head | None:
    try:
        if not is_whole(line):
            TrialRecord.from_json(line)
        return Head.from_json(line)
    except ValidationError:
        return None
