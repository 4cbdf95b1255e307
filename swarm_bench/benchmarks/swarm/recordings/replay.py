"""Plays one swarm of a recording: its agents' output comes from the recording, through the same
process runner, adapter and scorers, and so do the figures that only the original could have. There
is no workspace, no service and no index."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import anyio

from swarm_bench.benchmarks.swarm.plan.swarms import Swarm
from swarm_bench.benchmarks.swarm.running.agent_process import (
    AgentProcess,
    agent_process,
    read_agent,
    run_agent,
)
from swarm_bench.benchmarks.swarm.running.delivery import Deliver, Execution, SwarmEnded, SwarmJob
from swarm_bench.benchmarks.swarm.running.kit import Kit, Surroundings
from swarm_bench.core.errors import HarnessError, ProcessLost, StoreError, described
from swarm_bench.core.events import TrialStarted
from swarm_bench.core.outcome import Outcome
from swarm_bench.core.session.recording import Recorded, RecordedTrial
from swarm_bench.core.session.records import Measured, Rehearsed, SwarmRecord
from swarm_bench.core.status import Cause
from swarm_bench.retrieval.reach.reach import reach_of
from swarm_bench.retrieval.tools import Site
from swarm_bench.runtime.files import remove, store_errors, write_whole
from swarm_bench.runtime.monitor import TreeMonitor
from swarm_bench.runtime.sink import clean_text
from swarm_bench.runtime.untrusted import read

PLAY_SECONDS = 600
"""The recorded limit was the original's; a process that only prints needs a few seconds."""
AT_ONCE = 4
"""Agents that are played at the same time, however many there were: nothing here is timed."""


async def replay_swarm(kit: Kit, recorded: Recorded, job: SwarmJob, deliver: Deliver) -> None:
    """Play the trials of the swarm. Delivers an execution of each, and the swarms that were
    recorded of them. Raises `StoreError`, alone or in a group."""
    swarm, folder = job.swarm, kit.work / "replay"
    with store_errors(folder):
        folder.mkdir(exist_ok=True)
    around = Surroundings(
        site=Site(tools=kit.tools, mode=kit.experiment.mode(swarm.arm), workspace=folder),
        monitor=TreeMonitor(),
        attempts=job.attempts,
        reach=reach_of(kit.experiment, swarm.arm, kit.snapshot.files, {}, {}),
    )
    limiter = anyio.CapacityLimiter(AT_ONCE)
    try:
        async with anyio.create_task_group() as agents:
            for trial in swarm.trials:
                play = _Play(kit, recorded, around, agent_process(kit, trial))
                agents.start_soon(_play, play, limiter, deliver)
    finally:
        with anyio.CancelScope(shield=True):
            for record in _swarms(recorded, swarm):
                played = record.model_copy(update={"session": kit.experiment.session})
                await deliver(SwarmEnded(record=played))
        remove(folder)


@dataclass
class _Play:
    kit: Kit
    recorded: Recorded
    around: Surroundings
    agent: AgentProcess
    outside: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()

    @property
    def then(self) -> RecordedTrial | None:
        """The recorded trial; `None` when the recording has nothing of it."""
        return self.recorded.trials.get(self.agent.trial.id)


async def _play(play: _Play, limiter: anyio.CapacityLimiter, deliver: Deliver) -> None:
    async with limiter:
        trial = play.agent.trial
        play.agent.started_at = datetime.now(UTC)
        play.kit.emit(
            TrialStarted(run=trial.run, arm=trial.arm, number=trial.number, case=trial.case.title)
        )
        try:
            outcome, exit_code = await _outcome(play)
            with anyio.CancelScope(shield=True):
                await deliver(_execution(play, outcome, exit_code))
        except anyio.get_cancelled_exc_class():
            cut = Outcome(cause=Cause.INTERRUPTED, detail="the session was interrupted")
            with anyio.CancelScope(shield=True):
                await deliver(_execution(play, cut, None, cut=True))
            raise
        finally:
            play.agent.home.remove()


async def _outcome(play: _Play) -> tuple[Outcome, int | None]:
    """Return what the process that prints left, and its exit code."""
    try:
        return await _played(play)
    except ProcessLost as error:
        play.agent.seconds = None
        return Outcome(cause=Cause.NOT_STARTED, detail=str(error)), None
    except HarnessError:
        raise
    except Exception as error:  # noqa: BLE001  # an adapter may raise anything: others go on
        return Outcome(cause=Cause.ADAPTER_FAILED, detail=described(error)), None


async def _played(play: _Play) -> tuple[Outcome, int | None]:
    then = play.then
    if then is None:
        return Outcome(cause=Cause.NOT_STARTED, detail=_missing(play)), None
    if not then.ran:
        return Outcome(cause=then.cause, detail=then.detail), then.exit_code
    await run_agent(play.kit, play.around, play.agent, PLAY_SECONDS)
    _check_whole(play, then)
    _put_what_it_left(play, then)
    outcome = await anyio.to_thread.run_sync(_read, play, then, limiter=play.kit.reading)
    if then.imposed:
        return replace(outcome, cause=then.cause, detail=then.detail), then.exit_code
    return outcome, None if then.stopped == "answered" else then.returncode


def _read(play: _Play, then: RecordedTrial) -> Outcome:
    agent = replace(play.agent, started_at=then.started_at)
    outcome = read_agent(play.kit, agent, then.returncode, then.stopped)
    # Of the process tree there is nothing now: what was seen then counts.
    findings = then.outside or play.around.reach.findings(outcome, ())
    play.answers = then.answers
    play.outside = tuple(clean_text(finding, play.kit.secrets) for finding in findings)
    return outcome


def _missing(play: _Play) -> str:
    trial, session = play.agent.trial, play.recorded.recording.experiment.session
    return (
        f"the recording of session {session} has nothing of agent {trial.number} in run "
        f"{trial.run}, {trial.arm}"
    )


def _check_whole(play: _Play, then: RecordedTrial) -> None:
    """Raise `ProcessLost` when the process did not print all that was recorded."""
    printed = (play.agent.stdout.stat().st_size, play.agent.stderr.stat().st_size)
    if printed != (then.stdout_bytes, then.stderr_bytes):
        raise ProcessLost("what was recorded could not be printed again; try the replay again")


def _put_what_it_left(play: _Play, then: RecordedTrial) -> None:
    """Raise `ProcessLost` for names that no files can have: other trials can be played."""
    for number, inner in enumerate(then.home_files, start=1):
        source = play.recorded.stream(then.trial, f"left-{number}")
        try:
            write_whole(play.agent.home.path / inner, read(source))
        except (StoreError, OSError) as error:
            raise ProcessLost(
                f"what the recorded agent left could not be put back: {error}"
            ) from error


def _execution(
    play: _Play, outcome: Outcome, exit_code: int | None, *, cut: bool = False
) -> Execution:
    """Make the execution. What was measured then is measured now, if it was played to its end."""
    kit, agent, then = play.kit, play.agent, play.then
    detail = outcome.detail and clean_text(outcome.detail, kit.secrets)
    measured = _measured(play, exit_code)
    if then is not None and not cut and (not then.ran or agent.seconds is not None):
        measured = _as_then(measured, then)
    return Execution(
        trial=agent.trial,
        outcome=replace(outcome, detail=detail),
        measured=measured,
        prompt=agent.prompt,
        workspace=then.workspace if then else str(play.around.site.workspace),
        program_version=then.program_version if then else kit.experiment.agent.version,
        rehearsed=_rehearsed(then) if then else Rehearsed(),
        outside=play.outside,
        answers=play.answers,
        replayed=play.recorded.recording.experiment.session,
    )


def _measured(play: _Play, exit_code: int | None) -> Measured:
    agent = play.agent
    return Measured(
        started_at=agent.started_at,
        ended_at=agent.ended_at or datetime.now(UTC),
        wall_seconds=None,  # what printing took says nothing
        exit_code=exit_code,
        peak_memory_bytes=None,
        cpu_seconds=None,
        attempt=play.around.attempts.get(agent.trial.id, 0) + 1,
        turns_counted=agent.launch.turn_limit is not None if agent.launch else None,
    )


def _as_then(now: Measured, then: RecordedTrial) -> Measured:
    return replace(
        now,
        started_at=then.started_at,
        ended_at=then.ended_at or now.ended_at,
        wall_seconds=then.wall_seconds,
        peak_memory_bytes=then.peak_memory_bytes,
        cpu_seconds=then.cpu_seconds,
        attempt=then.attempt + now.attempt - 1,
    )


def _rehearsed(then: RecordedTrial) -> Rehearsed:
    return Rehearsed(
        rehearsal_requests=then.rehearsal_requests,
        rehearsal_faults=then.rehearsal_faults,
        rehearsal_request_tokens=then.rehearsal_request_tokens,
        rehearsal_tool_tokens=then.rehearsal_tool_tokens,
        rehearsal_mcp_tokens=then.rehearsal_mcp_tokens,
        rehearsal_tools=then.rehearsal_tools,
    )


def _swarms(recorded: Recorded, swarm: Swarm) -> Iterator[SwarmRecord]:
    """Yield what was recorded of the swarm. There are several when the session was continued, and
    the id is another one when tasks were added to it."""
    numbers = {trial.number for trial in swarm.trials}
    for record in recorded.swarms:
        if (record.run, record.mode) == (swarm.run, swarm.arm) and (
            record.swarm == swarm.id or (record.agents and numbers.issuperset(record.agents))
        ):
            yield record
