"""The model of `--judge`: asked about answers, and what that takes is counted apart from them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol

from swarm_bench.benchmarks.cases.budget import compute_max_cost, limit_claims
from swarm_bench.core.errors import (
    CostLimitReached,
    ModelFailed,
    NotAuthorized,
    SwarmBenchError,
    UsageError,
)
from swarm_bench.core.roles.language_model import (
    Around,
    Ask,
    Completion,
    LanguageModel,
    ModelSource,
)
from swarm_bench.core.session.models import JudgeFields
from swarm_bench.core.session.prices import Price, find_price
from swarm_bench.core.status import CONSEQUENCES, Cause

MOST_TOKENS = 1_024
"""Most tokens of a judge's answer, if the benchmark sets no limit."""


class JudgeBudget(Protocol):
    """What a judge is paid of."""

    async def admit_judge(self, trial: str, max_cost: float) -> None:
        """Add a request to what a trial may cost. Raises `CostLimitReached`."""
        ...


@dataclass(frozen=True, kw_only=True)
class JudgeSource:
    """The judge of a session."""

    word: str
    """Word for the judge, as the user typed it."""
    source: ModelSource
    model_context: Around = field(repr=False)
    name: str = ""
    """Name of the judge, as the caller writes it."""
    price: Price | None = None
    """Price of the judge; `None` where it is free, or unknown."""
    budget: JudgeBudget | None = field(default=None, repr=False)

    @asynccontextmanager
    async def start(self) -> AsyncIterator["OpenJudge"]:
        """Open it for the block."""
        async with self.source.opened(self.model_context) as model:
            yield OpenJudge(source=self, model=model)


@dataclass(frozen=True, kw_only=True)
class OpenJudge:
    """A judge that can be asked."""

    source: JudgeSource
    model: LanguageModel

    def start_counting(self, trial: str = "", earlier: JudgeFields | None = None) -> "CountedJudge":
        """Return what asks it about one trial, or, without one, about none. `before`: what it took
        for that already."""
        return CountedJudge(self, trial, earlier or JudgeFields())


class JudgeLost(Exception):
    """Loss of the judge: it would fail every time, or cannot be paid, and the session ends."""

    def __init__(self, error: SwarmBenchError) -> None:
        super().__init__(f"the judge: {error}")
        self.error = error


class CountedJudge:
    """Asks the judge, and counts what that takes."""

    def __init__(self, judge: OpenJudge, trial: str, earlier: JudgeFields) -> None:
        self._source, self._model, self._trial = judge.source, judge.model, trial
        self._counts = earlier
        self.unanswered: ModelFailed | None = None
        """Failure by which it gave no answer, where it may give one another time."""

    @property
    def counts(self) -> JudgeFields:
        """Return what the judge has taken so far."""
        return self._counts

    async def ask(self, ask: Ask) -> Completion | None:
        """Ask it once; `None` when it gives no answer. Raises `JudgeLost`."""
        if ask.is_unlimited:
            ask = replace(ask, sampling=replace(ask.sampling, max_tokens=MOST_TOKENS))
        max_cost = compute_max_cost(ask, self._source.price) if self._source.price else None
        try:
            if self._source.budget is not None and max_cost is not None:
                await self._source.budget.admit_judge(self._trial, max_cost)
            completion, _ = limit_claims(self._source.source, ask, await self._model.complete(ask))
        except ModelFailed as error:
            self._add_counts(requests=error.requests, cost=max_cost, failed=1)
            if CONSEQUENCES[error.cause].rerun or error.cause is Cause.TIMEOUT:
                self.unanswered = error
            return None
        except (CostLimitReached, NotAuthorized, UsageError) as error:
            raise JudgeLost(error) from error
        tokens, price = completion.usage.reported, self._find_price(completion)
        cost = price.compute_cost(completion.usage) if price else None
        self._add_counts(
            requests=completion.requests or 1,
            tokens=tokens,
            cost=max_cost if cost is None else cost,
        )
        return completion

    def _find_price(self, completion: Completion) -> Price | None:
        """Return that of the model that answered, or else of the one that was asked."""
        price = self._source.price
        return find_price(completion.model, {self._source.name: price}) or price if price else None

    def _add_counts(
        self, *, requests: int, cost: float | None, tokens: int | None = None, failed: int = 0
    ) -> None:
        earlier = self._counts
        is_first = not earlier.judge_requests
        unknown = tokens is None or (earlier.judge_tokens is None and not is_first)
        self._counts = JudgeFields(
            judge_requests=(earlier.judge_requests or 0) + requests,
            judge_tokens=None if unknown else (earlier.judge_tokens or 0) + (tokens or 0),
            judge_cost=cost if earlier.judge_cost is None else earlier.judge_cost + (cost or 0.0),
            judge_failed=(earlier.judge_failed or 0) + failed,
        )
