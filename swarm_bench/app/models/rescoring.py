"""Scoring of the answers of a session of models again, or for the first time. No model is asked,
and no record changes: the new scores are put beside the records."""

from collections.abc import Mapping
from datetime import UTC, datetime

import anyio

from swarm_bench.app.stored.models import ModelSession
from swarm_bench.app.stored.session import RescoreRequest
from swarm_bench.app.trust.approval import require_code
from swarm_bench.app.trust.run_demands import (
    list_benchmark_demands,
    list_property_demands,
    list_row_demands,
)
from swarm_bench.benchmarks.cases.benchmark import RowBenchmark
from swarm_bench.benchmarks.cases.reasoning import drop_thoughts
from swarm_bench.benchmarks.cases.role import ModelBenchmark, RowCase, Scores, Tools
from swarm_bench.core import entry_points
from swarm_bench.core.entry_points import own_version
from swarm_bench.core.errors import UsageError
from swarm_bench.core.interruption import cancelling
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.execution import Environment
from swarm_bench.core.roles.language_model import Completion
from swarm_bench.core.session.models import ModelExperiment, ModelRecord
from swarm_bench.core.session.rescored import ReparsedAnswer
from swarm_bench.core.status import CONSEQUENCES
from swarm_bench.datasets.rows import Rows, read_rows
from swarm_bench.environments.python_tests import try_out

AT_ONCE = 4


def rescore_models(session: ModelSession, request: RescoreRequest) -> None:
    """Score the answers of a session, and store what comes of it. Raises `UsageError`."""
    with cancelling():
        experiment = session.folder.read_experiment()
        demands = [
            *list_benchmark_demands(experiment),
            *list_row_demands(experiment),
            *list_property_demands(experiment),
        ]
        require_code(demands, trust=request.trust)
        anyio.run(_rescore, session, request)


async def _rescore(session: ModelSession, request: RescoreRequest) -> None:
    folder, benchmark = session.folder, session.benchmark
    experiment = folder.read_experiment()
    schema = benchmark.kind.model_validate(experiment.properties).row_schema()
    rows = read_rows(experiment.data.name, schema)
    runs_code = benchmark.runs_code(experiment.properties, experiment.models, rows.rows)
    tools = _open_tools(request) if runs_code else Tools(environment=None)
    if tools.environment:
        await try_out(tools.environment)
    rescorer = _AnswerRescorer(experiment, benchmark, rows, tools)
    records = [
        record
        for _, _, record in folder.records.read()
        if record is not None
        and (record.answer is not None or not CONSEQUENCES[record.cause].rerun)
    ]
    if all(record.answer is None for record in records):
        raise UsageError(f"{folder.path} has no answers that could be scored; run it first")
    limiter = anyio.CapacityLimiter(AT_ONCE)
    async with anyio.create_task_group() as tasks:

        async def score(record: ModelRecord) -> None:
            async with limiter:
                if (line := await rescorer.rescore(record)) is not None:
                    folder.append_reread(line)

        for record in records:
            tasks.start_soon(score, record)


def _open_tools(request: RescoreRequest) -> Tools:
    """Open what scoring may use. Raises `UsageError`."""
    if not request.allow_code_execution:
        raise UsageError(
            "To score these answers, code that models wrote is run; allow it with "
            "--allow-code-execution"
        )
    environment: Environment = entry_points.make("environments", request.environment)
    environment.program()
    return Tools(environment=environment)


class _AnswerRescorer:
    """Reader and scorer of stored answers."""

    def __init__(
        self, experiment: ModelExperiment, benchmark: RowBenchmark, rows: Rows, tools: Tools
    ) -> None:
        self._tools = tools
        if rows.data.sha256 != experiment.data.sha256:
            raise UsageError(
                f"The session was of other rows of {experiment.data.name}; restore the file"
            )
        self._benchmarks: Mapping[str, ModelBenchmark] = {
            arm.name: benchmark.configure(experiment.properties, arm) for arm in experiment.models
        }
        self._cases: Mapping[str, Mapping[str, RowCase]] = {
            arm: {case.id: case for case in arm_benchmark.cases(rows.rows)}
            for arm, arm_benchmark in self._benchmarks.items()
        }
        for arm, cases in self._cases.items():
            if missing := [case.id for case in experiment.cases if case.id not in cases]:
                raise UsageError(
                    f"{benchmark.name} has no case {missing[0]} any more, which the session asked "
                    f"of {arm}; install the version that it was run with"
                )

    async def rescore(self, record: ModelRecord) -> ReparsedAnswer | None:
        """Read and score the answer of a record; `None` where it has none that has scores."""
        benchmark, case = self._benchmarks[record.arm], self._cases[record.arm][record.case]
        answer = record.answer
        if answer is None:
            prediction, scores = None, await benchmark.score_none(case, self._tools)
        else:
            completion = Completion(
                text=answer, finish=record.finish, usage=Usage(), whole=record.whole
            )
            way = record.way or "text"
            prediction = benchmark.read(case, drop_thoughts(completion, way), way)
            prediction = "" if record.answers_read else prediction
            scores = await benchmark.score(case, prediction, self._tools)
            if prediction == (answer if record.prediction is None else record.prediction):
                scores = {**scores, **_keep_judge_scores(benchmark, record)}
        if scores is None:
            return None
        environment = self._tools.environment
        return ReparsedAnswer(
            arm=record.arm,
            case=record.case,
            trial=record.trial,
            attempt=record.attempt,
            rescored_at=datetime.now(UTC),
            swarm_bench=own_version(),
            environment=environment.confinement if environment else None,
            confines=environment.confines if environment else None,
            scoring_rules=benchmark.rules,
            prediction=None if prediction == answer else prediction,
            scores=dict(scores),
        )


def _keep_judge_scores(benchmark: ModelBenchmark, record: ModelRecord) -> Scores:
    """Return what the judge said of an answer, who is not asked again."""
    scores = record.scores or {}
    return {key: scores[key] for key in benchmark.judged if key in scores}
