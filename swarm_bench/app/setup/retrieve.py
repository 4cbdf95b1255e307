"""Conversion of the options of `retrieve` into questions that can be asked."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from swarm_bench.app.notices import tell_omissions
from swarm_bench.app.preflight import check_mode_tools, name_back_ends
from swarm_bench.app.setup.agents import read_agent_environment
from swarm_bench.app.setup.choosing import build_tools, find_named_suite, read_modes
from swarm_bench.app.setup.copying import check_commits, remove_answers, take_session_snapshot
from swarm_bench.app.setup.folders import create_tell, create_warn, open_work_folder
from swarm_bench.app.setup.own_tasks import TasksNotMade, make_suite
from swarm_bench.app.setup.resolving import anchor_paths
from swarm_bench.app.trust.approval import require
from swarm_bench.app.trust.demands import list_demands, list_mode_demands, list_suite_demands
from swarm_bench.benchmarks.cases.folder import CaseFolder
from swarm_bench.benchmarks.retrieve.answers import best_search
from swarm_bench.benchmarks.retrieve.benchmark import RetrieveBenchmark
from swarm_bench.benchmarks.retrieve.running import QuestionContext
from swarm_bench.benchmarks.swarm.run_plan import (
    check_back_ends,
    check_content,
    continue_repository,
    merge_settings,
)
from swarm_bench.config.command_line import names_of
from swarm_bench.config.compare_options import REPOSITORY
from swarm_bench.config.layers import Resolved
from swarm_bench.core.entry_points import own_version
from swarm_bench.core.errors import Problems, UsageError, choice
from swarm_bench.core.events import Emit
from swarm_bench.core.session.base import Slice
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.session.designs import RETRIEVE
from swarm_bench.core.session.experiment import Mode, Repository
from swarm_bench.core.session.retrieving import (
    MAIN,
    RetrieveExperiment,
    Searching,
    iterate_questions,
)
from swarm_bench.core.session.tasks import Task, relevant_files
from swarm_bench.engine.continuing import (
    check_benchmark,
    check_runs,
    check_same,
    check_slice_kept,
)
from swarm_bench.engine.folder import experiment_keys
from swarm_bench.engine.plan import check_slice, draw_order, iterate_groups, plan_cases
from swarm_bench.retrieval.handshake import Handshake
from swarm_bench.retrieval.preparing import check_warm
from swarm_bench.runtime import machine
from swarm_bench.runtime.workspaces.workspace import SNAPSHOT


@dataclass(frozen=True, kw_only=True)
class _Inputs:
    """Modes and tasks that the options name."""

    modes: tuple[Mode, ...]
    suite: str
    tasks: tuple[Task, ...]
    """Tasks; `None` where they are yet to be made from the repository."""
    omitted: int = 0
    note: str = ""


@asynccontextmanager
async def open_kit(
    resolved: Resolved, *, any_recorded: bool, emit: Emit | None
) -> AsyncIterator[QuestionContext]:
    """Resolve everything, and copy the repository; the copy goes away with the block. Without
    `emit` it is only to be looked at. Raises `UsageError`."""
    settings, old = resolved.settings, resolved.retrieve_session
    inputs = _read_inputs(resolved, starts=emit is not None)
    name = (old.session if old else os.urandom(4).hex()) if emit else os.urandom(4).hex()
    with open_work_folder(settings.workspace_root, name, create_warn(emit)) as work:
        repo = _find_repository(resolved)
        create_tell(emit)(f"copying {repo.resolve()}")
        snapshot = await take_session_snapshot(resolved, repo, work / SNAPSHOT, create_warn(emit))
        if not inputs.tasks:
            inputs = await _make_tasks(inputs, settings.seed, snapshot.repository, emit)
        snapshot = await remove_answers(snapshot, old, inputs.tasks, create_tell(emit))
        new = _build_experiment(resolved, inputs, name, snapshot.repository)
        experiment = extend_experiment(old, new, any_recorded=any_recorded) if old else new
        experiment.check()
        if emit:
            tell_omissions(snapshot.repository, emit)
        await check_commits(snapshot.repository, experiment.tasks)
        tools = replace(build_tools(resolved, settings, work), inherit_settings=False)
        yield QuestionContext(
            experiment=experiment,
            tools=tools,
            snapshot=snapshot,
            emit=emit or (lambda event: None),
            secrets=tools.collect_secrets(*experiment.modes),
        )


def _find_repository(resolved: Resolved) -> Path:
    if resolved.retrieve_session and not resolved.is_typed("repo"):
        return Path(resolved.retrieve_session.repository.path)
    return resolved.settings.repo


def _read_inputs(resolved: Resolved, *, starts: bool) -> _Inputs:
    """Read what the options name. Raises `UsageError` and `ConfigError`, in a group for several."""
    old, problems = resolved.retrieve_session, Problems()
    check_quality(resolved.settings.quality or MAIN)
    with problems.collected():
        modes = read_modes(resolved, old)
    if old is None or resolved.is_typed("tasks"):
        with problems.collected():
            suite = find_named_suite(resolved.settings.tasks)
    problems.check()
    if starts:
        requested = [*list_demands(resolved), *list_mode_demands(resolved, modes)]
        read = [] if old and not resolved.is_typed("tasks") else list_suite_demands(resolved, suite)
        require(resolved, [*requested, *read])
    for mode in modes:
        if not mode.servers:
            raise UsageError(
                f"The mode {mode.name} has no tool that could be asked; omit it from --modes"
            )
    variables = {**resolved.environment, **read_agent_environment(resolved.settings)}
    if any(mode.can_be_prepared for mode in modes):
        check_warm(modes, variables)
    if old and not resolved.is_typed("tasks"):
        inputs = _Inputs(modes=modes, suite=old.suite, tasks=old.tasks, note=old.made)
        return replace(inputs, omitted=old.omitted_tasks)
    if resolved.settings.tasks == REPOSITORY:
        return _Inputs(modes=modes, suite=REPOSITORY, tasks=())
    tasks = tuple(task for task in suite.tasks if relevant_files(task))
    if not tasks:
        raise UsageError(
            f"No task of {suite.name} has files in an answer key, so nothing could be scored; "
            "omit --tasks, and tasks are made from the repository"
        )
    return _Inputs(
        modes=modes, suite=suite.name, tasks=tasks, omitted=len(suite.tasks) - len(tasks)
    )


async def _make_tasks(
    inputs: _Inputs, seed: int, repository: Repository, emit: Emit | None
) -> _Inputs:
    """Make the tasks from the repository. Raises `UsageError` where it gives none."""
    try:
        suite = await make_suite(repository, seed, emit)
    except TasksNotMade as error:
        raise UsageError(
            f"{error}; write a task file with answer keys (swarm-bench docs tasks) and give it "
            "with --tasks"
        ) from None
    return replace(inputs, tasks=suite.tasks, note=suite.made)


def check_quality(key: str) -> None:
    """Refuse a metric that no verdict can be on. Raises `UsageError`."""
    fit = [metric.key for metric in RetrieveBenchmark().metrics() if not metric.relative]
    if key not in fit:
        raise UsageError(f"--quality {key}: a verdict is on what was found; {choice(key, fit)}")


def _build_experiment(
    resolved: Resolved, inputs: _Inputs, session: str, repository: Repository
) -> RetrieveExperiment:
    settings = resolved.settings
    arms = tuple(mode.name for mode in inputs.modes)
    options, allowed_names = resolved.dump_settings(), names_of(RETRIEVE.name)
    cases = tuple(case for case, _, _ in iterate_questions(inputs.tasks))
    part = Slice.parse(settings.slice) if settings.slice else None
    check_slice(part, len(cases), "a question")
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
        settings=anchor_paths({name: options[name] for name in options if name in allowed_names}),
        arms=arms,
        cases=cases,
        repository=repository,
        modes=inputs.modes,
        suite=inputs.suite,
        tasks=inputs.tasks,
        made=inputs.note,
        omitted_tasks=inputs.omitted,
        slice=part,
        timeout=settings.timeout,
        index_timeout=settings.index_timeout,
        service_url=settings.service_url,
        primary=settings.quality,
        margin=settings.quality_margin,
    ).preregister()


async def greet_servers(
    kit: QuestionContext, finished: frozenset[str | None], emit: Emit
) -> QuestionContext:
    """Add what the servers say of modes that have questions left. Raises `UsageError`."""
    experiment = kit.experiment
    names = {
        group.arm
        for group in iterate_groups(plan_cases(experiment))
        if not finished.issuperset(trial.id for trial in group.trials)
    }
    modes = [mode for mode in experiment.modes if mode.name in names]
    handshakes = await check_mode_tools(kit.tools, modes, kit.snapshot, emit)
    searching = {mode.name: _find_search(mode, handshakes[mode.name]) for mode in modes}
    programs = name_back_ends(kit.tools, modes, handshakes)
    check_back_ends(experiment.retrieval, programs)
    update = {
        "searching": {**experiment.searching, **searching},
        "retrieval": {**experiment.retrieval, **programs},
    }
    return replace(kit, experiment=experiment.model_copy(update=update))


def _find_search(mode: Mode, handshakes: Mapping[str, Handshake]) -> Searching:
    for name, handshake in handshakes.items():
        if mode.search and mode.search.tool in {tool.name for tool in handshake.tools}:
            return Searching(server=name, tool=mode.search.tool)
    if mode.search is None:
        for name, handshake in handshakes.items():
            if tool := best_search(handshake.tools):
                return Searching(server=name, tool=tool.name, recognised=True)
    tool_names = [tool.name for handshake in handshakes.values() for tool in handshake.tools]
    raise UsageError(
        f"The mode {mode.name} has no tool that is recognised as a search, among "
        f"{', '.join(tool_names)}; say in {mode.source} how it is searched "
        '("swarmBench": {"search": ...}), or omit the mode'
    )


def extend_experiment(
    old: RetrieveExperiment, new: RetrieveExperiment, *, any_recorded: bool
) -> RetrieveExperiment:
    """Return the session as it is to be continued. Raises `UsageError` for what would measure
    something else."""
    check_benchmark(old, new.benchmark, new.benchmark_version)
    check_content(old, new)
    check_runs(old.runs, new.runs)
    check_same("seed", old.seed, new.seed)
    check_same("timeout", old.timeout, new.timeout)
    check_same("quality", old.primary or MAIN, new.primary)
    check_same("quality_margin", old.margin, new.margin)
    arms, tasks = new.arms, _extend_tasks(old, new)
    update = {
        "modes": new.modes,  # those of the session come first, with their keys
        "arms": arms,
        "runs": new.runs,
        "settings": merge_settings(old, new),
        "repository": continue_repository(
            old.repository, new.repository, any_recorded=any_recorded
        ),
        "order": draw_order(arms, new.runs, old.seed, old.order),
        "tasks": tasks,
        "cases": tuple(case for case, _, _ in iterate_questions(tasks)),
        "suite": old.suite if new.suite == old.suite else f"{old.suite}, {new.suite}",
        "made": old.made or new.made,
        "omitted_tasks": max(old.omitted_tasks, new.omitted_tasks),
        "index_timeout": new.index_timeout,
        "service_url": new.service_url,
    }
    grown = old.model_copy(update=update)
    check_slice_kept(old, grown)
    return grown


def _extend_tasks(old: RetrieveExperiment, new: RetrieveExperiment) -> tuple[Task, ...]:
    old_tasks = {task.id: task for task in old.tasks}
    for task in new.tasks:
        if old_tasks.get(task.id, task) != task:
            raise UsageError(
                f"The task {task.id!r} is not what it was when the session began; "
                "give the new question a new id"
            )
    return (*old.tasks, *(task for task in new.tasks if task.id not in old_tasks))


SearchFolder = CaseFolder[RetrieveExperiment, CaseRecord]


def open_folder(path: Path) -> SearchFolder:
    """Open the folder of a session."""
    return CaseFolder(path, RetrieveExperiment, CaseRecord)


def read_experiment(folder: SearchFolder) -> RetrieveExperiment:
    """Read the experiment of a session. Raises `UsageError`."""
    benchmark = experiment_keys(folder.path).get("benchmark")
    if isinstance(benchmark, str) and benchmark != RETRIEVE.name:
        raise UsageError(
            f"{folder.path} is a session of the benchmark {benchmark!r}; "
            "continue it with the command that began it"
        )
    return folder.read_experiment()
