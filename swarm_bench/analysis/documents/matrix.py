"""Tasks and arms with what each trial found, and when each agent ran, as a page shows them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.cases.verdicts import find_primary_metric
from swarm_bench.analysis.comparison.pairs import RECALLS
from swarm_bench.analysis.selection import Selection, is_inconclusive
from swarm_bench.analysis.wording import lowercase, quantify
from swarm_bench.core.metric import Better, Metric
from swarm_bench.core.report.document import Tone, Value
from swarm_bench.core.report.page import Bar, Lane, Matrix, MatrixEntry, MatrixRow, Timeline
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Status

_TASK = "Task"
_CHECK = "true or false"
"""Unit of what a trial is or is not."""
MAX_ROWS = 2_000
_MAX_ENTRIES = 30
"""Trials in a cell."""
_OMISSION_NOTE = "Trials that have no room here; each can be chosen beside another one"
_MAX_BARS = 2_000
"""Bars; more cannot be told apart."""


def list_task_trials(selection: Selection) -> dict[str, list[TrialRecord]]:
    """Return the trials of each task, in the order of the modes and runs; tasks without trials are
    in it too."""
    tasks = {task.id: list[TrialRecord]() for task in selection.data.experiment.tasks}
    order = {mode: at for at, mode in enumerate(selection.modes)}
    for trial in sorted(
        selection.trials, key=lambda trial: (order[trial.mode], trial.run, trial.agent)
    ):
        tasks.setdefault(trial.task_key, []).append(trial)
    return {task: trials for task, trials in tasks.items() if trials}


def make_matrix(selection: Selection) -> Matrix | None:
    """Make the matrix of a session of agents; `None` without trials."""
    tasks, metric = list_task_trials(selection), _choose_metric(selection)
    titles = {task.id: task.title for task in selection.data.experiment.tasks}
    rows = tuple(
        MatrixRow(
            title=titles.get(task, task),
            cells=tuple(_make_cells(selection, trials, metric)),
        )
        for task, trials in [*tasks.items()][:MAX_ROWS]
    )
    figure = f"{metric.title} of each trial" if metric else "How each trial ended"
    return _build(rows, len(tasks), selection.modes, f"{figure}; runs side by side", _TASK)


def _build(
    rows: tuple[MatrixRow, ...], number: int, arms: Iterable[str], caption: str, case: str
) -> Matrix | None:
    omitted = number - len(rows)
    remarks = (f"Not shown: {quantify(omitted, case.lower())} more.",) if omitted > 0 else ()
    title = f"{case}s × {'modes' if case == _TASK else 'arms'}"
    matrix = Matrix(
        title=title, about=caption, case=case, arms=tuple(arms), rows=rows, remarks=remarks
    )
    return matrix if rows else None


def _choose_metric(selection: Selection) -> Metric | None:
    """Return what says best what a trial found; `None` where nothing does."""
    metrics = filter(None, map(selection.metrics.get, RECALLS))
    for metric in metrics:
        if any(metric.reader(trial) is not None for trial in selection.trials):
            return metric
    return None


def _make_cells(
    selection: Selection, trials: Sequence[TrialRecord], metric: Metric | None
) -> Iterator[tuple[MatrixEntry, ...]]:
    for mode in selection.modes:
        yield _cut_cell(
            MatrixEntry(
                value=_describe_trial(trial, metric),
                tone=_choose_tone(trial, metric),
                name=name_trial(trial),
                trial=number,
            )
            for number, trial in enumerate(trials)
            if trial.mode == mode
        )


def _cut_cell(entries: Iterable[MatrixEntry]) -> tuple[MatrixEntry, ...]:
    """Cut the trials of a cell, and say how many more there are."""
    all_entries = tuple(entries)
    if (omitted := len(all_entries) - _MAX_ENTRIES) <= 0:
        return all_entries
    omission = MatrixEntry(value=f"{omitted:,} more", tone=None, name=_OMISSION_NOTE)
    return (*all_entries[:_MAX_ENTRIES], omission)


def name_trial(trial: TrialRecord) -> str:
    """Write `canopy, run 2, agent 3`."""
    return f"{trial.mode}, run {trial.run}, agent {trial.agent}"


def describe_end(trial: TrialRecord | CaseRecord) -> str:
    """Say how a trial ended."""
    return str(trial.cause or trial.status or "not recorded")


def list_remarks(trial: TrialRecord | CaseRecord) -> Iterator[str]:
    """Yield what went wrong in a trial, or with its scorers."""
    if trial.detail:
        yield trial.detail
    for name, reason in (trial.score_failures or {}).items():
        yield f"The scorer {name} failed: {reason}."


def list_missing_scores(trial: CaseRecord) -> Iterator[str]:
    """Yield why a trial has no figure of its answer."""
    keys_by_reason = defaultdict[str, list[str]](list)
    for key, reason in (trial.missing_scores or {}).items():
        keys_by_reason[reason].append(key)
    for reason, keys in keys_by_reason.items():
        yield f"Without a score ({', '.join(keys)}): {reason}."


def list_case_figures(
    session: CaseSession, record: CaseRecord
) -> Iterator[tuple[str, Value | str]]:
    """Yield the figures of a trial that are no facts of it. Those of several answers to a case say
    nothing of one, and what is true or false is only said when it is true."""
    facts = {label for label, _ in session.list_facts(record)}
    for metric in session.metrics:
        value = metric.read(record) if metric.read and metric.of_case is None else None
        label = metric.column.title if metric.column else metric.title
        if value is None or label.lower() in facts:
            continue
        if metric.unit != _CHECK or value:
            yield label, write_figure(metric, value)


def write_figure(metric: Metric, value: float) -> Value | str:
    """Write the figure of a single trial: of a check whether it holds."""
    if metric.unit == _CHECK:
        return "yes" if value else "no"
    return Value(scale=metric.style, value=value)


def _describe_trial(trial: TrialRecord | CaseRecord, metric: Metric | None) -> Value | str:
    value = metric.reader(trial) if metric else None
    has_ended = trial.status is Status.COMPLETED
    if metric is None or value is None or not has_ended:
        return describe_end(trial)
    return Value(scale=metric.style, value=value)


def _choose_tone(trial: TrialRecord | CaseRecord, metric: Metric | None) -> Tone | None:
    if is_inconclusive(trial):
        return Tone.OPEN
    if trial.status is not Status.COMPLETED:
        return Tone.BAD
    return _judge(metric, metric.reader(trial)) if metric else None


def _judge(metric: Metric, value: float | None) -> Tone | None:
    """Tell whether a value is the best or the worst there can be."""
    if value is None or not metric.is_share or metric.better is None:
        return None
    best, worst = (1.0, 0.0) if metric.better is Better.HIGHER else (0.0, 1.0)
    return Tone.GOOD if value == best else Tone.BAD if value == worst else None


def list_case_trials(session: CaseSession) -> dict[str, list[CaseRecord]]:
    """Return the trials of each case, in the order of the arms and runs; cases without trials are
    not in it."""
    cases = {case.id: list[CaseRecord]() for case in session.experiment.cases}
    order = {arm: at for at, arm in enumerate(session.experiment.arms)}
    for record in sorted(session.records, key=lambda record: (order[record.arm], record.run)):
        cases[record.case].append(record)
    return {case: records for case, records in cases.items() if records}


def make_case_matrix(session: CaseSession) -> Matrix | None:
    """Make the matrix of any other session; `None` without trials."""
    cases, metric = list_case_trials(session), _choose_case_metric(session)
    titles = {case.id: case.title for case in session.experiment.cases}
    rows = tuple(
        MatrixRow(
            title=titles[case],
            cells=tuple(_make_case_cells(session.experiment.arms, records, metric)),
        )
        for case, records in [*cases.items()][:MAX_ROWS]
    )
    figure = f"{metric.title} of each trial" if metric else "How each trial ended"
    arms = session.experiment.arms
    return _build(rows, len(cases), arms, f"{figure}; runs side by side", "Case")


def _choose_case_metric(session: CaseSession) -> Metric | None:
    """Return what the verdicts are on, or else the first figure of trials that is compared; `None`
    where none is of single trials."""
    primary = find_primary_metric(session)
    compared = (metric for metric in session.metrics if metric.compared)
    metrics = [primary, *compared] if primary else compared
    return next((metric for metric in metrics if metric.read and not metric.is_of_many), None)


def _make_case_cells(
    arms: Iterable[str], records: Sequence[CaseRecord], metric: Metric | None
) -> Iterator[tuple[MatrixEntry, ...]]:
    for arm in arms:
        yield _cut_cell(
            MatrixEntry(
                value=_describe_trial(record, metric),
                tone=_choose_tone(record, metric),
                name=name_case_trial(record),
                trial=number,
            )
            for number, record in enumerate(records)
            if record.arm == arm
        )


def name_case_trial(record: CaseRecord) -> str:
    """Write `gpt, run 2`."""
    return f"{record.arm}, run {record.run}"


def make_timeline(selection: Selection) -> Timeline | None:
    """Make the picture of when each agent ran; `None` where too little is recorded."""
    timed = [trial for trial in selection.trials if trial.started_at and trial.ended_at]
    visible_trials = sorted(timed, key=lambda trial: (trial.started_at, trial.agent))[:_MAX_BARS]
    if not visible_trials:
        return None
    starts = [trial.started_at.timestamp() for trial in visible_trials if trial.started_at]
    end_times = [trial.ended_at.timestamp() for trial in visible_trials if trial.ended_at]
    first = min(starts)
    by_swarm = defaultdict[tuple[int, str], list[Bar]](list)
    for trial, start, end in zip(visible_trials, starts, end_times, strict=True):
        bar = _make_bar(trial, start - first, max(start, end) - first)
        by_swarm[trial.run, trial.mode].append(bar)
    omitted = len(timed) - len(visible_trials)
    cut = f" Shown are the first {quantify(len(visible_trials), 'agent')}." if omitted else ""
    return Timeline(
        title="The session in time",
        about=f"When each agent ran, in seconds since the first one began.{cut}",
        seconds=max(*end_times, first) - first,
        lanes=tuple(_make_lanes(by_swarm, has_runs=selection.runs > 1)),
    )


def _make_lanes(
    by_swarm: Mapping[tuple[int, str], Sequence[Bar]], *, has_runs: bool
) -> Iterator[Lane]:
    for (run, mode), bars in by_swarm.items():
        yield Lane(label=f"{mode}, run {run}" if has_runs else mode, bars=tuple(bars))


def _make_bar(trial: TrialRecord, begin: float, end: float) -> Bar:
    label = f"{name_trial(trial)}: {lowercase(describe_end(trial))}, {end - begin:.1f} s"
    return Bar(begin=begin, end=end, tone=_choose_tone(trial, None), label=label)
