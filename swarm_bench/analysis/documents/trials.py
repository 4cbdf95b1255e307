"""The table of trials in the summary of a comparison, whose columns are declared with the metrics
(`Metric.column`), and the page of one trial."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median

from swarm_bench.analysis.documents.blocks import NOT_REPORTED, make_trials_table, paragraph
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.metric import Metric, ReadTrial, Style
from swarm_bench.core.report.document import Block, Cell, Section, Span, Text, Value, Verbatim
from swarm_bench.core.report.report import Report, TrialColumn
from swarm_bench.core.report.trials import Page, RecordedFigures
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import name_cause, name_end, name_status

MAX_SINGLE = 60
"""Trials that have a row each."""
_FILE = "metrics.jsonl"
_TASK_LENGTH = 40
_LABELS = ("Mode", "Agent", "Task", "Outcome", "Retrieval")


def make_trials_section(report: Report) -> Section:
    """Make the section of the trials: a row for each, or for each agent of a mode over its runs."""
    has_runs, number = report.runs > 1, len(report.trials)
    together = has_runs and number > MAX_SINGLE
    labels = ("Run", *_LABELS) if has_runs and not together else _LABELS
    headers = (*labels, *(column.title for column in report.columns))
    if together:
        by_agent = _group_by_agent(report.trials)
        rows = (_make_agent_row(report, records) for records in by_agent)
        blocks = make_trials_table(headers, len(labels), rows, len(by_agent))
    else:
        rows = (_make_trial_row(report, trial, has_runs=has_runs) for trial in report.trials)
        blocks = make_trials_table(headers, len(labels), rows, number)
    introduction = (
        [_make_introduction(number, report.runs, together=together)] if number > MAX_SINGLE else []
    )
    return Section(title="Per-Agent Results", blocks=(*introduction, *blocks))


def _make_introduction(number: int, runs: int, *, together: bool) -> Block:
    explanation = (
        f"Each row is an agent of a mode: medians over {quantify(runs, 'run')}, and in brackets "
        f"the lowest and the highest. "
    )
    link = Span(text=_FILE, address=_FILE)
    return paragraph(
        (explanation if together else "", link, f" has all {quantify(number, 'trial')}.")
    )


def _group_by_agent(records: Iterable[TrialRecord]) -> list[list[TrialRecord]]:
    by_agent = defaultdict[tuple[str, int], list[TrialRecord]](list)
    for trial in records:
        by_agent[trial.mode, trial.agent].append(trial)
    return [*by_agent.values()]


def _make_agent_row(report: Report, records: Sequence[TrialRecord]) -> tuple[Cell, ...]:
    tasks = dict.fromkeys(_name_task(report, trial) for trial in records)
    return (
        records[0].mode,
        _make_number(records[0].agent),
        Span(text=next(iter(tasks)), longest=_TASK_LENGTH)
        if len(tasks) == 1
        else quantify(len(tasks), "task"),
        _format_counts(name_end(trial.cause, trial.status) for trial in records),
        _format_counts(trial.retrieval for trial in records),
        *(_make_value_over_runs(column, records) for column in report.columns),
    )


def _format_counts(labels: Iterable[str | None]) -> str:
    """Write `finished`, or `2 finished, 1 timed out`."""
    numbers = Counter(label or NOT_REPORTED for label in labels)
    if len(numbers) == 1:
        return next(iter(numbers))
    return ", ".join(f"{number} {label}" for label, number in numbers.items())


def _make_value_over_runs(column: TrialColumn, records: Sequence[TrialRecord]) -> Value:
    values = _read_values(column.read, records)
    further_values = _read_values(column.beside, records) if column.beside else []
    missing = len(records) - len(values)
    varies = len(set(values)) > 1
    return Value(
        scale=column.style,
        value=median(values) if values else None,
        low=min(values) if varies and not further_values else None,
        high=max(values) if varies and not further_values else None,
        notes=(f"{missing} missing",) if missing and values else (),
        beside=Value(scale=column.style, value=median(further_values)) if further_values else None,
    )


def _read_values(read: ReadTrial, records: Iterable[TrialRecord]) -> list[float]:
    return [value for trial in records if (value := read(trial)) is not None]


def _make_trial_row(report: Report, trial: TrialRecord, *, has_runs: bool) -> tuple[Cell, ...]:
    return (
        *([_make_number(trial.run)] if has_runs else []),
        trial.mode,
        _make_number(trial.agent),
        Span(text=_name_task(report, trial), longest=_TASK_LENGTH),
        name_end(trial.cause, trial.status),
        trial.retrieval or NOT_REPORTED,
        *(_make_figure(column, trial) for column in report.columns),
    )


def _name_task(report: Report, trial: TrialRecord) -> str:
    return report.titles.get(trial.task_id or "", trial.task)


def _make_number(number: int) -> Value:
    return Value(scale=Style.WHOLE, value=number)


def _make_figure(column: TrialColumn, trial: TrialRecord) -> Value:
    further_value = column.beside and Value(scale=column.style, value=column.beside(trial))
    return Value(scale=column.style, value=column.read(trial), beside=further_value or None)


_FIRST = ("duration_s", "num_turns", "input_tokens", "cache_read", "output_tokens")
"""First keys, in the order of canopy's script; the others follow as they are declared."""


def make_page(metrics: Iterable[Metric], record: TrialRecord, answer: str | None) -> Page:
    """Make the page. The answer stands in it as the agent gave it."""
    result = Verbatim(text=answer) if answer else paragraph("The agent gave no answer.")
    return Page(
        title=(f"[{record.mode}]", f"Agent {record.agent}"),
        sections=(
            Section(title="Task", blocks=(Verbatim(text=record.task),)),
            Section(title="Result", blocks=(result,)),
        ),
        heading="Metrics",
        facts=(*_list_figures(metrics, record), *_list_facts(record)),
    )


def _list_figures(
    metrics: Iterable[Metric], record: TrialRecord
) -> Iterator[tuple[str, Value | RecordedFigures | str]]:
    by_key = {metric.key: metric for metric in metrics if metric.page and _applies(metric, record)}
    for key in dict.fromkeys([*(key for key in _FIRST if key in by_key), *by_key]):
        yield by_key[key].page, _read_figure(by_key[key], record)


def _applies(metric: Metric, record: TrialRecord) -> bool:
    """Tell whether the page has the metric: one without a key has no line on what was found."""
    if metric.style is Style.DOLLARS and record.decided_by_rules:
        return False  # nobody is billed
    return not metric.keyed or bool(metric.read and metric.read(record) is not None)


def _read_figure(metric: Metric, record: TrialRecord) -> Value | RecordedFigures | str:
    """Return the figure as the record has it."""
    value = metric.read(record) if metric.read else None
    if metric.style is Style.DOLLARS:
        notes = ("estimate",) if record.cost_estimated else ()
        return Value(scale=Style.DOLLARS, value=value, notes=notes)
    if metric.style is Style.FRACTION:
        return Value(scale=metric.style, value=value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if metric.key == "input_tokens":
        return RecordedFigures(
            value=value, note=f"+ {_format_value(record.cache_create)} cache creation"
        )
    return RecordedFigures(value=value, unit="s" if metric.style is Style.SECONDS else "")


def _list_facts(record: TrialRecord) -> Iterator[tuple[str, Text]]:
    yield "Status", _format_value(name_status(record.status))
    yield "Cause", _format_value(name_cause(record.cause))
    if record.detail:
        yield "Detail", record.detail
    yield "Retrieval", _format_value(record.retrieval)
    yield "Tool calls", _format_tool_calls(record.tool_calls)
    yield "Model", _format_value(record.model)
    yield "Agent program", f"{_format_value(record.program)} {record.program_version or ''}"


def _format_tool_calls(calls: Mapping[str, int] | None) -> Text:
    if calls is None:
        return NOT_REPORTED
    counts = [(Span(text=name), f" {count}", ", ") for name, count in calls.items()]
    return tuple(part for count in counts for part in count)[:-1] or "none"


def _format_value(value: float | str | None) -> str:
    return NOT_REPORTED if value is None else str(value)
