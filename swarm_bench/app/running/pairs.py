"""A call of `run`, from what was typed to its summary, for a benchmark whose trials are pairs of an
arm and a case."""

import os
import shlex
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Generic, Self

from pydantic import TypeAdapter

from swarm_bench.analysis.planning.case_plan import describe_trials
from swarm_bench.app.benchmarks import describe_lost_models
from swarm_bench.app.models.setup import refuse_model_options
from swarm_bench.app.result import SessionResult, format_on, list_silent_arms
from swarm_bench.app.session import Call, Ready
from swarm_bench.app.setup.case_experiment import (
    CaseRequest,
    add_arms,
    build_case_experiment,
    check_arm_names,
    check_sliceable,
    resolve_case_properties,
)
from swarm_bench.app.setup.case_properties import CaseProperties
from swarm_bench.app.setup.folders import create_warn, sweep_temporary
from swarm_bench.app.stored.pairs import PairSession, select_first_records
from swarm_bench.app.stored.past import find_continued_folder, find_newest
from swarm_bench.app.stored.session import StoredSession
from swarm_bench.app.trust.approval import remember_demands
from swarm_bench.app.trust.run_demands import list_benchmark_demands, list_run_demands
from swarm_bench.benchmarks.cases.folder import CaseFolder, open_case_folder
from swarm_bench.config.layers import OptionSources, read_sources
from swarm_bench.config.run_options import RUN_SCOPES, RunSettings
from swarm_bench.core import entry_points
from swarm_bench.core.errors import UsageError
from swarm_bench.core.events import Emit, WarningRaised
from swarm_bench.core.report.plan import Plan
from swarm_bench.core.roles.executor import ExecutorKind, OpenedExecutor, OpenPacked, run_here
from swarm_bench.core.session.base import Machine, Source
from swarm_bench.core.session.cases import (
    Case,
    CaseDelivery,
    CaseExperiment,
    CaseJob,
    CaseRecord,
    CaseTrial,
    E,
    R,
)
from swarm_bench.engine.benchmark import CaseBenchmark, GrowsArms, wrap_benchmark_errors
from swarm_bench.engine.case_running import run_cases
from swarm_bench.engine.group_store import CaseStore
from swarm_bench.engine.plan import Block, iterate_groups, plan_cases, select_planned
from swarm_bench.engine.session import run_in_batches
from swarm_bench.runtime.ownership import OWNER, this_owner

MOST_ROUNDS = 100
"""How often in one call a benchmark is asked for arms to add: one that never ends costs money."""
_BATCHES = 4
"""Batches of cases for each place where they run: no place waits long for the last one."""
_KEEPS_GROWING = "The benchmark {0!r} keeps adding arms; continue the session for more of them"


CaseExecution = OpenedExecutor[CaseJob, CaseDelivery]


@dataclass(frozen=True, kw_only=True)
class RunCall(Call[CaseFolder[E, R], SessionResult]):
    """A call of `run`."""

    request: CaseRequest
    benchmark: CaseBenchmark
    executor: ExecutorKind | None = None
    """`None`: its groups run in this process."""

    @property
    def stem(self) -> str:
        return self.benchmark.name

    @property
    def on(self) -> str:
        return self.request.settings.on

    @property
    def output(self) -> Path | None:
        return self.request.settings.output

    @property
    def resume(self) -> Path | None:
        return self.request.resume


@dataclass(frozen=True, kw_only=True)
class PairCall(RunCall[CaseExperiment, CaseRecord]):
    """A call that runs a benchmark with arms of its own."""

    def open_folder(self, path: Path) -> CaseFolder[CaseExperiment, CaseRecord]:
        return open_case_folder(path)

    def prepare(
        self, continued: CaseFolder[CaseExperiment, CaseRecord] | None, emit: Emit | None
    ) -> AbstractAsyncContextManager["PairReady[CaseExperiment, CaseRecord]"]:
        refuse_model_options(self.request)
        benchmark, request = self.benchmark, self.request
        check_sliceable(request, grows=isinstance(benchmark, GrowsArms))
        old = continued.read_experiment() if continued else None
        properties = resolve_case_properties(benchmark, benchmark.properties, request, old)
        if continued and old and "models" in old.started_words:
            raise UsageError(describe_lost_models(continued.path, request.benchmark))
        experiment = build_case_experiment(benchmark, properties, request, old)
        take_over(emit)
        ready = PairReady[CaseExperiment, CaseRecord](
            request=request,
            benchmark=benchmark,
            experiment=experiment,
            properties=properties,
            old=old,
        )
        return ready.connect(self.executor, emit)


@dataclass(kw_only=True)
class PairReady(Ready[CaseFolder[E, R], SessionResult], Generic[E, R]):
    """A benchmark that can run; its experiment grows while arms are added."""

    request: CaseRequest
    benchmark: CaseBenchmark
    experiment: E
    properties: CaseProperties[Any]
    old: E | None
    """Experiment of the session that is continued; `None` for a new session."""
    portable: ClassVar[str] = "swarm_bench.app.running.portable.cases:PortablePairs"
    """What runs its groups elsewhere; nothing of it is imported otherwise."""
    open_packed: OpenPacked | None = None
    """`None`: its groups run in this process."""

    @asynccontextmanager
    async def connect(
        self, executor: ExecutorKind | None, emit: Emit | None
    ) -> AsyncIterator[Self]:
        """Reach the nodes where this runs, which is told to `emit`. Raises `UsageError` for what
        cannot be run elsewhere."""
        if executor is None or emit is None:
            yield self
            return
        needs = self._make_portable().find_needs(self)
        async with executor.connect(needs, emit) as self.open_packed:
            yield self

    def plan(self, continued: CaseFolder[E, R] | None) -> Plan:
        return describe_trials(self.experiment, self.trials(), self.finished(continued))

    def trials(self) -> list[CaseTrial]:
        """List the trials of the plan."""
        return [trial for group in iterate_groups(self.blocks()) for trial in group.trials]

    def finished(self, continued: CaseFolder[E, R] | None) -> set[str | None]:
        """Return the ids of the trials that are not run again."""
        return continued.records.find_finished() if continued else set()

    def to_continue(self, folder: CaseFolder[E, R]) -> str:
        """Permission to run code is given anew each time."""
        argv = ["swarm-bench", "run", self.request.benchmark, "--continue", str(folder.path)]
        settings = self.request.settings
        if settings.allow_code_execution:
            argv.append("--allow-code-execution")
            argv += ["--environment", settings.environment] if settings.environment else []
        return f"{shlex.join(argv)}{format_on(settings.on)}"

    def remember(self, emit: Emit) -> None:
        demands = [*list_run_demands(self.experiment), *list_benchmark_demands(self.experiment)]
        remember_demands(
            demands, emit, unless=list_run_demands(self.old, self.request) if self.old else ()
        )

    async def execute(self, folder: CaseFolder[E, R], emit: Emit) -> bool:
        for _ in range(MOST_ROUNDS):
            store = self.store(folder, emit)
            folder.write_experiment(self.experiment)
            opening, note = self.choose_executor(folder, emit), partial(self._note_nodes, folder)
            if await run_in_batches(store, self.blocks(), opening, _BATCHES, note):
                return True
            arms = self.experiment.arms
            with wrap_benchmark_errors(self.benchmark.name, "gives no next arms"):
                await self.grow(folder)
            if self.experiment.arms == arms:
                return False
        emit(WarningRaised(message=_KEEPS_GROWING.format(self.benchmark.name)))
        return False

    def _note_nodes(self, folder: CaseFolder[E, R], nodes: Mapping[str, Machine]) -> None:
        if nodes:
            self.experiment = self.experiment.note_nodes(nodes)
            folder.write_experiment(self.experiment)

    def choose_executor(
        self, folder: CaseFolder[E, R], emit: Emit
    ) -> AbstractAsyncContextManager[CaseExecution]:
        """Open what runs the groups of a round. Raises `UsageError` for what cannot be run
        elsewhere."""
        if self.open_packed is None:
            return nullcontext(run_here(partial(run_cases, self.benchmark.run)))
        return self.open_packed(self._make_portable().pack(self, folder.path, emit))

    def _make_portable(self) -> Any:
        return entry_points.load("benchmarks", self.portable)()

    def store(self, folder: CaseFolder[E, R], emit: Emit) -> CaseStore:
        """Make what stores the trials of a round. Keys are in no job that leaves this process."""
        return CaseStore(
            experiment=self.experiment,
            properties={} if self.open_packed else self.properties.plain,
            folder=folder,
            to_continue=self.to_continue(folder),
            scorers=self.benchmark.scorers(),
            emit=emit,
            secrets=self.properties.secrets,
        )

    async def grow(self, folder: CaseFolder[E, R]) -> None:
        """Add the arms that the benchmark wants next, if there are any."""
        if isinstance(self.benchmark, GrowsArms):
            self.add(check_arm_names(self.benchmark.next_arms(self.records(folder))))

    def records(self, folder: CaseFolder[E, R]) -> list[R]:
        """Read what the trials of the plan came to so far."""
        return select_planned(self.experiment, select_first_records(folder.records.read()))

    def add(self, arms: Sequence[str]) -> None:
        """Add to the experiment those of the arms that it has not. Raises `UsageError`."""
        if new := [arm for arm in arms if arm not in self.experiment.arms]:
            self.experiment = add_arms(self.experiment, new, self.properties.secrets)

    def open_stored(self, folder: CaseFolder[E, R]) -> StoredSession:
        return PairSession(folder.path, self.benchmark)

    def blocks(self) -> Sequence[Block[Case]]:
        return plan_cases(self.experiment)

    def complete(self, result: SessionResult, folder: CaseFolder[E, R]) -> SessionResult:
        return replace(result, silent=list_silent_arms(folder, self.blocks()))


def take_over(emit: Emit | None) -> None:
    """End what killed sessions left, and mark what the benchmark starts: it ends with us. Without
    `emit` nothing is to run."""
    if emit is not None:
        sweep_temporary(create_warn(emit))
        os.environ[OWNER] = this_owner()


_SETTINGS = TypeAdapter(RunSettings)


def resolve(
    benchmark: str,
    properties: Sequence[str],
    typed_options: Mapping[str, Any],
    config: Path | None = None,
) -> CaseRequest:
    """Resolve the options of a call. What a session has that is continued is set by nothing but the
    command line. Raises `UsageError`, and `ConfigError` for a file that is wrong."""
    option_sources, resume = read_sources(config), None
    settings, sources = _validate_options(option_sources, typed_options, RUN_SCOPES)
    if settings.resume is not None:
        newest = partial(find_newest, benchmark)
        resume = find_continued_folder(settings.resume, newest, output=sources["output"])
        of_call = {name for name, scope in RUN_SCOPES.items() if scope.of_call}
        settings, sources = _validate_options(option_sources, typed_options, of_call - {"output"})
    return CaseRequest(
        benchmark=benchmark,
        properties=properties,
        settings=settings,
        sources=sources,
        config=config,
        resume=resume,
    )


def _validate_options(
    option_sources: OptionSources, typed_options: Mapping[str, Any], names: Collection[str]
) -> tuple[RunSettings, dict[str, Source]]:
    layers: dict[Source, Mapping[str, Any]] = {
        "command line": typed_options,
        **option_sources.layers(names),
    }
    return option_sources.validate(_SETTINGS, RUN_SCOPES, layers)
