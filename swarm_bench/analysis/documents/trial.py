"""What one trial says: its task, its answer and its figures."""

from collections.abc import Iterable, Iterator, Mapping

from swarm_bench.analysis.documents.blocks import NOT_REPORTED, paragraph
from swarm_bench.core.metric import Metric, Style
from swarm_bench.core.report.document import Section, Span, Text, Value, Verbatim
from swarm_bench.core.report.page import Page, RecordedFigures
from swarm_bench.core.session.records import TrialRecord

_FIRST = ("duration_s", "num_turns", "input_tokens", "cache_read", "output_tokens")
"""As canopy's script orders them; the others follow as they are declared."""


def page(metrics: Iterable[Metric], record: TrialRecord, answer: str | None) -> Page:
    """Make the page. The answer stands in it as the agent gave it."""
    result = Verbatim(text=answer) if answer else paragraph("The agent gave no answer.")
    return Page(
        title=(f"[{record.mode}]", f"Agent {record.agent}"),
        sections=(
            Section(title="Task", blocks=(Verbatim(text=record.task),)),
            Section(title="Result", blocks=(result,)),
        ),
        heading="Metrics",
        facts=(*_figures(metrics, record), *_facts(record)),
    )


def _figures(
    metrics: Iterable[Metric], record: TrialRecord
) -> Iterator[tuple[str, Value | RecordedFigures | str]]:
    shown = {metric.key: metric for metric in metrics if metric.page and _applies(metric, record)}
    for key in dict.fromkeys([*(key for key in _FIRST if key in shown), *shown]):
        yield shown[key].page, _figure(shown[key], record)


def _applies(metric: Metric, record: TrialRecord) -> bool:
    """Tell whether the page has the metric: one without a key has no line on what was found."""
    if metric.style is Style.DOLLARS and record.decided_by_rules:
        return False  # nobody is billed
    return not metric.keyed or bool(metric.read and metric.read(record) is not None)


def _figure(metric: Metric, record: TrialRecord) -> Value | RecordedFigures | str:
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
        return RecordedFigures(value=value, note=f"+ {_text(record.cache_create)} cache creation")
    return RecordedFigures(value=value, unit="s" if metric.style is Style.SECONDS else "")


def _facts(record: TrialRecord) -> Iterator[tuple[str, Text]]:
    yield "Status", _text(record.status)
    yield "Cause", _text(record.cause)
    if record.detail:
        yield "Detail", record.detail
    yield "Retrieval", _text(record.retrieval)
    yield "Tool calls", _tool_calls(record.tool_calls)
    yield "Model", _text(record.model)
    yield "Agent program", f"{_text(record.program)} {record.program_version or ''}"


def _tool_calls(calls: Mapping[str, int] | None) -> Text:
    if calls is None:
        return NOT_REPORTED
    counts = [(Span(text=name), f" {count}", ", ") for name, count in calls.items()]
    return tuple(part for count in counts for part in count)[:-1] or "none"


def _text(value: float | str | None) -> str:
    return NOT_REPORTED if value is None else str(value)
