"""What the requests of a session of models would take, by an earlier session or by what the models
allow, and what it may cost: nobody can limit what nobody knows."""

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from swarm_bench.analysis.planning.case_plan import Expected
from swarm_bench.analysis.planning.spending import Span, estimate_span
from swarm_bench.app.notices import LOCAL_AGENT
from swarm_bench.app.setup.agents import check_cost_limit
from swarm_bench.app.setup.folders import RESULTS
from swarm_bench.benchmarks.agents.source import AgentSource
from swarm_bench.benchmarks.cases.benchmark import RowBenchmark
from swarm_bench.benchmarks.cases.budget import ModelBudget, compute_max_cost
from swarm_bench.benchmarks.cases.folder import CaseFolder, ModelFolder
from swarm_bench.benchmarks.cases.running import choose_way
from swarm_bench.config.addresses import remove_logins
from swarm_bench.config.layers import Settings
from swarm_bench.core.errors import SwarmBenchError, UsageError
from swarm_bench.core.roles.language_model import Around, Ask, ModelSource
from swarm_bench.core.session.cases import CaseTrial
from swarm_bench.core.session.experiment import REHEARSAL
from swarm_bench.core.session.models import Arm, ModelExperiment, ModelRecord
from swarm_bench.core.session.prices import Price, Prices, find_price
from swarm_bench.engine.folder import experiment_keys
from swarm_bench.text import tokens

_MOST_READ = 30
"""Number of the newest sessions that are read."""
Earlier = Mapping[str, tuple[str, Sequence[ModelRecord]]]
"""Newest session with answers of a model, and these answers, by the word of the model."""


def estimate_requests(
    benchmark: RowBenchmark,
    properties: Mapping[str, Any],
    experiment: ModelExperiment,
    pending: Sequence[CaseTrial],
    continued: Path | None,
) -> tuple[Expected, ...]:
    """Say what the trials that are still to run would take, model by model; `continued` is the
    folder of the session that is continued."""
    earlier = _read_earlier_answers(experiment, continued)
    asks = defaultdict[str, list[Ask]](list)
    assert benchmark.setup is not None
    sources = benchmark.setup.sources
    trials = Counter((trial.arm, trial.case.id) for trial in pending)
    for arm in experiment.models:
        arm_benchmark = benchmark.configure(properties, arm)
        way = choose_way(arm_benchmark, sources[arm.model])
        for case in benchmark.load_cases(arm_benchmark):
            if number := trials[arm.name, case.id]:
                asks[arm.model] += [arm_benchmark.ask(case, way)] * number
    return tuple(
        _estimate_model(
            _Model(
                word=remove_logins(word),
                source=sources[word],
                asks=asks[word],
                context=benchmark.setup.model_context,
                prices=experiment.prices or {},
                earlier=earlier.get(word),
            )
        )
        for word in dict.fromkeys(arm.model for arm in experiment.models)
    )


def list_notes(
    benchmark: RowBenchmark, properties: Mapping[str, Any], *, allowed: bool
) -> Iterator[str]:
    """Yield what a person should know besides; `allowed`: code of models may be run."""
    setup = benchmark.setup
    assert setup is not None
    runs_code = benchmark.runs_code(properties, setup.arms, setup.rows)
    if runs_code and not allowed and not setup.generate_only:
        yield "it runs code that models write, which --allow-code-execution allows"
    if setup.judge is not None:
        yield f"what the judge {setup.judge.name} takes comes on top"
    if benchmark.grows:
        yield "arms that the benchmark adds while it runs come on top"


@dataclass(frozen=True, kw_only=True)
class _Model:
    """A model, and what it is still to be asked."""

    word: str
    source: ModelSource
    asks: Sequence[Ask]
    context: Around
    prices: Prices
    earlier: tuple[str, Sequence[ModelRecord]] | None

    @property
    def is_agent(self) -> bool:
        return isinstance(self.source, AgentSource)

    def estimate(self, read: Callable[[ModelRecord], float | None]) -> Span | None:
        """Return what all would come to by the answers of an earlier session."""
        records = self.earlier[1] if self.earlier else ()
        values = [value for record in records if (value := read(record)) is not None]
        return estimate_span(values, len(self.asks))


def _estimate_model(model: _Model) -> Expected:
    number = len(model.asks)
    if model.source.free and model.source.address is None:
        return Expected(model=model.word, trials=number, requests=0)
    output, sent = (
        model.estimate(lambda record: record.output_tokens),
        model.estimate(_count_sent_tokens),
    )
    prompt_tokens = sum(tokens.count(text) for ask in model.asks for text in ask.texts)
    expected = Expected(
        model=model.word,
        trials=number,
        requests=None if model.is_agent else number,
        sent=sent or (None if model.is_agent else (prompt_tokens, prompt_tokens)),
        received=output or (None if model.is_agent else _find_allowed_span(model.asks)),
        seconds=model.estimate(lambda record: record.wall_seconds),
        source=model.earlier[0] if model.earlier and output else None,
    )
    dollars, reason = _estimate_cost(model, expected)
    return replace(expected, dollars=dollars, unpriced=reason)


def _find_allowed_span(asks: Sequence[Ask]) -> Span | None:
    """Return from no answer to the longest ones; `None` where a provider sets no limit."""
    limits = [ask.sampling.max_tokens for ask in asks]
    if any(limit is None for limit in limits):
        return None
    return 0.0, float(sum(filter(None, limits)))


def _count_sent_tokens(record: ModelRecord) -> float | None:
    if record.effective_tokens is None or record.output_tokens is None:
        return None
    return record.effective_tokens - record.output_tokens


def _estimate_cost(model: _Model, expected: Expected) -> tuple[Span | None, str]:
    """Return what it would cost, and why that is unknown."""
    source = model.source
    is_rule_driven = isinstance(source, AgentSource) and (
        source.model == REHEARSAL or source.spec == LOCAL_AGENT
    )
    if source.free or is_rule_driven:
        return (0.0, 0.0), ""
    if paid := model.estimate(lambda record: record.cost):
        return paid, ""
    if model.is_agent:
        return None, "no earlier session below results/ shows what the agent program takes"
    name = _find_provider_name(source, model.context)
    price = find_price(name, model.prices)
    if price is None:
        return None, f"no price table has the model {name or model.word} (prices.toml)"
    if expected.sent is None or expected.received is None:
        return None, "an answer may be as long as the provider likes"
    return _price_tokens(price, expected.sent, expected.received), ""


def _price_tokens(price: Price, sent: Span, output: Span) -> Span:
    low, high = (
        (read * price.input + answer * price.output) / 1e6
        for read, answer in zip(sent, output, strict=True)
    )
    return low, high


def _find_provider_name(source: ModelSource, context: Around) -> str | None:
    """Return the provider's name for the model; no server is asked."""
    with suppress(SwarmBenchError):
        return source.program(replace(context, is_asked=False)).name
    return None


def _read_earlier_answers(experiment: ModelExperiment, continued: Path | None) -> Earlier:
    """Read what the answers of each model took, in the session that is continued or in the newest
    one of the benchmark below `results/` that shows it."""
    answers = dict[str, tuple[str, Sequence[ModelRecord]]]()
    files = [file for file in RESULTS.glob("*/experiment.json") if file.is_file()]
    newest = sorted(files, key=lambda file: file.stat().st_mtime, reverse=True)
    folders = [*([continued] if continued else []), *(file.parent for file in newest)]
    models = {arm.model for arm in experiment.models}
    for path in islice(folders, _MOST_READ):
        with suppress(SwarmBenchError, ValueError):
            for word, records in _read_folder(path, experiment.benchmark).items():
                if word in models and word not in answers and records:
                    answers[word] = os.path.relpath(path), records
    return answers


def _read_folder(path: Path, benchmark: str) -> dict[str, list[ModelRecord]]:
    """Return the records of answers by model; none of a session of another benchmark."""
    by_model = defaultdict[str, list[ModelRecord]](list)
    if experiment_keys(path).get("benchmark") != benchmark:
        return by_model
    folder = ModelFolder(path)
    models = {arm.name: arm.model for arm in folder.read_experiment().models}
    for _, _, record in folder.records.read():
        if record is not None and record.answer is not None:
            by_model[models.get(record.arm, "")].append(record)
    return by_model


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
    folder: CaseFolder[ModelExperiment, ModelRecord],
    experiment: ModelExperiment,
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


def _sum_other_costs(experiment: ModelExperiment) -> float:
    """Add what the judge took for no trial, and what was asked before them."""
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
    it cost. Raises `UsageError` where the price cannot be known."""
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
