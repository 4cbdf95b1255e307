"""Runs an experiment to its summary, or shows what would run."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio

from swarm_bench.analysis.planning.planned import Planned, describe
from swarm_bench.analysis.planning.workspaces import Workspaces, median_indexing
from swarm_bench.app.notices import explain_waiting
from swarm_bench.app.replaying import check_recordable
from swarm_bench.app.result import ComparisonResult, Stop, count_ends, format_continue_command
from swarm_bench.app.session import manage_child_processes, summarise_on_failure
from swarm_bench.app.setup.credentials import describe_credential_warning, is_paid
from swarm_bench.app.setup.earlier import build_outlook
from swarm_bench.app.setup.folders import check_output, list_answer_places, make_session_folder
from swarm_bench.app.setup.launches import list_launches
from swarm_bench.app.setup.own_tasks import render_task_file
from swarm_bench.app.setup.preparation import open_prepared_session
from swarm_bench.app.setup.prepared import PreparedSession
from swarm_bench.app.stored.agents import render_trial_page, write_summary
from swarm_bench.app.trust.approval import remember_session
from swarm_bench.benchmarks.swarm.benchmark import SwarmBenchmark
from swarm_bench.benchmarks.swarm.folder import EXPERIMENT, SessionFolder
from swarm_bench.benchmarks.swarm.ledger import Ledger, opened_ledger
from swarm_bench.benchmarks.swarm.overhead import OverheadLines
from swarm_bench.benchmarks.swarm.plan.swarms import commits, longest_seconds
from swarm_bench.benchmarks.swarm.recordings.recorder import Recorder
from swarm_bench.benchmarks.swarm.recordings.replay import replay_swarm
from swarm_bench.benchmarks.swarm.running.delivery import SwarmExecutor
from swarm_bench.benchmarks.swarm.running.kit import Kit
from swarm_bench.benchmarks.swarm.running.swarm import run_swarm
from swarm_bench.benchmarks.swarm.scorers import require_known
from swarm_bench.benchmarks.swarm.store import SwarmStore
from swarm_bench.benchmarks.swarm.trees import Trees
from swarm_bench.config.options import REPOSITORY
from swarm_bench.config.settings import Resolved
from swarm_bench.core.errors import CostLimitReached, NotAuthorized, NoVerdictPossible
from swarm_bench.core.events import Emit, Preparing
from swarm_bench.core.interruption import cancelling
from swarm_bench.core.ports import Scorer
from swarm_bench.core.session.designs import Design
from swarm_bench.core.session.recording import FOLDER
from swarm_bench.engine.continuing import check_unchanged
from swarm_bench.engine.plan import groups_of, remaining
from swarm_bench.engine.session import run_session
from swarm_bench.models.rehearsal.launch import Rehearsal, started_rehearsal
from swarm_bench.reports.plan_text import render_plan
from swarm_bench.retrieval.modes.secrets import storable
from swarm_bench.runtime.environment import small_environment
from swarm_bench.runtime.files import locked, remove_parts, state_of
from swarm_bench.runtime.homes import Homes
from swarm_bench.runtime.ownership import KEPT
from swarm_bench.runtime.processes.launching import require_descriptors

SWARM = SwarmBenchmark()


def create_local_executor(kit: Kit) -> SwarmExecutor:
    """Return what runs swarms in this process."""
    return partial(run_swarm, kit)


def run(
    resolved: Resolved,
    design: Design,
    emit: Emit,
    executor: Callable[[Kit], SwarmExecutor] = create_local_executor,
) -> ComparisonResult:
    """Run the experiment, or what remains of the one that is continued. A recording is always
    played here, whatever the `executor`."""
    with manage_child_processes():
        return anyio.run(_run, resolved, design, emit, executor)


def show_plan(resolved: Resolved, design: Design, width: int | None = None) -> str:
    """Show what `run` would do, at a terminal of that `width`. No agent gets a task."""
    return render_plan(describe(plan_session(resolved, design)), width)


def plan_session(resolved: Resolved, design: Design) -> Planned:
    """Prepare what `show_plan` shows."""
    with cancelling():
        return anyio.run(_make_plan, resolved, design)


async def _run(
    resolved: Resolved,
    design: Design,
    emit: Emit,
    executor: Callable[[Kit], SwarmExecutor],
) -> ComparisonResult:
    async with _open_session(resolved, design, emit) as (ready, continued):
        scorers = SWARM.scorers(ready.experiment.scorers)
        folder = continued or make_session_folder(resolved.settings, design)
        command = format_continue_command(design, folder.path, ready.service_url)
        with nullcontext() if continued else locked(folder.lock):
            if not continued:
                folder.check_free()  # another one may have come and gone meanwhile
            with summarise_on_failure(folder, partial(write_summary, folder), command):
                remember_session(ready.experiment, resolved, emit, continued=bool(continued))
                kit = _build_kit(ready, folder, emit, resolved)
                with _open_trees(ready) as trees:
                    store = _build_store(ready, kit, folder, resolved, scorers, trees)
                    interrupted, stopped = await _execute(ready, kit, store, executor)
                report, summary = write_summary(folder)
        kept_folder = ready.tools.work / KEPT
    return ComparisonResult(
        folder=folder.path,
        to_continue=command,
        summary=summary,
        report=report,
        interrupted=interrupted,
        end_counts=count_ends(folder, SWARM.plan(store.looking.experiment)),
        kept_workspaces=(kept_folder,) if kept_folder.exists() else (),
        stopped=stopped,
    )


async def _execute(
    ready: PreparedSession, kit: Kit, store: SwarmStore, executor: Callable[[Kit], SwarmExecutor]
) -> tuple[bool, Stop | None]:
    """Run the session. Returns whether it was interrupted, and what ended it otherwise."""
    async with _run_rehearsal(kit, store.folder) as rehearsal:
        kit = replace(kit, rehearsal=rehearsal)
        try:
            return await _run_blocks(ready, store, _choose_executor(ready, kit, executor)), None
        except (NotAuthorized, CostLimitReached, NoVerdictPossible) as error:
            return False, error


def _choose_executor(
    ready: PreparedSession, kit: Kit, executor: Callable[[Kit], SwarmExecutor]
) -> SwarmExecutor:
    if ready.recorded_session is not None:
        return partial(replay_swarm, kit, ready.recorded_session)
    return executor(kit)


async def _run_blocks(ready: PreparedSession, store: SwarmStore, execute: SwarmExecutor) -> bool:
    """Run to the end, or to an interruption: then it is true."""
    folder, experiment = store.folder, store.experiment
    remove_parts(folder.path)
    if ready.previous is not None:
        folder.rearrange(ready.previous, experiment)
    folder.write_experiment(storable(experiment))
    if experiment.suite == REPOSITORY:
        folder.write_tasks(render_task_file(experiment))
    if store.recorder is not None:
        at = {commit: store.trees.files(commit) for commit in commits(experiment)}
        store.recorder.begin(experiment, store.trees.files(None), at)
    _begin_overhead(ready, store.overhead)
    is_clear = store.looking.begin()
    interrupted = await run_session(store, SWARM.plan(experiment), execute, is_clear=is_clear)
    folder.make_room()
    folder.write_experiment(storable(store.looking.experiment))
    return interrupted


def _begin_overhead(ready: PreparedSession, lines: OverheadLines) -> None:
    if ready.recorded_session is None:
        lines.greet(ready.experiment, ready.handshakes)
    else:
        lines.copy(ready.experiment, ready.recorded_session)


async def _make_plan(resolved: Resolved, design: Design) -> Planned:
    async with _open_session(resolved, design, None) as (ready, continued):
        require_known(*ready.experiment.scorers or ())
        finished = continued.records.finished() if continued else set()
        rows = tuple(
            (swarm.run, swarm.arm, trial.number, trial.case.title, trial.id in finished)
            for block in SWARM.plan(ready.experiment)
            for swarm in block.groups
            for trial in swarm.trials
        )
        pending = groups_of(remaining(SWARM.plan(ready.experiment), set(filter(None, finished))))
        workspaces = Workspaces(
            swarms=tuple((swarm.arm, swarm.commit) for swarm in pending),
            indexing=median_indexing(continued.read_swarms()) if continued else {},
        )
        launches = list_launches(ready, resolved)
        warning = (
            None if ready.recorded_session else describe_credential_warning(ready.agent, resolved)
        )
        crowded = () if ready.recorded_session else explain_waiting(ready.experiment)
        return Planned(
            experiment=storable(ready.experiment),
            rows=rows,
            longest=longest_seconds(ready.experiment, finished),
            launches=launches,
            warnings=(*((warning,) if warning else ()), *crowded),
            workspaces=workspaces,
            outlook=build_outlook(ready, rows, launches, resolved),
        )


@asynccontextmanager
async def _open_session(
    resolved: Resolved, design: Design, emit: Emit | None
) -> AsyncIterator[tuple[PreparedSession, SessionFolder | None]]:
    """Prepare the experiment, and hold the folder of the session that is continued. Raises
    `UsageError` for what the options rule out."""
    check_output(resolved.settings)
    resume = resolved.settings.resume
    continued = SessionFolder(Path(resume)) if resume else None
    # Before anything else: both would work in the same place.
    with locked(continued.lock, writes=emit is not None) if continued else nullcontext():
        for session in resolved.continued:
            check_unchanged(session.folder, session.state, state_of(session.folder / EXPERIMENT))
        if continued and emit:
            continued.make_room()
        async with open_prepared_session(resolved, design, continued, emit) as ready:
            check_recordable(resolved.settings, ready.experiment)
            require_descriptors(0 if ready.recorded_session else ready.experiment.at_once)
            yield ready, continued


@asynccontextmanager
async def _run_rehearsal(kit: Kit, folder: SessionFolder) -> AsyncIterator[Rehearsal | None]:
    """Start the server that answers in the place of a model, in a rehearsal."""
    experiment = kit.experiment
    if not experiment.rehearsal or experiment.replayed is not None:
        yield None
        return
    kit.emit(Preparing(step="the rehearsal server"))
    instructions = sorted({mode.instructions for mode in experiment.modes})
    async with Homes(work=kit.work).opened("home-rehearsal") as home:
        started = started_rehearsal(
            {**small_environment(os.environ), **home},
            experiment.faults,
            folder.path / "rehearsal.log",
            secrets=kit.secrets,
            instructions=instructions,
        )
        async with started as rehearsal:
            yield rehearsal


def _build_kit(
    ready: PreparedSession, folder: SessionFolder, emit: Emit, resolved: Resolved
) -> Kit:
    settings = resolved.settings
    return Kit(
        experiment=ready.experiment,
        agent=ready.agent,
        snapshot=ready.snapshot,
        artefacts=folder.artefacts(ready.experiment),
        tools=ready.tools,
        emit=emit,
        keep_workspaces=settings.keep_workspaces,
        record=settings.record,
        probes=ready.probes,
        answers=list_answer_places(resolved.settings, ready.snapshot.repository, folder.path),
    )


def _open_trees(ready: PreparedSession) -> Trees:
    snapshot, recorded_files = ready.snapshot, None
    if ready.recorded_session is not None:
        at = ready.recorded_session.recording.files_at
        recorded_files = {commit: frozenset(files) for commit, files in at.items()}
    return Trees(repository=snapshot.repository, copy=snapshot, recorded=recorded_files)


def _build_store(
    ready: PreparedSession,
    kit: Kit,
    folder: SessionFolder,
    resolved: Resolved,
    scorers: tuple[Scorer, ...],
    trees: Trees,
) -> SwarmStore:
    recorder = Recorder(folder.path / FOLDER, resolved.settings.agent) if kit.record else None
    asks = ready.agent.capabilities.reports_usage
    overhead = OverheadLines(folder, recorder, asks=asks)
    return SwarmStore(
        experiment=ready.experiment,
        folder=folder,
        to_continue=format_continue_command(
            ready.experiment.design, folder.path, ready.service_url
        ),
        overhead=overhead,
        trees=trees,
        scorers=scorers,
        page=partial(render_trial_page, SWARM.metrics()),
        probes=ready.probes,
        secrets=kit.secrets,
        emit=kit.emit,
        recorder=recorder,
        ledger=_open_ledger(ready, folder, resolved),
        scoring=kit.reading,
    )


def _open_ledger(
    ready: PreparedSession, folder: SessionFolder, resolved: Resolved
) -> Ledger | None:
    limit, other_sessions = (
        resolved.settings.max_cost,
        resolved.member.others if resolved.member else (),
    )
    if limit is None or ready.recorded_session or is_paid(ready.agent, resolved.settings) is False:
        return None  # nobody is billed
    sessions = (folder, *(SessionFolder(session.folder) for session in other_sessions))
    return opened_ledger(limit, ready.experiment.prices or {}, sessions)
