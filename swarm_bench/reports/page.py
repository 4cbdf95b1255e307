"""The readable page of one trial, `agent-N.md`: task, answer and figures."""

from collections.abc import Iterable, Iterator

from swarm_bench.core.metric import Metric, Style
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.reports.figures import NOT_REPORTED, written
from swarm_bench.reports.text import block, escaped

_FIRST = ("duration_s", "num_turns", "input_tokens", "cache_read", "output_tokens")
"""As canopy's script orders them; the others follow as they are declared."""


def render_page(metrics: Iterable[Metric], record: TrialRecord, answer: str | None) -> str:
    """Write the page, ending with a line break. The answer stands in it as the agent gave it, and
    does nothing there."""
    lines = (*_figures(metrics, record), *_facts(record))
    figures = "\n".join(f"- **{label}:** {value}" for label, value in lines)
    return (
        f"# {escaped(f'[{record.mode}]')} Agent {record.agent}\n\n"
        f"## Task\n{block(record.task)}\n\n"
        f"## Result\n{block(answer) if answer else 'The agent gave no answer.'}\n\n"
        f"---\n## Metrics\n{figures}\n"
    )


def _figures(metrics: Iterable[Metric], record: TrialRecord) -> Iterator[tuple[str, str]]:
    shown = {metric.key: metric for metric in metrics if metric.page}
    for key in dict.fromkeys([*(key for key in _FIRST if key in shown), *shown]):
        yield shown[key].page, _figure(shown[key], record)


def _figure(metric: Metric, record: TrialRecord) -> str:
    """Write the figure as the record has it."""
    value = metric.read(record) if metric.read else None
    if metric.style is Style.DOLLARS and value is not None:
        return written(Style.DOLLARS, value) + (" (estimate)" if record.cost_estimated else "")
    if metric.key == "input_tokens":
        return f"{_formatted(value)} (+ {_formatted(record.cache_create)} cache creation)"
    return _formatted(value, "s" if metric.style is Style.SECONDS else "")


def _facts(record: TrialRecord) -> Iterator[tuple[str, str]]:
    yield "Status", escaped(_formatted(record.status))
    yield "Cause", escaped(_formatted(record.cause))
    if record.detail:
        yield "Detail", escaped(record.detail)
    yield "Retrieval", escaped(_formatted(record.retrieval))
    yield "Tool calls", _tool_calls(record.tool_calls)
    yield "Model", escaped(_formatted(record.model))
    yield "Agent program", escaped(f"{_formatted(record.program)} {record.program_version or ''}")


def _tool_calls(calls: dict[str, int] | None) -> str:
    if calls is None:
        return NOT_REPORTED
    return ", ".join(f"{escaped(name)} {count}" for name, count in calls.items()) or "none"


def _formatted(value: float | str | None, unit: str = "") -> str:
    return NOT_REPORTED if value is None else f"{value}{unit}"
