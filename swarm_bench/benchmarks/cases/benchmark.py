"""Makes a benchmark for the kernel of one that its author wrote in the smaller role."""

import os
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from swarm_bench.benchmarks.cases.budget import ModelBudget, SessionGuard
from swarm_bench.benchmarks.cases.judging import (
    CountedJudge,
    JudgeBudget,
    JudgeLost,
    JudgeSource,
)
from swarm_bench.benchmarks.cases.passing import COMMON_METRICS, JUDGE_METRICS, TIMED_OUT
from swarm_bench.benchmarks.cases.role import ModelBenchmark, RowCase, Tools
from swarm_bench.benchmarks.cases.running import GroupRequest, ask_group, choose_way
from swarm_bench.core.errors import UsageError
from swarm_bench.core.metric import Metrics
from swarm_bench.core.ports import Scorer
from swarm_bench.core.roles.execution import Code, Environment, Execution
from swarm_bench.core.roles.language_model import Around, ModelSource
from swarm_bench.core.session.cases import Case, CaseJob, Deliver
from swarm_bench.core.session.experiment import Program
from swarm_bench.core.session.models import Arm, JudgeFields, ModelRecord
from swarm_bench.core.session.prices import Price
from swarm_bench.engine.benchmark import wrap_benchmark_errors
from swarm_bench.environments.python_tests import try_out

TRANSCRIPTS = "transcripts"
"""The folder of a session that has what agents printed."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What a session has beside the properties."""

    arms: tuple[Arm, ...]
    """Arms of the session so far."""
    models: tuple[Arm, ...] = ()
    """Models of this call, of which the benchmark makes others."""
    sources: Mapping[str, ModelSource]
    """Sources of models, by the word that names the model."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The name of each model, by its word."""
    rows: tuple[Any, ...]
    """Rows of the whole data set."""
    first: int = 0
    limit: int | None = None
    """Cases from the first one; `None` for all others."""
    model_context: Around = field(repr=False, default_factory=Around)
    tools: Tools = Tools(environment=None)
    judge: JudgeSource | None = None
    generate_only: bool = False
    fail_fast: bool = False
    concurrency: int = 8
    seed: int = 0
    prices: Mapping[str, Price] = field(default_factory=dict)
    answers: Mapping[str, ModelRecord] = field(default_factory=dict, repr=False)
    """Answers of earlier calls that still have to be scored, by their trials."""
    cached_cases: list[tuple[ModelBenchmark, tuple[RowCase, ...]]] = field(
        default_factory=list, repr=False
    )
    """The cases of the rows by properties: they are made once, and not again in each arm and
    run."""


class FewAtOnce:
    """An environment that runs as many programs at once as there are processors: those that share
    one would take longer."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self.name, self.confines = environment.name, environment.confines
        self.confinement = environment.confinement
        self._limiter = anyio.CapacityLimiter(os.cpu_count() or 1)

    def program(self) -> Program:
        """Find what confines."""
        return self._environment.program()

    async def run(self, code: Code) -> Execution:
        """Wait for a processor, and run the command."""
        async with self._limiter:
            return await self._environment.run(code)


class RowBenchmark:
    """The benchmark as the kernel sees it."""

    groups_at_once = 1

    def __init__(self, kind: type[ModelBenchmark], setup: Setup | None = None) -> None:
        """Wrap the class; `setup` is `None` where nothing is run."""
        self.kind, self.setup = kind, setup
        self.name, self.version = kind.name, kind.version
        self.about = _read_first_sentence(kind)
        self.properties: type[BaseModel] = kind

    @property
    def grows(self) -> bool:
        """Whether its author adds arms after looking at records."""
        return self.kind.next_arms is not ModelBenchmark.next_arms

    async def try_out(self) -> None:
        """Raise `EnvironmentFailed` where code cannot be run."""
        if self.setup and self.setup.tools.environment:
            await try_out(self.setup.tools.environment)

    def scorers(self) -> tuple[Scorer, ...]:
        """Return none: the benchmark scores what it has read itself."""
        return ()

    def metrics(self) -> Metrics:
        """Return its own figures, and those that all models have."""
        runs_code = self.kind.executes or self.kind.runs_code is not ModelBenchmark.runs_code
        late = [TIMED_OUT] if runs_code else []
        judge = JUDGE_METRICS if self.kind.judged else ()
        return Metrics((*self.kind.metrics(), *COMMON_METRICS, *late, *judge))

    def arms(self, properties: Any) -> Sequence[str]:
        """Return the names of the arms."""
        return [arm.name for arm in self.build_arms(properties)]

    def build_arms(self, properties: ModelBenchmark) -> tuple[Arm, ...]:
        """Return the arms of the session, and those that the benchmark makes of the models of this
        call. Raises `UsageError` for one that the session has, and that would be another now."""
        setup = self._setup
        new_arms = properties.arms(setup.models) if setup.models else ()
        arms, old_properties = (
            self._add_arms(new_arms),
            {arm.name: arm.properties for arm in setup.arms},
        )
        for arm in new_arms:
            new_properties = to_jsonable_python(arm.properties)
            if old_properties.get(arm.name, new_properties) != new_properties:
                raise UsageError(
                    f"The session has an arm {arm.name}, which would be another now, as a file has "
                    "changed; restore it, or give the new one another name"
                )
        return arms

    @asynccontextmanager
    async def open_counted_judge(self, earlier: JudgeFields) -> AsyncIterator[CountedJudge | None]:
        """Open the judge for what belongs to no trial; `before`: what it took for that already."""
        judge = self._setup.judge
        if judge is None or self._setup.generate_only:
            yield None
            return
        async with judge.start() as open_judge:
            yield open_judge.start_counting(earlier=earlier)

    async def add_next_arms(
        self,
        properties: ModelBenchmark,
        records: Sequence[ModelRecord],
        judge: CountedJudge | None,
    ) -> "RowBenchmark":
        """Add the arms that come next; none when the benchmark is done."""
        setup = self._setup
        cases = {case.id: case for case in self.select(properties)}
        tools = replace(setup.tools, judge=judge)
        try:
            new_arms = await properties.next_arms(setup.arms, records, tools, cases)
        except JudgeLost as lost:
            raise lost.error from lost
        return RowBenchmark(self.kind, replace(setup, arms=self._add_arms(new_arms, follow=True)))

    def make_guard(self, budget: ModelBudget | None) -> SessionGuard:
        """Return what says when the session ends."""
        return SessionGuard(fail_fast=self._setup.fail_fast, budget=budget)

    def set_budget(self, budget: JudgeBudget | None) -> "RowBenchmark":
        """Return the benchmark whose judge is paid of a budget, if there is one."""
        setup = self._setup
        judge = setup.judge and replace(setup.judge, budget=budget)
        return RowBenchmark(self.kind, replace(setup, judge=judge))

    def reuse_answers(self, records: Iterable[ModelRecord]) -> "RowBenchmark":
        """Return the benchmark that scores the answers of trials that did not run to their own end,
        and does not ask for them again: they were paid for."""
        answers = {
            record.trial: record
            for record in records
            if record.answer is not None and not record.conclusive
        }
        return RowBenchmark(self.kind, replace(self._setup, answers=answers))

    def set_folder(self, folder: Path) -> "RowBenchmark":
        """Return the benchmark whose session lies in the folder, right answers included."""
        model_context = self._setup.model_context
        session_folder = folder.resolve()
        model_context = replace(
            model_context,
            answers=(*model_context.answers, session_folder),
            kept=session_folder / TRANSCRIPTS,
        )
        return RowBenchmark(self.kind, replace(self._setup, model_context=model_context))

    def _add_arms(self, arms: Iterable[Arm], *, follow: bool = False) -> tuple[Arm, ...]:
        """Add arms with new names; those that `follow` were made by records. Raises `TypeError` and
        `ValueError` for what cannot be asked."""
        setup, arms = self._setup, tuple(arms)
        names = {arm.name for arm in setup.arms}
        for arm in arms:
            if not isinstance(arm, Arm):
                raise TypeError(f"{arm!r} is no Arm")
        all_names = {None, *names, *(arm.name for arm in arms)}
        for arm in arms:
            if arm.against not in all_names:
                raise ValueError(f"its arm {arm.name} is held against {arm.against}, which is none")
            if arm.model not in setup.sources:
                raise ValueError(f"its arm {arm.name} asks {arm.model}, which was not named")
            if unknown := arm.properties.keys() - self.kind.model_fields.keys():
                raise ValueError(f"its arm {arm.name} sets {min(unknown)}, which is no property")
        new = (arm for arm in arms if arm.name not in names)
        added = (
            arm.model_copy(update={"follows": follow, "once": setup.sources[arm.model].repeats})
            for arm in new
        )
        return (*setup.arms, *added)

    def cases(self, properties: ModelBenchmark) -> Sequence[Case]:
        """Return the cases that are asked."""
        return [
            Case(id=case.id, title=case.title or case.id, group=case.group, part=case.part)
            for case in self.select(properties)
        ]

    def select(self, properties: ModelBenchmark) -> tuple[RowCase, ...]:
        """Return the rows that are asked. Raises `UsageError` when there are none, or when the
        benchmark refuses them."""
        all_cases, setup = self.load_cases(properties), self._setup
        end = None if setup.limit is None else setup.first + setup.limit
        selected = all_cases[setup.first : end]
        if not selected:
            raise UsageError(
                f"--limit {setup.first}:{setup.limit}: the data set has {len(all_cases)} cases"
            )
        if (reason := properties.refused(selected)) is not None:
            raise UsageError(reason)
        return selected

    def load_cases(self, properties: ModelBenchmark) -> tuple[RowCase, ...]:
        """Return the cases of all rows."""
        cached = self._setup.cached_cases
        cases = next((cases for key, cases in cached if key == properties), None)
        if cases is None:
            cases = tuple(properties.cases(self._setup.rows))
            cached.append((properties, cases))
        return cases

    def find_prompts(self, properties: Mapping[str, Any], model: str) -> Iterator[tuple[str, str]]:
        """Yield each case of the data set with what a model is asked, where that is a text."""
        setup = self._setup
        for arm in setup.arms:
            benchmark = self.configure(properties, arm)
            if arm.model == model and choose_way(benchmark, setup.sources[model]) == "text":
                prompts = (
                    (case.id, benchmark.ask(case, "text").prompt)
                    for case in self.load_cases(benchmark)
                )
                yield from ((case, prompt) for case, prompt in prompts if isinstance(prompt, str))

    async def run(self, job: CaseJob, deliver: Deliver) -> None:
        """Ask one model all cases of a group."""
        setup = self._setup
        arm = next(arm for arm in setup.arms if arm.name == job.group.arm)
        properties = self.configure(job.properties, arm)
        cases = self.load_cases(properties)
        environment = setup.tools.environment and FewAtOnce(setup.tools.environment)
        request = GroupRequest(
            benchmark=properties,
            model=setup.names[arm.model],
            source=setup.sources[arm.model],
            model_context=setup.model_context,
            tools=None if setup.generate_only else Tools(environment=environment),
            judge=setup.judge,
            cases={case.id: case for case in cases},
            numbers=self.number_cases(properties),
            concurrency=setup.concurrency,
            seed=setup.seed,
            prices=setup.prices,
            answers=setup.answers,
        )
        await ask_group(request, job.group, deliver)

    def number_cases(self, properties: ModelBenchmark) -> dict[str, int]:
        """Return the number of each case in the data set, from 0, by its id."""
        return {case.id: number for number, case in enumerate(self.load_cases(properties))}

    def configure(self, properties: Mapping[str, Any], arm: Arm) -> ModelBenchmark:
        """Make the benchmark with the properties of an arm."""
        values = {**properties, **arm.properties}
        return self.kind.model_validate(values)

    def runs_code(
        self, properties: Mapping[str, Any], arms: Iterable[Arm], rows: Sequence[Any]
    ) -> bool:
        """Tell whether scoring any of the arms runs code that a model wrote."""
        varied = [self.configure(properties, arm) for arm in arms if arm.properties]
        benchmarks = [self.kind.model_validate(properties), *varied]
        with wrap_benchmark_errors(self.name, "cannot be planned"):
            return any(benchmark.runs_code(rows) for benchmark in benchmarks)

    @property
    def _setup(self) -> Setup:
        if self.setup is None:
            raise UsageError(f"{self.name} has no models yet; give --models")
        return self.setup


def _read_first_sentence(kind: type[ModelBenchmark]) -> str:
    return " ".join((kind.__doc__ or "").partition("\n\n")[0].split())
