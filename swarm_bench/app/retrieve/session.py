"""Runs `retrieve` to its summary, shows what would run, and renders its records again."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from shlex import quote

import anyio

from swarm_bench.analysis.planning.questions import describe
from swarm_bench.app.lifecycle import orchestrating, summarising
from swarm_bench.app.result import Result, read_ends
from swarm_bench.app.retrieve.preparation import prepared
from swarm_bench.app.retrieve.resolving import opened, read_experiment
from swarm_bench.app.setup.folders import new_below_results
from swarm_bench.app.setup.own_tasks import task_file
from swarm_bench.app.stored.retrieve import RetrieveSession
from swarm_bench.app.trust.approval import remember_session, unapproved
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


def run(resolved: Resolved, emit: Emit) -> Result:
    """Put the questions, or what remains of those of the session that is continued."""
    with orchestrating():
        return anyio.run(_run, resolved, emit)


def show_plan(resolved: Resolved, width: int | None = None) -> str:
    """Show what `run` would do, at a terminal of so many columns. No server is started, and nothing
    stays."""
    with cancelling():
        return anyio.run(_planned, resolved, width)


async def _run(resolved: Resolved, emit: Emit) -> Result:
    async with _opened(resolved, emit) as (kit, continued):
        folder = continued or _made(resolved.settings)
        command = f"swarm-bench {RETRIEVE.name} --continue {quote(str(folder.path))}"
        with nullcontext() if continued else locked(folder.lock):
            if not continued:
                folder.check_free()  # another one may have come and gone meanwhile
            with summarising(folder, RetrieveSession(folder.path).report, command):
                remember_session(kit.experiment, resolved, emit, continued=bool(continued))
                interrupted = await _executed(kit, folder, emit, command)
                summary = RetrieveSession(folder.path).report()
    return Result(
        folder=folder.path,
        to_continue=command,
        summary=summary,
        interrupted=interrupted,
        ends=read_ends(folder, plan_cases(kit.experiment)),
    )


async def _executed(kit: Kit, folder: CaseFolder, emit: Emit, to_continue: str) -> bool:
    """Run to the end, or to an interruption: then it is true."""
    experiment = without_keys(kit.experiment)
    folder.make_room()
    folder.write_experiment(experiment)
    if experiment.suite == REPOSITORY:
        write_whole(folder.path / TASKS, task_file(kit.experiment))
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


async def _planned(resolved: Resolved, width: int | None) -> str:
    async with _opened(resolved, None) as (kit, continued):
        finished = continued.records.finished() if continued else set()
        withheld = [demand.in_full for demand in unapproved(resolved)]
        experiment = without_keys(kit.experiment)
        trials = [it for group in groups_of(plan_cases(experiment)) for it in group.trials]
        return render_plan(describe(experiment, trials, finished, withheld), width)


@asynccontextmanager
async def _opened(
    resolved: Resolved, emit: Emit | None
) -> AsyncIterator[tuple[Kit, CaseFolder | None]]:
    """Prepare the session, and hold the folder of the one that is continued. Raises
    `UsageError`."""
    settings = resolved.settings
    if settings.output is not None:
        opened(settings.output.expanduser()).check_free()
    continued = opened(Path(settings.resume)) if settings.resume else None
    with locked(continued.lock, writes=emit is not None) if continued else nullcontext():
        if continued:
            check_unchanged(continued.path, resolved.held, read_experiment(continued))
        finished = frozenset(continued.records.finished() if continued else ())
        async with prepared(resolved, finished, emit) as kit:
            yield kit, continued


def _made(settings: Settings) -> CaseFolder:
    path = settings.output.expanduser() if settings.output else new_below_results(RETRIEVE.stem)
    folder = opened(path)
    if settings.output is not None:
        folder.check_free()
    folder.make()
    return folder
