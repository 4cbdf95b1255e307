"""The folder of a session: its experiment, and the records of its trials, a line for each, appended
when it ends. Nothing that was recorded is lost, whenever the session dies.

results/compare-20261120-213300/
  experiment.json   metrics.jsonl   superseded.jsonl   summary.md
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from pydantic import ValidationError

from swarm_bench.core.errors import ConfigError, Refused, UsageError
from swarm_bench.core.session.base import EXPERIMENT_VERSION, BaseExperiment
from swarm_bench.core.validation import first_clause
from swarm_bench.engine.heads import Entry, Head, R, fold_amendments, read_heads, read_trials
from swarm_bench.engine.lines import Checked, add_checksum, is_newer
from swarm_bench.runtime.cycles import pause_collection
from swarm_bench.runtime.files import (
    State,
    append_line,
    is_part,
    make_room,
    read_state,
    writable,
    write_whole,
)
from swarm_bench.runtime.untrusted import read
from swarm_bench.runtime.workspaces.content import SESSION_MARK

EXPERIMENT = "experiment.json"
LOCK = SESSION_MARK.decode()
E = TypeVar("E", bound=BaseExperiment)


def holds_experiment(path: Path) -> bool:
    """Tell whether a folder holds a session, of whatever kind."""
    return (path / EXPERIMENT).is_file()


def experiment_keys(path: Path) -> Mapping[str, object]:
    """Read the experiment of a folder as it is stored; nothing where there is none."""
    with suppress(OSError, ValueError, RecursionError):
        content = json.loads(read(path / EXPERIMENT))
        if isinstance(content, dict):
            return content
    return {}


class Folder(Generic[E, R]):
    """Paths of one session, and what is read from and written to them."""

    mark: str
    """A key that the experiments of this kind have, and no others."""

    def __init__(self, path: Path, experiment: type[E], record: type[R]) -> None:
        """`experiment` and `record` are the kinds of what it holds."""
        self.path = path.resolve()
        self.lock = self.path / LOCK
        self.summary = self.path / "summary.md"
        self.details = self.path / "details.md"
        self.record = record
        self.records = Records(self.path, record)
        self._experiment = self.path / EXPERIMENT
        self._kind = experiment

    def check_free(self) -> None:
        """Raise `UsageError` when the folder holds something."""
        if self.holds_session():
            raise UsageError(
                f"{self.path} holds another session; continue it with --continue {self.path}, "
                "or choose another --output"
            )
        if self.path.is_file() or (
            self.path.is_dir()
            and any(p.name != LOCK and not is_part(p) for p in self.path.iterdir())
        ):
            raise UsageError(f"{self.path} is not an empty folder; choose another --output")

    def make(self) -> None:
        """Make the folder and its lock. Raises `UsageError` when that cannot be done."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            writable(self.lock, "ab").close()
        except OSError as error:
            raise UsageError(
                f"{self.path} cannot be a folder for results: {error.strerror}; "
                "choose another --output"
            ) from error

    def remove_if_empty(self) -> None:
        """Remove an empty folder; any other stays."""
        self.lock.unlink(missing_ok=True)
        with suppress(OSError):
            self.path.rmdir()

    def holds_session(self) -> bool:
        return self._experiment.is_file()

    def had_session(self) -> bool:
        """Tell whether a session was here, even if its experiment is lost."""
        return self.holds_session() or self.lock.exists()

    def _write(self, experiment: E) -> None:
        """Store the experiment; an older one becomes one of this version."""
        current = experiment.model_copy(update={"schema_version": EXPERIMENT_VERSION})
        write_whole(self._experiment, current.model_dump_json(indent=2) + "\n")

    def read_experiment(self) -> E:
        """Read the experiment. Raises `UsageError` when the folder holds no session."""
        try:
            experiment = self._kind.from_json(read(self._experiment))
        except Refused:
            raise
        except OSError as error:
            raise UsageError(
                f"{self.path} holds no session (there is no {EXPERIMENT}); "
                "give the folder of one, below results/"
            ) from error
        except ValidationError as error:
            self._refuse_newer(experiment_keys(self.path).get("schema_version"))
            self._refuse_others(error)
            raise self._make_damage_error(
                f"is not an experiment of this version: {first_clause(error)}"
            ) from error
        self._refuse_newer(experiment.schema_version)
        try:
            self._check(experiment)
        except ValueError as error:
            raise self._make_damage_error(str(error)) from error
        return experiment

    def _refuse_newer(self, version: object) -> None:
        if isinstance(version, int) and version > EXPERIMENT_VERSION:
            raise UsageError(
                f"{self._experiment} was written by a newer swarm-bench; update this one"
            )

    def _refuse_others(self, error: ValidationError) -> None:
        """Raise `UsageError` for a sound session of another kind of benchmark."""
        content = experiment_keys(self.path)
        if self.mark not in content and isinstance(name := content.get("benchmark"), str):
            raise UsageError(
                f"{self.path} is a session of the benchmark {name!r}; "
                "continue it with the command that began it"
            ) from error

    def _make_damage_error(self, clause: str) -> ConfigError:
        return ConfigError(f"{self._experiment} {clause}; restore it, or start a new session")

    def make_room(self) -> None:
        """Set aside whatever stands where the session's files go: some are read before written."""
        for name in (LOCK, EXPERIMENT, METRICS, SUPERSEDED, *self._other_files()):
            make_room(self.path / name)
        writable(self.lock, "ab").close()

    def _other_files(self) -> tuple[str, ...]:
        """Return the names of the files that only sessions of this benchmark have."""
        return ()

    def _check(self, experiment: E) -> None:
        """Raise `ValueError` for what no session can be; its text follows the file's name."""


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
