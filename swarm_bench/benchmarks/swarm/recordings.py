"""Recordings: what the agents of a session print, and how they ended, kept so that it can be played
again. A swarm that is played has no workspace, no service and no index: its agents' output comes
from the recording, through the same process runner, adapter and scorers, and so do the figures that
only the original could have."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from threading import Lock

import anyio

from swarm_bench.benchmarks.swarm.run_plan import Swarm, SwarmTrial
from swarm_bench.benchmarks.swarm.running.agent_process import read_outcome
from swarm_bench.benchmarks.swarm.running.kit import Kit, SwarmContext
from swarm_bench.benchmarks.swarm.running.trial import (
    Deliver,
    Execution,
    SwarmJob,
    SwarmResult,
    TrialRun,
)
from swarm_bench.core.errors import ProcessLost, StoreError
from swarm_bench.core.outcome import Outcome
from swarm_bench.core.session.experiment import NOT_STORED, Experiment, Mode
from swarm_bench.core.session.recording import (
    OVERHEAD,
    RECORDING,
    STREAMS,
    SWARMS,
    TRIALS,
    CheckedRecording,
    RecordedTrial,
    Recording,
    stream_path,
)
from swarm_bench.core.session.records import Measurements, Rehearsed, SwarmRecord, TrialRecord
from swarm_bench.core.status import Cause
from swarm_bench.core.treatment.overhead import Overhead
from swarm_bench.retrieval.modes.secrets import make_storable
from swarm_bench.retrieval.reach.reach import collect_foreign_tools
from swarm_bench.retrieval.tools import Site
from swarm_bench.runtime.files import (
    append_line,
    copy_whole,
    make_folder,
    make_room,
    remove,
    store_errors,
    write_whole,
)
from swarm_bench.runtime.monitor import TreeMonitor
from swarm_bench.runtime.sink import clean_text
from swarm_bench.runtime.untrusted import check, read

PLAY_SECONDS = 600
"""The recorded limit was the original's; a process that only prints needs a few seconds."""
AT_ONCE = 4
"""Agents that are played at the same time, however many there were: nothing here is timed."""


@dataclass(frozen=True, kw_only=True)
class PrintedFiles:
    """The files that an agent's process wrote."""

    stdout: Path
    stderr: Path
    home_files: Mapping[str, bytes]
    """Files that its adapter reads in its home, by their path there, without secrets."""


class Recorder:
    """Writes one recording; one of a session that is continued grows. Each trial is written when it
    ends: a session that dies leaves a recording of what it had run."""

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
            "modes": tuple(mode.model_copy(update=_keep_names(mode)) for mode in experiment.modes),
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


def _keep_names(mode: Mode) -> Mapping[str, object]:
    return {"servers": {name: {} for name in mode.servers}, "source": Path(mode.source).name}


async def replay_swarm(
    kit: Kit, recorded_session: CheckedRecording, job: SwarmJob, deliver: Deliver
) -> None:
    """Play the trials of the swarm. Delivers an execution of each, and the swarms that were
    recorded of them. Raises `StoreError`, alone or in a group."""
    swarm, folder = job.swarm, kit.work / "replay"
    with store_errors(folder):
        folder.mkdir(exist_ok=True)
    swarm_context = SwarmContext(
        site=Site(tools=kit.tools, mode=kit.experiment.mode(swarm.arm), workspace=folder),
        monitor=TreeMonitor(),
        attempts=job.attempts,
        reach=collect_foreign_tools(kit.experiment, swarm.arm, kit.snapshot.files, {}, {}),
    )
    limiter = anyio.CapacityLimiter(AT_ONCE)
    try:
        async with anyio.create_task_group() as agents:
            for trial in swarm.trials:
                replay = _TrialReplay(kit, swarm_context, trial, recorded_session)
                agents.start_soon(replay.play, limiter, deliver)
    finally:
        with anyio.CancelScope(shield=True):
            for record in _find_swarms(recorded_session, swarm):
                played = record.model_copy(update={"session": kit.experiment.session})
                await deliver(SwarmResult(record=played))
        remove(folder)


async def _find_no_loss() -> None:
    """Find nothing: there is nothing around the agent that could be lost."""


class _TrialReplay(TrialRun):
    """A trial whose process prints what was recorded. What printing took says nothing."""

    def __init__(
        self, kit: Kit, swarm_context: SwarmContext, trial: SwarmTrial, session: CheckedRecording
    ) -> None:
        super().__init__(kit, swarm_context, trial, _find_no_loss)
        self._session = session
        self._original = session.trials.get(trial.id)
        """The recorded trial; `None` when the recording has nothing of it."""
        self._cut = False

    async def play(self, limiter: anyio.CapacityLimiter, deliver: Deliver) -> None:
        """Play it when it is its turn."""
        async with limiter:
            await self.run(deliver)

    async def run_agent(self) -> tuple[Outcome, int | None]:
        original = self._original
        if original is None:
            trial, session = self.trial, self._session.recording.experiment.session
            missing = (
                f"the recording of session {session} has nothing of agent {trial.number} in run "
                f"{trial.run}, {trial.arm}"
            )
            return Outcome(cause=Cause.NOT_STARTED, detail=missing), None
        if not original.ran:
            return Outcome(cause=original.cause, detail=original.detail), original.exit_code
        await self.run_program(PLAY_SECONDS)
        self._check_complete(original)
        self._restore_home_files(original)
        outcome = await anyio.to_thread.run_sync(
            self._read_output, original, limiter=self.kit.reader_limiter
        )
        if original.has_external_cause:
            cause, detail = original.cause, original.detail
            return replace(outcome, cause=cause, detail=detail), original.exit_code
        return outcome, None if original.stopped == "answered" else original.returncode

    def _read_output(self, original: RecordedTrial) -> Outcome:
        exit = self.make_exit(original.returncode, original.stopped)
        outcome = read_outcome(self.kit.agent, replace(exit, started=original.started_at))
        # Of the process tree there is nothing now: what was seen then counts.
        findings = original.outside or self.swarm_context.reach.find_uses(outcome, ())
        self.answers = original.answers
        self.outside = tuple(clean_text(finding, self.kit.secrets) for finding in findings)
        return outcome

    def _check_complete(self, original: RecordedTrial) -> None:
        """Raise `ProcessLost` when the process did not print all that was recorded."""
        printed = (self.stdout.stat().st_size, self.stderr.stat().st_size)
        if printed != (original.stdout_bytes, original.stderr_bytes):
            raise ProcessLost("what was recorded could not be printed again; try the replay again")

    def _restore_home_files(self, original: RecordedTrial) -> None:
        """Raise `ProcessLost` for names that no files can have: other trials can be played."""
        for number, inner in enumerate(original.home_files, start=1):
            source = self._session.stream(original.trial, f"left-{number}")
            try:
                write_whole(self.home.path / inner, read(source))
            except (StoreError, OSError) as error:
                raise ProcessLost(
                    f"what the recorded agent left could not be put back: {error}"
                ) from error

    async def read_cut(self, loss: str | None) -> Outcome:
        self._cut = True
        return Outcome(cause=Cause.INTERRUPTED, detail="the session was interrupted")

    def make_execution(self, outcome: Outcome, exit_code: int | None) -> Execution:
        """Make the execution. What was measured then is measured now, if it was played to its
        end."""
        execution, original = super().make_execution(outcome, exit_code), self._original
        execution = replace(
            execution,
            measured=replace(execution.measured, wall_seconds=None),
            replayed=self._session.recording.experiment.session,
            process=None,
            leaves={},
        )
        if original is None:
            return execution
        execution = replace(
            execution,
            workspace=original.workspace,
            program_version=original.program_version,
            rehearsed=_read_rehearsal(original),
        )
        if self._cut or (original.ran and self.seconds is None):
            return execution
        measured = _restore_measurements(execution.measured, original)
        return replace(execution, measured=measured)


def _restore_measurements(now: Measurements, original: RecordedTrial) -> Measurements:
    return replace(
        now,
        started_at=original.started_at,
        ended_at=original.ended_at or now.ended_at,
        wall_seconds=original.wall_seconds,
        peak_memory_bytes=original.peak_memory_bytes,
        cpu_seconds=original.cpu_seconds,
        attempt=original.attempt + now.attempt - 1,
    )


def _read_rehearsal(original: RecordedTrial) -> Rehearsed:
    return Rehearsed(
        rehearsal_requests=original.rehearsal_requests,
        rehearsal_faults=original.rehearsal_faults,
        rehearsal_request_tokens=original.rehearsal_request_tokens,
        rehearsal_tool_tokens=original.rehearsal_tool_tokens,
        rehearsal_mcp_tokens=original.rehearsal_mcp_tokens,
        rehearsal_tools=original.rehearsal_tools,
    )


def _find_swarms(recorded_session: CheckedRecording, swarm: Swarm) -> Iterator[SwarmRecord]:
    """Yield what was recorded of the swarm. There are several when the session was continued, and
    the id is another one when tasks were added to it."""
    numbers = {trial.number for trial in swarm.trials}
    for record in recorded_session.swarms:
        if (record.run, record.mode) == (swarm.run, swarm.arm) and (
            record.swarm == swarm.id or (record.agents and numbers.issuperset(record.agents))
        ):
            yield record
