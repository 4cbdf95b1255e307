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
    make_agent_process,
    read_agent,
    read_home_files,
    run_agent,
)
from swarm_bench.benchmarks.swarm.running.kit import Kit, SwarmContext
from swarm_bench.core.errors import HarnessError, ProcessLost, ServiceFailed, described
from swarm_bench.core.events import TrialStarted
from swarm_bench.core.outcome import BYTES_AS_BASE64, Outcome, StopReason
from swarm_bench.core.session.records import Measurements, Rehearsed, SwarmRecord
from swarm_bench.core.status import Cause
from swarm_bench.core.treatment.evidence import MOST_OUTSIDE
from swarm_bench.core.treatment.overhead import Overhead
from swarm_bench.engine.budget import Budget
from swarm_bench.engine.caps import MOST_NAMES, shorten
from swarm_bench.engine.executor import Executor
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


@dataclass(kw_only=True)
class _TrialState:
    """What becomes known of a trial on its way."""

    kit: Kit
    swarm_context: SwarmContext
    agent: AgentProcess
    rehearsed: Rehearsed = field(default_factory=Rehearsed)
    defect: str | None = None
    """Reason why the rehearsal server could not answer it."""
    outside: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()


async def run_trial(
    kit: Kit, swarm_context: SwarmContext, trial: SwarmTrial, find_loss: FindLoss, deliver: Deliver
) -> None:
    """Run it, and deliver its execution, however it ended. What happens to it from outside becomes
    its cause. Raises `HarnessError`."""
    state = _TrialState(kit=kit, swarm_context=swarm_context, agent=make_agent_process(kit, trial))
    kit.emit(TrialStarted(run=trial.run, arm=trial.arm, number=trial.number, case=trial.case.title))
    try:
        outcome, exit_code = await _run(state, find_loss)
        with anyio.CancelScope(shield=True):  # it has ended; who stops now stops the others
            await deliver(_make_execution(state, outcome, exit_code))
    except anyio.get_cancelled_exc_class():
        with anyio.CancelScope(shield=True):
            await deliver(
                _make_execution(state, await _read_partial(state, await find_loss()), None)
            )
        raise
    finally:
        state.agent.home.remove()


def make_unstarted(
    kit: Kit, swarm_context: SwarmContext, trial: SwarmTrial, cause: Cause, reason: str
) -> Execution:
    """Make the execution of a trial whose agent was never started."""
    state = _TrialState(kit=kit, swarm_context=swarm_context, agent=make_agent_process(kit, trial))
    return _make_execution(state, Outcome(cause=cause, detail=reason), None)


async def _run(state: _TrialState, find_loss: FindLoss) -> tuple[Outcome, int | None]:
    """Return what the agent left, and its exit code."""
    state.agent.started_at = datetime.now(UTC)
    try:
        outcome = await _run_agent(state)
    except ProcessLost as error:
        state.agent.seconds = None
        return Outcome(cause=Cause.NOT_STARTED, detail=str(error)), None
    except HarnessError:
        raise
    except Exception as error:  # noqa: BLE001  # an adapter may raise anything: others go on
        return Outcome(cause=Cause.ADAPTER_FAILED, detail=described(error)), None
    with anyio.CancelScope(shield=True):
        if (reason := await find_loss() or state.defect) is not None:
            outcome = replace(outcome, cause=Cause.SERVICE_FAILED, detail=reason)
    return outcome, _make_process_end(state.agent).exit_code


async def _run_agent(state: _TrialState) -> Outcome:
    kit, agent = state.kit, state.agent
    try:
        await run_agent(kit, state.swarm_context, agent, kit.experiment.limits.timeout)
    finally:
        if agent.launch is not None:
            with anyio.CancelScope(shield=True):
                await _ask_rehearsal(state)
    end = _make_process_end(agent)
    return await _read(state, end.returncode, end.stopped)


async def _read(state: _TrialState, returncode: int | None, stopped: StopReason | None) -> Outcome:
    """Read what the agent left, in a thread, with what it reached beside its servers."""
    kit = state.kit

    def read() -> Outcome:
        outcome = read_agent(kit, state.agent, returncode, stopped)
        commands = state.swarm_context.monitor.commands(state.agent.tag)
        findings = state.swarm_context.reach.find_uses(outcome, commands)
        if state.agent.trial.case.key is not None:
            printed = tuple(_describe_printed(kit, state.agent))
            state.answers = (*state.swarm_context.answers.find_reached(outcome), *printed)[
                :MOST_OUTSIDE
            ]
        state.outside = tuple(clean_text(finding, kit.secrets) for finding in findings)
        return outcome

    return await anyio.to_thread.run_sync(read, limiter=kit.reader_limiter)


def _describe_printed(kit: Kit, agent: AgentProcess) -> Iterator[str]:
    """Say that the agent has read answers, wherever they lay: its stream has those of others."""
    with suppress(OSError):
        stream = read(agent.stdout)
        if tasks := kit.finder.find_printed(stream, agent.prompt):
            other_tasks = f"{len(tasks)} other task{'s' if len(tasks) > 1 else ''}"
            yield f"It reached questions and answers of {other_tasks} (transcript)."


async def _read_partial(state: _TrialState, loss: str | None) -> Outcome:
    """Return what a stopped agent had spent, under the cause that stopped it."""
    cause = Cause.INTERRUPTED if loss is None else Cause.SERVICE_FAILED
    detail = loss or "the session was interrupted"
    outcome = Outcome(cause=cause)
    with suppress(Exception):  # an adapter may raise anything; then nobody knows what it spent
        outcome = await _read(state, None, None)
    return replace(outcome, cause=cause, detail=detail)


async def _ask_rehearsal(state: _TrialState) -> None:
    """Note what the rehearsal server saw of the agent, if there is one."""
    kit, trial = state.kit, state.agent.trial
    if kit.rehearsal is None:
        return
    try:
        traffic = await kit.rehearsal.traffic(trial.id)
    except ServiceFailed:  # the swarm reports what it has lost
        return
    if traffic and traffic.errors:
        state.defect = (
            f"the rehearsal server could not answer {traffic.errors} of {traffic.requests} "
            "requests; its rehearsal.log says why"
        )
    servers = kit.experiment.mode(trial.arm).servers
    state.rehearsed = clean_value(read_rehearsal_figures(traffic, servers), kit.secrets)


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


def _make_execution(state: _TrialState, outcome: Outcome, exit_code: int | None) -> Execution:
    kit, agent = state.kit, state.agent
    ran = agent.launch is not None and agent.seconds is not None
    leaves = read_home_files(agent.home.path, agent.launch, kit.secrets) if kit.record else {}
    return Execution(
        trial=agent.trial,
        outcome=replace(outcome, detail=outcome.detail and clean_text(outcome.detail, kit.secrets)),
        measured=_measure(state, exit_code),
        prompt=agent.prompt,
        workspace=str(state.swarm_context.site.workspace),
        program_version=kit.experiment.agent.version,
        rehearsed=state.rehearsed,
        outside=state.outside,
        answers=state.answers,
        process=_make_process_end(agent) if ran else None,
        leaves=leaves,
    )


def _measure(state: _TrialState, exit_code: int | None) -> Measurements:
    agent, swarm_context = state.agent, state.swarm_context
    return Measurements(
        started_at=agent.started_at,
        ended_at=agent.ended_at or datetime.now(UTC),
        wall_seconds=agent.seconds,
        exit_code=exit_code,
        peak_memory_bytes=swarm_context.monitor.peak_memory(agent.tag),
        cpu_seconds=swarm_context.monitor.cpu_seconds(agent.tag),
        attempt=swarm_context.attempts.get(agent.trial.id, 0) + 1,
        turns_counted=agent.launch.turn_limit is not None if agent.launch else None,
    )


def _make_process_end(agent: AgentProcess) -> ProcessEnd:
    return ProcessEnd(
        returncode=agent.result.returncode if agent.result else None,
        stopped=agent.result.stopped if agent.result else None,
        turn_limit=agent.launch.turn_limit if agent.launch else None,
    )
