"""Asks a model the cases of a group: one request for each trial, and never more at once than the
session allows."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

import anyio

from swarm_bench.benchmarks.cases.judging import JudgeLost, JudgeSource, OpenJudge
from swarm_bench.benchmarks.cases.plausible import plausible
from swarm_bench.benchmarks.cases.requests import digest, stored_answer
from swarm_bench.benchmarks.cases.role import ModelBenchmark, RowCase, Scores, Tools
from swarm_bench.benchmarks.cases.thoughts import UNENDED, without_thoughts
from swarm_bench.core.errors import (
    CostLimitReached,
    EnvironmentFailed,
    ModelFailed,
    NoCredit,
    NotAuthorized,
    SwarmBenchError,
    UsageError,
    WrongAddress,
    described,
)
from swarm_bench.core.roles.language_model import (
    Around,
    Ask,
    Completion,
    LanguageModel,
    ModelSource,
    Way,
)
from swarm_bench.core.session.cases import CaseEnded, CaseGroup, CaseStarted, CaseTrial, Deliver
from swarm_bench.core.session.models import Answered, Judged, ModelRecord
from swarm_bench.core.session.prices import Price, price_of
from swarm_bench.core.session.scores import unstorable
from swarm_bench.core.status import CONSEQUENCES, Cause

_Score = Callable[[], Awaitable[Scores | None]]
_LAST = (Cause.NO_CREDIT, Cause.NOT_AUTHORIZED, Cause.UNKNOWN_MODEL, Cause.WRONG_ADDRESS)
"""Why no other request will be answered."""
_MOST_RUNS = 10_000
"""Of a session: seeds of its runs do not meet those of the next seed."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Who is asked what in a group."""

    benchmark: ModelBenchmark
    """With the properties of the arm."""
    model: str
    """As whoever asks it names it."""
    source: ModelSource
    around: Around = field(repr=False)
    tools: Tools | None
    """`None` when answers are not scored."""
    judge: JudgeSource | None
    cases: Mapping[str, RowCase]
    """All of the data set, by id."""
    numbers: Mapping[str, int]
    """Of each in the data set, from 0."""
    concurrency: int
    seed: int
    prices: Mapping[str, Price]
    answers: Mapping[str, ModelRecord]
    """Those that are there and have no scores yet, by their trials: their models are not asked
    again."""

    def request(self, case: RowCase, run: int) -> Ask:
        """Return the request of a trial. Other runs have other seeds."""
        ask = self.benchmark.ask(case, way_of(self.benchmark, self.source))
        seed = self.seed * _MOST_RUNS + run
        return replace(ask, case=case.id, number=self.numbers[case.id], run=run, seed=seed)


def way_of(benchmark: ModelBenchmark, source: ModelSource) -> Way:
    """Return how a model is asked: as the property says, otherwise in the first of the benchmark's
    ways that it has. Raises `UsageError`."""
    own = benchmark.asks_by()
    ways = [way for way in own if way in source.ways]
    if benchmark.way is not None and benchmark.way not in ways:
        raise UsageError(
            f"--property way={benchmark.way}: {benchmark.name} can ask this model by "
            f"{' and '.join(ways) or 'no way'} ({source.about})"
        )
    if not ways:
        raise UsageError(
            f"{benchmark.name} asks by {' and '.join(own)}, and this model can "
            f"be asked by {' and '.join(sorted(source.ways))} ({source.about}); give another model"
        )
    return benchmark.way or ways[0]


async def ask_group(asked: Asked, group: CaseGroup, deliver: Deliver) -> None:
    """Ask all cases of a group. Where every further request would be refused, what is asked already
    is paid for, and ends first."""
    limiter, last = anyio.CapacityLimiter(asked.concurrency), list[SwarmBenchError]()
    async with (
        asked.source.opened(asked.around) as model,
        _judge(asked) as judge,
        anyio.create_task_group() as tasks,
    ):

        async def run(trial: CaseTrial) -> None:
            try:
                ended = await _judged(asked, model, judge, trial)
            except (Exception, SystemExit) as error:  # noqa: BLE001  # code of others may raise
                detail = described(error)
                ended = CaseEnded(trial=trial, cause=Cause.ADAPTER_FAILED, detail=detail)
            try:
                await deliver(ended)
            except SwarmBenchError as error:
                if ended.cause not in _LAST and not isinstance(error, CostLimitReached):
                    raise
                last.append(error)
            limiter.release_on_behalf_of(trial.id)

        for trial in group.trials:
            await limiter.acquire_on_behalf_of(trial.id)
            if last:
                break
            try:
                await deliver(CaseStarted(trial=trial))
            except CostLimitReached:
                break
            tasks.start_soon(run, trial)
    if last:
        raise last[0]


@asynccontextmanager
async def _judge(asked: Asked) -> AsyncIterator[OpenJudge | None]:
    """Open the judge, where there is one that may be asked."""
    if asked.judge is None or asked.tools is None:
        yield None
        return
    async with asked.judge.opened() as judge:
        yield judge


async def _judged(
    asked: Asked, model: LanguageModel, judge: OpenJudge | None, trial: CaseTrial
) -> CaseEnded:
    """Run a trial, with what the judge of its answer took."""
    if judge is None or asked.tools is None:
        return await _ended(asked, model, trial)
    before = asked.answers.get(trial.id, Judged())
    counted = judge.counting(trial.id, before.of_judge)
    ended = await _ended(replace(asked, tools=replace(asked.tools, judge=counted)), model, trial)
    own = (ended.own or Answered()).model_copy(update=vars(counted.judged))
    scores = ended.scores or {}
    is_missing = any(scores.get(key) is None for key in asked.benchmark.judged)
    if counted.unanswered and is_missing and ended.cause is Cause.FINISHED:
        ended = replace(ended, cause=Cause.JUDGE_FAILED, detail=f"the judge: {counted.unanswered}")
    return replace(ended, own=own)


async def _ended(asked: Asked, model: LanguageModel, trial: CaseTrial) -> CaseEnded:
    case, began = asked.cases[trial.case.id], datetime.now(UTC)
    ask = asked.request(case, trial.run)
    own = Answered(part=case.part, group=case.group, way=ask.way, prompt_sha256=digest(ask))
    if (before := asked.answers.get(trial.id)) and before.prompt_sha256 == own.prompt_sha256:
        return await _scored(asked, case, ask, *stored_answer(trial, before))
    try:
        completion, understated = plausible(asked.source, ask, await model.complete(ask))
    except (ModelFailed, NotAuthorized, UsageError) as error:
        ended = _failed(trial, error, own, began)
        return await _without_answer(asked, case, ended)
    cost, table = _cost(asked, completion)
    read = {
        "model": completion.model,
        "finish": completion.finish,
        "omitted": completion.omitted,
        "elsewhere": completion.elsewhere,
        "understated": understated,
        "whole": completion.whole,
        "retries": None if completion.requests is None else completion.requests - 1,
        "cost_estimated": completion.cost_estimated if table is None else True,
        "price_table": table,
        "num_turns": completion.turns,
        "answers_read": completion.answers_read,
    }
    answered = CaseEnded(
        trial=trial,
        cause=Cause.REFUSED if completion.finish == "refused" else completion.cause,
        detail=completion.detail,
        started_at=began,
        ended_at=datetime.now(UTC),
        wall_seconds=completion.seconds,
        answer=completion.text,
        usage=completion.usage,
        cost=cost,
        own=own.model_copy(update=read),
    )
    if completion.cause is not Cause.FINISHED:
        return await _without_answer(asked, case, replace(answered, answer=None))
    return await _scored(asked, case, ask, completion, answered)


def _cost(asked: Asked, completion: Completion) -> tuple[float | None, str | None]:
    """Return what an answer cost, with the price table that says so if its model does not."""
    if completion.cost is not None:
        return completion.cost, None
    price = price_of(completion.model, asked.prices) or price_of(asked.model, asked.prices)
    cost = price.of(completion.usage) if price else None
    return cost, price.table if price and cost is not None else None


def _failed(trial: CaseTrial, error: SwarmBenchError, own: Answered, began: datetime) -> CaseEnded:
    retries = error.requests - 1 if isinstance(error, ModelFailed) else 0
    return CaseEnded(
        trial=trial,
        cause=_cause(error),
        detail=str(error),
        started_at=began,
        ended_at=datetime.now(UTC),
        own=own.model_copy(update={"retries": retries}),
    )


async def _scored(
    asked: Asked, case: RowCase, ask: Ask, completion: Completion, ended: CaseEnded
) -> CaseEnded:
    """Read and score an answer; whatever goes wrong, it was paid for and is kept. What an agent
    that has read the answers says counts as nothing."""
    own = ended.own or Answered()
    try:
        heard = without_thoughts(completion, ask.way)
        if completion.text.strip() and not heard.text.strip():
            own = own.model_copy(update={"elsewhere": UNENDED})
        prediction = asked.benchmark.read(case, heard, ask.way)
        prediction = "" if completion.answers_read else prediction
        different = None if prediction == completion.text else prediction
        ended = replace(ended, own=own.model_copy(update={"prediction": different}))
        if asked.tools is None:
            return ended
    except (Exception, SystemExit) as error:  # noqa: BLE001  # code of others may raise anything
        detail = described(error)
        return replace(ended, cause=Cause.ADAPTER_FAILED, detail=detail)
    return await _with(asked, ended, partial(asked.benchmark.score, case, prediction, asked.tools))


async def _without_answer(asked: Asked, case: RowCase, ended: CaseEnded) -> CaseEnded:
    """Score a trial that the model ended without an answer; another one is run again."""
    if asked.tools is None or CONSEQUENCES[ended.cause].rerun:
        return ended
    return await _with(asked, ended, partial(asked.benchmark.score_none, case, asked.tools))


async def _with(asked: Asked, ended: CaseEnded, score: _Score) -> CaseEnded:
    """Add the scores; those that cannot be stored fail this trial alone."""
    try:
        scores = await score()
        if (why := unstorable(scores)) is not None:
            detail = f"a score cannot be stored: {why}"
            return replace(ended, cause=Cause.ADAPTER_FAILED, detail=detail)
    except EnvironmentFailed as error:
        return replace(ended, cause=Cause.ENVIRONMENT_FAILED, detail=str(error))
    except JudgeLost as lost:
        return replace(ended, cause=_cause(lost.error), detail=str(lost))
    except (Exception, SystemExit) as error:  # noqa: BLE001  # code of others may raise anything
        detail = described(error)
        return replace(ended, cause=Cause.ADAPTER_FAILED, detail=detail)
    own = (ended.own or Answered()).model_copy(update={"scoring_rules": asked.benchmark.rules})
    return replace(ended, scores=scores, own=own)


def _cause(error: SwarmBenchError) -> Cause:
    match error:
        case ModelFailed():
            return error.cause
        case NoCredit():
            return Cause.NO_CREDIT
        case NotAuthorized():
            return Cause.NOT_AUTHORIZED
        case WrongAddress():
            return Cause.WRONG_ADDRESS
        case CostLimitReached():
            return Cause.INTERRUPTED
    return Cause.UNKNOWN_MODEL
