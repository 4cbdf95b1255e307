"""Sessions of a benchmark of cases, of which an arm lost trials."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from swarm_bench.analysis.cases.model_summary import ComparedModels
from swarm_bench.analysis.cases.summary import ComparedArms
from swarm_bench.core.metric import Better, Metric, Metrics, Style
from swarm_bench.core.session.base import stable_id
from swarm_bench.core.session.cases import Case, CaseExperiment, CaseRecord
from swarm_bench.core.session.models import Arm, Data, ModelExperiment, ModelRecord
from swarm_bench.core.status import CONSEQUENCES, Cause

WORDS = Metric(
    key="words", title="Words", unit="words", style=Style.AVERAGE, definition="of an answer.",
    better=Better.LOWER, compared=True, read=lambda record: record.figures.get("words"),
)  # fmt: skip
RIGHT = Metric(
    key="right", title="Accuracy", unit="0 to 1", style=Style.FRACTION, definition="is right.",
    better=Better.HIGHER, compared=True, relative=False,
    read=lambda record: record.figures.get("right"),
)  # fmt: skip
BEST = Metric(
    key="best", title="Best of two", unit="0 to 1", style=Style.FRACTION, definition="the best.",
    better=Better.HIGHER, relative=False, read=lambda record: record.figures.get("right"),
    of_case=lambda values: max(values) if len(values) == 2 else None,
)  # fmt: skip
HIGH = tuple(0.8 + n % 5 / 50 for n in range(20))
LOW = tuple(0.4 + n % 3 / 50 for n in range(20))
LOST, FAILED = Cause.PROVIDER_FAILED, Cause.ERROR_RESULT


def case_session(
    arms: Mapping[str, Sequence[float]],
    ends: Mapping[str, Sequence[Cause | None]] = {},
    *,
    metrics: Collection[Metric] = (RIGHT, WORDS, BEST),
    **changes: Any,
) -> ComparedArms:
    """Make a session by the accuracy of each arm in each case, with 100 words for each point. The
    first trials of an arm end as `ends` has it, `None` without a record."""
    cases = tuple(Case(id=f"c{n}", title="c") for n in range(len(next(iter(arms.values())))))
    runs = changes.get("runs", 1)
    experiment = CaseExperiment(
        concurrency=1, session="s", created_at=datetime.now(UTC), benchmark="toy", seed=0,
        runs=runs, arms=tuple(arms), cases=cases, order=(tuple(arms),) * runs, primary="right",
    ).model_copy(update=changes)  # fmt: skip
    records = []
    for arm, figures in arms.items():
        numbers = [(run, at) for run in range(1, runs + 1) for at in range(len(cases))]
        others = [Cause.FINISHED] * (len(numbers) - len(ends.get(arm, ())))
        causes = [*ends.get(arm, ()), *others]
        records += [
            _record(arm, run, at, cause, figures[at])
            for (run, at), cause in zip(numbers, causes, strict=True)
            if cause is not None
        ]
    return ComparedArms(experiment=experiment, records=records, metrics=Metrics(tuple(metrics)))


def model_session(
    arms: Mapping[str, Sequence[float]],
    ends: Mapping[str, Sequence[Cause | None]] = {},
    *,
    metrics: Collection[Metric] = (RIGHT, WORDS, BEST),
    fields: Mapping[str, Any] = {},
    **changes: Any,
) -> ComparedModels:
    """Make the same of models, whose records have these fields."""
    session = case_session(arms, ends, metrics=metrics, **changes)
    experiment = ModelExperiment(
        **dict(session.experiment), request_timeout=1,
        models=tuple(Arm(name=arm, model=arm) for arm in arms),
        data=Data(name="rows", sha256="0", rows=len(session.experiment.cases)),
    )  # fmt: skip
    records = [ModelRecord(**{**dict(it), **fields}) for it in session.records]
    return ComparedModels(experiment=experiment, records=records, metrics=session.metrics)


def _record(arm: str, run: int, at: int, cause: Cause, right: float) -> CaseRecord:
    answered = cause is Cause.FINISHED
    return CaseRecord(
        arm=arm, case=f"c{at}", number=at + 1, run=run, session="s", attempt=1,
        trial=stable_id(run, arm, at), status=CONSEQUENCES[cause].status, cause=cause,
        figures={"right": right, "words": right * 100} if answered else {},
    )  # fmt: skip
