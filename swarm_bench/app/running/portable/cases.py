"""Runs the groups of a session of `run` in another interpreter: that does what a call does which
continues the session, without greeting models, guarding the budget or storing anything."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import anyio
from pydantic import TypeAdapter

from swarm_bench.app.benchmarks import find_runnable_benchmark
from swarm_bench.app.models.setup import asks_agents
from swarm_bench.app.running.models import ModelReady, build_ready, list_sources
from swarm_bench.app.running.pairs import PairReady
from swarm_bench.app.running.portable.groups import (
    NamedFiles,
    PortableGroups,
    list_programs,
    list_texts,
    make_executor,
    move_to,
    read_files,
)
from swarm_bench.app.setup.case_experiment import CaseRequest, resolve_case_properties
from swarm_bench.app.setup.case_properties import CaseProperties, read_variables
from swarm_bench.benchmarks.agents.asking import is_transcript
from swarm_bench.benchmarks.agents.source import AgentSource
from swarm_bench.benchmarks.cases.benchmark import TRANSCRIPTS, RowBenchmark, Setup
from swarm_bench.benchmarks.cases.folder import CaseFolder, ModelFolder
from swarm_bench.config.layers import PROPERTY_PREFIX
from swarm_bench.config.run_options import RunSettings
from swarm_bench.core.errors import UsageError
from swarm_bench.core.events import Emit
from swarm_bench.core.ports import Described
from swarm_bench.core.roles.executor import OUT, Deliver, Executor, Needs, PackedSession
from swarm_bench.core.roles.language_model import ModelSource
from swarm_bench.core.session.cases import (
    CaseDelivery,
    CaseExperiment,
    CaseJob,
    CaseRecord,
    CaseTrial,
    JudgeAsked,
)
from swarm_bench.core.session.experiment import NOT_STORED, REHEARSAL
from swarm_bench.core.session.models import ModelExperiment, ModelRecord
from swarm_bench.engine.benchmark import CaseBenchmark
from swarm_bench.engine.group_store import CaseStore
from swarm_bench.retrieval.modes.secrets import check_text


@dataclass(frozen=True, kw_only=True)
class _Context:
    benchmark: str
    """Word for the benchmark, as it was typed."""
    experiment: str
    """Experiment as it is stored."""
    keys: tuple[str, ...]
    """Properties that each machine takes from its own variables."""
    allow_code_execution: bool
    environment: str | None
    answers: tuple[ModelRecord, ...]
    """Records of earlier calls with answers that only have to be scored."""
    files: NamedFiles
    has_limit: bool
    """Whether each trial, and each request to the judge, has to be paid for of the budget."""


@dataclass(frozen=True, kw_only=True)
class _Runnable:
    """A session as it is prepared here."""

    run: Callable[[CaseJob, Deliver[CaseDelivery]], Awaitable[None]]
    try_out: Callable[[], Awaitable[None]]
    """Raises `EnvironmentFailed` where code cannot be run."""
    properties: CaseProperties[Any]
    experiment: CaseExperiment
    folder: CaseFolder[Any, Any]


_CONTEXT = TypeAdapter(_Context)


class PortablePairs(PortableGroups):
    """Sessions of a benchmark with arms of its own."""

    def find_needs(self, ready: PairReady[Any, Any]) -> Needs:
        """Return what a machine has to have. Raises `UsageError` for what cannot be run
        elsewhere."""
        keys = self._build_context(ready).keys
        return self._build_needs(ready, tuple((_name_variable(name),) for name in keys))

    def pack(self, ready: PairReady[Any, Any], folder: Path, emit: Emit) -> PackedSession:
        """Return the session as plain data, without keys. Raises `UsageError` for what cannot be
        run elsewhere."""
        return PackedSession(
            benchmark=ready.portable,
            portable=self,
            context=_CONTEXT.dump_json(self._build_context(ready)),
            out=folder,
            emit=emit,
        )

    def _build_context(self, ready: PairReady[Any, Any]) -> _Context:
        secrets, settings = ready.properties.secrets, ready.request.settings
        return _Context(
            benchmark=ready.request.benchmark,
            experiment=check_text(ready.experiment.model_dump_json(), secrets),
            keys=tuple(_list_keys(ready)),
            allow_code_execution=settings.allow_code_execution,
            environment=settings.environment,
            answers=self._list_answers(ready),
            files=read_files([ready.request.benchmark, *self._list_texts(ready)], secrets),
            has_limit=settings.max_cost is not None,
        )

    async def start(
        self, context: bytes, folder: Path, emit: Emit
    ) -> Executor[CaseJob, CaseDelivery]:
        """Prepare what runs groups below the folder. Raises `UsageError` for files and keys that
        are not on this machine."""
        values = _CONTEXT.validate_json(context)
        move_to(folder / "files", values.files)
        # Outside of the event loop, for plug-ins that start one.
        runnable = await anyio.to_thread.run_sync(partial(self._prepare, values, folder))
        await runnable.try_out()
        store = CaseStore(
            experiment=runnable.experiment,
            properties={},
            folder=runnable.folder,
            to_continue="",
            emit=emit,
            secrets=runnable.properties.secrets,
        )
        return make_executor(
            runnable.run, runnable.properties.plain, store, has_limit=values.has_limit
        )

    def _list_answers(self, ready: Any) -> tuple[ModelRecord, ...]:
        return ()

    def _list_texts(self, ready: Any) -> Iterator[str]:
        """Yield the texts that may name files."""
        yield from list_texts(ready.experiment.properties)

    def _build_needs(self, ready: Any, keys: tuple[tuple[str, ...], ...]) -> Needs:
        return Needs(keys=keys, agents_at_once=ready.experiment.concurrency)

    def _prepare(self, values: _Context, folder: Path) -> _Runnable:
        benchmark = find_runnable_benchmark(values.benchmark)
        experiment = CaseExperiment.from_json(values.experiment)
        return _Runnable(
            run=benchmark.run,
            try_out=_do_nothing,
            properties=_resolve(benchmark, _make_request(values, benchmark), experiment),
            experiment=experiment,
            folder=CaseFolder(folder / "session", CaseExperiment, CaseRecord),
        )


class PortableModels(PortablePairs):
    """Sessions of a benchmark that asks models."""

    def __init__(self) -> None:
        self.numbers: Mapping[str, Mapping[str, int]] = {}
        """Numbers of the cases in the data set, by arm and case."""

    def owns_file(self, job: CaseJob, file: PurePosixPath) -> bool:
        """Tell whether it can be what an agent printed that was asked a case of the group."""
        group = job.group
        numbers = {self.numbers[group.arm][trial.case.id] for trial in group.trials}
        is_below = file.is_relative_to(TRANSCRIPTS)
        return is_below and is_transcript(file.relative_to(TRANSCRIPTS), group.run, numbers)

    def pack(self, ready: Any, folder: Path, emit: Emit) -> PackedSession:
        """Return the session as plain data, without keys. Raises `UsageError`."""
        self._number_cases(ready)
        return super().pack(ready, folder, emit)

    def _number_cases(self, ready: ModelReady) -> None:
        benchmark, plain = ready.benchmark, ready.properties.plain
        self.numbers = {
            arm.name: benchmark.number_cases(benchmark.configure(plain, arm))
            for arm in ready.experiment.models
        }

    def _list_answers(self, ready: ModelReady) -> tuple[ModelRecord, ...]:
        return tuple(_find_setup(ready).answers.values())

    def _list_texts(self, ready: ModelReady) -> Iterator[str]:
        setup, experiment = _find_setup(ready), ready.experiment
        yield from list_texts(experiment.properties)
        yield from list_texts([arm.properties for arm in experiment.models])
        yield from list_sources(setup)
        yield experiment.data.name

    def _build_needs(self, ready: ModelReady, keys: tuple[tuple[str, ...], ...]) -> Needs:
        setup, experiment = _find_setup(ready), ready.experiment
        variables = setup.model_context.variables
        groups = [_list_source_keys(source) for source in list_sources(setup).values()]
        groups = [names for names in groups if any(variables.get(name) for name in names)]
        programs = (*experiment.programs.values(), experiment.environment)
        return Needs(
            agents_at_once=experiment.requests_at_once if asks_agents(setup.sources) else 1,
            programs=list_programs(programs),
            keys=tuple(dict.fromkeys([*keys, *groups])),
        )

    def _prepare(self, values: _Context, folder: Path) -> _Runnable:
        benchmark: Any = find_runnable_benchmark(values.benchmark)
        old = ModelExperiment.from_json(values.experiment)
        request = _make_request(values, benchmark)
        properties = _resolve(benchmark, request, old)
        ready = build_ready(benchmark, request, properties, old, will_run=True)
        self._number_cases(ready)
        benchmark = ready.benchmark.reuse_answers(values.answers).set_folder(folder / OUT)
        return _Runnable(
            run=partial(_run_judged, benchmark) if values.has_limit else benchmark.run,
            try_out=benchmark.try_out,
            properties=properties,
            experiment=ready.experiment,
            folder=ModelFolder(folder / "session"),
        )


async def _do_nothing() -> None: ...


@dataclass(frozen=True, kw_only=True)
class _DistantBudget:
    """The budget of the session, which is kept where it is stored."""

    trials: Mapping[str, CaseTrial]
    deliver: Deliver[CaseDelivery]

    async def admit_judge(self, trial: str, max_cost: float) -> None:
        """Ask for what a request may cost. Raises `CostLimitReached`."""
        await self.deliver(JudgeAsked(trial=self.trials[trial], max_cost=max_cost))


async def _run_judged(
    benchmark: RowBenchmark, job: CaseJob, deliver: Deliver[CaseDelivery]
) -> None:
    trials = {trial.id: trial for trial in job.group.trials}
    await benchmark.set_budget(_DistantBudget(trials=trials, deliver=deliver)).run(job, deliver)


def _make_request(values: _Context, benchmark: CaseBenchmark) -> CaseRequest:
    """Return the request of a call that continues the session."""
    settings = RunSettings(
        allow_code_execution=values.allow_code_execution, environment=values.environment
    )
    properties = tuple(_fill_keys(values.keys, benchmark))
    return CaseRequest(benchmark=values.benchmark, properties=properties, settings=settings)


def _resolve(
    benchmark: CaseBenchmark, request: CaseRequest, old: CaseExperiment
) -> CaseProperties[Any]:
    """Resolve the properties; which of them are keys is as the other machine says."""
    properties = resolve_case_properties(benchmark, benchmark.properties, request, old)
    return replace(properties, safe=old.properties)


def _name_variable(name: str) -> str:
    return f"{PROPERTY_PREFIX}{name.upper()}"


def _list_keys(ready: PairReady[Any, Any]) -> Iterator[str]:
    """Yield the properties that are not stored. Raises `UsageError` for one that no variable
    has."""
    properties, benchmark = ready.properties, ready.benchmark
    variables = read_variables(benchmark.name, benchmark.properties)
    for name, value in ready.experiment.properties.items():
        if value != NOT_STORED:
            continue
        is_of_variable = properties.sources.get(name) in ("environment", ".env")
        if not is_of_variable and variables.get(name) != properties.plain[name]:
            raise UsageError(
                f"--property {name}: it may be a key, and keys are not sent to other machines; "
                f"set the variable {_name_variable(name)} to it here and on each of them"
            )
        yield name


def _fill_keys(names: tuple[str, ...], benchmark: CaseBenchmark) -> Iterator[str]:
    """Yield assignments with the values that this machine has. Raises `UsageError`."""
    variables = read_variables(benchmark.name, benchmark.properties)
    for name in names:
        if name not in variables:
            raise UsageError(
                f"The property {name} may be a key and was not sent; set the variable "
                f"{_name_variable(name)} on this machine"
            )
        yield f"{name}={variables[name]}"


def _find_setup(ready: ModelReady) -> Setup:
    setup = ready.benchmark.setup
    assert setup is not None
    return setup


def _list_source_keys(source: ModelSource) -> tuple[str, ...]:
    """Return the variables of which one lets it in."""
    if not isinstance(source, AgentSource):
        return tuple(source.keys)
    agent = source.agent
    if source.model == REHEARSAL or not isinstance(agent, Described):
        return ()
    return tuple(agent.abilities.keys)
