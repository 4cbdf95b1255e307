"""One swarm of a recording, played: its agents' output comes from the recording, through the same
runner, adapter and scorers, and so do the figures that only the original could have. There is no
workspace, no service and no index."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import anyio

from swarm_bench.benchmarks.swarm.plan.swarms import Swarm, Trial
from swarm_bench.benchmarks.swarm.proof import amended, prove
from swarm_bench.benchmarks.swarm.records.parts import Beside, Measured, Rehearsed
from swarm_bench.benchmarks.swarm.running import counters
from swarm_bench.benchmarks.swarm.running.kit import Kit
from swarm_bench.benchmarks.swarm.running.surroundings import Surroundings
from swarm_bench.benchmarks.swarm.running.trial import TrialRun
from swarm_bench.core.errors import ProcessLost, StoreError
from swarm_bench.core.outcome import Outcome
from swarm_bench.core.session.recording import Recorded, RecordedTrial
from swarm_bench.core.session.records import SwarmRecord
from swarm_bench.core.status import Cause
from swarm_bench.retrieval.reach.reach import reach_of
from swarm_bench.runtime.files import remove, store_errors, write_whole
from swarm_bench.runtime.monitor import TreeMonitor
from swarm_bench.runtime.untrusted import read

PLAY_SECONDS = 600
"""The recorded limit was the original's; a process that only prints needs a few seconds."""
AT_ONCE = 4
"""Agents that are played at the same time, however many there were: nothing here is timed."""


async def replay_swarm(
    kit: Kit, recorded: Recorded, swarm: Swarm, attempts: Mapping[str, int]
) -> None:
    """Play the trials of the swarm: each has a record afterwards, and the swarm those that were
    recorded. Raises `StoreError`, alone or in a group."""
    place = kit.work / "replay"
    with store_errors(place):
        place.mkdir(exist_ok=True)
    around = Surroundings(
        workspace=place,
        placeholders={},
        monitor=TreeMonitor(),
        attempts=attempts,
        home={},
        reach=reach_of(kit.experiment, swarm.mode, kit.snapshot.files, {}, {}),
    )
    limiter = anyio.CapacityLimiter(AT_ONCE)
    trials = [ReplayedTrial(kit, recorded, around, trial) for trial in swarm.trials]
    try:
        async with anyio.create_task_group() as agents:
            for trial in trials:
                agents.start_soon(_play, trial, limiter)
    finally:
        for record in _swarms(recorded, swarm):
            counters.write(kit, swarm, record.before, record.after, record.difference)
            _prove(kit, record, trials)
        remove(place)


def replay_overhead(kit: Kit, recorded: Recorded) -> None:
    """What was measured of the modes then."""
    modes = {mode.name for mode in kit.experiment.modes}
    lines = {line.mode: line for line in recorded.overhead if line.mode in modes}
    here = {"session": kit.experiment.session}
    if lines:
        kit.folder.write_overhead([line.model_copy(update=here) for line in lines.values()])


async def _play(trial: "ReplayedTrial", limiter: anyio.CapacityLimiter) -> None:
    async with limiter:
        await trial.run(_nothing_lost)


def _prove(kit: Kit, swarm: SwarmRecord, trials: Sequence["ReplayedTrial"]) -> None:
    """Hold the recorded counters against the transcripts that were played. Those of trials that
    ran again after that swarm are of a later one."""
    written = [trial.written for trial in trials if trial.written is not None]
    of_it = [
        record
        for record in written
        if record.agent in swarm.agents and record.attempt <= swarm.attempt
    ]
    played = swarm.model_copy(update={"session": kit.experiment.session})
    proved, labelled = prove(kit.experiment, played, of_it, kit.probes)
    kit.folder.records.amend(amended(of_it, labelled))
    kit.folder.append_swarm(proved)


async def _nothing_lost() -> None:
    """There is no service here that could be."""


def _swarms(recorded: Recorded, swarm: Swarm) -> Iterator[SwarmRecord]:
    """What was recorded of the swarm. There are several when the session was continued, and the id
    is another one when tasks were added to it."""
    numbers = {trial.agent for trial in swarm.trials}
    for record in recorded.swarms:
        if (record.run, record.mode) == (swarm.run, swarm.mode) and (
            record.swarm == swarm.id or (record.agents and numbers.issuperset(record.agents))
        ):
            yield record


class ReplayedTrial(TrialRun):
    """Runs a process that prints what was recorded; what was measured then is measured now."""

    def __init__(
        self, kit: Kit, recorded: Recorded, surroundings: Surroundings, trial: Trial
    ) -> None:
        super().__init__(kit, surroundings, trial)
        self._of = recorded
        self._recorded: RecordedTrial | None = recorded.trials.get(trial.id)
        self._cut = False

    async def _launch(self) -> tuple[Outcome, int | None]:
        then = self._recorded
        if then is None:
            return Outcome(cause=Cause.NOT_STARTED, detail=self._missing()), None
        if not then.ran:
            return Outcome(cause=then.cause, detail=then.detail), then.exit_code
        try:
            await self._run_process(PLAY_SECONDS)
        except anyio.get_cancelled_exc_class():
            self._cut = True
            raise
        self._check_whole(then)
        self._put_what_it_left(then, self._home.path)
        outcome = await self._outcome(then.returncode, then.stopped)
        if then.imposed:
            return replace(outcome, cause=then.cause, detail=then.detail), then.exit_code
        return outcome, then.returncode

    def _missing(self) -> str:
        trial, session = self.trial, self._of.recording.experiment.session
        return (
            f"the recording of session {session} has nothing of agent {trial.agent} in run "
            f"{trial.run}, {trial.mode}"
        )

    def _check_whole(self, then: RecordedTrial) -> None:
        """Raises `ProcessLost` when the process did not print all that was recorded."""
        printed = (self._stdout.stat().st_size, self._stderr.stat().st_size)
        if printed != (then.stdout_bytes, then.stderr_bytes):
            raise ProcessLost("what was recorded could not be printed again; try the replay again")

    def _put_what_it_left(self, then: RecordedTrial, home: Path) -> None:
        """Raises `ProcessLost` for names that no files can have: other trials can be played."""
        for number, inner in enumerate(then.home_files, start=1):
            source = self._of.stream(then.trial, f"left-{number}")
            try:
                write_whole(home / inner, read(source))
            except (StoreError, OSError) as error:
                raise ProcessLost(
                    f"what the recorded agent left could not be put back: {error}"
                ) from error

    def _measured(self, exit_code: int | None) -> Measured:
        now, then = super()._measured(exit_code), self._recorded
        if then is None or not self._was_played(then):
            return replace(now, wall_seconds=None)  # what printing took says nothing
        return replace(
            now,
            started_at=then.started_at,
            ended_at=then.ended_at or now.ended_at,
            wall_seconds=then.wall_seconds,
            peak_memory_bytes=then.peak_memory_bytes,
            cpu_seconds=then.cpu_seconds,
            attempt=then.attempt + now.attempt - 1,
        )

    def _was_played(self, then: RecordedTrial) -> bool:
        return not self._cut and (not then.ran or self._seconds is not None)

    def _beside(self, outcome: Outcome) -> Beside:
        now, then = super()._beside(outcome), self._recorded
        now = replace(now, replayed=self._of.recording.experiment.session)
        if then is None:
            return now
        return replace(
            now,
            rehearsed=Rehearsed(
                rehearsal_requests=then.rehearsal_requests,
                rehearsal_faults=then.rehearsal_faults,
                rehearsal_request_tokens=then.rehearsal_request_tokens,
                rehearsal_tool_tokens=then.rehearsal_tool_tokens,
                rehearsal_mcp_tokens=then.rehearsal_mcp_tokens,
                rehearsal_tools=then.rehearsal_tools,
            ),
            program_version=then.program_version,
        )

    def _outside(self, outcome: Outcome) -> tuple[str, ...]:
        """What was seen then: of the process tree there is nothing now."""
        then = self._recorded.outside if self._recorded else ()
        return then or super()._outside(outcome)

    def _workspace_seen(self) -> str:
        return self._recorded.workspace if self._recorded else super()._workspace_seen()
