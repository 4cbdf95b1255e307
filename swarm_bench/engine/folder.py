"""The folder of a session: its experiment, and the records of its trials, a line for each, appended
when it ends. Nothing that was recorded is lost, whenever the session dies.

results/swarm-20261120-213300/
  experiment.json   metrics.jsonl   superseded.jsonl   summary.md
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import ValidationError

from swarm_bench.core.errors import ConfigError, Refused, UsageError
from swarm_bench.core.report.document import RenderedDocument
from swarm_bench.core.report.pictures import is_own_picture
from swarm_bench.core.session.base import SLICE_VERSION, BaseExperiment
from swarm_bench.core.validation import first_clause
from swarm_bench.engine.lines import METRICS, SUPERSEDED, R, Records
from swarm_bench.runtime.files import (
    PLANTED,
    is_part,
    make_room,
    set_aside,
    store_errors,
    writable,
    write_whole,
)
from swarm_bench.runtime.untrusted import open_untrusted, read
from swarm_bench.runtime.workspaces.content import SESSION_MARK

EXPERIMENT = "experiment.json"
LOCK = SESSION_MARK.decode()
E = TypeVar("E", bound=BaseExperiment)


_HEAD = 100
"""Bytes of a picture that have its mark."""


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


def _is_own_picture(path: Path) -> bool:
    try:
        with open_untrusted(path) as file:
            return is_own_picture(path.name, file.read(_HEAD))
    except (OSError, Refused):
        return False


class Folder(Generic[E, R]):
    """Paths of one session, and what is read from and written to them."""

    mark: str
    """A key that all experiments of this kind have."""

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

    @classmethod
    def holds(cls, path: Path) -> bool:
        """Tell whether the experiment in a folder has the mark of this kind."""
        return cls.mark in experiment_keys(path)

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

    def write_summary(self, summary: RenderedDocument) -> None:
        """Write what a reader opens: the summary, with its details and pictures beside it, as far
        as it has some. Pictures that it no longer has are removed, and foreign files that stand in
        the way of one are set aside."""
        write_whole(self.summary, summary.markdown)
        if summary.details:
            write_whole(self.details, summary.details)
        for path in self.path.glob("*.svg"):
            if path.name not in summary.pictures and _is_own_picture(path):
                path.unlink(missing_ok=True)
        for name, drawing in summary.pictures.items():
            if not _is_own_picture(self.path / name):
                with store_errors(self.path / name):
                    set_aside(self.path / name, PLANTED)
            write_whole(self.path / name, drawing)

    def _write(self, experiment: E) -> None:
        """Store the experiment; an older one becomes a current one."""
        current = experiment.model_copy(update={"schema_version": experiment.version})
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
        if isinstance(version, int) and version > SLICE_VERSION:
            raise UsageError(
                f"{self._experiment} was written by a newer swarm-bench; update this one"
            )

    def _refuse_others(self, error: ValidationError) -> None:
        """Raise `UsageError` for a sound session of another kind of benchmark."""
        name = experiment_keys(self.path).get("benchmark")
        if isinstance(name, str) and not self.holds(self.path):
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
