"""What a session of models may cost: nobody can limit what nobody knows."""

from collections.abc import Mapping
from typing import Any

from swarm_bench.benchmarks.agents.source import AgentSource
from swarm_bench.benchmarks.cases.benchmark import RowBenchmark
from swarm_bench.benchmarks.cases.budget import Budget, most_of
from swarm_bench.benchmarks.cases.running import way_of
from swarm_bench.core.errors import UsageError
from swarm_bench.core.roles.language_model import ModelSource
from swarm_bench.core.session.models import Arm
from swarm_bench.core.session.prices import Price, price_of
from swarm_bench.engine.cases.store import CaseFolder


def check_prices(benchmark: RowBenchmark, properties: Mapping[str, Any]) -> None:
    """Raise `UsageError` where no limit of the cost could be kept."""
    _most(benchmark, properties)
    assert benchmark.setup is not None
    if (judge := benchmark.setup.judge) is not None:
        limiting_price(benchmark.setup.prices, judge.source, judge.name)


def budget_of(
    benchmark: RowBenchmark, properties: Mapping[str, Any], limit: float, folder: CaseFolder
) -> Budget:
    """Make the budget of a session, with what it has cost so far. Raises `UsageError` where the
    limit cannot be kept."""
    arms = _most(benchmark, properties)
    assert benchmark.setup is not None
    budget = Budget(
        limit=limit,
        most=lambda arm, case, answer: arms[arm].most(case, answer),
        spent=sum(arm.judge_cost or 0.0 for arm in benchmark.setup.arms),
    )
    attempts = {
        (record.trial, record.attempt): record
        for _, _, record in (*folder.records.read_set_aside(), *folder.records.read())
        if record is not None
    }
    for record in attempts.values():
        if record.arm in arms:
            budget.pay(record)
    return budget


def _most(benchmark: RowBenchmark, properties: Mapping[str, Any]) -> "dict[str, _Priced]":
    setup = benchmark.setup
    assert setup is not None
    return {
        arm.name: _Priced(
            benchmark,
            properties,
            arm,
            limiting_price(setup.prices, setup.sources[arm.model], setup.names[arm.model]),
        )
        for arm in setup.arms
    }


class _Priced:
    """An arm, and what its requests can cost at most."""

    def __init__(
        self, benchmark: RowBenchmark, properties: Mapping[str, Any], arm: Arm, price: Price | None
    ) -> None:
        """`price` is `None` for what is free."""
        assert benchmark.setup is not None
        self._price = price
        self._own = benchmark.with_properties(properties, arm)
        self._way = way_of(self._own, benchmark.setup.sources[arm.model])
        self._cases = {case.id: case for case in benchmark.every(self._own)}
        if price and self._own.ask(next(iter(self._cases.values())), self._way).is_unlimited:
            raise UsageError(
                f"--max-cost: {benchmark.name} does not limit how long an answer may be, so nobody "
                "knows what it may cost; omit --max-cost"
            )

    def most(self, case: str, answer: str) -> float:
        if self._price is None or case not in self._cases:
            return 0.0
        return most_of(self._own.ask(self._cases[case], self._way), self._price, answer)


def limiting_price(prices: Mapping[str, Price], source: ModelSource, name: str) -> Price | None:
    """Return the price of a model whose cost is limited; `None` for what is free. Raises
    `UsageError` where nobody knows it."""
    if source.free:
        return None
    if isinstance(source, AgentSource):
        raise UsageError(
            f"--max-cost: nobody knows what {name} may take in its turns; omit it, or limit turns "
            "with --max-turns"
        )
    if price := price_of(name, prices):
        return price
    raise UsageError(
        f"--max-cost: no price table has the model {name}; add it to prices.toml "
        "(docs/prices.md), or omit --max-cost"
    )
