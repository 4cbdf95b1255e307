"""Recordings: what the agents of a session print, and how they ended, kept so that it can be played
again. A swarm that is played has no workspace, no service and no index: its agents' output comes
from the recording, through the same process runner, adapter and scorers, and so do the figures that
only the original could have."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from threading import Lock

import anyio

from swarm_bench.benchmarks.swarm.run_plan import Swarm
from swarm_bench.benchmarks.swarm.running.agent_process import (
    AgentProcess,
    make_agent_process,
    read_agent,
    run_agent,
)
from swarm_bench.benchmarks.swarm.running.kit import Kit, SwarmContext
from swarm_bench.benchmarks.swarm.running.trial import Deliver, Execution, SwarmJob, SwarmResult
from swarm_bench.core.errors import HarnessError, ProcessLost, StoreError, described
from swarm_bench.core.events import TrialStarted
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
                replay = _TrialReplay(
                    kit, recorded_session, swarm_context, make_agent_process(kit, trial)
                )
                agents.start_soon(_play, replay, limiter, deliver)
    finally:
        with anyio.CancelScope(shield=True):
            for record in _find_swarms(recorded_session, swarm):
                played = record.model_copy(update={"session": kit.experiment.session})
                await deliver(SwarmResult(record=played))
        remove(folder)


@dataclass
class _TrialReplay:
    kit: Kit
    recorded_session: CheckedRecording
    swarm_context: SwarmContext
    agent: AgentProcess
    outside: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()

    @property
    def original(self) -> RecordedTrial | None:
        """The recorded trial; `None` when the recording has nothing of it."""
        return self.recorded_session.trials.get(self.agent.trial.id)


async def _play(replay: _TrialReplay, limiter: anyio.CapacityLimiter, deliver: Deliver) -> None:
    async with limiter:
        trial = replay.agent.trial
        replay.agent.started_at = datetime.now(UTC)
        replay.kit.emit(
            TrialStarted(run=trial.run, arm=trial.arm, number=trial.number, case=trial.case.title)
        )
        try:
            outcome, exit_code = await _find_outcome(replay)
            with anyio.CancelScope(shield=True):
                await deliver(_make_execution(replay, outcome, exit_code))
        except anyio.get_cancelled_exc_class():
            cut = Outcome(cause=Cause.INTERRUPTED, detail="the session was interrupted")
            with anyio.CancelScope(shield=True):
                await deliver(_make_execution(replay, cut, None, cut=True))
            raise
        finally:
            replay.agent.home.remove()


async def _find_outcome(replay: _TrialReplay) -> tuple[Outcome, int | None]:
    """Return what the process that prints left, and its exit code."""
    try:
        return await _run_recorded(replay)
    except ProcessLost as error:
        replay.agent.seconds = None
        return Outcome(cause=Cause.NOT_STARTED, detail=str(error)), None
    except HarnessError:
        raise
    except Exception as error:  # noqa: BLE001  # an adapter may raise anything: others go on
        return Outcome(cause=Cause.ADAPTER_FAILED, detail=described(error)), None


async def _run_recorded(replay: _TrialReplay) -> tuple[Outcome, int | None]:
    original = replay.original
    if original is None:
        trial, session = replay.agent.trial, replay.recorded_session.recording.experiment.session
        missing = (
            f"the recording of session {session} has nothing of agent {trial.number} in run "
            f"{trial.run}, {trial.arm}"
        )
        return Outcome(cause=Cause.NOT_STARTED, detail=missing), None
    if not original.ran:
        return Outcome(cause=original.cause, detail=original.detail), original.exit_code
    await run_agent(replay.kit, replay.swarm_context, replay.agent, PLAY_SECONDS)
    _check_complete(replay, original)
    _restore_home_files(replay, original)
    outcome = await anyio.to_thread.run_sync(
        _read_output, replay, original, limiter=replay.kit.reader_limiter
    )
    if original.has_external_cause:
        return replace(outcome, cause=original.cause, detail=original.detail), original.exit_code
    return outcome, None if original.stopped == "answered" else original.returncode


def _read_output(replay: _TrialReplay, original: RecordedTrial) -> Outcome:
    agent = replace(replay.agent, started_at=original.started_at)
    outcome = read_agent(replay.kit, agent, original.returncode, original.stopped)
    # Of the process tree there is nothing now: what was seen then counts.
    findings = original.outside or replay.swarm_context.reach.find_uses(outcome, ())
    replay.answers = original.answers
    replay.outside = tuple(clean_text(finding, replay.kit.secrets) for finding in findings)
    return outcome


def _check_complete(replay: _TrialReplay, original: RecordedTrial) -> None:
    """Raise `ProcessLost` when the process did not print all that was recorded."""
    printed = (replay.agent.stdout.stat().st_size, replay.agent.stderr.stat().st_size)
    if printed != (original.stdout_bytes, original.stderr_bytes):
        raise ProcessLost("what was recorded could not be printed again; try the replay again")


def _restore_home_files(replay: _TrialReplay, original: RecordedTrial) -> None:
    """Raise `ProcessLost` for names that no files can have: other trials can be played."""
    for number, inner in enumerate(original.home_files, start=1):
        source = replay.recorded_session.stream(original.trial, f"left-{number}")
        try:
            write_whole(replay.agent.home.path / inner, read(source))
        except (StoreError, OSError) as error:
            raise ProcessLost(
                f"what the recorded agent left could not be put back: {error}"
            ) from error


def _make_execution(
    replay: _TrialReplay, outcome: Outcome, exit_code: int | None, *, cut: bool = False
) -> Execution:
    """Make the execution. What was measured then is measured now, if it was played to its end."""
    kit, agent, original = replay.kit, replay.agent, replay.original
    detail = outcome.detail and clean_text(outcome.detail, kit.secrets)
    measurements = _measure(replay, exit_code)
    if original is not None and not cut and (not original.ran or agent.seconds is not None):
        measurements = _restore_measurements(measurements, original)
    return Execution(
        trial=agent.trial,
        outcome=replace(outcome, detail=detail),
        measured=measurements,
        prompt=agent.prompt,
        workspace=original.workspace if original else str(replay.swarm_context.site.workspace),
        program_version=original.program_version if original else kit.experiment.agent.version,
        rehearsed=_read_rehearsal(original) if original else Rehearsed(),
        outside=replay.outside,
        answers=replay.answers,
        replayed=replay.recorded_session.recording.experiment.session,
    )


def _measure(replay: _TrialReplay, exit_code: int | None) -> Measurements:
    agent = replay.agent
    return Measurements(
        started_at=agent.started_at,
        ended_at=agent.ended_at or datetime.now(UTC),
        wall_seconds=None,  # what printing took says nothing
        exit_code=exit_code,
        peak_memory_bytes=None,
        cpu_seconds=None,
        attempt=replay.swarm_context.attempts.get(agent.trial.id, 0) + 1,
        turns_counted=agent.launch.turn_limit is not None if agent.launch else None,
    )


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
