"""Keeps a session of models within `--max-cost`, in US dollars, and says after which trials it need
not continue."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import anyio

from swarm_bench.core.errors import (
    CostLimitReached,
    ModelFailed,
    NoCredit,
    NotAuthorized,
    SwarmBenchError,
    WrongAddress,
)
from swarm_bench.core.roles.language_model import Ask
from swarm_bench.core.session.cases import CaseRecord, CaseTrial
from swarm_bench.core.session.models import ModelRecord
from swarm_bench.core.session.prices import Price
from swarm_bench.core.status import Cause
from swarm_bench.engine.budget import Budget, dollars

_AROUND_A_TURN = 50
"""Tokens that a template may put around a message, generously."""
_LONGEST_TOKEN = 256
"""Bytes; those of the vocabularies that there are have half of that, and are blanks."""


@dataclass(kw_only=True)
class ModelBudget(Budget):
    """What a session of models may cost. A trial that ended without a cost is taken for the most
    that it can have cost."""

    most: Callable[[str, str, str], float]
    """Returns what a case can cost an arm at most, with an answer that is there already, or else
    with the longest one that may come."""
    unlimited: Collection[str] = ()
    """Arms of which nobody knows what a trial can cost at most, as of agent programs: the dearest
    one so far stands for it."""
    reached: CostLimitReached | None = None
    """Why the session ends, where the judge of an answer could not be paid, or nobody knows what an
    answer cost."""
    _running: dict[str, float] = field(default_factory=dict)
    """The most that each trial can cost that is asked now, by its id."""
    _answered: dict[str, float] = field(default_factory=dict)
    """What was paid for answers that only have to be scored, by their trials."""
    _settled: anyio.Event = field(default_factory=anyio.Event)

    async def admit(self, trial: CaseTrial) -> None:
        """Wait until the trial can be paid for. Raises `CostLimitReached` when it cannot."""
        is_paid = trial.id in self._answered
        arm, case = trial.arm, trial.case.id
        while self._must_wait(arm, most := 0.0 if is_paid else self._most(arm, case)):
            if self.reached is not None:
                raise self.reached
            if not self._running:
                is_dearest = arm in self.unlimited and arm in self.dearest
                raise self.exceeded(
                    f"and {case} can cost {arm} {dollars(most)}"
                    f"{', as the most expensive so far' if is_dearest else ''}, so it was not asked"
                )
            self._settled = anyio.Event()
            await self._settled.wait()
        self._running[trial.id] = most

    def _must_wait(self, arm: str, most: float) -> bool:
        """Tell whether a trial cannot start now. The first one of an arm without a limit is asked
        alone, as it shows what others may cost."""
        total = self.spent + sum(self._running.values()) + most
        if self.reached is not None or total > self.limit:
            return True
        is_first = arm not in self.dearest and bool(self._running)
        return arm in self.unlimited and (is_first or self.spent >= self.limit)

    def admit_judge(self, trial: str, most: float) -> None:
        """Add a request to the judge to what a trial may cost; without one it belongs to none.
        Raises `CostLimitReached`: what runs already may need the rest."""
        if self.spent + sum(self._running.values()) + most > self.limit:
            self.reached = self.exceeded(
                f"and a request to the judge can cost {dollars(most)}, so it was not asked"
            )
            raise self.reached
        self._running[trial] = self._running.get(trial, 0.0) + most

    def pay(self, record: CaseRecord, *, again: bool) -> None:
        """Count a trial of an earlier call; `again`: its answer will be settled once more."""
        before = self.spent
        self._count(record, was_asked=record.started_at is not None)
        if again:
            self._answered[record.trial] = self.spent - before

    def settle(self, record: CaseRecord) -> None:
        """Pay for a trial that has ended."""
        self.paid -= self._answered.pop(record.trial, 0.0)
        self._count(record, was_asked=self._running.pop(record.trial, None) is not None)
        is_unknown = record.cost is None and record.answer is not None
        if is_unknown and record.arm in self.unlimited and record.arm not in self.dearest:
            self.reached = CostLimitReached(
                f"{record.arm} gave an answer and no cost, so nobody knows what the next one would "
                "cost, and --max-cost cannot be kept; see 'swarm-bench docs prices', or omit "
                "--max-cost"
            )
        self._settled.set()

    def _count(self, record: CaseRecord, *, was_asked: bool) -> None:
        self.paid += _of_judge(record)
        if record.cost is not None:
            self.count(record.arm, record.cost)
        elif was_asked:
            most = self._most(record.arm, record.case, record.answer or "")
            self.count(record.arm, None, most)

    def _most(self, arm: str, case: str, answer: str = "") -> float:
        if arm in self.unlimited:
            return self.dearest.get(arm, 0.0)
        return self.most(arm, case, answer)


@dataclass(frozen=True, kw_only=True)
class Ending:
    """Says of each trial whether the session ends with it."""

    fail_fast: bool = False
    """Whether any trial that fails ends it; a wrong answer is no failure."""
    budget: ModelBudget | None = None

    async def admit(self, trial: CaseTrial) -> None:
        """Wait until the trial can be paid for. Raises `CostLimitReached` when it cannot."""
        if self.budget is not None:
            await self.budget.admit(trial)

    def __call__(self, record: CaseRecord) -> SwarmBenchError | None:
        """Pay for the trial; return the error with which the session ends, if it does."""
        if self.budget is not None:
            self.budget.settle(record)
            if self.budget.reached is not None:
                return self.budget.reached
        why = record.detail or record.cause.value
        match record.cause:
            case Cause.NOT_AUTHORIZED:
                return NotAuthorized(why)
            case Cause.NO_CREDIT:
                return NoCredit(why)
            case Cause.WRONG_ADDRESS:
                return WrongAddress(why)
            case Cause.UNKNOWN_MODEL:
                return ModelFailed(why)
            case Cause.FINISHED | Cause.REFUSED:
                return None
        return (
            ModelFailed(f"{record.arm} failed in {record.case}: {why}") if self.fail_fast else None
        )


def most_of(ask: Ask, price: Price, answer: str = "") -> float:
    """Return what a request can cost at most: no token has less than a byte. The answer must have a
    limit; one that is longer than that can be was not cut there, and costs its bytes."""
    written = ask.sampling.max_tokens
    assert written is not None
    if least_tokens(answer) > written:
        written = _bytes_of(answer)
    read = sum(_bytes_of(text) + _AROUND_A_TURN for text in ask.texts)
    dearest = max(price.input, price.cache_write, price.cache_read)
    return (read * dearest + written * price.output) / 1_000_000


def _of_judge(record: CaseRecord) -> float:
    return (record.judge_cost or 0.0) if isinstance(record, ModelRecord) else 0.0


def least_tokens(*texts: str) -> int:
    """Return how many tokens texts have at least."""
    return -(-sum(map(_bytes_of, texts)) // _LONGEST_TOKEN)


def _bytes_of(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
