"""From options to an experiment that can run: names become objects, the repository is copied, the
tools are asked, and placebos are made of what they answer."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from swarm_bench.app.notices import emit_notices, tell_prices, tell_stand
from swarm_bench.app.preflight import check_mode_tools, name_back_ends
from swarm_bench.app.replaying import open_replay
from swarm_bench.app.setup.agents import (
    check,
    check_cost_limit,
    check_credentials,
    check_until_clear,
    is_paid,
)
from swarm_bench.app.setup.choosing import SessionInputs, build_tools, read_inputs
from swarm_bench.app.setup.copying import check_commits, remove_answers, take_session_snapshot
from swarm_bench.app.setup.earlier import tell_outlook
from swarm_bench.app.setup.experiment import (
    build_experiment,
    check_same_measurement,
)
from swarm_bench.app.setup.folders import create_tell, create_warn, open_work_folder
from swarm_bench.app.setup.own_tasks import add_own_tasks
from swarm_bench.app.setup.prepared import PreparedSession
from swarm_bench.app.trust.approval import load_agent, require
from swarm_bench.app.trust.demands import list_demands
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.interim_looks import look_again
from swarm_bench.benchmarks.swarm.run_plan import Swarm, add_back_ends, extend, plan
from swarm_bench.benchmarks.swarm.running.packing import find_needs
from swarm_bench.config.layers import Resolved, Settings
from swarm_bench.core.errors import HarnessError, UsageError
from swarm_bench.core.events import Emit, WarningRaised
from swarm_bench.core.ports import Agent
from swarm_bench.core.roles.executor import find_executor
from swarm_bench.core.session.designs import Design
from swarm_bench.core.session.experiment import Experiment, Mode, Program
from swarm_bench.core.session.recording import Replays
from swarm_bench.engine.lines import Head
from swarm_bench.engine.plan import drop_finished, iterate_groups
from swarm_bench.retrieval.canopy.service import open_running_service
from swarm_bench.retrieval.handshake import Handshake, Handshakes, greet
from swarm_bench.retrieval.modes.mode import render_servers
from swarm_bench.retrieval.placebo.arm import PLACEBO, name_material_file
from swarm_bench.retrieval.placebo.drawing import draw_passages, make_placebo_tool
from swarm_bench.retrieval.placebo.material import NAME, VERSION, Identity, Material, Passage
from swarm_bench.retrieval.preparing import check_warm
from swarm_bench.retrieval.tools import Tools
from swarm_bench.retrieval.witnesses.purposes import find_purposes
from swarm_bench.runtime.files import store_errors
from swarm_bench.runtime.workspaces.workspace import SNAPSHOT, Snapshot


@asynccontextmanager
async def open_prepared_session(
    resolved: Resolved,
    design: Design,
    continued: SessionFolder | None,
    emit: Emit | None,
) -> AsyncIterator[PreparedSession]:
    """Resolve everything and copy the repository; the copy goes away with the block. Without `emit`
    it is only to be looked at: nothing is started but the agent's program, for its version, if that
    is approved. Raises `UsageError` for what is not, before anything is started."""
    agent = _load_agent(resolved, starts=emit is not None)
    if isinstance(agent, Replays):
        with open_replay(agent, resolved, design, emit) as ready:
            yield ready
        return
    inputs = read_inputs(resolved, design, agent, starts=emit is not None)
    await _check(inputs, resolved, emit)
    old = resolved.session
    session = old.session if old else os.urandom(4).hex()
    name = session if emit else f"plan-{os.urandom(4).hex()}"
    with open_work_folder(resolved.settings.workspace_root, name, create_warn(emit)) as work:
        snapshot = await _copy_repository(resolved, work, emit)
        heads = continued.records.read_heads() if continued else []
        inputs = await add_own_tasks(inputs, resolved, snapshot.repository, emit)
        snapshot = await remove_answers(snapshot, old, inputs.suite.tasks, create_tell(emit))
        new = await build_experiment(resolved, inputs, session, snapshot.repository)
        _tell(new, resolved, emit)
        if resolved.member and resolved.member.like:
            check_same_measurement(new, resolved.member.like)
        experiment = _extend_session(old, new, continued, heads, emit) if old and continued else new
        ready = PreparedSession(
            experiment=experiment,
            agent=inputs.agent,
            tools=_build_tools(experiment, resolved, work),
            probes=inputs.probes,
            previous=old,
            snapshot=snapshot,
        )
        _tell_outlook(ready, resolved.settings, emit)
        async with _connect(ready, resolved.settings, emit) as ready:
            yield await _add_tool_answers(ready, heads, emit)


@asynccontextmanager
async def _connect(
    ready: PreparedSession, settings: Settings, emit: Emit | None
) -> AsyncIterator[PreparedSession]:
    """Reach the nodes where it is to run, before a server is started."""
    if emit is None or (kind := find_executor(settings.on)) is None:
        yield ready
        return
    needs = find_needs(ready.experiment, ready.agent, settings.agent, ready.tools, ready.snapshot)
    async with kind.connect(needs, emit) as open_packed:
        yield replace(ready, open_packed=open_packed)


def _tell(experiment: Experiment, resolved: Resolved, emit: Emit | None) -> None:
    if emit:
        emit_notices(experiment, emit)
        if resolved.session:
            tell_prices(resolved.session, emit)


def _tell_outlook(ready: PreparedSession, settings: Settings, emit: Emit | None) -> None:
    """Say what the session can show: before it begins, and later on request."""
    paid, old = is_paid(ready.agent, settings), ready.previous
    if emit and (settings.noise or (paid is not False and old is None)):
        tell_outlook(ready.experiment, settings, emit, fixed_rules=paid is False)


def _extend_session(
    old: Experiment,
    new: Experiment,
    continued: SessionFolder,
    heads: Sequence[Head],
    emit: Emit | None,
) -> Experiment:
    """Return the session with what only `new` has, and whether its verdict stands so. Raises
    `UsageError` and `NoVerdictPossible`."""
    grown = look_again(continued, extend(old, new, {head.trial for head in heads}))
    if emit:
        tell_stand(old, grown, emit)
    return grown


def _load_agent(resolved: Resolved, *, starts: bool) -> Agent:
    agent = load_agent(resolved)
    if starts:  # after the agent was read: its files may have changed since they were approved
        require(resolved, list_demands(resolved))
    return agent


async def _copy_repository(resolved: Resolved, work: Path, emit: Emit | None) -> Snapshot:
    repo = _find_repository(resolved)
    create_tell(emit)(f"copying {repo.resolve()}")
    return await take_session_snapshot(resolved, repo, work / SNAPSHOT, create_warn(emit))


def _find_repository(resolved: Resolved) -> Path:
    session = resolved.session
    if session and not resolved.is_typed("repo"):
        return Path(session.repository.path)
    return resolved.settings.repo


async def _add_tool_answers(
    ready: PreparedSession, heads: Sequence[Head], emit: Emit | None
) -> PreparedSession:
    """Add what the tools of the modes say that are still to run; without `emit` they are not asked.
    Raises `UsageError`, also for a commit that is missing."""
    swarms = _list_remaining_swarms(ready.experiment, heads)
    tasks = (trial.case for swarm in swarms for trial in swarm.trials)
    await check_commits(ready.snapshot.repository, tasks)
    if emit is None:
        await draw_placebo_passages(ready)
        return ready
    modes = _select_modes(ready.experiment, swarms)
    greeted = list_modes_to_greet(modes, ready.experiment)
    handshakes = await check_mode_tools(ready.tools, greeted, ready.snapshot, emit)
    placebos = [mode for mode in modes if mode.is_placebo]
    handshakes = {**handshakes, **await make_placebos(placebos, ready, handshakes)}
    asked_modes = [*greeted, *placebos]
    experiment = add_back_ends(
        ready.experiment,
        name_back_ends(ready.tools, asked_modes, handshakes),
        {
            mode.name: find_purposes(mode, handshakes)
            for mode in asked_modes
            if mode.name in handshakes
        },
    )
    return replace(ready, experiment=experiment, handshakes=handshakes)


def _list_remaining_swarms(experiment: Experiment, heads: Sequence[Head]) -> list[Swarm]:
    """Return what is still to run."""
    finished = {head.trial for head in heads if head.trial and head.conclusive}
    return list(iterate_groups(drop_finished(plan(experiment), finished)))


def _select_modes(experiment: Experiment, swarms: Sequence[Swarm]) -> list[Mode]:
    names = {swarm.arm for swarm in swarms}
    return [mode for mode in experiment.modes if mode.name in names]


def _build_tools(experiment: Experiment, resolved: Resolved, work: Path) -> Tools:
    """Return what the modes are started with, as a session that is continued has it."""
    return replace(
        build_tools(resolved, resolved.settings, work),
        service_url=experiment.service_url,
        inherit_settings=experiment.inherit_settings,
        index_timeout=experiment.limits.index_timeout,
    )


async def _check(inputs: SessionInputs, resolved: Resolved, emit: Emit | None) -> None:
    """Refuse now what would be refused after the other modes have run. Raises `UsageError`, and
    `ServiceFailed`."""
    settings = resolved.settings
    if settings.require_retrieval and not any(mode.servers for mode in inputs.modes):
        raise UsageError(
            "--require-retrieval asks for a tool, and none of the modes gives a tool; "
            "add one with --modes"
        )
    if settings.require_verdict and len(inputs.modes) == 1:
        raise UsageError(
            "--require-verdict asks for a verdict, and with one mode nothing is compared; give two "
            "modes, or omit it"
        )
    variables = {**resolved.environment, **inputs.agent_env}
    if resolved.session.until_clear if resolved.session else settings.until_clear:
        check_until_clear(inputs.agent, settings, len(inputs.modes))
    if settings.index == "warm":
        check_warm(inputs.modes, variables)
    check(inputs.agent, inputs.modes, settings, variables)
    sentences = (
        check_credentials(inputs.agent, settings, resolved.environment),
        check_cost_limit(inputs.agent, inputs.program, settings, inputs.prices),
    )
    for sentence in filter(None, sentences):
        if emit:
            emit(WarningRaised(message=sentence))
    if settings.service_url and emit:
        async with open_running_service(settings.service_url):
            pass


def list_modes_to_greet(modes: Sequence[Mode], experiment: Experiment) -> list[Mode]:
    """List the modes whose own servers are to be asked: a placebo needs the tools of its mode,
    which may have no trial to run itself."""
    needed = [experiment.mode(mode.control_of[0]) if mode.is_placebo else mode for mode in modes]
    return list({mode.name: mode for mode in needed}.values())


async def make_placebos(
    placebos: Sequence[Mode], ready: PreparedSession, handshakes: Handshakes
) -> Handshakes:
    """Make and greet the placebos; `handshakes` are those of their tools. Raises `UsageError` when
    too few files have nothing to do with the tasks."""
    if not placebos:
        return {}
    experiment, tools = ready.experiment, ready.tools
    folder = tools.work / PLACEBO
    places = await draw_placebo_passages(ready)
    for mode in placebos:
        original = experiment.mode(mode.control_of[0])
        for number, server in enumerate(original.servers):
            path = name_material_file(folder, mode.name, number)
            with store_errors(path):
                _build_material(
                    handshakes[original.name][server], original, experiment, places
                ).write(path)
    values = {"workspace": str(tools.work), PLACEBO: str(folder)}
    async with tools.homes.open_home("home-placebo") as home:
        servers = {mode.name: render_servers(mode, values, {}, home) for mode in placebos}
        answers = await greet(servers, templates=servers, cwd=tools.work, env=tools.env)
    for name, by_server in answers.items():
        for handshake in by_server.values():
            if handshake.problem is not None:
                raise HarnessError(f"{name} could not be started: {handshake.problem}; try again")
    return {
        name: {server: _rename_program(handshake) for server, handshake in by_server.items()}
        for name, by_server in answers.items()
    }


def _rename_program(handshake: Handshake) -> Handshake:
    program = Program(name=NAME, version=VERSION, path=handshake.program.path)
    return replace(handshake, program=program)


async def draw_placebo_passages(ready: PreparedSession) -> tuple[Passage, ...]:
    """Draw what the placebos of the session answer with; none without any. Raises `UsageError`."""
    experiment = ready.experiment
    if not any(mode.is_placebo for mode in experiment.modes):
        return ()
    return await draw_passages(ready.snapshot, experiment.tasks, experiment.seed)


def _build_material(
    handshake: Handshake, mode: Mode, experiment: Experiment, places: tuple[Passage, ...]
) -> Material:
    return Material(
        identity=Identity(name=handshake.name, title=handshake.title, version=handshake.version),
        instructions=handshake.instructions,
        tools=tuple(make_placebo_tool(tool, mode.search) for tool in handshake.tools),
        places=places,
        files=experiment.repository.files,
        seed=experiment.seed,
    )
