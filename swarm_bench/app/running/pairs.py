"""Runs a benchmark whose trials are pairs of an arm and a case, and reports it."""

import os
import shlex
from functools import partial

import anyio

from swarm_bench.analysis.planning.requests import describe
from swarm_bench.app.models.cost_limit import check_prices, create_budget
from swarm_bench.app.models.expected import estimate_requests, list_notes
from swarm_bench.app.models.files import write_prompts
from swarm_bench.app.models.greeting import greet_models
from swarm_bench.app.models.setup import (
    add_next_arms,
    add_setup,
    complete_experiment,
    refuse_model_options,
)
from swarm_bench.app.result import SessionResult, Stop, count_ends, list_silent_arms
from swarm_bench.app.session import manage_child_processes, summarise_on_failure
from swarm_bench.app.setup.case_experiment import (
    CaseRequest,
    add_arms,
    build_case_experiment,
    check_arm_names,
)
from swarm_bench.app.setup.case_properties import CaseProperties
from swarm_bench.app.setup.folders import create_warn, make_results_folder, sweep_temporary
from swarm_bench.app.stored.models import ModelSession
from swarm_bench.app.stored.pairs import PairSession, find_runnable_benchmark, select_first_records
from swarm_bench.app.trust.approval import remember_demands
from swarm_bench.app.trust.run_demands import list_benchmark_demands, list_run_demands
from swarm_bench.benchmarks.cases.benchmark import RowBenchmark
from swarm_bench.benchmarks.cases.budget import Ending
from swarm_bench.benchmarks.cases.folder import (
    CaseFolder,
    case_folder,
    model_folder,
)
from swarm_bench.config.run_options import RUNS_OF_MODELS
from swarm_bench.core.errors import (
    CostLimitReached,
    ModelFailed,
    NotAuthorized,
    UsageError,
    WrongAddress,
)
from swarm_bench.core.events import Emit, Trouble
from swarm_bench.core.session.cases import CaseExperiment
from swarm_bench.core.session.models import ModelExperiment
from swarm_bench.engine.benchmark import CaseBenchmark, GrowsArms, blaming
from swarm_bench.engine.executor import run_cases
from swarm_bench.engine.group_store import CaseStore
from swarm_bench.engine.plan import groups_of, plan_cases, planned_only
from swarm_bench.engine.session import run_session
from swarm_bench.reports.plan_text import render_plan
from swarm_bench.runtime.files import locked
from swarm_bench.runtime.ownership import OWNER, this_owner
from swarm_bench.runtime.processes.launching import require_descriptors

MOST_ROUNDS = 100
"""How often in one call a benchmark is asked for arms to add: one that never ends costs money."""
_KEEPS_GROWING = "The benchmark {0!r} keeps adding arms; continue the session for more of them"


def run(request: CaseRequest, emit: Emit) -> SessionResult:
    """Run the benchmark, or what remains of the session that is continued."""
    benchmark, old = find_runnable_benchmark(request.benchmark), None
    if request.resume:
        old = case_folder(request.resume).read_experiment()
    benchmark, experiment, properties = _prepare(benchmark, request, old, will_run=True)
    experiment = _greet(benchmark, experiment, properties, request, emit)
    folder = _make_folder(request, benchmark)
    if isinstance(benchmark, RowBenchmark):
        benchmark = benchmark.storing(folder.path)
    command = _format_command(request, folder)
    kind = ModelSession if isinstance(benchmark, RowBenchmark) else PairSession
    summarise = kind(folder.path, benchmark).report
    with manage_child_processes(), locked(folder.lock):
        sweep_temporary(create_warn(emit))
        os.environ[OWNER] = this_owner()  # what the benchmark starts has our mark, and ends with us
        if old is None:
            folder.check_free()  # another one may have come and gone meanwhile
        elif folder.read_experiment() != old:
            raise UsageError(f"Another command changed {folder.path} meanwhile; try again")
        demands = [*list_run_demands(experiment), *list_benchmark_demands(experiment)]
        remember_demands(demands, emit, unless=list_run_demands(old, request) if old else ())
        with summarise_on_failure(folder, summarise, command):
            stopped: Stop | None = None
            try:
                arguments = benchmark, experiment, properties, folder, emit, request
                interrupted = anyio.run(_run, *arguments)
            except (NotAuthorized, CostLimitReached, ModelFailed, WrongAddress) as error:
                interrupted, stopped = False, error
            summary = summarise()
    plan = plan_cases(folder.read_experiment())
    return SessionResult(
        folder=folder.path,
        to_continue=command,
        summary=summary,
        interrupted=interrupted,
        end_counts=count_ends(folder, plan),
        stopped=stopped,
        silent=list_silent_arms(folder, plan),
    )


def _format_command(request: CaseRequest, folder: CaseFolder) -> str:
    """Return what continues the session. Permission to run code is given anew each time."""
    argv = ["swarm-bench", "run", request.benchmark, "--continue", str(folder.path)]
    settings = request.settings
    if settings.allow_code_execution:
        argv.append("--allow-code-execution")
        argv += ["--environment", settings.environment] if settings.environment else []
    return shlex.join(argv)


def show_plan(request: CaseRequest, width: int | None = None) -> str:
    """Show what `run` would do, at a terminal of so many columns; nothing is started and nothing
    stays."""
    benchmark = find_runnable_benchmark(request.benchmark)
    folder = case_folder(request.resume) if request.resume else None
    old = folder.read_experiment() if folder else None
    benchmark, experiment, properties = _prepare(benchmark, request, old, will_run=False)
    if request.settings.output is not None:
        case_folder(request.settings.output.expanduser()).check_free()
    finished = folder.records.finished() if folder else set()
    trials = [trial for group in groups_of(plan_cases(experiment)) for trial in group.trials]
    if not isinstance(benchmark, RowBenchmark) or not isinstance(experiment, ModelExperiment):
        return render_plan(describe(experiment, trials, finished), width)
    pending = [trial for trial in trials if trial.id not in finished]
    continued = folder.path if folder else None
    expected = estimate_requests(benchmark, properties.plain, experiment, pending, continued)
    allowed = request.settings.allow_code_execution
    notes = [*list_notes(benchmark, properties.plain, allowed=allowed)]
    return render_plan(describe(experiment, trials, finished, expected, notes), width)


def _prepare(
    benchmark: CaseBenchmark, request: CaseRequest, old: CaseExperiment | None, *, will_run: bool
) -> tuple[CaseBenchmark, CaseExperiment, CaseProperties]:
    """Make the experiment of the call. `will_run`: something will run. Raises `UsageError`."""
    if not isinstance(benchmark, RowBenchmark):
        refuse_model_options(request)
        return benchmark, *build_case_experiment(benchmark, request, old)
    ready, rows = add_setup(benchmark, request, old)
    experiment, properties = build_case_experiment(ready, request, old, RUNS_OF_MODELS)
    with blaming(benchmark.name, "cannot be planned"):
        complete, model_experiment = complete_experiment(
            ready, experiment, properties, rows, will_run=will_run
        )
    if will_run:
        require_descriptors(model_experiment.requests_at_once)
    if will_run and request.settings.max_cost:
        check_prices(complete, properties.plain)
    return complete, model_experiment, properties


def _greet(
    benchmark: CaseBenchmark,
    experiment: CaseExperiment,
    properties: CaseProperties,
    request: CaseRequest,
    emit: Emit,
) -> CaseExperiment:
    """Ask the models whether they answer, before there is a folder. Raises `UsageError`."""
    if not isinstance(benchmark, RowBenchmark) or not isinstance(experiment, ModelExperiment):
        return experiment
    settings = request.settings
    if settings.output is not None:
        case_folder(settings.output.expanduser()).check_free()
    continued = case_folder(request.resume) if request.resume else None
    return greet_models(benchmark, experiment, properties.plain, continued, settings.max_cost, emit)


async def _run(
    benchmark: CaseBenchmark,
    experiment: CaseExperiment,
    properties: CaseProperties,
    folder: CaseFolder,
    emit: Emit,
    request: CaseRequest,
) -> bool:
    """Run to the end, or to an interruption: then it is true."""
    folder.make_room()
    ending, limit = Ending(), request.settings.max_cost
    if isinstance(benchmark, RowBenchmark):
        await benchmark.try_out()
    for _ in range(MOST_ROUNDS):
        if isinstance(benchmark, RowBenchmark):
            benchmark, ending = _add_progress(benchmark, experiment, properties, folder, limit)
        folder.write_experiment(experiment)
        store = CaseStore(
            experiment=experiment,
            properties=properties.plain,
            folder=folder,
            to_continue=_format_command(request, folder),
            scorers=benchmark.scorers(),
            emit=emit,
            secrets=properties.secrets,
            ending=ending,
            starting=ending.admit,
            cases_of_turn=_count_cases_per_turn(experiment) if limit else None,
        )
        plan, execute = plan_cases(experiment), partial(run_cases, benchmark.run)
        interrupted = await run_session(store, plan, execute, experiment.concurrency)
        if interrupted:
            break
        benchmark, grown = await _extend(benchmark, experiment, properties, folder)
        if grown.arms == experiment.arms:
            break
        experiment = grown
    else:
        emit(Trouble(message=_KEEPS_GROWING.format(benchmark.name)))
    return interrupted


def _count_cases_per_turn(experiment: CaseExperiment) -> int | None:
    """Return how many cases are asked at once: they cost no time that way."""
    return experiment.requests_at_once if isinstance(experiment, ModelExperiment) else None


def _add_progress(
    benchmark: RowBenchmark,
    experiment: CaseExperiment,
    properties: CaseProperties,
    folder: CaseFolder,
    limit: float | None,
) -> tuple[RowBenchmark, Ending]:
    """Add what the trials came to so far: answers to be scored, and what is spent."""
    lines = (*folder.records.read_set_aside(), *folder.records.read())
    benchmark = benchmark.scoring(record for _, _, record in lines if record is not None)
    budget = create_budget(benchmark, properties.plain, limit, folder, experiment)
    benchmark = benchmark.within(budget)
    write_prompts(benchmark, properties, folder)
    return benchmark, benchmark.ending(budget)


async def _extend(
    benchmark: CaseBenchmark,
    experiment: CaseExperiment,
    properties: CaseProperties,
    folder: CaseFolder,
) -> tuple[CaseBenchmark, CaseExperiment]:
    """Add the arms that the benchmark wants next, if there are any."""
    with blaming(benchmark.name, "gives no next arms"):
        if isinstance(benchmark, RowBenchmark) and benchmark.grows:
            assert isinstance(experiment, ModelExperiment)
            benchmark, experiment = await _add_next_arms(benchmark, experiment, properties, folder)
            arms = tuple(benchmark.arms(properties.model))
        elif isinstance(benchmark, GrowsArms):
            records = planned_only(experiment, select_first_records(folder.records.read()))
            arms = check_arm_names(benchmark.next_arms(records))
        else:
            return benchmark, experiment
    new = [arm for arm in arms if arm not in experiment.arms]
    return benchmark, add_arms(experiment, new, properties.secrets) if new else experiment


async def _add_next_arms(
    benchmark: RowBenchmark,
    experiment: ModelExperiment,
    properties: CaseProperties,
    folder: CaseFolder,
) -> tuple[RowBenchmark, ModelExperiment]:
    """Add the arms that come next, and their models to the experiment. What the judge took is
    stored, however that ends: it was paid for."""
    records = planned_only(experiment, select_first_records(folder.records.read()))
    async with benchmark.counting(experiment.judged) as judge:
        try:
            grown = await add_next_arms(benchmark, properties, records, judge)
        finally:
            if judge is not None:
                experiment = experiment.model_copy(update={"judged": judge.judged})
                folder.write_experiment(experiment)
    assert grown.setup is not None
    return grown, experiment.model_copy(update={"models": grown.setup.arms})


def _make_folder(request: CaseRequest, benchmark: CaseBenchmark) -> CaseFolder:
    if request.resume is not None:
        return case_folder(request.resume)
    output = request.settings.output
    path = output.expanduser() if output else make_results_folder(benchmark.name)
    folder = model_folder(path) if isinstance(benchmark, RowBenchmark) else case_folder(path)
    if output is not None:
        folder.check_free()
    folder.make()
    return folder
