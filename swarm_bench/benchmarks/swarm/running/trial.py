"""One trial: an agent's program, from its start to the execution that is delivered."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import anyio

from swarm_bench.benchmarks.swarm.run_plan import SwarmTrial
from swarm_bench.benchmarks.swarm.running.agent_process import (
    AgentProcess,
    make_agent_process,
    read_agent,
    read_home_files,
    run_agent,
)
from swarm_bench.benchmarks.swarm.running.delivery import Deliver, Execution, ProcessEnd
from swarm_bench.benchmarks.swarm.running.kit import Kit, SwarmContext
from swarm_bench.benchmarks.swarm.trial_records import read_rehearsal_figures
from swarm_bench.core.errors import HarnessError, ProcessLost, ServiceFailed, described
from swarm_bench.core.events import TrialStarted
from swarm_bench.core.outcome import Outcome, StopReason
from swarm_bench.core.session.records import Measurements, Rehearsed
from swarm_bench.core.status import Cause
from swarm_bench.core.treatment.evidence import MOST_OUTSIDE
from swarm_bench.runtime.sink import clean_text, clean_value
from swarm_bench.runtime.untrusted import read

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
