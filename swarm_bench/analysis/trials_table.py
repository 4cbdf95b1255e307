"""Makes the table of trials that is exported: what every benchmark records, then its metrics."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from swarm_bench.analysis.cases.caveats import arm_caveats
from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.caveats.barred import barred_by
from swarm_bench.analysis.caveats.kinds import caveats
from swarm_bench.analysis.selection import Selection, compares, counts
from swarm_bench.core.metric import Metric, Metrics
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.report.trials_table import Entry, TableColumn, TrialsTable
from swarm_bench.core.session.base import RecordView
from swarm_bench.core.status import Status

_KINDS: Mapping[str, Literal["text", "whole", "check"]] = {
    "": "text",
    "number": "whole",
    "true or false": "check",
}
COMMON = tuple(
    TableColumn(name=name, unit=unit, definition=definition, kind=_KINDS[unit])
    for name, unit, definition in (
        ("arm", "", "the mode, or what else is compared"),
        ("case", "", "the task, or what else every arm is asked"),
        ("run", "number", "the run, from 1"),
        ("number", "number", "the agent of the swarm, or the case, from 1"),
        ("trial", "", "the id of the trial, equal in every session"),
        ("attempt", "number", "how often it was started"),
        ("status", "", "what kind of end it was"),
        ("cause", "", "the precise reason"),
        ("detail", "", "what was said about the end"),
        ("started_at", "", "the start, in UTC"),
        ("ended_at", "", "the end, in UTC"),
        ("counts", "true or false", "whether it says something about its arm as the arm is meant"),
        ("compares", "true or false", "whether it is in the ratios"),
    )
)
"""The columns of every benchmark."""


def swarm_table(selection: Selection) -> TrialsTable:
    """Make the table of a session of swarms. Of a trial that was run again it has the last
    attempt."""
    experiment, metrics = selection.data.experiment, _of_trials(selection.metrics)
    judged = ((trial, counts(trial), compares(trial)) for trial in selection.trials)
    return TrialsTable(
        columns=_columns(metrics),
        rows=_rows(judged, metrics),
        experiment=experiment.model_dump(mode="json") if experiment else None,
        caveats={mode: _caveats(selection, mode) for mode in selection.modes},
        swarms=tuple(swarm.model_dump(mode="json") for swarm in selection.swarms),
    )


def case_table(session: CaseSession) -> TrialsTable:
    """Make the table of a session whose trials are pairs of an arm and a case."""
    metrics = (*_of_trials(session.metrics), *_counts(session))
    judged = (
        (trial, trial.conclusive, trial.conclusive and trial.status is not Status.AGENT_FAILED)
        for trial in session.records
    )
    return TrialsTable(
        columns=_columns(metrics),
        rows=_rows(judged, metrics),
        experiment=session.experiment.model_dump(mode="json"),
        caveats={arm: arm_caveats(session, arm) for arm in session.experiment.arms},
    )


def _caveats(selection: Selection, mode: str) -> tuple[Caveat, ...]:
    """Collect the caveats of a mode, and why there is no verdict on it."""
    barred = barred_by(selection, mode)
    bar = [Caveat(qualification=barred.removesuffix("."), is_void=True)] if barred else []
    return (*bar, *caveats(selection, mode))


def _of_trials(metrics: Metrics) -> tuple[Metric, ...]:
    return tuple(it for it in metrics if it.read and it.of_case is None)


def _counts(session: CaseSession) -> Iterator[Metric]:
    """Yield a metric for each number of which sums make a figure of many trials."""
    for metric in session.metrics:
        if metric.counts:
            by_trial = session.counts(metric).by_trial
            for at in range(max(map(len, by_trial.values()), default=0)):
                yield replace(
                    metric,
                    key=f"{metric.key}_{at + 1}",
                    title=f"{metric.title}, count {at + 1}",
                    unit="count",
                    definition=f"Count {at + 1} of those that are added for: {metric.definition}",
                    read=partial(_count, by_trial, at),
                )


def _count(by_trial: Mapping[str, Sequence[float]], at: int, trial: RecordView) -> float | None:
    numbers = by_trial.get(trial.trial or "")
    return None if numbers is None else numbers[at]


def _columns(metrics: Iterable[Metric]) -> tuple[TableColumn, ...]:
    taken = {column.name for column in COMMON}
    own = (
        TableColumn(
            name=f"metric.{metric.key}" if metric.key in taken else metric.key,
            unit=metric.unit,
            definition=metric.definition,
            is_metric=True,
            kind="check" if metric.unit == "true or false" else "figure",
        )
        for metric in metrics
    )
    return (*COMMON, *own)


def _rows(
    judged: Iterable[tuple[RecordView, bool, bool]], metrics: tuple[Metric, ...]
) -> Iterator[tuple[Entry, ...]]:
    for trial, counted, compared in judged:
        started, ended = trial.started_at, trial.ended_at
        yield (
            *(trial.arm, trial.case, trial.run, trial.number, trial.trial, trial.attempt),
            *(trial.status, trial.cause, trial.detail),
            started.isoformat() if started else None,
            ended.isoformat() if ended else None,
            *(counted, compared),
            *(_figure(metric, trial) for metric in metrics),
        )


def _figure(metric: Metric, trial: RecordView) -> Entry:
    value = metric.read(trial) if metric.read else None
    return value if value is None or metric.unit != "true or false" else bool(value)
