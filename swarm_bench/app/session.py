"""Runs an experiment to its summary, or shows what would run."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

import anyio

from swarm_bench.app.places import new_session_folder, session_to_continue
from swarm_bench.app.preparation import Benchmark, Prepared, prepared
from swarm_bench.app.report import write_summary
from swarm_bench.benchmarks import swarm as swarm_benchmark
from swarm_bench.core import settings as options
from swarm_bench.core.errors import GateFailed, HarnessError, UsageError
from swarm_bench.core.events import Emit
from swarm_bench.core.report import Report
from swarm_bench.core.settings import Resolved
from swarm_bench.engine.folder import SessionFolder
from swarm_bench.engine.kit import KEPT, Kit
from swarm_bench.engine.plan import longest_seconds, plan
from swarm_bench.engine.session import run_session
from swarm_bench.reports.page import render_page
from swarm_bench.reports.plan import render_plan
from swarm_bench.runtime.files import locked

DEFAULTS: Mapping[Benchmark, Mapping[str, Any]] = {"swarm": {}, "ab": {"tasks": "ab"}}
"""Where a benchmark's defaults differ from those of the options."""
COMMANDS: Mapping[Benchmark, str] = {"swarm": "compare", "ab": "ab"}


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a call of `run` left."""

    folder: Path
    benchmark: Benchmark
    summary: str
    report: Report
    interrupted: bool
    unfinished: int
    """Trials of the plan that have no record, or one that asks to be run again."""
    kept: Path | None
    """Where the workspaces lie that were kept."""

    @property
    def to_continue(self) -> str:
        """The command that goes on with the session."""
        return f"swarm-bench {COMMANDS[self.benchmark]} --continue {quote(str(self.folder))}"

    def check(self, *, require_retrieval: bool) -> None:
        """Raises when the session is not what was asked for; the exit codes follow from it."""
        if self.report.measured == 0:
            raise HarnessError(
                "Nothing could be measured: no trial ran to its own end; "
                f"see the warnings in {self.folder / 'summary.md'}"
            )
        if self.unfinished:
            raise HarnessError(
                f"{self.unfinished} trials could not be run to their own end; see the warnings "
                f"above, then go on with: {self.to_continue}"
            )
        if require_retrieval and self.report.retrieval_exercised is not True:
            raise GateFailed(
                "Retrieval was not exercised in every mode that has a tool, and "
                "--require-retrieval asks for it; see the warnings above"
            )


def resolve(given: Mapping[str, Any], benchmark: Benchmark, config: Path | None) -> Resolved:
    """The options of a call. One that continues a session takes over that session's options."""
    resolved = options.load(given, config=config, defaults=DEFAULTS[benchmark])
    folder = session_to_continue(resolved.settings.resume)
    if folder is None:
        return resolved
    experiment = folder.read_experiment()
    if experiment.benchmark != benchmark:
        raise UsageError(
            f"{folder.path} is a session of another command; go on with it through: "
            f"swarm-bench {COMMANDS[experiment.benchmark]} --continue {quote(str(folder.path))}"
        )
    return options.load(
        {**given, "resume": str(folder.path)},
        config=config,
        session=experiment.settings,
        defaults=DEFAULTS[benchmark],
    )


def run(resolved: Resolved, benchmark: Benchmark, emit: Emit) -> Result:
    """Run the experiment, or what is left of the one that is continued."""
    return anyio.run(_run, resolved, benchmark, emit)


def show_plan(resolved: Resolved, benchmark: Benchmark) -> str:
    """What `run` would do. Nothing is started and nothing written."""
    return anyio.run(_show_plan, resolved, benchmark)


async def _run(resolved: Resolved, benchmark: Benchmark, emit: Emit) -> Result:
    async with _opened(resolved, benchmark, to_run=True) as (ready, continued):
        folder = continued or new_session_folder(resolved.settings, benchmark)
        with nullcontext() if continued else locked(folder.lock):
            folder.write_experiment(ready.experiment)
            done, attempts = folder.set_aside_reruns(), folder.attempts()
            kit = _kit(ready, folder, emit, keep=resolved.settings.keep_workspaces)
            try:
                interrupted = await run_session(kit, done, attempts)
            finally:  # also when the disk is full or we have a defect: what there is, is shown
                report, summary = write_summary(folder)
            kept = ready.work / KEPT
    return Result(
        folder=folder.path,
        benchmark=benchmark,
        summary=summary,
        report=report,
        interrupted=interrupted,
        unfinished=_unfinished(folder),
        kept=kept if kept.exists() else None,
    )


async def _show_plan(resolved: Resolved, benchmark: Benchmark) -> str:
    async with _opened(resolved, benchmark, to_run=False) as (ready, continued):
        finished = _finished(continued) if continued else set()
        rows = [
            (swarm.run, swarm.mode, trial.agent, trial.task.title, trial.id in finished)
            for block in plan(ready.experiment)
            for swarm in block.swarms
            for trial in swarm.trials
        ]
        return render_plan(ready.experiment, rows, longest_seconds(ready.experiment))


@asynccontextmanager
async def _opened(
    resolved: Resolved, benchmark: Benchmark, *, to_run: bool
) -> AsyncIterator[tuple[Prepared, SessionFolder | None]]:
    """The experiment, and the folder of the session that is continued, held against others."""
    continued = session_to_continue(resolved.settings.resume)
    # Before anything else: both would work in the same place.
    with locked(continued.lock) if continued else nullcontext():
        async with prepared(resolved, benchmark, continued, to_run=to_run) as ready:
            yield ready, continued


def _kit(ready: Prepared, folder: SessionFolder, emit: Emit, *, keep: bool) -> Kit:
    return Kit(
        experiment=ready.experiment,
        agent=ready.agent,
        snapshot=ready.snapshot,
        folder=folder,
        work=ready.work,
        programs=ready.programs,
        user_environment=dict(os.environ),
        scorers=swarm_benchmark.scorers(),
        prompt=swarm_benchmark.prompt,
        page=render_page,
        emit=emit,
        keep_workspaces=keep,
    )


def _unfinished(folder: SessionFolder) -> int:
    return sum(folder.read().planned.values()) - len(_finished(folder))


def _finished(folder: SessionFolder) -> set[str | None]:
    return {record.trial for record in folder.read().trials if record.conclusive}
