"""A session's folder. The one module that knows where things lie in it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from swarm_bench.core.errors import ConfigError, UsageError
from swarm_bench.core.experiment import SCHEMA_VERSION, Experiment, Stored
from swarm_bench.core.records import SessionData, SwarmRecord, TrialRecord
from swarm_bench.core.status import CONSEQUENCES
from swarm_bench.engine.plan import Trial, planned_by_mode
from swarm_bench.runtime.files import append_line, store_errors, write_whole

EXPERIMENT = "experiment.json"
METRICS = "metrics.jsonl"
RETRIEVAL = "retrieval.jsonl"
SUPERSEDED = "superseded.jsonl"
LOCK = ".lock"

Line = TypeVar("Line", bound=Stored)


class SessionFolder:
    """Paths of one session, and what is read from and written to them."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.lock = self.path / LOCK
        self.summary = self.path / "summary.md"
        self._experiment = self.path / EXPERIMENT
        self._metrics = self.path / METRICS
        self._retrieval = self.path / RETRIEVAL

    def check_free(self) -> None:
        """Raises `UsageError` when the folder holds something."""
        if self.holds_session():
            raise UsageError(
                f"{self.path} holds another session; go on with it through --continue "
                f"{self.path}, or choose another --output"
            )
        if self.path.is_file() or (
            self.path.is_dir() and any(p.name != LOCK for p in self.path.iterdir())
        ):
            raise UsageError(f"{self.path} is not an empty folder; choose another --output")

    def holds_session(self) -> bool:
        return self._experiment.is_file()

    def write_experiment(self, experiment: Experiment) -> None:
        """Store the experiment. A session that grows from one run to several is re-arranged."""
        if self.holds_session():
            before = self.read_experiment()
            if before.runs == 1 and experiment.runs > 1:
                with store_errors(self.path):
                    self._move_into_first_run([mode.name for mode in before.modes])
        write_whole(self._experiment, experiment.model_dump_json(indent=2) + "\n")

    def read_experiment(self) -> Experiment:
        """Raises `UsageError` when the folder holds no session."""
        try:
            text = self._experiment.read_text(encoding="utf-8")
        except FileNotFoundError as error:
            raise UsageError(
                f"{self.path} holds no session (there is no {EXPERIMENT}); "
                "give the folder of one, below results/"
            ) from error
        try:
            experiment = Experiment.model_validate_json(text)
        except ValidationError as error:
            raise ConfigError(
                f"{self._experiment} is not an experiment of this version: "
                f"{error.errors()[0]['msg']}; restore the file or begin a new session"
            ) from error
        if experiment.schema_version > SCHEMA_VERSION:
            raise UsageError(
                f"{self._experiment} was written by a newer swarm-bench; update this one"
            )
        return experiment

    def mode_folder(self, experiment: Experiment, run: int, mode: str) -> Path:
        """Where a swarm's artefacts lie. With one run the modes stand directly in the session."""
        base = self.path if experiment.runs == 1 else self.path / f"run-{run}"
        return base / mode

    def agent_file(self, experiment: Experiment, trial: Trial, suffix: str) -> Path:
        """An artefact of one trial; suffixes: `json`, `md`, `stream.jsonl`, `stderr.log`."""
        folder = self.mode_folder(experiment, trial.run, trial.mode)
        return folder / f"agent-{trial.agent}.{suffix}"

    def append_trial(self, record: TrialRecord) -> None:
        append_line(self._metrics, record.model_dump_json())

    def append_swarm(self, record: SwarmRecord) -> None:
        append_line(self._retrieval, record.model_dump_json())

    def set_aside_reruns(self) -> list[TrialRecord]:
        """Move the records of trials that must run again to `superseded.jsonl`, and torn lines too.

        Returns the records that stay. So `metrics.jsonl` has one line per trial, and nothing
        that was recorded is lost.
        """
        records, torn = _read(self._metrics, TrialRecord)
        stay: dict[str | None, TrialRecord] = {}
        for record in records:
            if record.cause is None or not CONSEQUENCES[record.cause].rerun:
                stay[record.trial] = record
        gone = [record for record in records if stay.get(record.trial) is not record]
        for line in (*(record.model_dump_json() for record in gone), *torn.values()):
            append_line(self.path / SUPERSEDED, line)
        if gone or torn:
            lines = "".join(record.model_dump_json() + "\n" for record in stay.values())
            write_whole(self._metrics, lines)
        return list(stay.values())

    def attempts(self) -> dict[str, int]:
        """How often each trial was tried and set aside, by its id."""
        records, _ = _read(self.path / SUPERSEDED, TrialRecord)
        return {str(record.trial): record.attempt for record in records}

    def read(self) -> SessionData:
        """The session as it stands."""
        experiment = self.read_experiment()
        trials, torn = _read(self._metrics, TrialRecord)
        swarms, torn_swarms = _read(self._retrieval, SwarmRecord)
        return SessionData(
            experiment=experiment,
            trials=tuple(trials),
            swarms=tuple(swarms),
            planned=planned_by_mode(experiment),
            warnings=(*_warn(self._metrics, torn), *_warn(self._retrieval, torn_swarms)),
        )

    def _move_into_first_run(self, modes: Sequence[str]) -> None:
        first = self.path / "run-1"
        first.mkdir(exist_ok=True)
        for mode in modes:
            if (self.path / mode).is_dir():
                (self.path / mode).rename(first / mode)


def _read(path: Path, kind: type[Line]) -> tuple[list[Line], dict[int, str]]:
    """The lines of a file that can be read, and by their numbers those that cannot."""
    found, torn = list[Line](), dict[int, str]()
    content = path.read_bytes() if path.exists() else b""
    for number, line in enumerate(content.split(b"\n"), start=1):
        try:
            if line.strip():
                found.append(kind.model_validate_json(line))
        except ValidationError:
            torn[number] = line.decode("utf-8", "replace")
    return found, torn


def _warn(path: Path, torn: Mapping[int, str]) -> tuple[str, ...]:
    if not torn:
        return ()
    return (f"{path.name}: lines {', '.join(map(str, torn))} cannot be read and are left out",)


def newest_session(results: Path) -> Path:
    """The session below `results` that was begun last. Raises `UsageError` when there is none."""
    sessions = [file.parent for file in results.glob(f"*/{EXPERIMENT}")]
    if not sessions:
        raise UsageError(f"There is no session below {results}; name the folder: --continue DIR")
    return max(sessions, key=lambda path: SessionFolder(path).read_experiment().created_at)
