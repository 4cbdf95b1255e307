"""Asks a model the cases of a group: one request for each trial, and never more at once than the
session allows. Requests are stored, each once, and so are answers."""

import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import anyio

from swarm_bench.benchmarks.cases.budget import limit_claims
from swarm_bench.benchmarks.cases.judging import JudgeLost, JudgeSource, OpenJudge
from swarm_bench.benchmarks.cases.reasoning import UNENDED, drop_thoughts
from swarm_bench.benchmarks.cases.role import ModelBenchmark, RowCase, Scores, Tools
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
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import (
    Around,
    Ask,
    Completion,
    LanguageModel,
    ModelSource,
    Way,
)
from swarm_bench.core.session.cases import CaseEnded, CaseGroup, CaseStarted, CaseTrial, Deliver
from swarm_bench.core.session.models import AnswerFields, JudgeFields, ModelRecord
from swarm_bench.core.session.prices import Price, find_price
from swarm_bench.core.session.scores import describe_unstorable
from swarm_bench.core.status import CONSEQUENCES, Cause

_Score = Callable[[], Awaitable[Scores | None]]
_LAST = (Cause.NO_CREDIT, Cause.NOT_AUTHORIZED, Cause.UNKNOWN_MODEL, Cause.WRONG_ADDRESS)
"""Causes for which no other request will be answered."""
_MOST_RUNS = 10_000
"""Most runs of a session: seeds of its runs do not meet those of the next seed."""


@dataclass(frozen=True, kw_only=True)
class GroupRequest:
    """Who is asked what in a group."""

    benchmark: ModelBenchmark
    """Benchmark with the properties of the arm."""
    model: str
    """Name of the model, as the caller writes it."""
    source: ModelSource
    model_context: Around = field(repr=False)
    tools: Tools | None
    """`None` when answers are not scored."""
    judge: JudgeSource | None
    cases: Mapping[str, RowCase]
    """Cases of the data set, all of them, by id."""
    numbers: Mapping[str, int]
    """Number of each case in the data set, from 0."""
    concurrency: int
    seed: int
    prices: Mapping[str, Price]
    answers: Mapping[str, ModelRecord]
    """Answers of earlier calls without scores, by their trials: their models are not asked
    again."""

    def make_request(self, case: RowCase, run: int) -> Ask:
        """Return the request of a trial. Other runs have other seeds."""
        ask = self.benchmark.ask(case, choose_way(self.benchmark, self.source))
        seed = self.seed * _MOST_RUNS + run
        return replace(ask, case=case.id, number=self.numbers[case.id], run=run, seed=seed)


def choose_way(benchmark: ModelBenchmark, source: ModelSource) -> Way:
    """Return how a model is asked: as the property says, otherwise in the first of the benchmark's
    ways that it has. Raises `UsageError`."""
    allowed = benchmark.asks_by()
    usable = [way for way in allowed if way in source.ways]
    if benchmark.way is not None and benchmark.way not in usable:
        raise UsageError(
            f"--property way={benchmark.way}: {benchmark.name} can ask this model by "
            f"{' and '.join(usable) or 'no way'} ({source.about})"
        )
    if not usable:
        raise UsageError(
            f"{benchmark.name} asks by {' and '.join(allowed)}, and this model can "
            f"be asked by {' and '.join(sorted(source.ways))} ({source.about}); give another model"
        )
    return benchmark.way or usable[0]


async def ask_group(request: GroupRequest, group: CaseGroup, deliver: Deliver) -> None:
    """Ask all cases of a group. Where every further request would be refused, what is asked already
    is paid for, and ends first."""
    limiter, last = anyio.CapacityLimiter(request.concurrency), list[SwarmBenchError]()
    async with (
        request.source.opened(request.model_context) as model,
        _open_judge(request) as judge,
        anyio.create_task_group() as tasks,
    ):

        async def run(trial: CaseTrial) -> None:
            try:
                result = await _run_trial(request, model, judge, trial)
            except (Exception, SystemExit) as error:  # noqa: BLE001  # code of others may raise
                detail = described(error)
                result = CaseEnded(trial=trial, cause=Cause.ADAPTER_FAILED, detail=detail)
            try:
                await deliver(result)
            except SwarmBenchError as error:
                if result.cause not in _LAST and not isinstance(error, CostLimitReached):
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
async def _open_judge(request: GroupRequest) -> AsyncIterator[OpenJudge | None]:
    """Open the judge, where there is one that may be asked."""
    if request.judge is None or request.tools is None:
        yield None
        return
    async with request.judge.start() as judge:
        yield judge


async def _run_trial(
    request: GroupRequest, model: LanguageModel, judge: OpenJudge | None, trial: CaseTrial
) -> CaseEnded:
    """Run a trial, with what the judge of its answer took."""
    if judge is None or request.tools is None:
        return await _ask_model(request, model, trial)
    earlier = request.answers.get(trial.id, JudgeFields())
    counted_judge = judge.start_counting(trial.id, earlier.judge_only)
    result = await _ask_model(
        replace(request, tools=replace(request.tools, judge=counted_judge)), model, trial
    )
    answer_fields = (result.own or AnswerFields()).model_copy(update=vars(counted_judge.counts))
    scores = result.scores or {}
    is_missing = any(scores.get(key) is None for key in request.benchmark.judged)
    if counted_judge.unanswered and is_missing and result.cause is Cause.FINISHED:
        result = replace(
            result, cause=Cause.JUDGE_FAILED, detail=f"the judge: {counted_judge.unanswered}"
        )
    return replace(result, own=answer_fields)


async def _ask_model(request: GroupRequest, model: LanguageModel, trial: CaseTrial) -> CaseEnded:
    case, started_at = request.cases[trial.case.id], datetime.now(UTC)
    ask = request.make_request(case, trial.run)
    fields = AnswerFields(part=case.part, group=case.group, way=ask.way, prompt_sha256=digest(ask))
    if (old := request.answers.get(trial.id)) and old.prompt_sha256 == fields.prompt_sha256:
        return await _read_and_score(request, case, ask, *read_stored_answer(trial, old))
    try:
        completion, understated = limit_claims(request.source, ask, await model.complete(ask))
    except (ModelFailed, NotAuthorized, UsageError) as error:
        failure = _make_failure(trial, error, fields, started_at)
        return await _score_no_answer(request, case, failure)
    cost, table = _compute_cost(request, completion)
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
    result = CaseEnded(
        trial=trial,
        cause=Cause.REFUSED if completion.finish == "refused" else completion.cause,
        detail=completion.detail,
        started_at=started_at,
        ended_at=datetime.now(UTC),
        wall_seconds=completion.seconds,
        answer=completion.text,
        usage=completion.usage,
        cost=cost,
        own=fields.model_copy(update=read),
    )
    if completion.cause is not Cause.FINISHED:
        return await _score_no_answer(request, case, replace(result, answer=None))
    return await _read_and_score(request, case, ask, completion, result)


def _compute_cost(request: GroupRequest, completion: Completion) -> tuple[float | None, str | None]:
    """Return what an answer cost, with the price table that says so if its model does not."""
    if completion.cost is not None:
        return completion.cost, None
    price = find_price(completion.model, request.prices) or find_price(
        request.model, request.prices
    )
    cost = price.compute_cost(completion.usage) if price else None
    return cost, price.table if price and cost is not None else None


def _make_failure(
    trial: CaseTrial, error: SwarmBenchError, answer_fields: AnswerFields, started_at: datetime
) -> CaseEnded:
    retries = error.requests - 1 if isinstance(error, ModelFailed) else 0
    return CaseEnded(
        trial=trial,
        cause=_find_cause(error),
        detail=str(error),
        started_at=started_at,
        ended_at=datetime.now(UTC),
        own=answer_fields.model_copy(update={"retries": retries}),
    )


async def _read_and_score(
    request: GroupRequest, case: RowCase, ask: Ask, completion: Completion, result: CaseEnded
) -> CaseEnded:
    """Read and score an answer; whatever goes wrong, it was paid for and is kept. What an agent
    that has read the answers says counts as nothing."""
    answer_fields = result.own or AnswerFields()
    try:
        answer = drop_thoughts(completion, ask.way)
        if completion.text.strip() and not answer.text.strip():
            answer_fields = answer_fields.model_copy(update={"elsewhere": UNENDED})
        prediction = request.benchmark.read(case, answer, ask.way)
        prediction = "" if completion.answers_read else prediction
        different = None if prediction == completion.text else prediction
        result = replace(result, own=answer_fields.model_copy(update={"prediction": different}))
        if request.tools is None:
            return result
    except (Exception, SystemExit) as error:  # noqa: BLE001  # code of others may raise anything
        detail = described(error)
        return replace(result, cause=Cause.ADAPTER_FAILED, detail=detail)
    return await _add_scores(
        request, result, partial(request.benchmark.score, case, prediction, request.tools)
    )


async def _score_no_answer(request: GroupRequest, case: RowCase, result: CaseEnded) -> CaseEnded:
    """Score a trial that the model ended without an answer; another one is run again."""
    if request.tools is None or CONSEQUENCES[result.cause].rerun:
        return result
    return await _add_scores(
        request, result, partial(request.benchmark.score_none, case, request.tools)
    )


async def _add_scores(request: GroupRequest, result: CaseEnded, score: _Score) -> CaseEnded:
    """Add the scores; those that cannot be stored fail this trial alone."""
    try:
        scores = await score()
        if (reason := describe_unstorable(scores)) is not None:
            detail = f"a score cannot be stored: {reason}"
            return replace(result, cause=Cause.ADAPTER_FAILED, detail=detail)
    except EnvironmentFailed as error:
        return replace(result, cause=Cause.ENVIRONMENT_FAILED, detail=str(error))
    except JudgeLost as lost:
        return replace(result, cause=_find_cause(lost.error), detail=str(lost))
    except (Exception, SystemExit) as error:  # noqa: BLE001  # code of others may raise anything
        detail = described(error)
        return replace(result, cause=Cause.ADAPTER_FAILED, detail=detail)
    answer_fields = (result.own or AnswerFields()).model_copy(
        update={"scoring_rules": request.benchmark.rules}
    )
    return replace(result, scores=scores, own=answer_fields)


def _find_cause(error: SwarmBenchError) -> Cause:
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


def make_stored_request(ask: Ask) -> dict[str, Any]:
    """Return what of a request is the same in every run."""
    prompt = ask.prompt if isinstance(ask.prompt, str) else _convert_prompt(ask)
    return {"way": ask.way, "prompt": prompt, "sampling": asdict(ask.sampling)}


def digest(ask: Ask) -> str:
    """Return the checksum of a request, by which it is found in `prompts.jsonl`."""
    text = json.dumps(make_stored_request(ask), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _convert_prompt(ask: Ask) -> Any:
    return asdict(ask)["prompt"]


def read_stored_answer(trial: CaseTrial, earlier: ModelRecord) -> tuple[Completion, CaseEnded]:
    """Return the answer that a record has, with what it took."""
    assert earlier.answer is not None
    usage = Usage(
        input=earlier.input_tokens,
        cache_read=earlier.cache_read,
        cache_create=earlier.cache_create,
        output=earlier.output_tokens,
    )
    completion = Completion(
        text=earlier.answer,
        finish=earlier.finish,
        usage=usage,
        whole=earlier.whole,
        answers_read=earlier.answers_read,
    )
    result = CaseEnded(
        trial=trial,
        cause=Cause.FINISHED,
        started_at=earlier.started_at,
        ended_at=earlier.ended_at,
        wall_seconds=earlier.wall_seconds,
        answer=earlier.answer,
        usage=usage,
        cost=earlier.cost,
        own=AnswerFields.model_validate(earlier.model_dump(include={*AnswerFields.model_fields})),
    )
    return completion, result
