"""Keeps a session of models within `--max-cost`, in US dollars, and says after which trials it need
not continue. What servers say of their answers counts as far as it can be true."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace

import anyio

from swarm_bench.core.errors import (
    CostLimitReached,
    ModelFailed,
    NoCredit,
    NotAuthorized,
    SwarmBenchError,
    WrongAddress,
)
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Ask, Completion, ModelSource
from swarm_bench.core.session.cases import LONGEST_ANSWER, CaseRecord, CaseTrial
from swarm_bench.core.session.prices import Price
from swarm_bench.core.status import Cause
from swarm_bench.engine.budget import Budget, format_dollars

_AROUND_A_TURN = 50
"""Tokens that a template may put around a message, generously."""
_LONGEST_TOKEN = 256
"""Bytes; those of the vocabularies that there are have half of that, and are blanks."""


@dataclass(kw_only=True)
class ModelBudget(Budget):
    """What a session of models may cost. A trial that ended without a cost is taken for the most
    that it can have cost."""

    estimate_max_cost: Callable[[str, str, str], float]
    """Returns what a case can cost an arm at most, with an answer that is there already, or else
    with the longest one that may come."""
    unlimited: Collection[str] = ()
    """Arms whose trials have no known highest cost, as those of agent programs: the dearest one so
    far stands for it."""
    limit_error: CostLimitReached | None = None
    """Error by which the session ends, where the judge of an answer could not be paid, or the cost
    of an answer is unknown."""
    _running: dict[str, float] = field(default_factory=dict)
    """The most that each trial can cost that is asked now, by its id."""
    _paid_answers: dict[str, float] = field(default_factory=dict)
    """Costs of answers that only have to be scored, by their trials."""
    _settled: anyio.Event = field(default_factory=anyio.Event)

    async def admit(self, trial: CaseTrial) -> None:
        """Wait until the trial can be paid for. Raises `CostLimitReached` when it cannot."""
        is_paid = trial.id in self._paid_answers
        arm, case = trial.arm, trial.case.id
        while self._must_wait(arm, max_cost := 0.0 if is_paid else self._find_max_cost(arm, case)):
            if self.limit_error is not None:
                raise self.limit_error
            if not self._running:
                is_dearest = arm in self.unlimited and arm in self.dearest
                raise self.make_exceeded_error(
                    f"and {case} can cost {arm} {format_dollars(max_cost)}"
                    f"{', as the most expensive so far' if is_dearest else ''}, so it was not asked"
                )
            self._settled = anyio.Event()
            await self._settled.wait()
        self._running[trial.id] = max_cost

    def _must_wait(self, arm: str, max_cost: float) -> bool:
        """Tell whether a trial cannot start now. The first one of an arm without a limit is asked
        alone, as it shows what others may cost."""
        total = self.total_cost + sum(self._running.values()) + max_cost
        if self.limit_error is not None or total > self.limit:
            return True
        is_first = arm not in self.dearest and bool(self._running)
        return arm in self.unlimited and (is_first or self.total_cost >= self.limit)

    async def admit_judge(self, trial: str, max_cost: float) -> None:
        """Add a request to the judge to what a trial may cost; without one it belongs to none.
        Raises `CostLimitReached`: what runs already may need the rest."""
        if self.total_cost + sum(self._running.values()) + max_cost > self.limit:
            self.limit_error = self.make_exceeded_error(
                f"and a request to the judge can cost {format_dollars(max_cost)}, "
                "so it was not asked"
            )
            raise self.limit_error
        self._running[trial] = self._running.get(trial, 0.0) + max_cost

    def pay(self, record: CaseRecord, *, is_settled_later: bool) -> None:
        """Count a trial of an earlier call; `again`: its answer will be settled once more."""
        spent_before = self.total_cost
        was_lost = record.cause is Cause.NODE_LOST  # it may have been asked
        self._add_cost(record, was_asked=was_lost or record.started_at is not None)
        if is_settled_later:
            self._paid_answers[record.trial] = self.total_cost - spent_before

    def settle(self, record: CaseRecord) -> None:
        """Pay for a trial that has ended."""
        self.paid -= self._paid_answers.pop(record.trial, 0.0)
        self._add_cost(record, was_asked=self._running.pop(record.trial, None) is not None)
        is_unknown = record.cost is None and record.answer is not None
        if is_unknown and record.arm in self.unlimited and record.arm not in self.dearest:
            self.limit_error = CostLimitReached(
                f"{record.arm} gave an answer and no cost, so nobody knows what the next one would "
                "cost, and --max-cost cannot be kept; see 'swarm-bench docs prices', or omit "
                "--max-cost"
            )
        self._settled.set()

    def _add_cost(self, record: CaseRecord, *, was_asked: bool) -> None:
        self.paid += record.scoring_cost
        if record.cost is not None:
            self.add_trial(record.arm, record.cost)
        elif was_asked:
            max_cost = self._find_max_cost(record.arm, record.case, record.answer or "")
            self.add_trial(record.arm, None, max_cost)

    def _find_max_cost(self, arm: str, case: str, answer: str = "") -> float:
        if arm in self.unlimited:
            return self.dearest.get(arm, 0.0)
        return self.estimate_max_cost(arm, case, answer)


@dataclass(frozen=True, kw_only=True)
class SessionGuard:
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
            if self.budget.limit_error is not None:
                return self.budget.limit_error
        reason = record.detail or record.cause.value
        match record.cause:
            case Cause.NOT_AUTHORIZED:
                return NotAuthorized(reason)
            case Cause.NO_CREDIT:
                return NoCredit(reason)
            case Cause.WRONG_ADDRESS:
                return WrongAddress(reason)
            case Cause.UNKNOWN_MODEL:
                return ModelFailed(reason)
            case Cause.FINISHED | Cause.REFUSED | Cause.NODE_LOST:  # the last runs once more
                return None
        return (
            ModelFailed(f"{record.arm} failed in {record.case}: {reason}")
            if self.fail_fast
            else None
        )


def compute_max_cost(ask: Ask, price: Price, answer: str = "") -> float:
    """Return what a request can cost at most: no token has less than a byte. The answer must have a
    limit; one that is longer than that can be was not cut there, and costs its bytes."""
    output_tokens = ask.sampling.max_tokens
    assert output_tokens is not None
    if count_least_tokens(answer) > output_tokens:
        output_tokens = _count_bytes(answer)
    read = sum(_count_bytes(text) + _AROUND_A_TURN for text in ask.texts)
    dearest = max(price.input, price.cache_write, price.cache_read)
    return (read * dearest + output_tokens * price.output) / 1_000_000


def count_least_tokens(*texts: str) -> int:
    """Return how many tokens texts have at least."""
    return -(-sum(map(_count_bytes, texts)) // _LONGEST_TOKEN)


def _count_bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


_MOST_TOKENS = 10**12
"""Most tokens of a request: more is a mistake of the server."""
_LONGEST_NAME = 500
"""Longest name of a model."""


def limit_claims(
    source: ModelSource, ask: Ask, completion: Completion
) -> tuple[Completion, tuple[str, ...]]:
    """Cut what a server exaggerates: a text ends where no more is stored, and counts of tokens that
    cannot be are missing. Return the names
    of those that are too low, too; answers of a data set or of a file take no tokens."""
    is_server = not source.free or source.address is not None
    understated = tuple(_find_understated(ask, completion)) if is_server else ()
    counts = {
        name: None if name in understated or (count or 0) > _MOST_TOKENS else count
        for name, count in vars(completion.usage).items()
    }
    capped = replace(
        completion,
        text=completion.text[:LONGEST_ANSWER],
        finish="length" if len(completion.text) > LONGEST_ANSWER else completion.finish,
        model=completion.model and completion.model[:_LONGEST_NAME],
        usage=Usage(**counts),
    )
    return capped, understated


def _find_understated(ask: Ask, completion: Completion) -> Iterator[str]:
    """Yield the tokens of which there are fewer than the text has at least."""
    usage, output_tokens = completion.usage, completion.usage.output
    read = [
        count for count in (usage.input, usage.cache_read, usage.cache_create) if count is not None
    ]
    if usage.input is not None and sum(read) < count_least_tokens(*ask.texts):
        yield "input"
    if output_tokens is not None and output_tokens < count_least_tokens(completion.text):
        yield "output"
