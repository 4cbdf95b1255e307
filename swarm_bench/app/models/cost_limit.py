"""What a session of models may cost: nobody can limit what nobody knows."""

from collections.abc import Mapping
from typing import Any

from swarm_bench.app.setup.credentials import check_cost_limit
from swarm_bench.benchmarks.agents.source import AgentSource
from swarm_bench.benchmarks.cases.benchmark import RowBenchmark
from swarm_bench.benchmarks.cases.budget import ModelBudget, compute_max_cost
from swarm_bench.benchmarks.cases.folder import CaseFolder
from swarm_bench.benchmarks.cases.running import choose_way
from swarm_bench.config.settings import Settings
from swarm_bench.core.errors import UsageError
from swarm_bench.core.roles.language_model import ModelSource
from swarm_bench.core.session.cases import CaseExperiment
from swarm_bench.core.session.models import Arm, ModelExperiment
from swarm_bench.core.session.prices import Price, find_price


def check_prices(benchmark: RowBenchmark, properties: Mapping[str, Any]) -> None:
    """Raise `UsageError` where no limit of the cost could be kept."""
    _price_arms(benchmark, properties)
    assert benchmark.setup is not None
    if (judge := benchmark.setup.judge) is not None:
        find_limiting_price(benchmark.setup.prices, judge.source, judge.name)


def create_budget(
    benchmark: RowBenchmark,
    properties: Mapping[str, Any],
    limit: float | None,
    folder: CaseFolder,
    experiment: CaseExperiment,
) -> ModelBudget | None:
    """Make the budget of a session, with what it has cost so far; `None` without a limit. Raises
    `UsageError` where it cannot be kept."""
    if not limit:
        return None
    arms = _price_arms(benchmark, properties)
    budget = ModelBudget(
        limit=limit,
        estimate_max_cost=lambda arm, case, answer: arms[arm].compute_max_cost(case, answer),
        unlimited=frozenset(name for name, priced_arm in arms.items() if priced_arm.is_agent),
        paid=_sum_other_costs(experiment),
    )
    assert benchmark.setup is not None
    answers = benchmark.setup.answers
    attempts = {  # the last record of an answer has all that was paid for it
        (record.trial, record.started_at or record.attempt): record
        for _, _, record in (*folder.records.read_set_aside(), *folder.records.read())
        if record is not None
    }
    for record in sorted(
        attempts.values(), key=lambda record: record.cost is None
    ):  # by the dearest
        if record.arm in arms:
            budget.pay(record, is_settled_later=record == answers.get(record.trial))
    return budget


def _sum_other_costs(experiment: CaseExperiment) -> float:
    """Add what the judge took for no trial, and what was asked before them."""
    if not isinstance(experiment, ModelExperiment):
        return 0.0
    return (experiment.judged.judge_cost or 0.0) + sum(
        greeting.cost or 0.0 for greeting in experiment.greetings
    )


def _price_arms(benchmark: RowBenchmark, properties: Mapping[str, Any]) -> "dict[str, _PricedArm]":
    setup = benchmark.setup
    assert setup is not None
    return {
        arm.name: _PricedArm(
            benchmark,
            properties,
            arm,
            find_limiting_price(setup.prices, setup.sources[arm.model], setup.names[arm.model]),
        )
        for arm in setup.arms
    }


class _PricedArm:
    """An arm, and what its requests can cost at most."""

    def __init__(
        self, benchmark: RowBenchmark, properties: Mapping[str, Any], arm: Arm, price: Price | None
    ) -> None:
        """`price` is `None` for what is free."""
        assert benchmark.setup is not None
        self._price = price
        self._benchmark = benchmark.configure(properties, arm)
        source = benchmark.setup.sources[arm.model]
        self.is_agent = isinstance(source, AgentSource)
        self._way = choose_way(self._benchmark, source)
        self._cases = {case.id: case for case in benchmark.load_cases(self._benchmark)}
        if price and self._benchmark.ask(next(iter(self._cases.values())), self._way).is_unlimited:
            raise UsageError(
                f"--max-cost: {benchmark.name} does not limit how long an answer may be, so nobody "
                "knows what it may cost; omit --max-cost"
            )

    def compute_max_cost(self, case: str, answer: str) -> float:
        if self._price is None or case not in self._cases:
            return 0.0
        return compute_max_cost(
            self._benchmark.ask(self._cases[case], self._way), self._price, answer
        )


def find_limiting_price(
    prices: Mapping[str, Price], source: ModelSource, name: str
) -> Price | None:
    """Return the price; `None` for what is free, and for an agent program, which says itself what
    it cost. Raises `UsageError` where nobody will know."""
    if source.free:
        return None
    if isinstance(source, AgentSource):
        settings = Settings(agent=source.spec, model=source.model, max_cost=1.0)
        check_cost_limit(source.agent, source.agent.program(source.model), settings, prices)
        return None
    if price := find_price(name, prices):
        return price
    raise UsageError(
        f"--max-cost: no price table has the model {name}; add it to prices.toml "
        "(swarm-bench docs prices), or omit --max-cost"
    )
