"""From options to an experiment: names become objects, everything is resolved and frozen."""

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from swarm_bench.app.preflight.asking import Asking, ask_tools, back_ends
from swarm_bench.app.preflight.placebos import make_placebos, places_of_placebos, with_their_tools
from swarm_bench.app.replaying import replay_prepared
from swarm_bench.app.setup.agents import check, environment
from swarm_bench.app.setup.anchoring import anchored
from swarm_bench.app.setup.calibrating import twice
from swarm_bench.app.setup.continuing import modes_of, suite_of
from swarm_bench.app.setup.copying import copied
from swarm_bench.app.setup.credentials import check_credentials
from swarm_bench.app.setup.places import warning, work_folder
from swarm_bench.app.setup.prepared import Benchmark, Prepared
from swarm_bench.app.setup.sizes import check_alike, check_trials, sizes
from swarm_bench.app.telling import tell
from swarm_bench.app.trust.approval import require
from swarm_bench.app.trust.demands import demands, of_modes, of_session, of_suite_read
from swarm_bench.app.trust.withheld import agent_of, program_of
from swarm_bench.benchmarks.swarm.clone.preparing import check_warm
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.plan.resume import extend, with_back_ends
from swarm_bench.benchmarks.swarm.plan.suites import Suite
from swarm_bench.benchmarks.swarm.plan.swarms import plan
from swarm_bench.config.settings import Resolved, Settings
from swarm_bench.core.errors import Problems, UsageError
from swarm_bench.core.events import Emit, Preparing, Trouble
from swarm_bench.core.ports import Agent, Probe
from swarm_bench.core.registry import own_version
from swarm_bench.core.session.experiment import Experiment, Limits, Mode, Program, Repository
from swarm_bench.core.session.recording import Replays
from swarm_bench.engine.heads import Head
from swarm_bench.engine.plan import draw_order
from swarm_bench.retrieval.canopy.backends import SERVICE, find_program
from swarm_bench.retrieval.canopy.service import running_service
from swarm_bench.retrieval.modes.controls import with_controls
from swarm_bench.retrieval.probes.registered import SHIPPED, counters_stored, probes_of
from swarm_bench.retrieval.witnesses.purposes import purposes
from swarm_bench.runtime import machine
from swarm_bench.runtime.homes import Homes
from swarm_bench.runtime.workspaces.git import git


@dataclass(frozen=True, kw_only=True)
class _Chosen:
    """What the names of the options stand for."""

    modes: tuple[Mode, ...]
    suite: Suite
    agent: Agent
    program: Program
    programs: Mapping[str, Path]
    probes: Mapping[str, Probe]


@asynccontextmanager
async def prepared(
    resolved: Resolved,
    benchmark: Benchmark,
    continued: SessionFolder | None,
    emit: Emit | None,
) -> AsyncIterator[Prepared]:
    """Everything resolved, the repository copied. The copy goes away with the block. Without `emit`
    it is only to be looked at: nothing is started but the agent's program, for its version, if that
    is approved. Raises `UsageError` for what is not, before anything is started."""
    old = continued.read_experiment() if continued else None
    settings = resolved.settings
    agent = _agent(resolved, old, starts=emit is not None)
    if isinstance(agent, Replays):
        with replay_prepared(agent, resolved, benchmark, old, emit) as ready:
            yield ready
        return
    chosen = _choose(resolved, benchmark, agent, old, starts=emit is not None)
    check_trials(resolved, benchmark, len(chosen.modes), len(chosen.suite.tasks))
    await _check(chosen, resolved, emit)
    session = old.session if old else os.urandom(4).hex()
    place = session if emit else f"plan-{os.urandom(4).hex()}"
    with work_folder(settings.workspace_root, place, warning(emit)) as work:
        repo = Path(old.repository.path) if old and not resolved.is_typed("repo") else settings.repo
        if emit:
            emit(Preparing(step=f"copying {repo.resolve()}"))
        snapshot = await copied(resolved, repo, work / "snapshot.git", warning(emit))
        heads = continued.records.heads() if continued else []
        new = await _experiment(resolved, benchmark, chosen, session, snapshot.repository)
        tell(new, emit)
        check_alike(new, resolved)
        ready = Prepared(
            experiment=extend(old, new, {head.trial for head in heads}) if old else new,
            agent=chosen.agent,
            programs=chosen.programs,
            probes=chosen.probes,
            snapshot=snapshot,
            work=work,
        )
        yield await _asked(ready, resolved, _left(ready.experiment, heads), emit)


def _agent(resolved: Resolved, old: Experiment | None, *, starts: bool) -> Agent:
    agent = agent_of(resolved)
    if starts:  # after agent and session were read: files may have changed since they were approved
        require(resolved, [*demands(resolved), *(of_session(old, resolved) if old else ())])
    return agent


async def _asked(
    ready: Prepared, resolved: Resolved, left: Sequence[Mode], emit: Emit | None
) -> Prepared:
    """With what the tools said of the modes that are `left` to run; without `emit` nobody is asked.
    Raises `UsageError`."""
    if emit is None:
        await places_of_placebos(ready)
        return ready
    asking = _asking(ready, resolved)
    tools = with_their_tools(left, ready.experiment)
    greetings = await ask_tools(asking, tools, ready.snapshot, emit)
    placebos = [mode for mode in left if mode.is_placebo]
    greetings = {**greetings, **await make_placebos(asking, placebos, ready, greetings)}
    asked = [*tools, *placebos]
    experiment = with_back_ends(
        ready.experiment,
        back_ends(asking, asked, greetings),
        {mode.name: purposes(mode, greetings) for mode in asked if mode.name in greetings},
    )
    return replace(ready, experiment=experiment, greetings=greetings)


def _left(experiment: Experiment, heads: Sequence[Head]) -> list[Mode]:
    """The modes that have trials to run."""
    finished = {head.trial for head in heads if head.conclusive}
    names = {
        swarm.mode
        for block in plan(experiment)
        for swarm in block.groups
        if not finished.issuperset(trial.id for trial in swarm.trials)
    }
    return [mode for mode in experiment.modes if mode.name in names]


def _asking(ready: Prepared, resolved: Resolved) -> Asking:
    settings = resolved.settings
    agent_env = environment(settings)
    return Asking(
        programs=ready.programs,
        user_environment=resolved.environment,
        agent_env=agent_env,
        dotenv=resolved.dotenv,
        service_url=settings.service_url,
        homes=Homes(work=ready.work, of_user=settings.inherit_settings, first=agent_env),
        index_timeout=settings.index_timeout,
    )


async def _check(chosen: _Chosen, resolved: Resolved, emit: Emit | None) -> None:
    """Refuses now what would be refused after the other modes have run. Raises `UsageError`, and
    `ServiceFailed`."""
    settings = resolved.settings
    if settings.require_retrieval and not any(mode.servers for mode in chosen.modes):
        raise UsageError(
            "--require-retrieval asks for a tool, and none of the modes gives a tool; "
            "add one with --modes"
        )
    if settings.require_verdict and len(chosen.modes) == 1:
        raise UsageError(
            "--require-verdict asks for a verdict, and with one mode nothing is compared; give two "
            "modes, or omit it"
        )
    if settings.index == "warm":
        check_warm(chosen.modes, {**resolved.environment, **environment(settings)})
    check(chosen.agent, chosen.modes, settings, resolved.environment)
    if emit and (untold := check_credentials(chosen.agent, settings, resolved.environment)):
        emit(Trouble(message=untold))
    if settings.service_url and emit:
        async with running_service(settings.service_url):
            pass


def _choose(
    resolved: Resolved, benchmark: Benchmark, agent: Agent, old: Experiment | None, *, starts: bool
) -> _Chosen:
    settings = resolved.settings
    problems = Problems()
    with problems.collected():
        modes = modes_of(resolved, old)
    with problems.collected():
        suite = suite_of(resolved, old)
    problems.check()
    if starts:
        require(resolved, [*of_modes(resolved, modes), *of_suite_read(resolved, suite)])
    every = [*modes, *(old.modes if old else ())]
    if benchmark == "calibrate":
        modes = twice(modes)
    elif settings.controls:
        modes = with_controls(modes, settings.controls)
    return _Chosen(
        modes=modes,
        suite=suite,
        agent=agent,
        program=program_of(agent, resolved, old),
        programs={
            "canopy-mcp": find_program("canopy-mcp", settings.canopy_mcp),
            SERVICE: find_program(SERVICE, settings.canopy_service),
        },
        probes=probes_of(every) if starts else SHIPPED,
    )


async def _experiment(
    resolved: Resolved,
    benchmark: Benchmark,
    chosen: _Chosen,
    session: str,
    repository: Repository,
) -> Experiment:
    settings = resolved.settings
    names = [mode.name for mode in chosen.modes]
    return Experiment(
        session=session,
        created_at=datetime.now(UTC),
        sealed=True,
        sealed_beside=True,
        benchmark=benchmark,
        repository=repository,
        modes=chosen.modes,
        suite=chosen.suite.name,
        tasks=chosen.suite.tasks,
        answer_format=chosen.suite.answer_format,
        agent=chosen.program,
        index=settings.index,
        min_connected=settings.min_connected / 100,
        runs=settings.runs,
        limits=_limits(settings),
        seed=settings.seed,
        service_url=settings.service_url,
        counters=counters_stored(chosen.probes),
        order=draw_order(names, settings.runs, settings.seed),
        machine=machine.describe(),
        versions={"swarm-bench": own_version(), "git": await _git_version()},
        settings=anchored(resolved.stored()),
        model=settings.model,
        agent_args=tuple(settings.agent_arg),
        agent_env=tuple(sorted({word.partition("=")[0] for word in settings.agent_env})),
        inherit_settings=settings.inherit_settings,
        faults=tuple(settings.fault),
        **vars(sizes(resolved, benchmark, len(chosen.suite.tasks))),
    )


def _limits(settings: Settings) -> Limits:
    return Limits(
        max_turns=settings.max_turns,
        timeout=settings.timeout,
        index_timeout=settings.index_timeout,
    )


async def _git_version() -> str:
    return (await git("--version", cwd=Path.cwd())).decode().strip().removeprefix("git version ")
