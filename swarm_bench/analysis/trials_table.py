"""Makes the table of trials that is exported: what every benchmark records, then its metrics."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.cases.verdicts import primary_metric
from swarm_bench.analysis.caveats.barred import barred_by
from swarm_bench.analysis.caveats.kinds import caveats
from swarm_bench.analysis.comparison.pairs import SUCCESS, compared, planned_tasks, trials_of
from swarm_bench.analysis.comparison.quality import judged_by
from swarm_bench.analysis.selection import Selection, compares, counts
from swarm_bench.core.metric import Better, Metric, Metrics, ReadTrial
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.report.trials_table import Entry, Scored, TableColumn, TrialsTable
from swarm_bench.core.roles.metric_reader import Guarded
from swarm_bench.core.session.base import RecordView
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.session.tasks import Task
from swarm_bench.core.status import Status

_KINDS: Mapping[str, Literal["text", "whole", "check", "figure"]] = {
    "": "text",
    "number": "whole",
    "true or false": "check",
}
COMMON = tuple(
    TableColumn(name=name, unit=unit, definition=definition, kind=_KINDS.get(unit, "figure"))
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
        ("tags", "", "those of the task, with a comma between them"),
        ("part", "", "the part of the data, or the form of the question"),
        ("weight", "weight", "of the case in means over cases"),
        (
            *("in_verdict", "true or false"),
            "whether it is in the figure that the verdict is on, or of several the one on what "
            "was found",
        ),
        ("score", "0 to 1", "how good the answer is: the figure of this trial alone"),
    )
)
"""The columns of every benchmark."""


@dataclass(frozen=True, kw_only=True)
class _Judging:
    """What the trials of a session are judged by."""

    score: Metric | None
    read: ReadTrial
    """Reads the score."""
    in_verdict: Collection[int]
    """The trials that are in the figure of the verdict, by their identity."""
    weights: Mapping[str, float]
    about: Mapping[str, tuple[str | None, str | None]]
    """By case, its tags and its part."""

    def entries(self, trial: RecordView) -> tuple[Entry, ...]:
        """Return those of a trial in the last columns of every benchmark."""
        score = self.read(trial)
        return (
            *self.about.get(trial.case, (None, None)),
            self.weights.get(trial.case, 1.0),
            id(trial) in self.in_verdict,
            score if score is None else float(score),
        )

    @property
    def scored(self) -> Scored | None:
        """What the score is."""
        if self.score is None:
            return None
        return Scored(title=self.score.title, full=float(self.score.better is Better.HIGHER))


def swarm_table(selection: Selection) -> TrialsTable:
    """Make the table of a session of swarms. Of a trial that was run again it has the last
    attempt."""
    experiment, metrics = selection.data.experiment, _of_trials(selection.metrics)
    judged = ((trial, counts(trial), compares(trial)) for trial in selection.trials)
    judging = _of_swarms(selection)
    return TrialsTable(
        columns=_columns(metrics),
        rows=_rows(judged, metrics, judging),
        experiment=None if experiment.origin else experiment.model_dump(mode="json"),
        caveats={mode: _caveats(selection, mode) for mode in selection.modes},
        scored=judging.scored,
        swarms=tuple(swarm.model_dump(mode="json") for swarm in selection.swarms),
    )


def case_table(session: CaseSession) -> TrialsTable:
    """Make the table of a session whose trials are pairs of an arm and a case."""
    metrics = (*_of_trials(session.metrics), *_counts(session))
    judged = (
        (trial, trial.conclusive, trial.conclusive and trial.status is not Status.AGENT_FAILED)
        for trial in session.records
    )
    judging = _of_cases(session)
    return TrialsTable(
        columns=_columns(metrics),
        rows=_rows(judged, metrics, judging),
        experiment=session.experiment.model_dump(mode="json"),
        caveats={arm: session.caveats(arm) for arm in session.experiment.arms},
        scored=judging.scored,
    )


def _of_swarms(selection: Selection) -> _Judging:
    """Judge by what is found, or by success where nobody knows what is right."""
    metric = judged_by(selection) or selection.metrics[SUCCESS]
    reference, *others = selection.modes or ("",)
    over = {mode: set(compared(selection, mode, metric).pairs.cases) for mode in others}
    asked = set(planned_tasks(selection, metric).ids)
    over[reference] = set().union(*over.values()) if others else asked
    assert metric.read
    return _Judging(
        score=metric,
        read=metric.read,
        in_verdict={
            id(trial)
            for mode in selection.modes
            for trial in trials_of(selection, mode, metric)
            if trial.task_key in over[mode] and metric.read(trial) is not None
        },
        weights=selection.weights,
        about={task.id: (_tags(task), None) for task in selection.data.experiment.tasks},
    )


def _of_cases(session: CaseSession) -> _Judging:
    """Judge by what the verdict is on, or by another share where that is none."""
    primary = primary_metric(session)
    metrics = [*([primary] if primary else []), *(it for it in session.metrics if it.compared)]
    score = next(filter(_is_score, metrics), None)
    cases = [case.id for case in session.experiment.cases]
    own = list(_in_verdict(session, primary)) if primary else []
    return _Judging(
        score=score,
        read=_reader(session, score) if score else lambda _: None,
        in_verdict=set(map(id, own)),
        weights=_weights(session, primary, dict.fromkeys(it.case for it in own)),
        about={case: (session.tags_of(case), session.part_of.get(case)) for case in cases},
    )


def _tags(task: Task) -> str | None:
    return ", ".join(task.tags) or None


def _is_score(metric: Metric) -> bool:
    """Tell whether it is a figure of a trial of which the best is known."""
    return metric.is_share and metric.better is not None and not metric.relative


def _in_verdict(session: CaseSession, metric: Metric) -> Iterator[CaseRecord]:
    """Yield the trials of cases in which an arm is compared, and those of an arm that is compared
    with none."""
    over = defaultdict[str, set[str]](set)
    for side in session.references.items():
        for arm in side:
            over[arm].update(session.pairs(*side, metric).cases)
    read = _reader(session, metric)
    for arm in session.experiment.arms:
        cases = over.get(arm) or session.figures(arm, metric).keys()
        for record in session.counted(arm, metric):
            if record.case in cases and read(record) is not None:
                yield record


def _reader(session: CaseSession, metric: Metric) -> ReadTrial:
    """Return what reads the figure of a trial alone, also of one that is made of counts."""
    if metric.of_counts is None:
        assert metric.read
        return metric.read
    by_trial = session.counts(metric).by_trial
    made = Guarded(metric.of_counts, share=metric.is_share)
    return lambda it: made(by_trial[it.trial]) if it.trial in by_trial else None


def _weights(
    session: CaseSession, metric: Metric | None, cases: Collection[str]
) -> Mapping[str, float]:
    """Return the weights of cases in the figure."""
    asked = session.asked(metric) if metric else session.cases
    own = asked.weights_of(cases) if asked.by_group else ()
    return dict(zip(cases, own, strict=True)) if own else asked.weights


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
    judged: Iterable[tuple[RecordView, bool, bool]],
    metrics: tuple[Metric, ...],
    judging: _Judging,
) -> Iterator[tuple[Entry, ...]]:
    for trial, counted, in_ratios in judged:
        started, ended = trial.started_at, trial.ended_at
        yield (
            *(trial.arm, trial.case, trial.run, trial.number, trial.trial, trial.attempt),
            *(trial.status, trial.cause, trial.detail),
            started.isoformat() if started else None,
            ended.isoformat() if ended else None,
            *(counted, in_ratios),
            *judging.entries(trial),
            *(_figure(metric, trial) for metric in metrics),
        )


def _figure(metric: Metric, trial: RecordView) -> Entry:
    value = metric.read(trial) if metric.read else None
    return value if value is None or metric.unit != "true or false" else bool(value)
