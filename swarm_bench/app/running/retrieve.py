"""Runs `retrieve` to its summary, shows what would run, and renders its records again."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from shlex import quote

import anyio

from swarm_bench.analysis.planning.questions import describe
from swarm_bench.app.result import SessionResult, count_ends
from swarm_bench.app.retrieve.preparation import open_kit
from swarm_bench.app.retrieve.resolving import open_folder, read_experiment
from swarm_bench.app.session import manage_child_processes, summarise_on_failure
from swarm_bench.app.setup.folders import make_results_folder
from swarm_bench.app.setup.own_tasks import render_task_file
from swarm_bench.app.stored.retrieve import RetrieveSession
from swarm_bench.app.trust.approval import list_unapproved, remember_session
from swarm_bench.benchmarks.cases.folder import CaseFolder
from swarm_bench.benchmarks.retrieve.benchmark import RetrieveBenchmark
from swarm_bench.benchmarks.retrieve.running import Kit, run_questions
from swarm_bench.benchmarks.swarm.folder import TASKS
from swarm_bench.config.options import REPOSITORY
from swarm_bench.config.settings import Resolved, Settings
from swarm_bench.core.events import Emit
from swarm_bench.core.interruption import cancelling
from swarm_bench.core.session.designs import RETRIEVE
from swarm_bench.engine.continuing import check_unchanged
from swarm_bench.engine.executor import run_cases
from swarm_bench.engine.group_store import CaseStore
from swarm_bench.engine.plan import groups_of, plan_cases
from swarm_bench.engine.session import run_session
from swarm_bench.reports.plan_text import render_plan
from swarm_bench.retrieval.modes.secrets import without_keys
from swarm_bench.runtime.files import locked, write_whole

_METRICS = RetrieveBenchmark().metrics()


def run(resolved: Resolved, emit: Emit) -> SessionResult:
    """Put the questions, or what remains of those of the session that is continued."""
    with manage_child_processes():
        return anyio.run(_run, resolved, emit)


def show_plan(resolved: Resolved, width: int | None = None) -> str:
    """Show what `run` would do, at a terminal of so many columns. No server is started, and nothing
    stays."""
    with cancelling():
        return anyio.run(_render_plan, resolved, width)


async def _run(resolved: Resolved, emit: Emit) -> SessionResult:
    async with _open_session(resolved, emit) as (kit, continued):
        folder = continued or _make_folder(resolved.settings)
        command = f"swarm-bench {RETRIEVE.name} --continue {quote(str(folder.path))}"
        with nullcontext() if continued else locked(folder.lock):
            if not continued:
                folder.check_free()  # another one may have come and gone meanwhile
            with summarise_on_failure(folder, RetrieveSession(folder.path).report, command):
                remember_session(kit.experiment, resolved, emit, continued=bool(continued))
                interrupted = await _execute(kit, folder, emit, command)
                summary = RetrieveSession(folder.path).report()
    return SessionResult(
        folder=folder.path,
        to_continue=command,
        summary=summary,
        interrupted=interrupted,
        end_counts=count_ends(folder, plan_cases(kit.experiment)),
    )


async def _execute(kit: Kit, folder: CaseFolder, emit: Emit, to_continue: str) -> bool:
    """Run to the end, or to an interruption: then it is true."""
    experiment = without_keys(kit.experiment)
    folder.make_room()
    folder.write_experiment(experiment)
    if experiment.suite == REPOSITORY:
        write_whole(folder.path / TASKS, render_task_file(kit.experiment))
    store = CaseStore(
        experiment=experiment,
        properties={},
        folder=folder,
        to_continue=to_continue,
        scorers=(),
        emit=emit,
        secrets=kit.secrets,
    )
    execute = partial(run_cases, partial(run_questions, kit))
    return await run_session(store, plan_cases(experiment), execute)


async def _render_plan(resolved: Resolved, width: int | None) -> str:
    async with _open_session(resolved, None) as (kit, continued):
        finished = continued.records.finished() if continued else set()
        pending = [demand.in_full for demand in list_unapproved(resolved)]
        experiment = without_keys(kit.experiment)
        trials = [trial for group in groups_of(plan_cases(experiment)) for trial in group.trials]
        return render_plan(describe(experiment, trials, finished, pending), width)


@asynccontextmanager
async def _open_session(
    resolved: Resolved, emit: Emit | None
) -> AsyncIterator[tuple[Kit, CaseFolder | None]]:
    """Prepare the session, and hold the folder of the one that is continued. Raises
    `UsageError`."""
    settings = resolved.settings
    if settings.output is not None:
        open_folder(settings.output.expanduser()).check_free()
    continued = open_folder(Path(settings.resume)) if settings.resume else None
    with locked(continued.lock, writes=emit is not None) if continued else nullcontext():
        if continued:
            check_unchanged(continued.path, resolved.held, read_experiment(continued))
        finished = frozenset(continued.records.finished() if continued else ())
        async with open_kit(resolved, finished, emit) as kit:
            yield kit, continued


def _make_folder(settings: Settings) -> CaseFolder:
    path = settings.output.expanduser() if settings.output else make_results_folder(RETRIEVE.stem)
    folder = open_folder(path)
    if settings.output is not None:
        folder.check_free()
    folder.make()
    return folder
