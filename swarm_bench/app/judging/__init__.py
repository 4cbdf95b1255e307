"""Has a model compare the answers of a session that is over."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import anyio

from swarm_bench.analysis.comparison.judging import Judge, identify_pair
from swarm_bench.analysis.wording import quantify
from swarm_bench.app.judging.answers import Answers
from swarm_bench.app.stored.opening import open_session
from swarm_bench.benchmarks.swarm.judging.asking import JudgeClient, JudgeQuestion
from swarm_bench.config.addresses import remove_logins
from swarm_bench.core.errors import HarnessError, UsageError
from swarm_bench.core.interruption import cancelling
from swarm_bench.core.session.later.verdicts import Verdict
from swarm_bench.core.session.prices import find_price
from swarm_bench.models.own_prices import read_prices
from swarm_bench.models.servers.compatible import OPENAI, OPENAI_KEY, compatible_server
from swarm_bench.runtime.files import hold_lock
from swarm_bench.runtime.sink import clean_text
from swarm_bench.text.tokens import count

_VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class JudgeRequest:
    """Options of a call of `judge`."""

    folder: Path
    model: str
    url: str = OPENAI
    key: str | None = None
    """The variable that holds the key."""
    timeout: float = 120
    """Seconds for a request."""


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """Questions to ask, and counts of the pairs that need none."""

    unjudged: tuple[JudgeQuestion, ...]
    """Questions without a verdict of this judge."""
    stored_verdicts: int
    """Verdicts that are there already."""
    same: int
    """Pairs of equal texts, about which nobody is asked."""
    unread: int
    """Pairs of which an answer is not in the session's folder."""

    @property
    def questions(self) -> list[JudgeQuestion]:
        """Questions about two different texts."""
        return [question for question in self.unjudged if not question.same]

    def describe(self, request: JudgeRequest) -> str:
        """Say what will be asked, and of whom."""
        number, tokens = (
            len(self.questions),
            sum(count(question.text) for question in self.questions),
        )
        clauses = [
            f"{request.model} at {remove_logins(request.url)} is asked "
            f"{quantify(number, 'time')} (about {tokens:,} tokens): each pair of answers in both "
            "orders"
        ]
        if self.stored_verdicts:
            clauses.append(f"{quantify(self.stored_verdicts, 'verdict')} stored already")
        if self.same:
            clauses.append(f"{quantify(self.same, 'pair')} with the same text, a tie")
        if self.unread:
            clauses.append(f"{quantify(self.unread, 'pair')} omitted, as an answer cannot be read")
        return "; ".join(clauses)


@dataclass(frozen=True, kw_only=True)
class JudgeResult:
    """Result of a call of `judge`."""

    summary: str
    unanswered: int
    """Questions without a verdict."""
    reason: str
    """Reason why the last one of them has none."""

    def check(self) -> None:
        """Raise `HarnessError` when questions stay open."""
        if self.unanswered:
            raise HarnessError(
                f"{quantify(self.unanswered, 'question')} got no verdict: {self.reason}; repeat "
                f"the command to ask them again"
            )


def show_plan(request: JudgeRequest) -> str:
    """Say what `judge` would ask. Asks nobody."""
    return _make_plan(open_session(request.folder).read_answers(), request).describe(request) + "\n"


def judge(request: JudgeRequest, say: Say) -> JudgeResult:
    """Ask what has no verdict yet, and render the summary again. `say` gets a sentence on what will
    be asked, and on how far that is. Raises `UsageError` and `NotAuthorized`."""
    key, lock = _find_key(request), open_session(request.folder).read_answers().lock
    with hold_lock(lock):
        answers = open_session(request.folder).read_answers()
        plan = _make_plan(answers, request)
        say(plan.describe(request))
        progress = _Progress(total=len(plan.questions), say=say)

        def keep(verdict: Verdict) -> None:
            answers.keep(verdict)
            if verdict.requests:
                progress.step()

        judge_client = JudgeClient(
            judge=_identify_judge(request),
            clean=lambda text: clean_text(text, (key,)),
            keep=keep,
            price=find_price(request.model, read_prices()),
        )
        with cancelling():
            anyio.run(_ask, request, key, judge_client, plan.unjudged)
        summary = answers.render()
    return JudgeResult(
        summary=summary,
        unanswered=len(plan.questions) - progress.done,
        reason=str(judge_client.failures[-1]) if judge_client.failures else "",
    )


async def _ask(
    request: JudgeRequest, key: str, judge_client: JudgeClient, questions: tuple[JudgeQuestion, ...]
) -> None:
    server = compatible_server(request.model, request.url, key=key, timeout=request.timeout)
    async with server as model:
        await judge_client.ask(model, questions)


@dataclass(kw_only=True)
class _Progress:
    """Says at each tenth how many verdicts there are."""

    total: int
    say: Say
    done: int = 0

    def step(self) -> None:
        self.done += 1
        if self.done * 10 // self.total > (self.done - 1) * 10 // self.total:
            self.say(f"{self.done} of {quantify(self.total, 'verdict')}")


def _make_plan(answers: Answers, request: JudgeRequest) -> _Plan:
    """Find what to ask: of pairs with two answers, the orders that this judge has not seen."""
    of_judge = [line for line in answers.verdicts if line.judge == _identify_judge(request)]
    judged_keys = {(identify_pair(line), line.first, line.prompt) for line in of_judge}
    questions = [question for of_pair in answers.questions for question in of_pair]
    distinct = [question for question in questions if not question.same]
    unjudged = tuple(
        question
        for question in questions
        if (question.pair.identity, question.first, question.digest) not in judged_keys
    )
    return _Plan(
        unjudged=unjudged,
        stored_verdicts=len(distinct) - sum(not question.same for question in unjudged),
        same=(len(questions) - len(distinct)) // 2,
        unread=sum(not of_pair for of_pair in answers.questions),
    )


def _identify_judge(request: JudgeRequest) -> Judge:
    return request.model, remove_logins(request.url)


def _find_key(request: JudgeRequest) -> str:
    """Look up the key; empty without one. Raises `UsageError`, and repeats nothing that may be the
    key itself."""
    name = request.key or (OPENAI_KEY if request.url == OPENAI else "")
    if not name:
        return ""
    if not _VARIABLE.fullmatch(name):
        raise UsageError("--key takes the name of a variable that holds the key, not the key")
    if not (key := os.environ.get(name, "")):
        raise UsageError(f"The variable {name} holds no key; set it, or give another --key")
    return key
