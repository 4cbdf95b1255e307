"""Keeps what the agents of a session print, and how they ended, so that it can be played again.

Each trial is written when it ends: a session that dies leaves a recording of what it had run.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from threading import Lock

from swarm_bench.benchmarks.swarm.running.delivery import Execution
from swarm_bench.core.session.experiment import NOT_STORED, Experiment, Mode
from swarm_bench.core.session.recording import (
    OVERHEAD,
    RECORDING,
    STREAMS,
    SWARMS,
    TRIALS,
    RecordedTrial,
    Recording,
    stream_path,
)
from swarm_bench.core.session.records import SwarmRecord, TrialRecord
from swarm_bench.core.treatment.overhead import Overhead
from swarm_bench.retrieval.modes.secrets import make_storable
from swarm_bench.runtime.files import append_line, copy_whole, make_folder, make_room, write_whole
from swarm_bench.runtime.untrusted import check


@dataclass(frozen=True, kw_only=True)
class PrintedFiles:
    """The files that an agent's process wrote."""

    stdout: Path
    stderr: Path
    home_files: Mapping[str, bytes]
    """Files that its adapter reads in its home, by their path there, without secrets."""


class Recorder:
    """Writes one recording; one of a session that is continued grows."""

    def __init__(self, folder: Path, adapter: str) -> None:
        """Take the name of the agent's adapter, as the user gave it."""
        self._folder = folder
        self._adapter = adapter
        self._turn = Lock()

    def begin(
        self, experiment: Experiment, files: frozenset[str], at: Mapping[str, frozenset[str]]
    ) -> None:
        """Write the head, with the files that agents see, also `at` the commits that tasks are
        asked on. Raises `StoreError`."""
        recording = Recording(
            swarm_bench=version("swarm-bench"),
            adapter=self._adapter,
            experiment=make_shareable(experiment),
            files=tuple(sorted(files)),
            files_at={commit: tuple(sorted(names)) for commit, names in at.items()},
        )
        self._make_folders()
        write_whole(self._folder / RECORDING, recording.model_dump_json(indent=1) + "\n")

    def keep(self, trial: RecordedTrial, printed: PrintedFiles) -> None:
        """Keep a trial that ended; its streams first, so that a line never lacks them."""
        self._make_folders()
        if trial.ran:
            trial = trial.model_copy(
                update={
                    "stdout_bytes": self._copy(trial, "stdout", printed.stdout),
                    "stderr_bytes": self._copy(trial, "stderr", printed.stderr),
                    "home_files": {inner: len(data) for inner, data in printed.home_files.items()},
                }
            )
            for number, data in enumerate(printed.home_files.values(), start=1):
                write_whole(self._stream(trial, f"left-{number}"), data)
        with self._turn:  # several trials may end together
            append_line(self._folder / TRIALS, trial.model_dump_json())

    def keep_swarm(self, record: SwarmRecord) -> None:
        self._make_folders()
        append_line(self._folder / SWARMS, record.model_dump_json())

    def keep_overhead(self, line: Overhead) -> None:
        """Append a line; of several lines of a mode the last counts."""
        self._make_folders()
        append_line(self._folder / OVERHEAD, line.model_dump_json())

    def _make_folders(self) -> None:
        for folder in (self._folder, self._folder / STREAMS):
            make_room(folder, folder=True)
        make_folder(self._folder / STREAMS)

    def _copy(self, trial: RecordedTrial, name: str, source: Path) -> int:
        """Copy a stream. One that the agent replaced is missing from the recording, and a replay
        reports that."""
        try:
            check(source)
        except OSError:
            return 0
        return copy_whole(source, self._stream(trial, name))

    def _stream(self, trial: RecordedTrial, name: str) -> Path:
        return stream_path(self._folder, trial.trial, name)


def make_recorded_trial(execution: Execution, record: TrialRecord) -> RecordedTrial:
    """Make the line of a trial."""
    trial, process = execution.trial, execution.process
    return RecordedTrial(
        trial=trial.id,
        run=trial.run,
        mode=trial.arm,
        agent=trial.number,
        task_id=trial.case.id,
        attempt=record.attempt,
        prompt_sha256=hashlib.sha256(execution.prompt.encode("utf-8", "replace")).hexdigest(),
        workspace=execution.workspace,
        cause=execution.outcome.cause,
        detail=record.detail,
        program_version=execution.program_version,
        ran=process is not None,
        returncode=process.returncode if process else None,
        exit_code=record.exit_code,
        stopped=process.stopped if process else None,
        turn_limit=process.turn_limit if process else None,
        started_at=record.started_at,
        ended_at=record.ended_at,
        wall_seconds=record.wall_seconds,
        cpu_seconds=record.cpu_seconds,
        peak_memory_bytes=record.peak_memory_bytes,
        outside=record.evidence.outside if record.evidence else (),
        answers=record.evidence.answers if record.evidence else (),
        rehearsal=record.rehearsal,
        rehearsal_requests=record.rehearsal_requests,
        rehearsal_faults=record.rehearsal_faults,
        rehearsal_request_tokens=record.rehearsal_request_tokens,
        rehearsal_tool_tokens=record.rehearsal_tool_tokens,
        rehearsal_mcp_tokens=record.rehearsal_mcp_tokens,
        rehearsal_tools=record.rehearsal_tools,
    )


def make_shareable(experiment: Experiment) -> Experiment:
    """Return the experiment without settings, the configuration of its servers, and the fields that
    hold an address or the path of a program. Names and sentences stay as they are."""
    experiment = make_storable(experiment)
    return experiment.model_copy(
        update={
            "modes": tuple(_make_shareable_mode(mode) for mode in experiment.modes),
            "agent": experiment.agent.model_copy(update={"path": None}),
            "repository": experiment.repository.model_copy(update={"omitted": ()}),
            "retrieval": {
                mode: program.model_copy(update={"path": None})
                for mode, program in experiment.retrieval.items()
            },
            "service_url": NOT_STORED if experiment.service_url else None,
            "settings": {},
        }
    )


def _make_shareable_mode(mode: Mode) -> Mode:
    """Keep only the names of the mode's servers."""
    servers: dict[str, dict[str, object]] = {name: {} for name in mode.servers}
    return mode.model_copy(update={"servers": servers, "source": Path(mode.source).name})
