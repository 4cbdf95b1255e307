"""Tasks and arms with what each trial found, and when each agent ran, as a page shows them."""

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeVar

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.cases.verdicts import find_primary_metric
from swarm_bench.analysis.comparison.legend import indexes_before
from swarm_bench.analysis.comparison.pairs import RECALLS
from swarm_bench.analysis.documents.shown_trials import (
    describe_end,
    name_case_trial,
    name_trial,
)
from swarm_bench.analysis.selection import Selection, is_inconclusive
from swarm_bench.analysis.wording import join, quantify
from swarm_bench.core.figures import total
from swarm_bench.core.metric import Better, Metric
from swarm_bench.core.report.document import Tone, Value
from swarm_bench.core.report.page import (
    Bar,
    Lane,
    Matrix,
    MatrixEntry,
    MatrixRow,
    Timeline,
    TimelineLegend,
)
from swarm_bench.core.session.base import Case
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.session.records import SwarmRecord, TrialRecord
from swarm_bench.core.status import Status

R = TypeVar("R", TrialRecord, CaseRecord)
MAX_ROWS = 2_000
_MAX_ENTRIES = 30
"""Trials in a cell."""
_OMISSION_NOTE = "Not shown here; choose them in the lists above a transcript"
_MAX_BARS = 2_000
"""Bars; more cannot be told apart."""
_WITHIN = " while agents ran"
LEGEND = TimelineLegend(
    agents={
        None: "agent",
        Tone.BAD: "agent that did not finish",
        Tone.OPEN: "agent to be run again",
    },
    calls="waiting for a tool",
    phases="set-up and clean-up",
)
_READING = (
    "When each agent ran, and above agents, as far as it is recorded, the set-up of their swarm "
    "(workspace, service, index, first call) and what follows them. Waiting for tools is drawn "
    "where the transcript has the times; waits that are too short to be seen are drawn together."
)


def list_task_trials(selection: Selection) -> dict[str, list[TrialRecord]]:
    """Return the trials of each task that has some, in the order of the modes and runs."""
    return _group_trials(selection.trials, selection.data.experiment.tasks, selection.modes)


def list_case_trials(session: CaseSession) -> dict[str, list[CaseRecord]]:
    """Return the trials of each case that has some, in the order of the arms and runs."""
    experiment = session.experiment
    return _group_trials(session.records, experiment.cases, experiment.arms)


def _group_trials(
    trials: Iterable[R], cases: Iterable[Case], arms: Sequence[str]
) -> dict[str, list[R]]:
    by_case: dict[str, list[R]] = {case.id: [] for case in cases}
    order = {arm: at for at, arm in enumerate(arms)}
    for trial in sorted(trials, key=lambda trial: (order[trial.arm], trial.run, trial.number)):
        by_case.setdefault(trial.case, []).append(trial)
    return {case: trials for case, trials in by_case.items() if trials}


def make_matrix(selection: Selection) -> Matrix | None:
    """Make the matrix of a session of agents; `None` without trials."""
    trials, tasks = list_task_trials(selection), selection.data.experiment.tasks
    metric = _choose_metric(selection)
    matrix = _build(trials, tasks, selection.modes, ("task", "mode"), metric, name_trial)
    experiment = selection.data.experiment
    planned_tasks = () if experiment.slice else tasks[: experiment.tasks_asked]
    return _note_missing(matrix, trials, planned_tasks)


def make_case_matrix(session: CaseSession) -> Matrix | None:
    """Make the matrix of any other session; `None` without trials."""
    trials, experiment = list_case_trials(session), session.experiment
    nouns, metric = (session.case_noun, session.arm_noun), _choose_case_metric(session)
    matrix = _build(trials, experiment.cases, experiment.arms, nouns, metric, name_case_trial)
    return _note_missing(matrix, trials, () if experiment.slice else experiment.cases)


def _build(
    trials: Mapping[str, Sequence[R]],
    cases: Iterable[Case],
    arms: Sequence[str],
    nouns: tuple[str, str],
    metric: Metric | None,
    name: Callable[[R], str],
) -> Matrix | None:
    """Make a matrix; `nouns` are those of its rows and of its columns."""
    titles, (case_noun, arm_noun) = {case.id: case.title for case in cases}, nouns
    figure = f"{metric.title} of each trial" if metric else "How each trial ended"
    omitted = len(trials) - MAX_ROWS
    rows = tuple(
        MatrixRow(
            title=titles.get(case, case), cells=tuple(_make_cells(case_trials, arms, metric, name))
        )
        for case, case_trials in islice(trials.items(), MAX_ROWS)
    )
    matrix = Matrix(
        title=f"{case_noun.capitalize()}s × {arm_noun}s",
        about=f"{figure}; runs side by side",
        case=case_noun.capitalize(),
        arms=tuple(arms),
        rows=rows,
        remarks=(f"Not shown: {quantify(omitted, case_noun)} more.",) if omitted > 0 else (),
    )
    return matrix if rows else None


def _note_missing(
    matrix: Matrix | None, ids: Container[str], cases: Iterable[Case]
) -> Matrix | None:
    """Note how many of the cases have no trial; `ids` are those of the others."""
    missing = sum(case.id not in ids for case in cases)
    if matrix and missing:
        remark = f"Without a trial so far: {quantify(missing, matrix.case.lower())}."
        return replace(matrix, remarks=(*matrix.remarks, remark))
    return matrix


def _make_cells(
    trials: Sequence[R], arms: Iterable[str], metric: Metric | None, name: Callable[[R], str]
) -> Iterator[tuple[MatrixEntry, ...]]:
    for arm in arms:
        yield _cut_cell(
            MatrixEntry(
                value=_describe_trial(trial, metric),
                tone=_choose_tone(trial, metric),
                name=name(trial),
                trial=number,
            )
            for number, trial in enumerate(trials)
            if trial.arm == arm
        )


def _choose_metric(selection: Selection) -> Metric | None:
    """Return what says best what a trial found; `None` where nothing does."""
    metrics = filter(None, map(selection.metrics.get, RECALLS))
    for metric in metrics:
        if any(metric.reader(trial) is not None for trial in selection.trials):
            return metric
    return None


def _choose_case_metric(session: CaseSession) -> Metric | None:
    """Return what the verdicts are on, or else the first figure of trials that is compared; `None`
    where none is of single trials."""
    primary = find_primary_metric(session)
    compared = (metric for metric in session.metrics if metric.compared)
    metrics = [primary, *compared] if primary else compared
    return next((metric for metric in metrics if metric.read and not metric.is_of_many), None)


def _cut_cell(entries: Iterable[MatrixEntry]) -> tuple[MatrixEntry, ...]:
    """Cut the trials of a cell, and say how many more there are."""
    all_entries = tuple(entries)
    if (omitted := len(all_entries) - _MAX_ENTRIES) <= 0:
        return all_entries
    omission = MatrixEntry(value=f"{omitted:,} more", tone=None, name=_OMISSION_NOTE)
    return (*all_entries[:_MAX_ENTRIES], omission)


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


def make_timeline(selection: Selection) -> Timeline | None:
    """Make the picture of when each agent ran; `None` where too little is recorded."""
    timed = [trial for trial in selection.trials if trial.started_at and trial.ended_at]
    visible_trials = sorted(timed, key=lambda trial: (trial.started_at, trial.agent))[:_MAX_BARS]
    if not visible_trials:
        return None
    numbers = _number_trials(selection)
    by_swarm = defaultdict[tuple[int, str], list[TrialRecord]](list)
    for trial in visible_trials:
        by_swarm[trial.run, trial.mode].append(trial)
    lanes = [
        Lane(
            label=f"{mode}, run {run}" if selection.runs > 1 else mode,
            bars=tuple(_make_bar(trial, numbers.get(name_trial(trial))) for trial in trials),
            phases=tuple(_make_phases(selection, (run, mode), trials)),
        )
        for (run, mode), trials in by_swarm.items()
    ]
    bars = [bar for lane in lanes for bar in (*lane.bars, *lane.phases)]
    first = min(bar.begin for bar in bars)
    omitted = len(timed) - len(visible_trials)
    visible = quantify(len(visible_trials), "agent")
    cut = f" The first {visible} are shown." if omitted else ""
    return Timeline(
        title="The session in time",
        about=f"{_READING}{cut}",
        begin=first,
        seconds=max(bar.end for bar in bars) - first,
        lanes=tuple(_shift_lane(lane, first) for lane in lanes),
        legend=LEGEND,
    )


def _number_trials(selection: Selection) -> dict[str, tuple[int, int]]:
    """Return the numbers of the trials that the page shows: of the task, and of the trial in it, by
    their names."""
    by_task = islice(list_task_trials(selection).values(), MAX_ROWS)
    return {
        name_trial(trial): (row, number)
        for row, trials in enumerate(by_task)
        for number, trial in enumerate(trials)
    }


def _shift_lane(lane: Lane, first: float) -> Lane:
    bars, phases = (
        tuple(replace(bar, begin=bar.begin - first, end=bar.end - first) for bar in group)
        for group in (lane.bars, lane.phases)
    )
    return replace(lane, bars=bars, phases=phases)


def _get_times(record: TrialRecord | SwarmRecord) -> tuple[float, float]:
    """Return when it began and ended, which it must say, by the clock of the machine."""
    assert record.started_at is not None
    assert record.ended_at is not None
    begin = record.started_at.timestamp()
    return begin, max(begin, record.ended_at.timestamp())


def _make_bar(trial: TrialRecord, numbers: tuple[int, int] | None) -> Bar:
    begin, end = _get_times(trial)
    label = f"{name_trial(trial)}: {describe_end(trial)}, {_describe_time(trial)}"
    return Bar(begin=begin, end=end, tone=_choose_tone(trial, None), label=label, trial=numbers)


def _describe_time(trial: TrialRecord) -> str:
    """Say how long it ran, and what it waited for meanwhile, which may be at the same time."""
    begin, end = _get_times(trial)
    waits = {
        "for the model": trial.api_seconds,
        "in tools": total((trial.tool_seconds or {}).values()),
    }
    parts = [f"{seconds:.1f} s {aim}" for aim, seconds in waits.items() if seconds is not None]
    return f"{end - begin:.1f} s" + (f", of which {join(parts)}" if parts else "")


def _make_phases(
    selection: Selection, lane: tuple[int, str], trials: Sequence[TrialRecord]
) -> Iterator[Bar]:
    """Yield what stood before and after the agents of each swarm of a lane, as far as times are
    recorded."""
    run, mode = lane
    times = {trial.agent: _get_times(trial) for trial in trials}
    for swarm in selection.select_swarms(mode):
        if swarm.run != run or swarm.started_at is None or swarm.ended_at is None:
            continue
        begin, end = _get_times(swarm)
        of_swarm = [times[agent] for agent in swarm.agents if agent in times]
        within = [(start, stop) for start, stop in of_swarm if begin <= start and stop <= end]
        if not within:
            continue
        first, last = min(start for start, _ in within), max(stop for _, stop in within)
        set_up = _describe_set_up(swarm, is_before=indexes_before(selection, mode))
        label = f"{mode}: {first - begin:.1f} s {set_up}"
        yield Bar(begin=begin, end=first, tone=None, label=label)
        if end > last:
            label = f"{mode}: {end - last:.1f} s after its agents"
            yield Bar(begin=last, end=end, tone=None, label=label)


def _describe_set_up(swarm: SwarmRecord, *, is_before: bool) -> str:
    """Say what took how long, as far as that is recorded."""
    index = f"{' (copied)' if swarm.index_copied else ''}{'' if is_before else _WITHIN}"
    phases = (
        ("workspace {}", swarm.workspace_seconds),
        ("start of the service {}", swarm.service_seconds),
        (f"index {{}}{index}", swarm.index_seconds),
        ("first call {}", swarm.warm_up_seconds),
    )
    parts = [text.format(f"{seconds:.1f} s") for text, seconds in phases if seconds is not None]
    return f"before its agents ({', '.join(parts)})" if parts else "before its agents"
