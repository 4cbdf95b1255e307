"""An agent's program: started for one trial, watched, stopped with its tree, and read."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import anyio

from swarm_bench.benchmarks.swarm.artefacts import STDERR, STDOUT
from swarm_bench.benchmarks.swarm.plan.swarms import SwarmTrial
from swarm_bench.benchmarks.swarm.prompt import build_prompt
from swarm_bench.benchmarks.swarm.running.kit import Kit, SwarmContext
from swarm_bench.benchmarks.swarm.running.program_run import (
    ProgramRun,
    read_exit,
    wrap_adapter_errors,
    write_servers,
)
from swarm_bench.core.events import TrialActive
from swarm_bench.core.outcome import (
    Activity,
    AgentExit,
    AgentRequest,
    Launch,
    Outcome,
    StopReason,
)
from swarm_bench.runtime.homes import Home
from swarm_bench.runtime.process import Command, ProcessResult
from swarm_bench.runtime.sink import clean_value


@dataclass(kw_only=True)
class AgentProcess:
    """What becomes known of it while it runs."""

    trial: SwarmTrial
    prompt: str
    tag: str
    home: Home
    stdout: Path
    stderr: Path
    started_at: datetime | None = None
    ended_at: datetime | None = None
    seconds: float | None = None
    """`None` when no process ran."""
    launch: Launch | None = None
    result: ProcessResult | None = None
    """`None` when nobody saw it end."""


def make_agent_process(kit: Kit, trial: SwarmTrial) -> AgentProcess:
    """Make the state of an agent that has not started."""
    return AgentProcess(
        trial=trial,
        prompt=build_prompt(kit.experiment, kit.experiment.mode(trial.arm), trial.case),
        tag=f"{kit.experiment.session}/{trial.id}",
        home=Home(path=kit.work / "homes" / trial.id),
        stdout=kit.artefacts.agent_file(trial, STDOUT),
        stderr=kit.artefacts.agent_file(trial, STDERR),
    )


async def run_agent(
    kit: Kit, swarm_context: SwarmContext, agent: AgentProcess, timeout: float
) -> None:
    """Run it to its end or to `timeout` seconds. Raises `ProcessLost` when it cannot be started,
    and whatever the adapter raises."""
    agent.home.make()
    kit.artefacts.make_room(agent.trial)
    request = _build_request(kit, swarm_context, agent)
    with wrap_adapter_errors():
        launch = kit.agent.launch(request)
    command = Command(
        argv=launch.argv,
        cwd=swarm_context.site.workspace,
        env=kit.build_agent_environment(launch, agent.home),
        tag=agent.tag,
        stop_signal=launch.stop_signal,
    )
    agent.launch = launch
    program = ProgramRun(
        agent=kit.agent,
        launch=launch,
        command=command,
        limit=kit.experiment.limits.output_bytes,
        make_exit=partial(_make_exit, kit, agent),
        reader_limiter=kit.reader_limiter,
        show=_make_display(kit, agent.trial),
    )
    start_time = anyio.current_time()
    try:
        agent.result = await program.run_to_end(timeout)
    finally:
        agent.ended_at = datetime.now(UTC)
        agent.seconds = anyio.current_time() - start_time
        if agent.result is not None and agent.result.seconds is not None:
            late = agent.seconds - agent.result.seconds
            agent.seconds = agent.result.seconds
            if agent.result.stopped == "answered":
                agent.ended_at -= timedelta(seconds=late)


def read_agent(
    kit: Kit, agent: AgentProcess, returncode: int | None, stopped: StopReason | None
) -> Outcome:
    """Read what it left. To be called in a thread: what a hostile agent printed takes its time."""
    return read_exit(kit.agent, _make_exit(kit, agent, returncode, stopped))


def _make_exit(
    kit: Kit, agent: AgentProcess, returncode: int | None, stopped: StopReason | None
) -> AgentExit:
    return AgentExit(
        returncode=returncode,
        stopped=stopped,
        stdout=agent.stdout,
        stderr=agent.stderr,
        home=agent.home.path,
        secrets=kit.secrets,
        servers=tuple(kit.experiment.mode(agent.trial.arm).servers),
        started=agent.started_at,
        files=kit.snapshot.files,
    )


def _build_request(kit: Kit, swarm_context: SwarmContext, agent: AgentProcess) -> AgentRequest:
    experiment, trial = kit.experiment, agent.trial
    mode = experiment.mode(trial.arm)
    config = agent.home.path / "mcp.json"
    write_servers(config, swarm_context.site.servers)
    return AgentRequest(
        prompt=agent.prompt,
        instructions=mode.instructions,
        workspace=swarm_context.site.workspace,
        home=agent.home.path,
        mcp_config=config,
        max_turns=experiment.limits.max_turns,
        model=experiment.model,
        seed=experiment.seed,
        arguments=experiment.agent_args,
        inherit_settings=experiment.inherit_settings,
        rehearsal=kit.rehearsal.for_trial(trial.id) if kit.rehearsal else None,
        start_seconds=mode.start_seconds,
        trial=trial.id,
        program=experiment.agent.path,
        environment=kit.tools.variables,
    )


def _make_display(kit: Kit, trial: SwarmTrial) -> Callable[[Activity], None]:
    def show(activity: Activity) -> None:
        cleaned_activity = clean_value(activity, kit.secrets)
        kit.emit(
            TrialActive(
                run=trial.run, arm=trial.arm, number=trial.number, activity=cleaned_activity
            )
        )

    return show
