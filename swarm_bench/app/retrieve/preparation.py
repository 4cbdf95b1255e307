"""From the options of `retrieve` to questions that can be put."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from swarm_bench.app.notices import tell_omissions
from swarm_bench.app.preflight.asking import ask_tools, back_ends
from swarm_bench.app.retrieve.growing import grown
from swarm_bench.app.setup.agents import environment
from swarm_bench.app.setup.choosing import modes_of, named_suite, tools_of
from swarm_bench.app.setup.copying import check_commits, copied, without_answers
from swarm_bench.app.setup.folders import telling, warning, work_folder
from swarm_bench.app.setup.own_tasks import NotMade, made_tasks
from swarm_bench.app.setup.resolving import anchored
from swarm_bench.app.trust.approval import require
from swarm_bench.app.trust.demands import demands, of_modes, of_suite_read
from swarm_bench.benchmarks.retrieve.answers import best_search
from swarm_bench.benchmarks.retrieve.benchmark import RetrieveBenchmark
from swarm_bench.benchmarks.retrieve.running import Kit
from swarm_bench.benchmarks.swarm.plan.resume import check_back_ends
from swarm_bench.config.options import REPOSITORY, names_of
from swarm_bench.config.settings import Resolved
from swarm_bench.core.errors import Problems, UsageError, choice
from swarm_bench.core.events import Emit
from swarm_bench.core.registry import own_version
from swarm_bench.core.session.designs import RETRIEVE
from swarm_bench.core.session.experiment import Mode, Repository
from swarm_bench.core.session.retrieving import (
    MAIN,
    RetrieveExperiment,
    Searching,
    questions,
)
from swarm_bench.core.session.tasks import Task, relevant_files
from swarm_bench.engine.plan import draw_order, groups_of, plan_cases
from swarm_bench.retrieval.handshake import Handshake
from swarm_bench.retrieval.preparing import check_warm
from swarm_bench.runtime import machine
from swarm_bench.runtime.workspaces.workspace import SNAPSHOT


@dataclass(frozen=True, kw_only=True)
class _Chosen:
    """What the names of the options stand for."""

    modes: tuple[Mode, ...]
    suite: str
    tasks: tuple[Task, ...]
    """None where they are yet to be made from the repository."""
    omitted: int = 0
    made: str = ""


@asynccontextmanager
async def prepared(
    resolved: Resolved, finished: frozenset[str | None], emit: Emit | None
) -> AsyncIterator[Kit]:
    """Resolve everything, copy the repository, and greet the servers that have questions left; the
    copy goes away with the block. Without `emit` it is only to be looked at, and no server is
    started. Raises `UsageError`."""
    settings, held = resolved.settings, resolved.held
    chosen = _choose(resolved, starts=emit is not None)
    name = (held.session if held else os.urandom(4).hex()) if emit else os.urandom(4).hex()
    with work_folder(settings.workspace_root, name, warning(emit)) as work:
        repo = _repository(resolved)
        telling(emit)(f"copying {repo.resolve()}")
        snapshot = await copied(resolved, repo, work / SNAPSHOT, warning(emit))
        if not chosen.tasks:
            chosen = await _with_own_tasks(chosen, settings.seed, snapshot.repository, emit)
        snapshot = await without_answers(snapshot, held, chosen.tasks, telling(emit))
        new = _experiment(resolved, chosen, name, snapshot.repository)
        experiment = grown(held, new, any_recorded=bool(finished)) if held else new
        experiment.check()
        if emit:
            tell_omissions(snapshot.repository, emit)
        await check_commits(snapshot.repository, experiment.tasks)
        tools = replace(tools_of(resolved, settings, work), inherit_settings=False)
        kit = Kit(
            experiment=experiment,
            tools=tools,
            snapshot=snapshot,
            emit=emit or (lambda event: None),
            secrets=tools.secrets(*experiment.modes),
        )
        yield await _greeted(kit, finished, emit) if emit else kit


def _repository(resolved: Resolved) -> Path:
    if resolved.held and not resolved.is_typed("repo"):
        return Path(resolved.held.repository.path)
    return resolved.settings.repo


def _choose(resolved: Resolved, *, starts: bool) -> _Chosen:
    """Read what the options name. Raises `UsageError` and `ConfigError`, in a group for several."""
    held, problems = resolved.held, Problems()
    check_quality(resolved.settings.quality or MAIN)
    with problems.collected():
        modes = modes_of(resolved, held)
    if held is None or resolved.is_typed("tasks"):
        with problems.collected():
            suite = named_suite(resolved.settings.tasks)
    problems.check()
    if starts:
        asked = [*demands(resolved), *of_modes(resolved, modes)]
        read = [] if held and not resolved.is_typed("tasks") else of_suite_read(resolved, suite)
        require(resolved, [*asked, *read])
    for mode in modes:
        if not mode.servers:
            raise UsageError(
                f"The mode {mode.name} has no tool that could be asked; omit it from --modes"
            )
    variables = {**resolved.environment, **environment(resolved.settings)}
    if any(mode.can_be_prepared for mode in modes):
        check_warm(modes, variables)
    if held and not resolved.is_typed("tasks"):
        kept = _Chosen(modes=modes, suite=held.suite, tasks=held.tasks, made=held.made)
        return replace(kept, omitted=held.omitted_tasks)
    if resolved.settings.tasks == REPOSITORY:
        return _Chosen(modes=modes, suite=REPOSITORY, tasks=())
    tasks = tuple(task for task in suite.tasks if relevant_files(task))
    if not tasks:
        raise UsageError(
            f"No task of {suite.name} has files in an answer key, so nothing could be scored; "
            "omit --tasks, and tasks are made from the repository"
        )
    return _Chosen(
        modes=modes, suite=suite.name, tasks=tasks, omitted=len(suite.tasks) - len(tasks)
    )


async def _with_own_tasks(
    chosen: _Chosen, seed: int, repository: Repository, emit: Emit | None
) -> _Chosen:
    """Make the tasks from the repository. Raises `UsageError` where it gives none."""
    try:
        suite = await made_tasks(repository, seed, emit)
    except NotMade as error:
        raise UsageError(
            f"{error}; write a task file with answer keys (swarm-bench docs tasks) and give it "
            "with --tasks"
        ) from None
    return replace(chosen, tasks=suite.tasks, made=suite.made)


def check_quality(key: str) -> None:
    """Refuse a metric that no verdict can be on. Raises `UsageError`."""
    fit = [metric.key for metric in RetrieveBenchmark().metrics() if not metric.relative]
    if key not in fit:
        raise UsageError(f"--quality {key}: a verdict is on what was found; {choice(key, fit)}")


def _experiment(
    resolved: Resolved, chosen: _Chosen, session: str, repository: Repository
) -> RetrieveExperiment:
    settings = resolved.settings
    arms = tuple(mode.name for mode in chosen.modes)
    stored, own = resolved.stored(), names_of(RETRIEVE.name)
    return RetrieveExperiment(
        session=session,
        created_at=datetime.now(UTC),
        sealed=True,
        benchmark=RetrieveBenchmark.name,
        benchmark_version=RetrieveBenchmark.version,
        runs=settings.runs,
        seed=settings.seed,
        order=draw_order(arms, settings.runs, settings.seed),
        concurrency=1,
        machine=machine.describe(),
        versions={"swarm-bench": own_version()},
        settings=anchored({name: stored[name] for name in stored if name in own}),
        arms=arms,
        cases=tuple(case for case, _, _ in questions(chosen.tasks)),
        repository=repository,
        modes=chosen.modes,
        suite=chosen.suite,
        tasks=chosen.tasks,
        made=chosen.made,
        omitted_tasks=chosen.omitted,
        timeout=settings.timeout,
        index_timeout=settings.index_timeout,
        service_url=settings.service_url,
        primary=settings.quality,
        margin=settings.quality_margin,
    ).with_beforehand()


async def _greeted(kit: Kit, finished: frozenset[str | None], emit: Emit) -> Kit:
    """Add what the servers say of modes that have questions left. Raises `UsageError`."""
    experiment = kit.experiment
    names = {
        group.arm
        for group in groups_of(plan_cases(experiment))
        if not finished.issuperset(trial.id for trial in group.trials)
    }
    modes = [mode for mode in experiment.modes if mode.name in names]
    handshakes = await ask_tools(kit.tools, modes, kit.snapshot, emit)
    searching = {mode.name: _searching(mode, handshakes[mode.name]) for mode in modes}
    programs = back_ends(kit.tools, modes, handshakes)
    check_back_ends(experiment.retrieval, programs)
    update = {
        "searching": {**experiment.searching, **searching},
        "retrieval": {**experiment.retrieval, **programs},
    }
    return replace(kit, experiment=experiment.model_copy(update=update))


def _searching(mode: Mode, handshakes: Mapping[str, Handshake]) -> Searching:
    for name, handshake in handshakes.items():
        if mode.search and mode.search.tool in {tool.name for tool in handshake.tools}:
            return Searching(server=name, tool=mode.search.tool)
    if mode.search is None:
        for name, handshake in handshakes.items():
            if tool := best_search(handshake.tools):
                return Searching(server=name, tool=tool.name, recognised=True)
    offered = [tool.name for handshake in handshakes.values() for tool in handshake.tools]
    raise UsageError(
        f"The mode {mode.name} has no tool that is recognised as a search, among "
        f"{', '.join(offered)}; say in {mode.source} how it is searched "
        '("swarmBench": {"search": ...}), or omit the mode'
    )
