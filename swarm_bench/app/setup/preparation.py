"""From options to an experiment that can run: names become objects, the repository is copied, the
tools are asked."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from swarm_bench.app.notices import tell, tell_prices, tell_stand
from swarm_bench.app.preflight.asking import ask_tools, back_ends
from swarm_bench.app.preflight.placebos import make_placebos, places_of_placebos, with_their_tools
from swarm_bench.app.replaying import replay_prepared
from swarm_bench.app.setup.agents import check
from swarm_bench.app.setup.choosing import Chosen, choose, tools_of
from swarm_bench.app.setup.copying import check_commits, copied, without_answers
from swarm_bench.app.setup.credentials import (
    check_cost_limit,
    check_credentials,
    check_until_clear,
    is_paid,
)
from swarm_bench.app.setup.earlier import tell_outlook
from swarm_bench.app.setup.experiment import check_alike, experiment_of
from swarm_bench.app.setup.folders import telling, warning, work_folder
from swarm_bench.app.setup.own_tasks import with_own_tasks
from swarm_bench.app.setup.prepared import Prepared
from swarm_bench.app.trust.approval import require
from swarm_bench.app.trust.demands import demands
from swarm_bench.app.trust.withheld import agent_of
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.looking import looked_again
from swarm_bench.benchmarks.swarm.plan.resume import extend, with_back_ends
from swarm_bench.benchmarks.swarm.plan.swarms import Swarm, plan
from swarm_bench.config.settings import Resolved, Settings
from swarm_bench.core.errors import UsageError
from swarm_bench.core.events import Emit, Trouble
from swarm_bench.core.ports import Agent
from swarm_bench.core.session.designs import Design
from swarm_bench.core.session.experiment import Experiment, Mode
from swarm_bench.core.session.recording import Replays
from swarm_bench.engine.heads import Head
from swarm_bench.engine.plan import groups_of, remaining
from swarm_bench.retrieval.canopy.service import running_service
from swarm_bench.retrieval.preparing import check_warm
from swarm_bench.retrieval.tools import Tools
from swarm_bench.retrieval.witnesses.purposes import purposes
from swarm_bench.runtime.workspaces.workspace import SNAPSHOT, Snapshot


@asynccontextmanager
async def prepared(
    resolved: Resolved,
    design: Design,
    continued: SessionFolder | None,
    emit: Emit | None,
) -> AsyncIterator[Prepared]:
    """Resolve everything and copy the repository; the copy goes away with the block. Without `emit`
    it is only to be looked at: nothing is started but the agent's program, for its version, if that
    is approved. Raises `UsageError` for what is not, before anything is started."""
    agent = _agent(resolved, starts=emit is not None)
    if isinstance(agent, Replays):
        with replay_prepared(agent, resolved, design, emit) as ready:
            yield ready
        return
    chosen = choose(resolved, design, agent, starts=emit is not None)
    await _check(chosen, resolved, emit)
    old = resolved.session
    session = old.session if old else os.urandom(4).hex()
    name = session if emit else f"plan-{os.urandom(4).hex()}"
    with work_folder(resolved.settings.workspace_root, name, warning(emit)) as work:
        snapshot = await _copied(resolved, work, emit)
        heads = continued.records.heads() if continued else []
        chosen = await with_own_tasks(chosen, resolved, snapshot.repository, emit)
        snapshot = await without_answers(snapshot, old, chosen.suite.tasks, telling(emit))
        new = await experiment_of(resolved, chosen, session, snapshot.repository)
        _tell(new, resolved, emit)
        if resolved.member and resolved.member.like:
            check_alike(new, resolved.member.like)
        experiment = _grown(old, new, continued, heads, emit) if old and continued else new
        ready = Prepared(
            experiment=experiment,
            agent=chosen.agent,
            tools=_tools(experiment, resolved, work),
            probes=chosen.probes,
            before=old,
            snapshot=snapshot,
        )
        _tell_outlook(ready, resolved.settings, emit)
        yield await _asked(ready, _remaining(ready.experiment, heads), emit)


def _tell(experiment: Experiment, resolved: Resolved, emit: Emit | None) -> None:
    if emit:
        tell(experiment, emit)
        if resolved.session:
            tell_prices(resolved.session, emit)


def _tell_outlook(ready: Prepared, settings: Settings, emit: Emit | None) -> None:
    """Say what the session can show: before it begins, and later where somebody asks."""
    paid, old = is_paid(ready.agent, settings), ready.before
    if emit and (settings.noise or (paid is not False and old is None)):
        tell_outlook(ready.experiment, settings, emit, fixed_rules=paid is False)


def _grown(
    old: Experiment,
    new: Experiment,
    continued: SessionFolder,
    heads: Sequence[Head],
    emit: Emit | None,
) -> Experiment:
    """Return the session with what only `new` has, and whether its verdict stands so. Raises
    `UsageError` and `NoVerdictPossible`."""
    grown = looked_again(continued, extend(old, new, {head.trial for head in heads}))
    if emit:
        tell_stand(old, grown, emit)
    return grown


def _agent(resolved: Resolved, *, starts: bool) -> Agent:
    agent = agent_of(resolved)
    if starts:  # after the agent was read: its files may have changed since they were approved
        require(resolved, demands(resolved))
    return agent


async def _copied(resolved: Resolved, work: Path, emit: Emit | None) -> Snapshot:
    repo = _repository(resolved)
    telling(emit)(f"copying {repo.resolve()}")
    return await copied(resolved, repo, work / SNAPSHOT, warning(emit))


def _repository(resolved: Resolved) -> Path:
    session = resolved.session
    if session and not resolved.is_typed("repo"):
        return Path(session.repository.path)
    return resolved.settings.repo


async def _asked(ready: Prepared, swarms: Sequence[Swarm], emit: Emit | None) -> Prepared:
    """Add what the tools of the modes say that are still to run; without `emit` nobody is asked.
    Raises `UsageError`, also for a commit that is missing."""
    tasks = (trial.case for swarm in swarms for trial in swarm.trials)
    await check_commits(ready.snapshot.repository, tasks)
    if emit is None:
        await places_of_placebos(ready)
        return ready
    modes = _modes(ready.experiment, swarms)
    greeted = with_their_tools(modes, ready.experiment)
    handshakes = await ask_tools(ready.tools, greeted, ready.snapshot, emit)
    placebos = [mode for mode in modes if mode.is_placebo]
    handshakes = {**handshakes, **await make_placebos(placebos, ready, handshakes)}
    asked = [*greeted, *placebos]
    experiment = with_back_ends(
        ready.experiment,
        back_ends(ready.tools, asked, handshakes),
        {mode.name: purposes(mode, handshakes) for mode in asked if mode.name in handshakes},
    )
    return replace(ready, experiment=experiment, handshakes=handshakes)


def _remaining(experiment: Experiment, heads: Sequence[Head]) -> list[Swarm]:
    """Return what is still to run."""
    finished = {head.trial for head in heads if head.trial and head.conclusive}
    return list(groups_of(remaining(plan(experiment), finished)))


def _modes(experiment: Experiment, swarms: Sequence[Swarm]) -> list[Mode]:
    names = {swarm.arm for swarm in swarms}
    return [mode for mode in experiment.modes if mode.name in names]


def _tools(experiment: Experiment, resolved: Resolved, work: Path) -> Tools:
    """Return what the modes are started with, as a session that is continued has it."""
    return replace(
        tools_of(resolved, resolved.settings, work),
        service_url=experiment.service_url,
        inherit_settings=experiment.inherit_settings,
        index_timeout=experiment.limits.index_timeout,
    )


async def _check(chosen: Chosen, resolved: Resolved, emit: Emit | None) -> None:
    """Refuse now what would be refused after the other modes have run. Raises `UsageError`, and
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
    variables = {**resolved.environment, **chosen.agent_env}
    if resolved.session.until_clear if resolved.session else settings.until_clear:
        check_until_clear(chosen.agent, settings, len(chosen.modes))
    if settings.index == "warm":
        check_warm(chosen.modes, variables)
    check(chosen.agent, chosen.modes, settings, variables)
    doubts = (
        check_credentials(chosen.agent, settings, resolved.environment),
        check_cost_limit(chosen.agent, chosen.program, settings, chosen.prices),
    )
    for doubt in filter(None, doubts):
        if emit:
            emit(Trouble(message=doubt))
    if settings.service_url and emit:
        async with running_service(settings.service_url):
            pass
