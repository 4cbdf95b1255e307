"""One trial: launch, watch, stop the tree, parse, score, append the record."""

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import anyio

from swarm_bench.benchmarks.swarm.plan.swarms import Trial
from swarm_bench.benchmarks.swarm.recordings.recorder import Printed, Ran, left_by, recorded_trial
from swarm_bench.benchmarks.swarm.records.making import make_record, outcome_of, rehearsed
from swarm_bench.benchmarks.swarm.records.parts import Beside, Measured, Rehearsed
from swarm_bench.benchmarks.swarm.running.kit import Kit
from swarm_bench.benchmarks.swarm.running.surroundings import Surroundings
from swarm_bench.benchmarks.swarm.running.watch import Watch
from swarm_bench.core.errors import HarnessError, ProcessLost, ServiceFailed
from swarm_bench.core.events import TrialActive, TrialEnded, TrialStarted, Trouble
from swarm_bench.core.outcome import (
    Activity,
    AgentExit,
    AgentRequest,
    Launch,
    Outcome,
    StopReason,
)
from swarm_bench.core.ports import ScoreContext
from swarm_bench.core.session.recording import RecordedTrial
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Cause
from swarm_bench.engine.scoring import Scored, score
from swarm_bench.retrieval.modes.mode import render_servers
from swarm_bench.runtime.files import write_whole
from swarm_bench.runtime.homes import Home
from swarm_bench.runtime.process import Command, ProcessResult, run
from swarm_bench.runtime.redaction.cleaning import cleaned
from swarm_bench.runtime.sink import Output, clean_text


class TrialRun:
    """Runs one trial to its record. What happens to it from outside becomes its cause."""

    def __init__(self, kit: Kit, surroundings: Surroundings, trial: Trial) -> None:
        self.trial = trial
        self._kit = kit
        self._around = surroundings
        self._tag = f"{kit.experiment.session}/{trial.id}"
        self._prompt = kit.prompt(kit.experiment, kit.experiment.mode(trial.mode), trial.task)
        self._started: datetime | None = None
        self._ended: datetime | None = None
        self._seconds: float | None = None
        self._launched: Launch | None = None
        self._result: ProcessResult | None = None
        self._rehearsed = Rehearsed()
        self._defect: str | None = None
        self._reached: tuple[str, ...] = ()
        self._home = Home(path=kit.work / "homes" / trial.id)
        self._stdout = kit.folder.agent_file(kit.experiment, trial, "stream.jsonl")
        self._stderr = kit.folder.agent_file(kit.experiment, trial, "stderr.log")
        self.written: TrialRecord | None = None

    @property
    def recorded(self) -> bool:
        return self.written is not None

    @property
    def began(self) -> bool:
        return self._started is not None

    async def run(self, lost: Callable[[], Awaitable[str | None]]) -> None:
        """Run it and record it. `lost` says what the swarm has lost meanwhile, if anything: then
        the trial says nothing about its mode, however it ended."""
        self._started = datetime.now(UTC)
        trial = self.trial
        self._kit.emit(
            TrialStarted(run=trial.run, mode=trial.mode, agent=trial.agent, task=trial.task.title)
        )
        try:
            outcome, exit_code = await self._launch()
        except ProcessLost as error:
            self._seconds = None
            await self.record(Outcome(cause=Cause.NOT_STARTED, detail=str(error)), None)
        except HarnessError:
            raise
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self.record(await self._so_far(await lost()), None)
            raise
        except Exception as error:  # noqa: BLE001  # an adapter may raise anything: others go on
            detail = f"{type(error).__name__}: {error}"
            await self.record(Outcome(cause=Cause.ADAPTER_FAILED, detail=detail), None)
        else:
            with anyio.CancelScope(shield=True):  # it has ended; who stops now stops the others
                if (why := await lost() or self._defect) is not None:
                    outcome = replace(outcome, cause=Cause.SERVICE_FAILED, detail=why)
                await self.record(outcome, exit_code)
        finally:
            self._home.remove()

    async def record(self, outcome: Outcome, exit_code: int | None) -> None:
        """Write the artefacts and the line. Called once."""
        kit = self._kit
        with anyio.CancelScope(shield=True):
            record, troubles = await anyio.to_thread.run_sync(
                self._artefacts, outcome, exit_code, limiter=kit.reading
            )
        for trouble in troubles:
            kit.emit(Trouble(message=trouble))
        kit.folder.records.append(record)
        self.written = record
        kit.emit(TrialEnded(record=record))

    def _artefacts(
        self, outcome: Outcome, exit_code: int | None
    ) -> tuple[TrialRecord, tuple[str, ...]]:
        """Write what the record is of. Returns it, and what went wrong."""
        kit, trial = self._kit, self.trial
        detail = outcome.detail and clean_text(outcome.detail, self._kit.secrets)
        outcome = replace(outcome, detail=detail)
        beside = self._beside(outcome)
        record = make_record(kit.experiment, trial, outcome, self._measured(exit_code), beside)
        kit.folder.make_mode_folder(kit.experiment, trial.run, trial.mode)
        if kit.recorder is not None:
            kit.recorder.keep(self._to_be_recorded(record, outcome.cause), self._printed())
        if outcome.payload is not None:
            write_whole(kit.folder.agent_file(kit.experiment, trial, "json"), outcome.payload)
        page = kit.folder.agent_file(kit.experiment, trial, "md")
        write_whole(page, kit.page(record, outcome.text))
        return record, beside.scored.troubles

    def _outside(self, outcome: Outcome) -> tuple[str, ...]:
        """What the agent reached beside the servers of its mode, as sentences."""
        commands = self._around.monitor.commands(self._tag)
        found = self._around.reach.findings(outcome, commands)
        return tuple(clean_text(finding, self._kit.secrets) for finding in found)

    def _measured(self, exit_code: int | None) -> Measured:
        return Measured(
            started_at=self._started,
            ended_at=self._ended or datetime.now(UTC),
            wall_seconds=self._seconds,
            exit_code=exit_code,
            peak_memory_bytes=self._around.monitor.peak_memory(self._tag),
            cpu_seconds=self._around.monitor.cpu_seconds(self._tag),
            attempt=self._around.attempts.get(self.trial.id, 0) + 1,
            turns_counted=self._launched.turn_limit is not None if self._launched else None,
        )

    def _beside(self, outcome: Outcome) -> Beside:
        """What was found out beside the agent's output."""
        return Beside(
            scored=self._scored(outcome),
            rehearsed=self._rehearsed,
            outside=self._reached,
            program_version=self._kit.experiment.agent.version,
        )

    def _to_be_recorded(self, record: TrialRecord, cause: Cause) -> RecordedTrial:
        ran = Ran(
            prompt=self._prompt,
            workspace=str(self._around.workspace),
            program_version=self._kit.experiment.agent.version,
            cause=cause,
            launch=self._launched if self._seconds is not None else None,
            result=self._result,
        )
        return recorded_trial(self.trial, record, ran)

    def _printed(self) -> Printed:
        left = left_by(self._home.path, self._launched, self._kit.secrets)
        return Printed(stdout=self._stdout, stderr=self._stderr, left=left)

    async def _launch(self) -> tuple[Outcome, int | None]:
        result = await self._run_process(self._kit.experiment.limits.timeout)
        return await self._outcome(result.returncode, result.stopped), result.returncode

    async def _run_process(self, timeout: float) -> ProcessResult:
        """Raises `ProcessLost`, and whatever the adapter raises."""
        kit = self._kit
        self._home.make()
        kit.folder.make_mode_folder(kit.experiment, self.trial.run, self.trial.mode)
        kit.folder.set_aside_artefacts(kit.experiment, self.trial)
        launch = kit.agent.launch(self._request(self._home.path))
        command = Command(
            argv=launch.argv,
            cwd=self._around.workspace,
            env=kit.agent_environment(launch, self._home),
            tag=self._tag,
            stop_signal=launch.stop_signal,
        )
        self._launched = launch
        watch = Watch(kit.agent, launch.turn_limit, self._show)
        output = Output(
            stdout=self._stdout,
            stderr=self._stderr,
            limit=kit.experiment.limits.output_bytes,
            on_line=watch.line,
            secrets=self._kit.secrets,
        )
        began = anyio.current_time()
        try:
            self._result = await run(command, output=output, timeout=timeout)
        finally:
            self._ended = datetime.now(UTC)
            self._seconds = anyio.current_time() - began
            if self._result is not None:
                self._seconds = self._result.seconds
            with anyio.CancelScope(shield=True):
                self._rehearsed = await self._what_the_server_saw()
        return self._result

    def _request(self, home: Path) -> AgentRequest:
        kit, trial = self._kit, self.trial
        mode = kit.experiment.mode(trial.mode)
        config = home / "mcp.json"
        around = self._around
        servers = render_servers(mode, around.placeholders, kit.variables, around.of_servers)
        write_whole(config, json.dumps({"mcpServers": servers}, indent=2))
        return AgentRequest(
            prompt=self._prompt,
            instructions=mode.instructions,
            workspace=self._around.workspace,
            home=home,
            mcp_config=config,
            max_turns=kit.experiment.limits.max_turns,
            model=kit.experiment.model,
            seed=kit.experiment.seed,
            arguments=kit.experiment.agent_args,
            inherit_settings=kit.experiment.inherit_settings,
            rehearsal=kit.rehearsal.for_trial(trial.id) if kit.rehearsal else None,
            start_seconds=mode.start_seconds,
            trial=trial.id,
            program=kit.experiment.agent.path,
            environment=kit.variables,
        )

    async def _what_the_server_saw(self) -> Rehearsed:
        kit, trial = self._kit, self.trial
        if kit.rehearsal is None:
            return Rehearsed()
        servers = kit.experiment.mode(trial.mode).servers
        try:
            seen = await kit.rehearsal.traffic(trial.id)
        except ServiceFailed:  # whoever asks for what the swarm has lost will hear of it
            return Rehearsed()
        if seen and seen.errors:
            self._defect = (
                f"the rehearsal server could not answer {seen.errors} of {seen.requests} requests; "
                "its rehearsal.log says why"
            )
        return cleaned(rehearsed(seen, servers), kit.secrets)

    async def _outcome(self, returncode: int | None, stopped: StopReason | None) -> Outcome:
        """In a thread: reading what a hostile agent printed can take its time."""
        exit = AgentExit(
            returncode=returncode,
            stopped=stopped,
            stdout=self._stdout,
            stderr=self._stderr,
            home=self._home.path,
            secrets=self._kit.secrets,
            servers=tuple(self._kit.experiment.mode(self.trial.mode).servers),
        )
        return await anyio.to_thread.run_sync(self._read, exit, limiter=self._kit.reading)

    def _read(self, exit: AgentExit) -> Outcome:
        outcome = outcome_of(self._kit.agent, exit)
        self._reached = self._outside(outcome)
        return outcome

    async def _so_far(self, lost: str | None) -> Outcome:
        """What a stopped agent had spent, under the cause that stopped it."""
        cause = Cause.INTERRUPTED if lost is None else Cause.SERVICE_FAILED
        detail = lost or "the session was interrupted"
        spent = Outcome(cause=cause)
        with suppress(Exception):  # an adapter may raise anything; then nobody knows what it spent
            spent = await self._outcome(None, None)
        return replace(spent, cause=cause, detail=detail)

    def _show(self, activity: Activity) -> None:
        trial = self.trial
        shown = cleaned(activity, self._kit.secrets)
        event = TrialActive(run=trial.run, mode=trial.mode, agent=trial.agent, activity=shown)
        self._kit.emit(event)

    def _workspace_seen(self) -> str:
        """The workspace as the agent saw it: answers name files by it."""
        return str(self._around.workspace)

    def _scored(self, outcome: Outcome) -> Scored:
        if outcome.text is None or outcome.cause is not Cause.FINISHED:
            return Scored()  # the words of an error are no answer
        context = ScoreContext(
            text=outcome.text,
            workspace=self._workspace_seen(),
            files=self._kit.snapshot.files,
        )
        return score(self._kit.scorers, context, self._kit.secrets)
