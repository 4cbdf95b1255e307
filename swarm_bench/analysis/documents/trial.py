"""What one trial says: its task, its answer and its figures."""

from collections.abc import Iterable, Iterator, Mapping

from swarm_bench.analysis.documents.blocks import NOT_REPORTED, paragraph
from swarm_bench.core.metric import Metric, Style
from swarm_bench.core.report.document import Section, Span, Text, Value, Verbatim
from swarm_bench.core.report.page import Page, RecordedFigures
from swarm_bench.core.session.records import TrialRecord

_FIRST = ("duration_s", "num_turns", "input_tokens", "cache_read", "output_tokens")
"""As canopy's script orders them; the others follow as they are declared."""


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
    yield "Status", _format_value(record.status)
    yield "Cause", _format_value(record.cause)
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
