"""A call of `run`, for a benchmark that asks models the rows of a data set."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from swarm_bench.analysis.planning.requests import describe_requests
from swarm_bench.app.models.cost_limit import check_prices, create_budget
from swarm_bench.app.models.expected import estimate_requests, list_notes
from swarm_bench.app.models.files import write_prompts
from swarm_bench.app.models.greeting import greet_models
from swarm_bench.app.models.setup import add_next_arms, add_setup, complete_experiment
from swarm_bench.app.running.pairs import PairCall, PairReady, take_over
from swarm_bench.app.setup.case_experiment import build_case_experiment
from swarm_bench.app.stored.models import ModelSession
from swarm_bench.benchmarks.cases.benchmark import RowBenchmark
from swarm_bench.benchmarks.cases.folder import CaseFolder, open_model_folder
from swarm_bench.config.run_options import RUNS_OF_MODELS
from swarm_bench.core.events import Emit
from swarm_bench.core.report.document import RenderedDocument
from swarm_bench.core.report.plan import Plan
from swarm_bench.core.session.models import ModelExperiment
from swarm_bench.engine.benchmark import wrap_benchmark_errors
from swarm_bench.engine.group_store import CaseStore
from swarm_bench.runtime.processes.launching import require_descriptors


@dataclass(frozen=True, kw_only=True)
class ModelCall(PairCall):
    """A call that asks models."""

    benchmark: RowBenchmark

    def open_folder(self, path: Path) -> CaseFolder:
        return open_model_folder(path)

    def prepare(
        self, continued: CaseFolder | None, emit: Emit | None
    ) -> AbstractAsyncContextManager["ModelReady"]:
        request, limit = self.request, self.request.settings.max_cost
        old = continued.read_experiment() if continued else None
        made, rows = add_setup(self.benchmark, request, old)
        begun, properties = build_case_experiment(made, request, old, RUNS_OF_MODELS)
        with wrap_benchmark_errors(made.name, "cannot be planned"):
            benchmark, experiment = complete_experiment(
                made, begun, properties, rows, will_run=emit is not None
            )
        if emit is not None:
            require_descriptors(experiment.requests_at_once)
            if limit:
                check_prices(benchmark, properties.plain)
            take_over(emit)
        ready = ModelReady(
            request=request,
            benchmark=benchmark,
            experiment=experiment,
            properties=properties,
            old=old,
        )
        return ready.greeting(continued, emit)


@dataclass(kw_only=True)
class ModelReady(PairReady):
    """Models that can be asked."""

    benchmark: RowBenchmark
    experiment: ModelExperiment

    @asynccontextmanager
    async def greeting(
        self, continued: CaseFolder | None, emit: Emit | None
    ) -> AsyncIterator["ModelReady"]:
        """Have the models greeted first where this runs, which is told to `emit`."""
        if emit is not None:
            plain, limit = self.properties.plain, self.request.settings.max_cost
            self.experiment = await greet_models(
                self.benchmark, self.experiment, plain, continued, limit, emit
            )
        yield self

    def plan(self, continued: CaseFolder | None) -> Plan:
        plain, finished = self.properties.plain, self.finished(continued)
        pending = [trial for trial in self.trials() if trial.id not in finished]
        path = continued.path if continued else None
        expected = estimate_requests(self.benchmark, plain, self.experiment, pending, path)
        allowed = self.request.settings.allow_code_execution
        notes = [*list_notes(self.benchmark, plain, allowed=allowed)]
        return describe_requests(self.experiment, self.trials(), finished, expected, notes)

    async def execute(self, folder: CaseFolder, emit: Emit) -> bool:
        self.benchmark = self.benchmark.set_folder(folder.path)
        await self.benchmark.try_out()
        return await super().execute(folder, emit)

    def store(self, folder: CaseFolder, emit: Emit) -> CaseStore:
        """Add what the trials came to so far: answers to be scored, and what is spent."""
        limit, plain = self.request.settings.max_cost, self.properties.plain
        lines = (*folder.records.read_set_aside(), *folder.records.read())
        benchmark = self.benchmark.reuse_answers(
            record for _, _, record in lines if record is not None
        )
        budget = create_budget(benchmark, plain, limit, folder, self.experiment)
        self.benchmark = benchmark.set_budget(budget)
        write_prompts(self.benchmark, self.properties, folder)
        ending = self.benchmark.make_guard(budget)
        # Cases that are asked at once cost no time.
        turn = self.experiment.requests_at_once if limit else None
        store = super().store(folder, emit)
        return replace(store, ending=ending, starting=ending.admit, cases_of_turn=turn)

    async def grow(self, folder: CaseFolder) -> None:
        """Add the arms that come next, and their models. What the judge took is stored, however
        that ends: it was paid for."""
        if not self.benchmark.grows:
            return
        async with self.benchmark.open_counted_judge(self.experiment.judged) as judge:
            try:
                records = self.records(folder)
                grown = await add_next_arms(self.benchmark, self.properties, records, judge)
            finally:
                if judge is not None:
                    update = {"judged": judge.counts}
                    self.experiment = self.experiment.model_copy(update=update)
                    folder.write_experiment(self.experiment)
        assert grown.setup is not None
        self.benchmark = grown
        models = {"models": grown.setup.arms}
        self.experiment = self.experiment.model_copy(update=models)
        self.add(tuple(grown.arms(self.properties.model)))

    def report(self, folder: CaseFolder) -> RenderedDocument:
        return ModelSession(folder.path, self.benchmark).report()
