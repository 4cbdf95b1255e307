"""The model of `--judge`: asked about answers, and what that takes is counted apart from them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from swarm_bench.benchmarks.cases.budget import ModelBudget, most_of
from swarm_bench.benchmarks.cases.plausible import plausible
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
from swarm_bench.core.session.models import Judged
from swarm_bench.core.session.prices import Price, price_of
from swarm_bench.core.status import CONSEQUENCES, Cause

MOST_TOKENS = 1_024
"""Of what a judge says, where the benchmark sets no limit."""


@dataclass(frozen=True, kw_only=True)
class JudgeSource:
    """The judge of a session."""

    word: str
    """As it was typed."""
    source: ModelSource
    around: Around = field(repr=False)
    name: str = ""
    """As whoever asks it names it."""
    price: Price | None = None
    """`None` where it is free, or nobody knows."""
    budget: ModelBudget | None = field(default=None, repr=False)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator["OpenJudge"]:
        """Open it for the block."""
        async with self.source.opened(self.around) as model:
            yield OpenJudge(of=self, model=model)


@dataclass(frozen=True, kw_only=True)
class OpenJudge:
    """A judge that can be asked."""

    of: JudgeSource
    model: LanguageModel

    def counting(self, trial: str = "", before: Judged | None = None) -> "CountedJudge":
        """Return what asks it about one trial, or, without one, about none. `before`: what it took
        for that already."""
        return CountedJudge(self, trial, before or Judged())


class JudgeLost(Exception):
    """It would fail every time, or cannot be paid: the session ends."""

    def __init__(self, error: SwarmBenchError) -> None:
        super().__init__(f"the judge: {error}")
        self.error = error


class CountedJudge:
    """Asks the judge, and counts what that takes."""

    def __init__(self, judge: OpenJudge, trial: str, before: Judged) -> None:
        self._of, self._model, self._trial = judge.of, judge.model, trial
        self._judged = before
        self.unanswered: ModelFailed | None = None
        """Why it gave no answer where it may give one another time."""

    @property
    def judged(self) -> Judged:
        """What it took so far."""
        return self._judged

    async def ask(self, ask: Ask) -> Completion | None:
        """Ask it once; `None` when it gives no answer. Raises `JudgeLost`."""
        if ask.is_unlimited:
            ask = replace(ask, sampling=replace(ask.sampling, max_tokens=MOST_TOKENS))
        most = most_of(ask, self._of.price) if self._of.price else None
        try:
            if self._of.budget is not None and most is not None:
                self._of.budget.admit_judge(self._trial, most)
            completion, _ = plausible(self._of.source, ask, await self._model.complete(ask))
        except ModelFailed as error:
            self._count(requests=error.requests, cost=most, failed=1)
            if CONSEQUENCES[error.cause].rerun or error.cause is Cause.TIMEOUT:
                self.unanswered = error
            return None
        except (CostLimitReached, NotAuthorized, UsageError) as error:
            raise JudgeLost(error) from error
        tokens, price = completion.usage.reported, self._price(completion)
        cost = price.of(completion.usage) if price else None
        self._count(
            requests=completion.requests or 1, tokens=tokens, cost=most if cost is None else cost
        )
        return completion

    def _price(self, completion: Completion) -> Price | None:
        """Return that of the model that answered, or else of the one that was asked."""
        price = self._of.price
        return price_of(completion.model, {self._of.name: price}) or price if price else None

    def _count(
        self, *, requests: int, cost: float | None, tokens: int | None = None, failed: int = 0
    ) -> None:
        before = self._judged
        is_first = not before.judge_requests
        unknown = tokens is None or (before.judge_tokens is None and not is_first)
        self._judged = Judged(
            judge_requests=(before.judge_requests or 0) + requests,
            judge_tokens=None if unknown else (before.judge_tokens or 0) + (tokens or 0),
            judge_cost=cost if before.judge_cost is None else before.judge_cost + (cost or 0.0),
            judge_failed=(before.judge_failed or 0) + failed,
        )
