"""A call of `run`, for a benchmark that asks models the rows of a data set."""

from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from swarm_bench.analysis.planning.case_plan import describe_requests
from swarm_bench.analysis.wording import quantify
from swarm_bench.app.models.expected import (
    check_prices,
    create_budget,
    estimate_requests,
    list_notes,
)
from swarm_bench.app.models.files import write_prompts
from swarm_bench.app.models.setup import add_next_arms, add_setup, complete_experiment
from swarm_bench.app.running.pairs import PairReady, RunCall, take_over
from swarm_bench.app.setup.case_experiment import (
    CaseRequest,
    build_case_experiment,
    check_sliceable,
    resolve_case_properties,
)
from swarm_bench.app.setup.case_properties import CaseProperties
from swarm_bench.app.stored.models import ModelSession
from swarm_bench.app.stored.session import StoredSession
from swarm_bench.benchmarks.agents.source import AgentSource
from swarm_bench.benchmarks.cases.benchmark import RowBenchmark, Setup
from swarm_bench.benchmarks.cases.budget import compute_max_cost
from swarm_bench.benchmarks.cases.folder import CaseFolder, ModelFolder
from swarm_bench.benchmarks.cases.role import ModelBenchmark
from swarm_bench.benchmarks.cases.running import choose_way
from swarm_bench.config.addresses import remove_logins
from swarm_bench.config.run_options import RUNS_OF_MODELS
from swarm_bench.core.errors import ModelFailed, NotAuthorized, UsageError
from swarm_bench.core.events import Emit, Preparing, WarningRaised
from swarm_bench.core.report.plan import Plan
from swarm_bench.core.roles.executor import ExecutorKind
from swarm_bench.core.roles.language_model import (
    Around,
    Ask,
    Gap,
    ModelSource,
    Sampling,
    Turn,
    Way,
)
from swarm_bench.core.session.designs import LOCAL
from swarm_bench.core.session.models import Greeting, ModelExperiment, ModelRecord
from swarm_bench.core.session.prices import Price, find_price
from swarm_bench.core.status import CONSEQUENCES, Cause
from swarm_bench.engine.benchmark import wrap_benchmark_errors
from swarm_bench.engine.group_store import CaseStore
from swarm_bench.engine.plan import iterate_groups, plan_cases
from swarm_bench.models.servers.server import is_loopback
from swarm_bench.runtime.processes.launching import require_descriptors

Folder = CaseFolder[ModelExperiment, ModelRecord]


@dataclass(frozen=True, kw_only=True)
class ModelCall(RunCall[ModelExperiment, ModelRecord]):
    """A call that asks models."""

    benchmark: RowBenchmark

    def open_folder(self, path: Path) -> Folder:
        return ModelFolder(path)

    def prepare(
        self, continued: Folder | None, emit: Emit | None
    ) -> AbstractAsyncContextManager["ModelReady"]:
        request, limit = self.request, self.request.settings.max_cost
        old = continued.read_experiment() if continued else None
        properties = resolve_case_properties(self.benchmark, self.benchmark.kind, request, old)
        ready = build_ready(self.benchmark, request, properties, old, will_run=emit is not None)
        _check_movable(ready, request.settings.on)
        if emit is not None:
            require_descriptors(ready.experiment.requests_at_once)
            if limit:
                check_prices(ready.benchmark, properties.plain)
            take_over(emit)
        return ready.greeting(self.executor, continued, emit)


@dataclass(kw_only=True)
class ModelReady(PairReady[ModelExperiment, ModelRecord]):
    """Models that can be asked."""

    benchmark: RowBenchmark
    properties: CaseProperties[ModelBenchmark]
    portable: ClassVar[str] = "swarm_bench.app.running.portable.cases:PortableModels"

    @property
    def limit(self) -> float | None:
        """What the session may cost."""
        return self.experiment.share(self.request.settings.max_cost)

    def explain_share(self) -> tuple[str, ...]:
        return self.experiment.explain_share(self.request.settings.max_cost)

    @asynccontextmanager
    async def greeting(
        self, executor: ExecutorKind | None, continued: Folder | None, emit: Emit | None
    ) -> AsyncIterator["ModelReady"]:
        """Have the models greeted first where this runs, which is told to `emit`, once its nodes
        are examined."""
        async with self.connect(executor, emit):
            if emit is not None:
                plain, limit = self.properties.plain, self.limit
                self.experiment = await greet_models(
                    self.benchmark, self.experiment, plain, continued, limit, emit
                )
            yield self

    def plan(self, continued: Folder | None) -> Plan:
        plain, finished = self.properties.plain, self.finished(continued)
        pending = [trial for trial in self.trials() if trial.id not in finished]
        path = continued.path if continued else None
        expected = estimate_requests(self.benchmark, plain, self.experiment, pending, path)
        allowed = self.request.settings.allow_code_execution
        notes = [*list_notes(self.benchmark, plain, allowed=allowed), *self.explain_share()]
        return describe_requests(self.experiment, self.trials(), finished, expected, notes)

    async def execute(self, folder: Folder, emit: Emit) -> bool:
        self.benchmark = self.benchmark.set_folder(folder.path)
        await self.benchmark.try_out()
        for note in self.explain_share():
            emit(WarningRaised(message=note))
        return await super().execute(folder, emit)

    def store(self, folder: Folder, emit: Emit) -> CaseStore:
        """Add what the trials came to so far: answers to be scored, and what is spent."""
        limit, plain = self.limit, self.properties.plain
        lines = (*folder.records.read_set_aside(), *folder.records.read())
        benchmark = self.benchmark.reuse_answers(
            record for _, _, record in lines if record is not None
        )
        budget = create_budget(benchmark, plain, limit, folder, self.experiment)
        self.benchmark = benchmark.set_budget(budget)
        write_prompts(self.benchmark, self.properties, folder.path)
        ending = self.benchmark.make_guard(budget)
        # Cases that are asked at once cost no time.
        turn = self.experiment.requests_at_once if limit else None
        store = super().store(folder, emit)
        store = replace(store, ending=ending, starting=ending.admit, cases_of_turn=turn)
        return replace(store, judging=budget.admit_judge) if budget else store

    async def grow(self, folder: Folder) -> None:
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

    def open_stored(self, folder: Folder) -> StoredSession:
        return ModelSession(folder.path, self.benchmark)


def build_ready(
    benchmark: RowBenchmark,
    request: CaseRequest,
    properties: CaseProperties[ModelBenchmark],
    old: ModelExperiment | None,
    *,
    will_run: bool,
) -> ModelReady:
    """Prepare models that can be asked, of a new session or that of `old`. Raises `UsageError`."""
    configured, rows = add_setup(benchmark, properties, request, old)
    check_sliceable(request, grows=configured.grows)
    case_experiment = build_case_experiment(configured, properties, request, old, RUNS_OF_MODELS)
    with wrap_benchmark_errors(configured.name, "cannot be planned"):
        complete, experiment = complete_experiment(
            configured, case_experiment, properties, rows, previous=old, will_run=will_run
        )
    return ModelReady(
        request=request,
        benchmark=complete,
        experiment=experiment,
        properties=properties,
        old=old,
    )


def list_sources(setup: Setup) -> dict[str, ModelSource]:
    """Return who is asked, the judge too, by the word of each."""
    judge = {setup.judge.word: setup.judge.source} if setup.judge else {}
    return {**setup.sources, **judge}


def _check_movable(ready: ModelReady, on: str) -> None:
    """Raise `UsageError` for models that other machines do not reach, or only with a key that would
    have to be sent."""
    setup = ready.benchmark.setup
    if on == LOCAL or setup is None:
        return
    for word, source in list_sources(setup).items():
        if source.address is not None and is_loopback(source.address):
            raise UsageError(
                f"--on {on}: {remove_logins(word)} is a server of this machine alone; give an "
                "address that every node reaches"
            )
        if remove_logins(word) != word:
            raise UsageError(
                f"--models {remove_logins(word)}: its address has a login, and keys are not sent "
                "to other machines; set its key as a variable on each of them"
            )


TEXT = "1 + 1 = "
_PROMPTS: Mapping[Way, Any] = {
    "chat": (Turn(role="user", text=TEXT),),
    "text": TEXT,
    "gap": Gap(prefix=TEXT, suffix="\n"),
}
_LEAST_SECONDS = 60.0
_TOKENS = 16
"""Most tokens of the answer: some providers take no lower limit."""


@dataclass(frozen=True, kw_only=True)
class _GreetedModel:
    """A model that is asked whether it answers."""

    word: str
    source: ModelSource
    ask: Ask
    price: Price | None
    """Price of the model; `None` where it is free, or unknown."""

    @property
    def max_cost(self) -> float:
        """Highest possible cost of the request, in US dollars; 0 where it is unknown."""
        return compute_max_cost(self.ask, self.price) if self.price else 0.0


async def greet_models(
    benchmark: RowBenchmark,
    experiment: ModelExperiment,
    properties: Mapping[str, Any],
    continued: Folder | None,
    limit: float | None,
    emit: Emit,
) -> ModelExperiment:
    """Ask each model that has trials left, and the judge of these, and add what that took to the
    experiment. Neither is one asked that is free and no server, nor an agent program, nor one that
    could take the session beyond its limit. Raises `UsageError` where one cannot answer."""
    assert benchmark.setup is not None
    models = _find_pending_models(benchmark, experiment, continued)
    targets = list(_list_targets(benchmark, benchmark.setup, properties, models))
    if continued and limit:
        budget = create_budget(benchmark, properties, limit, continued, experiment)
        limit -= budget.total_cost if budget else 0.0
    if limit is not None and sum(target.max_cost for target in targets) > limit:
        return experiment  # the session says so itself, before it asks for anything
    took = [await _greet_model(target, benchmark.setup.model_context, emit) for target in targets]
    return experiment.model_copy(update={"greetings": (*experiment.greetings, *took)})


def _find_pending_models(
    benchmark: RowBenchmark, experiment: ModelExperiment, continued: Folder | None
) -> set[str]:
    """Return the words of the models that will be asked. An answer that only has to be scored is
    not asked for again."""
    done: set[str | None] = set()
    if continued:
        lines = (*continued.records.read_set_aside(), *continued.records.read())
        scoring = benchmark.reuse_answers(record for _, _, record in lines if record is not None)
        assert scoring.setup is not None
        done = {*continued.records.find_finished(), *scoring.setup.answers}
    arms = {
        group.arm
        for group in iterate_groups(plan_cases(experiment))
        if not done.issuperset(trial.id for trial in group.trials)
    }
    return {arm.model for arm in experiment.models if arm.name in arms}


def _list_targets(
    benchmark: RowBenchmark, setup: Setup, properties: Mapping[str, Any], models: Collection[str]
) -> Iterator[_GreetedModel]:
    ways = dict[str, Way]()
    for arm in setup.arms:
        if arm.model in models and arm.model not in ways:
            arm_benchmark = benchmark.configure(properties, arm)
            ways[arm.model] = choose_way(arm_benchmark, setup.sources[arm.model])
    candidates = [(word, way, setup.sources[word], setup.names[word]) for word, way in ways.items()]
    if setup.judge and models and not setup.generate_only:
        candidates.append((setup.judge.word, "chat", setup.judge.source, setup.judge.name))
    for word, way, source, name in candidates:
        if isinstance(source, AgentSource) or (source.free and source.address is None):
            continue
        ask = Ask(prompt=_PROMPTS[way], sampling=Sampling(max_tokens=_TOKENS))
        price = None if source.free else find_price(name, setup.prices)
        yield _GreetedModel(word=remove_logins(word), source=source, ask=ask, price=price)


async def _greet_model(target: _GreetedModel, context: Around, emit: Emit) -> Greeting:
    """Ask one. Any answer is one, also that it has no more to say. Raises `UsageError`."""
    emit(Preparing(step=f"asking {target.word} whether it answers"))
    try:
        async with target.source.opened(
            replace(context, timeout=_choose_timeout(context))
        ) as model:
            completion = await model.complete(target.ask)
    except (ModelFailed, NotAuthorized, UsageError) as error:
        if not isinstance(error, ModelFailed) or _is_away(error.cause):
            raise UsageError(
                f"{target.word} cannot be asked, and nothing was recorded: {error}"
            ) from error
        return Greeting(model=target.word, requests=error.requests, cost=target.max_cost or None)
    usage, price = completion.usage, target.price
    cost = completion.cost if price is None else price.compute_cost(usage)
    cost = 0.0 if target.source.free else cost
    took = Greeting(
        model=target.word,
        requests=completion.requests or 1,
        tokens=usage.reported,
        cost=target.max_cost if cost is None and price else cost,
    )
    emit(Preparing(step=f"{target.word} answers{_describe_usage(took)}"))
    return took


def _choose_timeout(context: Around) -> float:
    """Return for how many seconds an answer is waited for: a server may load its model first."""
    return max(context.timeout, _LEAST_SECONDS)


def _is_away(cause: Cause) -> bool:
    return CONSEQUENCES[cause].rerun or cause is Cause.TIMEOUT


def _describe_usage(greeting: Greeting) -> str:
    parts = [] if greeting.tokens is None else [quantify(greeting.tokens, "token")]
    parts += [f"${greeting.cost:.2g}"] if greeting.cost else []
    return f" ({', '.join(parts)})" if parts else ""
