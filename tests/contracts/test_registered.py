"""Every implementation that is registered keeps the contract of its role."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from swarm_bench.agents.scout.adapter import MODEL
from swarm_bench.benchmarks.swarm import scorers as swarm
from swarm_bench.benchmarks.swarm.benchmark import SwarmBenchmark
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.benchmarks.swarm.run_plan import deal_blocks, plan
from swarm_bench.benchmarks.swarm.running.trial import SwarmJob
from swarm_bench.core import entry_points
from swarm_bench.core.metric import Metric
from swarm_bench.core.ports import Probe, Scorer, TakesArgument
from swarm_bench.core.session.base import BaseExperiment
from swarm_bench.core.session.cases import Case, CaseExperiment, CaseJob, Deliver
from swarm_bench.core.session.designs import DESIGNS, Design
from swarm_bench.core.treatment.overhead import Overhead
from swarm_bench.engine.benchmark import CaseBenchmark
from swarm_bench.engine.plan import iterate_groups, plan_cases
from swarm_bench.programs.scout.options import DEFAULT, MODELS
from swarm_bench.retrieval.probes.registered import SHIPPED
from swarm_bench.testing.benchmark_contracts import check_benchmark, check_cases, check_plan
from swarm_bench.testing.contracts import (
    check_agent,
    check_metric,
    check_model,
    check_probe,
    check_scorer,
)
from swarm_bench.testing.toy import Properties, Toy
from tests.builders.experiments import experiment

AGENTS = [
    plugin.name
    for plugin in entry_points.list_plugins("agents")
    # Those that take a file or a folder have tests of their own that call the same check.
    if not isinstance(entry_points.load("agents", plugin.name), TakesArgument)
]


@pytest.mark.parametrize("name", [*AGENTS, "swarm_bench.agents.scripted:Scripted"])
def test_agents(name: str, tmp_path: Path) -> None:
    check_agent(entry_points.load("agents", name)(), tmp_path)


@pytest.mark.parametrize("scorer", swarm.load_scorers(), ids=lambda scorer: type(scorer).__name__)
def test_scorers(scorer: Scorer) -> None:
    check_scorer(scorer)


@pytest.mark.parametrize("metric", METRICS.all, ids=lambda metric: metric.key)
def test_metrics(metric: Metric) -> None:
    check_metric(metric)


def test_benchmarks() -> None:
    overhead = Overhead(session="s", mode="canopy", prompt_tokens=7)
    jobs = [
        SwarmJob(swarm=group, attempts={trial.id: 2 for trial in group.trials}, overhead=overhead)
        for group in iterate_groups(plan(experiment()))
    ]
    check_benchmark(SwarmBenchmark(), jobs)


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_plans_of_swarms(design: Design) -> None:
    check_plan(plan, experiment(design=design))
    check_plan(plan, deal_blocks(experiment(design=design, concurrency=1), None))


def test_plans_of_cases() -> None:
    common = experiment()
    cases = tuple(Case(id=task.id, title=task.title) for task in common.tasks)
    planned = CaseExperiment(
        **{key: getattr(common, key) for key in BaseExperiment.model_fields},
        arms=common.arms,
        cases=cases,
    )
    check_plan(plan_cases, planned)


class Keyed(Properties):
    key: SecretStr = SecretStr("drawn-by-chance")


class NeedsKey(Toy):
    properties = Keyed

    async def run(self, job: CaseJob, deliver: Deliver) -> None:
        assert job.properties["key"] == "drawn-by-chance"
        await super().run(job, deliver)


NUMBERS = itertools.count()


async def nothing(_job: object, _deliver: object) -> None:
    pass


@pytest.mark.anyio
@pytest.mark.parametrize("kind", [Toy, NeedsKey])
async def test_benchmarks_of_cases(kind: type[Toy]) -> None:
    benchmark: object = kind()
    assert isinstance(benchmark, CaseBenchmark)
    await check_cases(benchmark)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ({"arms": lambda _: ()}, "it has arms"),
        ({"arms": lambda _: ("a", "a")}, "names of arms are distinct"),
        ({"cases": lambda _: ()}, "it has cases"),
        ({"arms": lambda _: (f"arm-{next(NUMBERS)}",)}, "the same properties have the same arms"),
        ({"run": nothing}, "each trial of a group is delivered once"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_benchmark_of_cases_that_breaks_its_contract(
    broken: dict[str, Any], why: str
) -> None:
    toy = Toy()
    vars(toy).update(broken)
    with pytest.raises(AssertionError, match=why):
        await check_cases(toy)


def test_the_adapter_knows_the_models_of_its_program() -> None:
    assert list(MODELS) == [MODEL] == [DEFAULT]


@pytest.mark.anyio
@pytest.mark.parametrize("probe", SHIPPED.values(), ids=SHIPPED)
async def test_probes(probe: Probe, tmp_path: Path) -> None:
    await check_probe(probe, tmp_path)


@pytest.mark.parametrize("name", MODELS)
def test_models(name: str) -> None:
    check_model(MODELS[name](""))
