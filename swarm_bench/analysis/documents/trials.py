"""The table of trials in the summary of a comparison."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import median

from swarm_bench.analysis.documents.blocks import NOT_REPORTED, paragraph, trials
from swarm_bench.analysis.wording import amount
from swarm_bench.core.metric import ReadTrial, Style
from swarm_bench.core.report.document import Block, Cell, Section, Span, Value
from swarm_bench.core.report.report import Report, TrialColumn
from swarm_bench.core.session.records import TrialRecord

MOST_SINGLE = 60
"""Trials that have a row each."""
_FILE = "metrics.jsonl"
_TASK_LENGTH = 40
_LABELS = ("Mode", "Agent", "Task", "Outcome", "Retrieval")


def trials_section(report: Report) -> Section:
    """Make the section of the trials: a row for each, or for each agent of a mode over its runs."""
    several, number = report.runs > 1, len(report.trials)
    together = several and number > MOST_SINGLE
    labels = ("Run", *_LABELS) if several and not together else _LABELS
    headers = (*labels, *(column.title for column in report.columns))
    if together:
        by_agent = _by_agent(report.trials)
        rows = (_agent(report, own) for own in by_agent)
        blocks = trials(headers, len(labels), rows, len(by_agent))
    else:
        rows = (_trial(report, trial, several=several) for trial in report.trials)
        blocks = trials(headers, len(labels), rows, number)
    above = [_about(number, report.runs, together=together)] if number > MOST_SINGLE else []
    return Section(title="Per-Agent Results", blocks=(*above, *blocks))


def _about(number: int, runs: int, *, together: bool) -> Block:
    each = (
        f"Each row is an agent of a mode: medians over {amount(runs, 'run')}, and in brackets the "
        "lowest and the highest. "
    )
    where = Span(text=_FILE, address=_FILE)
    return paragraph((each if together else "", where, f" has all {amount(number, 'trial')}."))


def _by_agent(records: Iterable[TrialRecord]) -> list[list[TrialRecord]]:
    by_agent = defaultdict[tuple[str, int], list[TrialRecord]](list)
    for trial in records:
        by_agent[trial.mode, trial.agent].append(trial)
    return [*by_agent.values()]


def _agent(report: Report, own: Sequence[TrialRecord]) -> tuple[Cell, ...]:
    tasks = dict.fromkeys(_task(report, trial) for trial in own)
    return (
        own[0].mode,
        _number(own[0].agent),
        Span(text=next(iter(tasks)), longest=_TASK_LENGTH)
        if len(tasks) == 1
        else amount(len(tasks), "task"),
        _counted(trial.cause or trial.status for trial in own),
        _counted(trial.retrieval for trial in own),
        *(_over_runs(column, own) for column in report.columns),
    )


def _counted(labels: Iterable[str | None]) -> str:
    """Write `finished`, or `2 finished, 1 timeout`."""
    numbers = Counter(label or NOT_REPORTED for label in labels)
    if len(numbers) == 1:
        return next(iter(numbers))
    return ", ".join(f"{number} {label}" for label, number in numbers.items())


def _over_runs(column: TrialColumn, own: Sequence[TrialRecord]) -> Value:
    values = _values(column.read, own)
    beside = _values(column.beside, own) if column.beside else []
    missing = len(own) - len(values)
    varies = len(set(values)) > 1
    return Value(
        scale=column.style,
        value=median(values) if values else None,
        low=min(values) if varies and not beside else None,
        high=max(values) if varies and not beside else None,
        notes=(f"{missing} missing",) if missing and values else (),
        beside=Value(scale=column.style, value=median(beside)) if beside else None,
    )


def _values(read: ReadTrial, own: Iterable[TrialRecord]) -> list[float]:
    return [value for trial in own if (value := read(trial)) is not None]


def _trial(report: Report, trial: TrialRecord, *, several: bool) -> tuple[Cell, ...]:
    return (
        *([_number(trial.run)] if several else []),
        trial.mode,
        _number(trial.agent),
        Span(text=_task(report, trial), longest=_TASK_LENGTH),
        trial.cause or trial.status or NOT_REPORTED,
        trial.retrieval or NOT_REPORTED,
        *(_figure(column, trial) for column in report.columns),
    )


def _task(report: Report, trial: TrialRecord) -> str:
    return report.titles.get(trial.task_id or "", trial.task)


def _number(number: int) -> Value:
    return Value(scale=Style.WHOLE, value=number)


def _figure(column: TrialColumn, trial: TrialRecord) -> Value:
    beside = column.beside and Value(scale=column.style, value=column.beside(trial))
    return Value(scale=column.style, value=column.read(trial), beside=beside or None)
