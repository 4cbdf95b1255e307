"""One trial: an agent's program, from its start to the execution that is delivered."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import anyio

from swarm_bench.benchmarks.swarm.plan.swarms import SwarmTrial
from swarm_bench.benchmarks.swarm.records.making import rehearsed
from swarm_bench.benchmarks.swarm.running.agent_process import (
    AgentProcess,
    agent_process,
    read_agent,
    run_agent,
)
from swarm_bench.benchmarks.swarm.running.delivery import Deliver, Execution, ProcessEnd
from swarm_bench.benchmarks.swarm.running.home_files import home_files
from swarm_bench.benchmarks.swarm.running.kit import Kit, Surroundings
from swarm_bench.core.errors import HarnessError, ProcessLost, ServiceFailed, described
from swarm_bench.core.events import TrialStarted
from swarm_bench.core.outcome import Outcome, StopReason
from swarm_bench.core.session.records import Measured, Rehearsed
from swarm_bench.core.status import Cause
from swarm_bench.core.treatment.evidence import MOST_OUTSIDE
from swarm_bench.runtime.redaction.cleaning import cleaned
from swarm_bench.runtime.sink import clean_text
from swarm_bench.runtime.untrusted import read

Lost = Callable[[], Awaitable[str | None]]
"""Says what the swarm has lost meanwhile, if anything: then a trial says nothing about its mode,
however it ended."""


@dataclass(kw_only=True)
class _Course:
    """What becomes known of a trial on its way."""

    kit: Kit
    around: Surroundings
    agent: AgentProcess
    rehearsed: Rehearsed = field(default_factory=Rehearsed)
    defect: str | None = None
    """Why the rehearsal server could not answer it."""
    outside: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()


async def run_trial(
    kit: Kit, around: Surroundings, trial: SwarmTrial, lost: Lost, deliver: Deliver
) -> None:
    """Run it, and deliver its execution, however it ended. What happens to it from outside becomes
    its cause. Raises `HarnessError`."""
    course = _Course(kit=kit, around=around, agent=agent_process(kit, trial))
    kit.emit(TrialStarted(run=trial.run, arm=trial.arm, number=trial.number, case=trial.case.title))
    try:
        outcome, exit_code = await _run(course, lost)
        with anyio.CancelScope(shield=True):  # it has ended; who stops now stops the others
            await deliver(_execution(course, outcome, exit_code))
    except anyio.get_cancelled_exc_class():
        with anyio.CancelScope(shield=True):
            await deliver(_execution(course, await _so_far(course, await lost()), None))
        raise
    finally:
        course.agent.home.remove()


def not_run(kit: Kit, around: Surroundings, trial: SwarmTrial, cause: Cause, why: str) -> Execution:
    """Make the execution of a trial whose agent was never started."""
    course = _Course(kit=kit, around=around, agent=agent_process(kit, trial))
    return _execution(course, Outcome(cause=cause, detail=why), None)


async def _run(course: _Course, lost: Lost) -> tuple[Outcome, int | None]:
    """Return what the agent left, and its exit code."""
    course.agent.started_at = datetime.now(UTC)
    try:
        outcome = await _run_agent(course)
    except ProcessLost as error:
        course.agent.seconds = None
        return Outcome(cause=Cause.NOT_STARTED, detail=str(error)), None
    except HarnessError:
        raise
    except Exception as error:  # noqa: BLE001  # an adapter may raise anything: others go on
        return Outcome(cause=Cause.ADAPTER_FAILED, detail=described(error)), None
    with anyio.CancelScope(shield=True):
        if (why := await lost() or course.defect) is not None:
            outcome = replace(outcome, cause=Cause.SERVICE_FAILED, detail=why)
    return outcome, _process_end(course.agent).exit_code


async def _run_agent(course: _Course) -> Outcome:
    kit, agent = course.kit, course.agent
    try:
        await run_agent(kit, course.around, agent, kit.experiment.limits.timeout)
    finally:
        if agent.launch is not None:
            with anyio.CancelScope(shield=True):
                await _ask_the_rehearsal(course)
    end = _process_end(agent)
    return await _read(course, end.returncode, end.stopped)


async def _read(course: _Course, returncode: int | None, stopped: StopReason | None) -> Outcome:
    """Read what the agent left, in a thread, with what it reached beside its servers."""
    kit = course.kit

    def read() -> Outcome:
        outcome = read_agent(kit, course.agent, returncode, stopped)
        commands = course.around.monitor.commands(course.agent.tag)
        findings = course.around.reach.findings(outcome, commands)
        if course.agent.trial.case.key is not None:
            printed = tuple(_printed(kit, course.agent))
            course.answers = (*course.around.answers.reached(outcome), *printed)[:MOST_OUTSIDE]
        course.outside = tuple(clean_text(finding, kit.secrets) for finding in findings)
        return outcome

    return await anyio.to_thread.run_sync(read, limiter=kit.reading)


def _printed(kit: Kit, agent: AgentProcess) -> Iterator[str]:
    """Say that the agent has read answers, wherever they lay: its stream has those of others."""
    with suppress(OSError):
        stream = read(agent.stdout)
        if tasks := kit.finder.find_printed(stream, agent.prompt):
            others = f"{len(tasks)} other task{'s' if len(tasks) > 1 else ''}"
            yield f"It reached questions and answers of {others} (transcript)."


async def _so_far(course: _Course, lost: str | None) -> Outcome:
    """Return what a stopped agent had spent, under the cause that stopped it."""
    cause = Cause.INTERRUPTED if lost is None else Cause.SERVICE_FAILED
    detail = lost or "the session was interrupted"
    spent = Outcome(cause=cause)
    with suppress(Exception):  # an adapter may raise anything; then nobody knows what it spent
        spent = await _read(course, None, None)
    return replace(spent, cause=cause, detail=detail)


async def _ask_the_rehearsal(course: _Course) -> None:
    """Note what the rehearsal server saw of the agent, if there is one."""
    kit, trial = course.kit, course.agent.trial
    if kit.rehearsal is None:
        return
    try:
        traffic = await kit.rehearsal.traffic(trial.id)
    except ServiceFailed:  # the swarm reports what it has lost
        return
    if traffic and traffic.errors:
        course.defect = (
            f"the rehearsal server could not answer {traffic.errors} of {traffic.requests} "
            "requests; its rehearsal.log says why"
        )
    servers = kit.experiment.mode(trial.arm).servers
    course.rehearsed = cleaned(rehearsed(traffic, servers), kit.secrets)


def _execution(course: _Course, outcome: Outcome, exit_code: int | None) -> Execution:
    kit, agent = course.kit, course.agent
    ran = agent.launch is not None and agent.seconds is not None
    leaves = home_files(agent.home.path, agent.launch, kit.secrets) if kit.record else {}
    return Execution(
        trial=agent.trial,
        outcome=replace(outcome, detail=outcome.detail and clean_text(outcome.detail, kit.secrets)),
        measured=_measured(course, exit_code),
        prompt=agent.prompt,
        workspace=str(course.around.site.workspace),
        program_version=kit.experiment.agent.version,
        rehearsed=course.rehearsed,
        outside=course.outside,
        answers=course.answers,
        process=_process_end(agent) if ran else None,
        leaves=leaves,
    )


def _measured(course: _Course, exit_code: int | None) -> Measured:
    agent, around = course.agent, course.around
    return Measured(
        started_at=agent.started_at,
        ended_at=agent.ended_at or datetime.now(UTC),
        wall_seconds=agent.seconds,
        exit_code=exit_code,
        peak_memory_bytes=around.monitor.peak_memory(agent.tag),
        cpu_seconds=around.monitor.cpu_seconds(agent.tag),
        attempt=around.attempts.get(agent.trial.id, 0) + 1,
        turns_counted=agent.launch.turn_limit is not None if agent.launch else None,
    )


def _process_end(agent: AgentProcess) -> ProcessEnd:
    return ProcessEnd(
        returncode=agent.result.returncode if agent.result else None,
        stopped=agent.result.stopped if agent.result else None,
        turn_limit=agent.launch.turn_limit if agent.launch else None,
    )
