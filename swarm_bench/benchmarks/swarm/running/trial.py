"""One trial: an agent's program, from its start to the execution that is delivered; and the other
plain data that crosses between the runner of a swarm and its store."""

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import anyio

from swarm_bench.benchmarks.swarm.run_plan import Swarm, SwarmTrial
from swarm_bench.benchmarks.swarm.running.agent_process import (
    AgentProcess,
    read_home_files,
    read_outcome,
)
from swarm_bench.benchmarks.swarm.running.kit import Kit, SwarmContext
from swarm_bench.core.errors import HarnessError, ProcessLost, ServiceFailed, described
from swarm_bench.core.events import TrialStarted
from swarm_bench.core.outcome import BYTES_AS_BASE64, Outcome, StopReason
from swarm_bench.core.roles.executor import Executor
from swarm_bench.core.session.records import Measurements, Rehearsed, SwarmRecord
from swarm_bench.core.status import Cause
from swarm_bench.core.treatment.evidence import MOST_OUTSIDE
from swarm_bench.core.treatment.overhead import Overhead
from swarm_bench.engine.budget import Budget
from swarm_bench.engine.caps import MOST_NAMES, shorten
from swarm_bench.models.rehearsal.launch import Traffic
from swarm_bench.retrieval.witnesses.treatment import is_of_server
from swarm_bench.runtime.sink import clean_text, clean_value
from swarm_bench.runtime.untrusted import read


@dataclass(frozen=True, kw_only=True)
class SwarmJob:
    """A swarm as it is given to be run."""

    swarm: Swarm
    attempts: Mapping[str, int]
    """Number of earlier attempts at each trial, by its id."""
    overhead: Overhead | None = None
    """Overhead of its mode as far as it is known, when the empty prompt is due."""
    budget: Budget | None = None
    """`None` when the session has no limit of its cost."""


@dataclass(frozen=True, kw_only=True)
class ProcessEnd:
    """How the process of an agent ended."""

    returncode: int | None = None
    """Return code of the process; `None` when its end was not observed."""
    stopped: StopReason | None = None
    turn_limit: int | None = None
    """Limit of turns, where we counted the turns and kept the budget."""

    @property
    def exit_code(self) -> int | None:
        """Return the code with which the program ended by itself, or by a limit; `None` for a
        program that had already answered, whose code says nothing of its end."""
        return None if self.stopped == "answered" else self.returncode


@dataclass(frozen=True, kw_only=True)
class Execution:
    """A trial that has ended: what the agent left, and what was measured of it. Its output stands
    in the files of its trial (`Artefacts`)."""

    __pydantic_config__ = BYTES_AS_BASE64

    trial: SwarmTrial
    outcome: Outcome
    measured: Measurements
    prompt: str
    workspace: str
    """Path of the workspace as the agent saw it: its answer may name files by it."""
    program_version: str | None
    """Version that the program reported when it was asked, before the session."""
    rehearsed: Rehearsed = Rehearsed()
    outside: tuple[str, ...] = ()
    """Sentences on what the agent reached apart from its servers."""
    answers: tuple[str, ...] = ()
    """Places where the agent may have read the answer, as sentences."""
    replayed: str | None = None
    """Id of the session whose recording was played."""
    process: ProcessEnd | None = None
    """`None` when none ran."""
    leaves: Mapping[str, bytes] = field(default_factory=dict)
    """Files that its adapter read in its home, by their path there, when they are to be kept."""


@dataclass(frozen=True, kw_only=True)
class SwarmResult:
    """What happened around the agents of a swarm; the last of its deliveries."""

    record: SwarmRecord
    """Record of the swarm before its counters were compared with the transcripts."""
    overhead: Overhead | None = None
    """Overhead of its mode by the empty prompt, when it was asked."""


Delivery = Execution | SwarmResult
SwarmExecutor = Executor[SwarmJob, Delivery]
Deliver = Callable[[Delivery], Awaitable[None]]
"""Function that delivers, and returns once the delivery is stored. Raises `StoreError`."""
FindLoss = Callable[[], Awaitable[str | None]]
"""Says what the swarm has lost meanwhile, if anything: then a trial says nothing about its mode,
however it ended."""


class TrialRun(AgentProcess):
    """A trial on its way to its execution."""

    def __init__(
        self, kit: Kit, swarm_context: SwarmContext, trial: SwarmTrial, find_loss: FindLoss
    ) -> None:
        super().__init__(kit, swarm_context, trial)
        self.outside: tuple[str, ...] = ()
        self.answers: tuple[str, ...] = ()
        self._find_loss = find_loss
        self._rehearsed = Rehearsed()
        self._defect: str | None = None
        """Reason why the rehearsal server could not answer it."""

    async def run(self, deliver: Deliver) -> None:
        """Run it, and deliver its execution, however it ended. What happens to it from outside
        becomes its cause. Raises `HarnessError`."""
        trial = self.trial
        self.kit.emit(
            TrialStarted(run=trial.run, arm=trial.arm, number=trial.number, case=trial.case.title)
        )
        self.started_at = datetime.now(UTC)
        try:
            outcome, exit_code = await self._find_outcome()
            with anyio.CancelScope(shield=True):  # it has ended; who stops now stops the others
                await deliver(self.make_execution(outcome, exit_code))
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                cut = await self.read_cut(await self._find_loss())
                await deliver(self.make_execution(cut, None))
            raise
        finally:
            self.home.remove()

    async def _find_outcome(self) -> tuple[Outcome, int | None]:
        """Return what the agent left, and its exit code."""
        try:
            outcome, exit_code = await self.run_agent()
        except ProcessLost as error:
            self.seconds = None
            return Outcome(cause=Cause.NOT_STARTED, detail=str(error)), None
        except HarnessError:
            raise
        except Exception as error:  # noqa: BLE001  # an adapter may raise anything: others go on
            return Outcome(cause=Cause.ADAPTER_FAILED, detail=described(error)), None
        with anyio.CancelScope(shield=True):
            if (reason := await self._find_loss() or self._defect) is not None:
                outcome = replace(outcome, cause=Cause.SERVICE_FAILED, detail=reason)
        return outcome, exit_code

    async def run_agent(self) -> tuple[Outcome, int | None]:
        """Run its program, and return what that left, and its exit code. Raises `ProcessLost`, and
        whatever the adapter raises."""
        try:
            await self.run_program(self.kit.experiment.limits.timeout)
        finally:
            if self.launch is not None:
                with anyio.CancelScope(shield=True):
                    await self._ask_rehearsal()
        end = self._make_process_end()
        return await self._read(end.returncode, end.stopped), end.exit_code

    async def _read(self, returncode: int | None, stopped: StopReason | None) -> Outcome:
        """Read what the agent left, in a thread, with what it reached beside its servers."""
        context = self.swarm_context

        def read() -> Outcome:
            outcome = read_outcome(self.kit.agent, self.make_exit(returncode, stopped))
            findings = context.reach.find_uses(outcome, context.monitor.commands(self.tag))
            if self.trial.case.key is not None:
                reached = (*context.answers.find_reached(outcome), *self._describe_printed())
                self.answers = reached[:MOST_OUTSIDE]
            self.outside = tuple(clean_text(finding, self.kit.secrets) for finding in findings)
            return outcome

        return await anyio.to_thread.run_sync(read, limiter=self.kit.reader_limiter)

    def _describe_printed(self) -> Iterator[str]:
        """Say that the agent has read answers, wherever they lay: its stream has those of
        others."""
        with suppress(OSError):
            if tasks := self.kit.finder.find_printed(read(self.stdout), self.prompt):
                other_tasks = f"{len(tasks)} other task{'s' if len(tasks) > 1 else ''}"
                yield f"It reached questions and answers of {other_tasks} (transcript)."

    async def read_cut(self, loss: str | None) -> Outcome:
        """Return what a stopped agent had spent, under the cause that stopped it."""
        cause = Cause.INTERRUPTED if loss is None else Cause.SERVICE_FAILED
        detail = loss or "the session was interrupted"
        outcome = Outcome(cause=cause)
        with suppress(Exception):  # an adapter may raise anything; then nobody knows what it spent
            outcome = await self._read(None, None)
        return replace(outcome, cause=cause, detail=detail)

    async def _ask_rehearsal(self) -> None:
        """Note what the rehearsal server saw of the agent, if there is one."""
        kit = self.kit
        if kit.rehearsal is None:
            return
        try:
            traffic = await kit.rehearsal.traffic(self.trial.id)
        except ServiceFailed:  # the swarm reports what it has lost
            return
        if traffic and traffic.errors:
            self._defect = (
                f"the rehearsal server could not answer {traffic.errors} of {traffic.requests} "
                "requests; its rehearsal.log says why"
            )
        figures = read_rehearsal_figures(traffic, self.mode.servers)
        self._rehearsed = clean_value(figures, kit.secrets)

    def make_execution(self, outcome: Outcome, exit_code: int | None) -> Execution:
        """Make what is delivered of it."""
        kit = self.kit
        ran = self.launch is not None and self.seconds is not None
        detail = outcome.detail and clean_text(outcome.detail, kit.secrets)
        return Execution(
            trial=self.trial,
            outcome=replace(outcome, detail=detail),
            measured=self._measure(exit_code),
            prompt=self.prompt,
            workspace=str(self.swarm_context.site.workspace),
            program_version=kit.experiment.agent.version,
            rehearsed=self._rehearsed,
            outside=self.outside,
            answers=self.answers,
            process=self._make_process_end() if ran else None,
            leaves=read_home_files(self.home.path, self.launch, kit.secrets) if kit.record else {},
        )

    def _measure(self, exit_code: int | None) -> Measurements:
        context = self.swarm_context
        return Measurements(
            started_at=self.started_at,
            ended_at=self.ended_at or datetime.now(UTC),
            wall_seconds=self.seconds,
            exit_code=exit_code,
            peak_memory_bytes=context.monitor.peak_memory(self.tag),
            cpu_seconds=context.monitor.cpu_seconds(self.tag),
            attempt=context.attempts.get(self.trial.id, 0) + 1,
            turns_counted=self.launch.turn_limit is not None if self.launch else None,
        )

    def _make_process_end(self) -> ProcessEnd:
        return ProcessEnd(
            returncode=self.result.returncode if self.result else None,
            stopped=self.result.stopped if self.result else None,
            turn_limit=self.launch.turn_limit if self.launch else None,
        )


def read_rehearsal_figures(traffic: Traffic | None, servers: Collection[str]) -> Rehearsed:
    """Return what the rehearsal server saw of an agent in a mode with these MCP servers."""
    if traffic is None:
        return Rehearsed()
    return Rehearsed(
        rehearsal_requests=traffic.requests,
        rehearsal_faults=traffic.faults,
        rehearsal_request_tokens=traffic.request_tokens,
        rehearsal_tool_tokens=sum(traffic.tools.values()),
        rehearsal_mcp_tokens=sum(
            tokens for tool, tokens in traffic.tools.items() if is_of_server(tool, servers)
        ),
        rehearsal_tools=[shorten(name) for name in sorted(traffic.tools)[:MOST_NAMES]],
    )
