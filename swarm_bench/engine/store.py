"""The records of a session: a line for each trial, appended when it ends. Nothing that was recorded
is lost, whenever the session dies."""

from pathlib import Path
from threading import Lock
from typing import Generic

from swarm_bench.core.errors import UsageError
from swarm_bench.engine.folding import Entry, fold_amendments
from swarm_bench.engine.heads import Head, R, read_heads, read_trials
from swarm_bench.engine.lines import Checked, is_newer
from swarm_bench.engine.seal import add_checksum
from swarm_bench.runtime.cycles import pause_collection
from swarm_bench.runtime.files import State, append_line, make_room, read_state, write_whole

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
                append_line(self.path, b"\n".join(lines))

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
