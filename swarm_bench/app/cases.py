"""Runs a benchmark whose trials are pairs of an arm and a case, and reports it."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

import anyio

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.cases.summary import case_document
from swarm_bench.app.lifecycle import orchestrating, summarising
from swarm_bench.app.models.files import write_prompts, write_results
from swarm_bench.app.models.setup import DEFAULT_RUNS, check_none, completed, with_setup
from swarm_bench.app.result import Result, Stop, read_ends
from swarm_bench.app.setup.case_experiment import (
    CaseRequest,
    case_experiment,
    names_of,
    primary_of,
    with_arms,
)
from swarm_bench.app.setup.case_properties import CaseProperties
from swarm_bench.app.setup.folders import new_below_results
from swarm_bench.benchmarks.cases.benchmark import RowBenchmark
from swarm_bench.benchmarks.cases.ending import Ending
from swarm_bench.config.options import flag
from swarm_bench.core.errors import ModelFailed, NotAuthorized, UsageError
from swarm_bench.core.events import Emit, Trouble
from swarm_bench.core.metric import Metrics, fault, guarded_metric
from swarm_bench.core.registry import plugins
from swarm_bench.core.report.document import Written
from swarm_bench.core.session.cases import CaseExperiment, CaseRecord
from swarm_bench.engine.benchmark import CaseBenchmark, GrowsArms, blaming, find_benchmark
from swarm_bench.engine.cases.plan import plan_cases, planned_only
from swarm_bench.engine.cases.running import run_cases
from swarm_bench.engine.cases.store import (
    CaseFolder,
    CaseStore,
    case_folder,
    model_folder,
)
from swarm_bench.engine.folding import doubled
from swarm_bench.engine.lines import Checked, changed_lines, second_lines, torn_lines
from swarm_bench.engine.plan import groups_of
from swarm_bench.engine.scoring import usable
from swarm_bench.engine.session import run_session
from swarm_bench.reports.markdown import written
from swarm_bench.runtime.files import locked, write_whole
from swarm_bench.runtime.ownership import OWNER, this_owner

MOST_ROUNDS = 100
"""How often in one call a benchmark is asked for arms to add: one that never ends costs money."""
_MORE = "The benchmark {0!r} keeps adding arms; continue the session for more of them"


def run(request: CaseRequest, emit: Emit) -> Result:
    """Run the benchmark, or what remains of the session that is continued."""
    benchmark, old = _benchmark(request.benchmark), None
    if request.resume:
        old = case_folder(request.resume).read_experiment()
    benchmark, experiment, properties = _prepared(benchmark, request, old, asks=True)
    folder = _folder(request, benchmark)
    command = f"swarm-bench run {quote(request.benchmark)} --continue {quote(str(folder.path))}"
    summarise = partial(_write_summary, benchmark, folder)
    with orchestrating(), locked(folder.lock):
        os.environ[OWNER] = this_owner()  # what the benchmark starts has our mark, and ends with us
        if old is None:
            folder.check_free()  # another one may have come and gone meanwhile
        elif folder.read_experiment() != old:
            raise UsageError(f"Another command changed {folder.path} meanwhile; try again")
        with summarising(folder, summarise, command):
            stopped: Stop | None = None
            try:
                interrupted = anyio.run(_run, benchmark, experiment, properties, folder, emit)
            except (NotAuthorized, ModelFailed) as error:
                interrupted, stopped = False, error
            summary = summarise()
    return Result(
        folder=folder.path,
        to_continue=command,
        summary=summary,
        interrupted=interrupted,
        ends=read_ends(folder, plan_cases(folder.read_experiment())),
        stopped=stopped,
    )


def show_plan(request: CaseRequest) -> str:
    """Show what `run` would do; nothing is started and nothing stays."""
    benchmark = _benchmark(request.benchmark)
    folder = case_folder(request.resume) if request.resume else None
    old = folder.read_experiment() if folder else None
    benchmark, experiment, _ = _prepared(benchmark, request, old, asks=False)
    if request.output is not None:
        case_folder(request.output.expanduser()).check_free()
    finished = folder.records.finished() if folder else set()
    lines = [
        f"run {trial.run}  {trial.arm}  {trial.case.title}"
        + ("  (done)" if trial.id in finished else "")
        for group in groups_of(plan_cases(experiment))
        for trial in group.trials
    ]
    return "\n".join((f"{benchmark.name}: {len(lines)} trials", *lines, ""))


def _prepared(
    benchmark: CaseBenchmark, request: CaseRequest, old: CaseExperiment | None, *, asks: bool
) -> tuple[CaseBenchmark, CaseExperiment, CaseProperties]:
    """Make the experiment of the call. `asks`: something will run. Raises `UsageError`."""
    if not isinstance(benchmark, RowBenchmark):
        check_none(request)
        return benchmark, *case_experiment(benchmark, request, old)
    ready, rows = with_setup(benchmark, request, old)
    experiment, properties = case_experiment(ready, request, old, DEFAULT_RUNS)
    complete, whole = completed(ready, experiment, properties, rows, asks=asks)
    return complete, whole, properties


def holds_cases(path: Path) -> bool:
    """Tell whether a session is of such a benchmark."""
    return case_folder(path).is_its_kind()


def report(path: Path) -> Written:
    """Render the summary of a session again, and write it. Raises `UsageError`."""
    folder = case_folder(path)
    return _write_summary(registered(folder), folder)


def reanalysed(path: Path, otherwise: Mapping[str, Any]) -> Written:
    """Render a session with another metric or margin; nothing is written. Raises `UsageError`."""
    check_options(otherwise, ("primary", "margin"))
    session = read_whole(path)
    changes = {**otherwise}
    if "primary" in otherwise:
        changes["primary"] = primary_of(session.metrics, otherwise["primary"])
    experiment = session.experiment.model_copy(update=changes)
    return written(case_document(replace(session, experiment=experiment)))


def check_options(otherwise: Iterable[str], fit: Sequence[str]) -> None:
    """Refuse options that do not decide the verdict of a session. Raises `UsageError`."""
    if others := [flag(name) for name in otherwise if name not in fit]:
        raise UsageError(
            f"{', '.join(others)}: the verdict of this session is on "
            f"{' and '.join(map(flag, fit))}; give these"
        )


def read_whole(path: Path) -> CaseSession:
    """Read a session with the metrics of its benchmark. Raises `UsageError`."""
    folder = case_folder(path)
    return read_session(folder, _guarded(registered(folder)))


def registered(folder: CaseFolder) -> CaseBenchmark:
    """Return the benchmark of a session, which an installed package has. Raises `UsageError`."""
    path, name = folder.path, folder.read_experiment().benchmark
    if name not in {plugin.name for plugin in plugins("benchmarks")}:  # a file names no module
        raise UsageError(
            f"{path} is a session of the benchmark {name!r}, and no installed package registers "
            f"it; install that, or continue the session: swarm-bench run MODULE:CLASS --continue "
            f"{quote(str(path))}"
        )
    return _benchmark(name)


async def _run(
    benchmark: CaseBenchmark,
    experiment: CaseExperiment,
    properties: CaseProperties,
    folder: CaseFolder,
    emit: Emit,
) -> bool:
    """Run to the end, or to an interruption: then it is true."""
    folder.make_room()
    ending = Ending()
    if isinstance(benchmark, RowBenchmark):
        ending = Ending(fail_fast=benchmark.fail_fast)
        await benchmark.try_out()
    for _ in range(MOST_ROUNDS):
        folder.write_experiment(experiment)
        if isinstance(benchmark, RowBenchmark):
            write_prompts(benchmark, properties.plain, folder)
        store = CaseStore(
            experiment=experiment,
            properties=properties.plain,
            folder=folder,
            scorers=benchmark.scorers(),
            emit=emit,
            secrets=properties.secrets,
            ending=ending,
        )
        execute = partial(run_cases, benchmark.run)
        plan = plan_cases(experiment)
        interrupted = await run_session(store, plan, execute, experiment.concurrency)
        if interrupted or not (arms := _next_arms(benchmark, experiment, folder)):
            break
        experiment = with_arms(experiment, arms, properties.secrets)
    else:
        emit(Trouble(message=_MORE.format(benchmark.name)))
    return interrupted


def _next_arms(
    benchmark: CaseBenchmark, experiment: CaseExperiment, folder: CaseFolder
) -> list[str]:
    if not isinstance(benchmark, GrowsArms):
        return []
    records = planned_only(experiment, _firsts(folder.records.read()))
    with blaming(benchmark.name, "gives no next arms"):
        arms = names_of(benchmark.next_arms(records))
    return [arm for arm in arms if arm not in experiment.arms]


def _benchmark(name: str) -> CaseBenchmark:
    benchmark = find_benchmark(name)
    if not isinstance(benchmark, CaseBenchmark):
        raise UsageError(
            f"{name} is run by commands of its own; see: swarm-bench benchmarks show {name}"
        )
    with blaming(name, "cannot be run"):
        if not isinstance(benchmark.groups_at_once, int) or benchmark.groups_at_once < 1:
            raise ValueError(f"groups_at_once is {benchmark.groups_at_once!r}, which runs nothing")
        if not isinstance(metrics := benchmark.metrics(), Metrics):
            raise TypeError("metrics() gives no Metrics")
        for metric in metrics:  # seen before anything is paid for
            clause = "reads swarms, and it has none" if metric.read_swarm else fault(metric)
            if clause:
                raise ValueError(f"the metric {metric.key} {clause}")
        usable(benchmark.scorers())
    return benchmark


def _folder(request: CaseRequest, benchmark: CaseBenchmark) -> CaseFolder:
    if request.resume is not None:
        return case_folder(request.resume)
    path = request.output.expanduser() if request.output else new_below_results(benchmark.name)
    folder = model_folder(path) if isinstance(benchmark, RowBenchmark) else case_folder(path)
    if request.output is not None:
        folder.check_free()
    folder.make()
    return folder


def _write_summary(benchmark: CaseBenchmark, folder: CaseFolder) -> Written:
    session = read_session(folder, _guarded(benchmark))
    summary = written(case_document(session))
    write_whole(folder.summary, summary.markdown)
    if isinstance(benchmark, RowBenchmark):
        write_results(session, benchmark, folder)
    return summary


def _guarded(benchmark: CaseBenchmark) -> Metrics:
    metrics = benchmark.metrics()
    return replace(metrics, all=tuple(map(guarded_metric, metrics)))


def read_session(folder: CaseFolder, metrics: Metrics) -> CaseSession:
    """Read a session as the analysis takes it."""
    experiment, lines = folder.read_experiment(), folder.records.read()
    records, rescored = folder.reread(_firsts(lines))
    planned = planned_only(experiment, records)
    path = folder.records.path
    return CaseSession(
        experiment=experiment,
        records=planned,
        metrics=metrics,
        warnings=(
            *changed_lines(path, lines),
            *torn_lines(path, lines),
            *second_lines(path, frozenset(doubled(lines))),
            *_not_planned(path, len(records) - len(planned)),
            *rescored,
        ),
        changed=bool(changed_lines(path, lines)),
    )


def _firsts(lines: Sequence[Checked[CaseRecord]]) -> list[CaseRecord]:
    """Return the records, and of several of one trial the first."""
    seconds = frozenset(doubled(lines))
    return [record for number, _, record in lines if record and number not in seconds]


def _not_planned(path: Path, number: int) -> tuple[str, ...]:
    if not number:
        return ()
    return (f"{path.name}: records of no trial of the plan are omitted: {number}",)
