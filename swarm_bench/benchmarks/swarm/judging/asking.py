"""Asks a judge, and stores each verdict before the next question counts as answered."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256

import anyio

from swarm_bench.analysis.comparison.judging import Judge, Pair
from swarm_bench.benchmarks.cases.thoughts import drop_thoughts
from swarm_bench.benchmarks.swarm.judging.question import find_verdict, write_question
from swarm_bench.core.errors import ModelFailed, NotAuthorized, UsageError
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Ask, Completion, LanguageModel, Turn
from swarm_bench.core.session.prices import Price
from swarm_bench.core.session.verdicts import Choice, Side, Verdict

AT_ONCE = 4
_MOST_FAILURES = 3
"""In a row: the server is gone, or does not want to be asked."""
_LONGEST_REPLY = 2_000
_NO_VERDICT = ("refused", "length")
"""Ends of a reply whose last line is not its own last word."""
_SAME = Completion(
    text="tie",
    finish=None,
    usage=Usage(input=0, cache_read=0, cache_create=0, output=0),
    requests=0,
)
"""On two answers with the same text, about which nobody is asked."""


@dataclass(frozen=True, kw_only=True)
class JudgeQuestion:
    """A pair of answers in one order, as a judge is asked about it."""

    pair: Pair
    first: Side
    """Whose answer is called A."""
    text: str
    same: bool
    """Both answers are the same text."""

    @property
    def digest(self) -> str:
        return sha256(self.text.encode("utf-8", "replace")).hexdigest()


def make_questions(
    instruction: str, pair: Pair, of_mode: str, of_reference: str
) -> tuple[JudgeQuestion, JudgeQuestion]:
    """Make the two questions on a pair from its answers, which are blinded. `about` says what they
    are of, and what is asked."""
    task, same = pair.of_mode.task, of_mode == of_reference
    sides: tuple[tuple[Side, str, str], ...] = (
        ("mode", of_mode, of_reference),
        ("reference", of_reference, of_mode),
    )
    first, second = (
        JudgeQuestion(
            pair=pair, first=side, text=write_question(instruction, task, *texts), same=same
        )
        for side, *texts in sides
    )
    return first, second


@dataclass(kw_only=True)
class JudgeClient:
    """Questions that are put to a judge, a few at a time."""

    judge: Judge
    clean: Callable[[str], str]
    """Takes secrets out of a reply."""
    keep: Callable[[Verdict], None]
    """Stores a verdict."""
    price: Price | None = None
    """Of its model; `None` where no table has it."""
    failures: list[ModelFailed] = field(default_factory=list)
    _failures_in_a_row: int = 0
    _refusal: NotAuthorized | UsageError | None = None

    async def ask(self, model: LanguageModel, questions: Sequence[JudgeQuestion]) -> None:
        """Ask them all. What fails stays open; several failures in a row end it. Raises what would
        fail every time: `NotAuthorized` and `UsageError`."""
        limiter = anyio.CapacityLimiter(AT_ONCE)
        async with anyio.create_task_group() as group:

            async def ask_one(question: JudgeQuestion) -> None:
                async with limiter:
                    await self._ask(model, question)
                if self._refusal or self._failures_in_a_row >= _MOST_FAILURES:
                    group.cancel_scope.cancel()

            for question in questions:
                group.start_soon(ask_one, question)
        if self._refusal:
            raise self._refusal

    async def _ask(self, model: LanguageModel, question: JudgeQuestion) -> None:
        start_time = time.monotonic()
        try:
            reply = _SAME if question.same else await model.complete(_make_request(question))
        except ModelFailed as error:
            self.failures.append(error)
            self._failures_in_a_row += 1
            return
        except (NotAuthorized, UsageError) as error:
            self._refusal = error
            return
        self._failures_in_a_row = 0
        self.keep(self._make_verdict(question, reply, time.monotonic() - start_time))

    def _make_verdict(self, question: JudgeQuestion, reply: Completion, seconds: float) -> Verdict:
        mode, reference = question.pair.of_mode, question.pair.of_reference
        model, url = self.judge
        return Verdict(
            mode=mode.mode,
            reference=reference.mode,
            run=mode.run,
            agent=mode.agent,
            task_id=mode.task_id,
            trial=mode.trial,
            attempt=mode.attempt,
            reference_trial=reference.trial,
            reference_attempt=reference.attempt,
            first=question.first,
            model=model,
            url=url,
            prompt=question.digest,
            verdict=read_verdict(reply),
            reply=self.clean(reply.text)[-_LONGEST_REPLY:],
            requests=1 if reply.requests is None else reply.requests,
            input_tokens=reply.usage.input,
            cache_read=reply.usage.cache_read,
            output_tokens=reply.usage.output,
            cost=_compute_cost(self.price, reply),
            price_table=self.price.table if self.price else None,
            seconds=round(seconds, 3),
            asked_at=datetime.now(UTC),
        )


def read_verdict(reply: Completion) -> Choice | None:
    """Read the verdict of a reply; what a judge thinks aloud has none."""
    if reply.finish in _NO_VERDICT:
        return None
    return find_verdict(drop_thoughts(reply, "chat").text)


def _compute_cost(price: Price | None, reply: Completion) -> float | None:
    if not reply.requests:
        return 0.0
    stated = reply.usage.can_be_of_text or not reply.text
    return price.compute_cost(reply.usage) if price and stated else None


def _make_request(question: JudgeQuestion) -> Ask:
    return Ask(prompt=(Turn(role="user", text=question.text),))
