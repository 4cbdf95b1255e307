"""Makes the table of trials that is exported: what every benchmark records, then its metrics."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.cases.verdicts import find_primary_metric
from swarm_bench.analysis.caveats.kinds import list_caveats
from swarm_bench.analysis.caveats.no_verdict import explain_no_verdict
from swarm_bench.analysis.comparison.pairs import (
    SUCCESS,
    pair_metric,
    select_planned_tasks,
    select_trials,
)
from swarm_bench.analysis.comparison.quality import find_quality_metric
from swarm_bench.analysis.selection import Selection, compares, counts
from swarm_bench.core.errors import UsageError
from swarm_bench.core.metric import Better, Guarded, Metric, Metrics, ReadTrial
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.report.trials import Entry, Scored, TableColumn, TrialsTable
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
        ("node", "", "the machine that it ran on; empty for that of the session"),
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
    labels: Mapping[str, tuple[str | None, str | None]]
    """Tags and part of a case, by its id."""

    def list_entries(self, trial: RecordView) -> tuple[Entry, ...]:
        """Return those of a trial in the last columns of every benchmark."""
        score = self.read(trial)
        return (
            *self.labels.get(trial.case, (None, None)),
            self.weights.get(trial.case, 1.0),
            id(trial) in self.in_verdict,
            score if score is None else float(score),
        )

    @property
    def score_scale(self) -> Scored | None:
        """What the score is."""
        if self.score is None:
            return None
        return Scored(title=self.score.title, full=float(self.score.better is Better.HIGHER))


def make_swarm_table(selection: Selection) -> TrialsTable:
    """Make the table of a session of swarms. Of a trial that was run again it has the last
    attempt."""
    experiment, metrics = selection.data.experiment, _list_trial_metrics(selection.metrics)
    rated_trials = ((trial, counts(trial), compares(trial)) for trial in selection.trials)
    judging = _judge_swarms(selection)
    return TrialsTable(
        columns=_make_columns(metrics),
        rows=_make_rows(rated_trials, metrics, judging),
        experiment=None if experiment.origin else experiment.model_dump(mode="json"),
        caveats={mode: _list_caveats(selection, mode) for mode in selection.modes},
        scored=judging.score_scale,
        swarms=tuple(swarm.model_dump(mode="json") for swarm in selection.swarms),
    )


def make_case_table(session: CaseSession) -> TrialsTable:
    """Make the table of a session whose trials are pairs of an arm and a case."""
    metrics = (*_list_trial_metrics(session.metrics), *_make_count_metrics(session))
    rated_trials = (
        (trial, trial.conclusive, trial.conclusive and trial.status is not Status.AGENT_FAILED)
        for trial in session.records
    )
    judging = _judge_cases(session)
    return TrialsTable(
        columns=_make_columns(metrics),
        rows=_make_rows(rated_trials, metrics, judging),
        experiment=session.experiment.model_dump(mode="json"),
        caveats=session.all_caveats,
        scored=judging.score_scale,
    )


def _judge_swarms(selection: Selection) -> _Judging:
    """Judge by what is found, or by success where the right answers are unknown."""
    metric = find_quality_metric(selection) or selection.metrics[SUCCESS]
    reference, *other_modes = selection.modes or ("",)
    over = {mode: set(pair_metric(selection, mode, metric).pairs.cases) for mode in other_modes}
    task_ids = set(select_planned_tasks(selection, metric).ids)
    over[reference] = set().union(*over.values()) if other_modes else task_ids
    return _Judging(
        score=metric,
        read=metric.reader,
        in_verdict={
            id(trial)
            for mode in selection.modes
            for trial in select_trials(selection, mode, metric)
            if trial.task_key in over[mode] and metric.reader(trial) is not None
        },
        weights=selection.weights,
        labels={task.id: (_join_tags(task), None) for task in selection.data.experiment.tasks},
    )


def _judge_cases(session: CaseSession) -> _Judging:
    """Judge by what the verdict is on, or by another share where that is none."""
    primary = find_primary_metric(session)
    metrics = [
        *([primary] if primary else []),
        *(metric for metric in session.metrics if metric.compared),
    ]
    score = next(filter(_is_score, metrics), None)
    cases = [case.id for case in session.experiment.cases]
    verdict_records = list(_list_verdict_trials(session, primary)) if primary else []
    return _Judging(
        score=score,
        read=_make_reader(session, score) if score else lambda _: None,
        in_verdict=set(map(id, verdict_records)),
        weights=_find_weights(
            session, primary, dict.fromkeys(record.case for record in verdict_records)
        ),
        labels={case: (session.find_tags(case), session.parts_by_case.get(case)) for case in cases},
    )


def _join_tags(task: Task) -> str | None:
    return ", ".join(task.tags) or None


def _is_score(metric: Metric) -> bool:
    """Tell whether it is a figure of a trial of which the best is known."""
    return metric.is_share and metric.better is not None and not metric.relative


def _list_verdict_trials(session: CaseSession, metric: Metric) -> Iterator[CaseRecord]:
    """Yield the trials of cases in which an arm is compared, and those of an arm that is compared
    with none."""
    over = defaultdict[str, set[str]](set)
    for side in session.references.items():
        for arm in side:
            over[arm].update(session.pair_arms(*side, metric).cases)
    read = _make_reader(session, metric)
    for arm in session.experiment.arms:
        cases = over.get(arm) or session.figures(arm, metric).keys()
        for record in session.select_counted(arm, metric):
            if record.case in cases and read(record) is not None:
                yield record


def _make_reader(session: CaseSession, metric: Metric) -> ReadTrial:
    """Return what reads the figure of a trial alone, also of one that is made of counts."""
    if metric.of_counts is None:
        return metric.reader
    by_trial = session.count_metric(metric).by_trial
    compute = Guarded(metric.of_counts, share=metric.is_share)
    return lambda record: compute(by_trial[record.trial]) if record.trial in by_trial else None


def _find_weights(
    session: CaseSession, metric: Metric | None, cases: Collection[str]
) -> Mapping[str, float]:
    """Return the weights of cases in the figure."""
    metric_cases = session.select_cases(metric) if metric else session.cases
    case_weights = metric_cases.list_weights(cases) if metric_cases.by_group else ()
    return dict(zip(cases, case_weights, strict=True)) if case_weights else metric_cases.weights


def _list_caveats(selection: Selection, mode: str) -> tuple[Caveat, ...]:
    """Collect the caveats of a mode, and why there is no verdict on it."""
    explanation = explain_no_verdict(selection, mode)
    bar = [Caveat(qualification=explanation.removesuffix("."), is_void=True)] if explanation else []
    return (*bar, *list_caveats(selection, mode))


def _list_trial_metrics(metrics: Metrics) -> tuple[Metric, ...]:
    return tuple(metric for metric in metrics if metric.read and metric.of_case is None)


def _make_count_metrics(session: CaseSession) -> Iterator[Metric]:
    """Yield a metric for each number of which sums make a figure of many trials."""
    for metric in session.metrics:
        if metric.counts:
            by_trial = session.count_metric(metric).by_trial
            for at in range(max(map(len, by_trial.values()), default=0)):
                yield replace(
                    metric,
                    key=f"{metric.key}_{at + 1}",
                    title=f"{metric.title}, count {at + 1}",
                    unit="count",
                    definition=f"Count {at + 1} of those that are added for: {metric.definition}",
                    read=partial(_read_count, by_trial, at),
                )


def _read_count(
    by_trial: Mapping[str, Sequence[float]], at: int, trial: RecordView
) -> float | None:
    numbers = by_trial.get(trial.trial or "")
    return None if numbers is None else numbers[at]


def _make_columns(metrics: Iterable[Metric]) -> tuple[TableColumn, ...]:
    common_names = {column.name for column in COMMON}
    metric_columns = (
        TableColumn(
            name=f"metric.{metric.key}" if metric.key in common_names else metric.key,
            unit=metric.unit,
            definition=metric.definition,
            is_metric=True,
            kind="check" if metric.unit == "true or false" else "figure",
        )
        for metric in metrics
    )
    return (*COMMON, *metric_columns)


def _make_rows(
    rated_trials: Iterable[tuple[RecordView, bool, bool]],
    metrics: tuple[Metric, ...],
    judging: _Judging,
) -> Iterator[tuple[Entry, ...]]:
    for trial, is_counted, in_ratios in rated_trials:
        start, end = trial.started_at, trial.ended_at
        yield (
            *(trial.arm, trial.case, trial.run, trial.number, trial.trial, trial.attempt),
            *(trial.status, trial.cause, trial.detail),
            start.isoformat() if start else None,
            end.isoformat() if end else None,
            trial.node,
            *(is_counted, in_ratios),
            *judging.list_entries(trial),
            *(_read_figure(metric, trial) for metric in metrics),
        )


def _read_figure(metric: Metric, trial: RecordView) -> Entry:
    value = metric.read(trial) if metric.read else None
    return value if value is None or metric.unit != "true or false" else bool(value)


if TYPE_CHECKING:
    from pandas import DataFrame

_TYPES = {"text": "string", "whole": "Int64", "check": "boolean", "figure": "Float64"}


@dataclass(frozen=True, eq=False)
class LoadedSession:
    """A session. What is missing is `NA`, never 0."""

    trials: "DataFrame"
    """A row for each trial: what every benchmark records, then the metrics of its own."""
    figures: "DataFrame"
    """The metrics in long form: arm, case, run, number, metric, value (a check is 1 or 0) and
    unit; without what is missing."""
    swarms: "DataFrame"
    """A row for each swarm, with its counters; none where the benchmark has no swarms."""
    columns: "DataFrame"
    """Name, unit and definition of each column of the trials."""
    experiment: dict[str, Any] | None
    """Experiment as it was resolved before the first trial, in its stored form; `None` for a folder
    that canopy's script wrote."""

    def __repr__(self) -> str:
        """Say how much there is, since a notebook shows a session by it."""
        sizes = (("trials", self.trials), ("figures", self.figures), ("swarms", self.swarms))
        sizes_text = ", ".join(f"{name} ({len(frame):,})" for name, frame in sizes)
        return f"<LoadedSession: {sizes_text}, columns, experiment>"


def make_frames(table: TrialsTable) -> LoadedSession:
    """Make the frames of a session. Raises `UsageError` without pandas."""
    try:
        import pandas
    except ImportError:
        raise UsageError("load needs pandas; install it with: pip install pandas") from None
    names = [column.name for column in table.columns]
    trials = pandas.DataFrame.from_records(list(table.rows), columns=names)
    trials = trials.astype({column.name: _TYPES[column.kind] for column in table.columns})
    for name in ("started_at", "ended_at"):
        trials[name] = pandas.to_datetime(trials[name], utc=True, format="ISO8601")
    columns = pandas.DataFrame(
        {
            "name": names,
            "unit": [column.unit for column in table.columns],
            "definition": [column.definition for column in table.columns],
        }
    )
    return LoadedSession(
        trials=trials,
        figures=_make_figures(table, trials),
        swarms=pandas.json_normalize([dict(swarm) for swarm in table.swarms]),
        columns=columns,
        experiment=table.experiment,
    )


def _make_figures(table: TrialsTable, trials: "DataFrame") -> "DataFrame":
    figures = {column.name: column.unit for column in table.columns if column.is_metric}
    long = trials.astype(dict.fromkeys(figures, "Float64")).melt(
        id_vars=["arm", "case", "run", "number"],
        value_vars=list(figures),
        var_name="metric",
        value_name="value",
    )
    long["unit"] = long["metric"].map(figures)
    return long.dropna(subset="value").reset_index(drop=True)
