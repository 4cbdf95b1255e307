"""The readable page of one trial, `agent-N.md`: task, answer and figures."""

from collections.abc import Iterator

from swarm_bench.core.metric import Style
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.reports.figures import NOT_REPORTED, written
from swarm_bench.reports.text import block, escaped


def render_page(record: TrialRecord, answer: str | None) -> str:
    """The page, ending with a line break. The answer stands in it as the agent gave it, and does
    nothing there."""
    figures = "\n".join(f"- **{label}:** {value}" for label, value in _figures(record))
    return (
        f"# {escaped(f'[{record.mode}]')} Agent {record.agent}\n\n"
        f"## Task\n{block(record.task)}\n\n"
        f"## Result\n{block(answer) if answer else 'The agent gave no answer.'}\n\n"
        f"---\n## Metrics\n{figures}\n"
    )


def _figures(record: TrialRecord) -> Iterator[tuple[str, str]]:
    """The labels of canopy's script first, then ours."""
    yield "Duration", _formatted(record.duration_s, "s")
    yield "Turns", _formatted(record.num_turns)
    yield (
        "Input tokens",
        f"{_formatted(record.input_tokens)} (+ {_formatted(record.cache_create)} cache creation)",
    )
    yield "Cache read", _formatted(record.cache_read)
    yield "Output tokens", _formatted(record.output_tokens)
    yield "Reported tokens (input + cache_create + output)", _formatted(record.total_tokens)
    yield "Effective tokens (reported + cache_read)", _formatted(record.effective_tokens)
    yield "Cost", _cost(record)
    yield "Result lines", _formatted(record.result_lines)
    yield "Compacted", _formatted(record.compacted)
    yield "Status", escaped(_formatted(record.status))
    yield "Cause", escaped(_formatted(record.cause))
    if record.detail:
        yield "Detail", escaped(record.detail)
    yield "Retrieval", escaped(_formatted(record.retrieval))
    yield "Tool calls", _tool_calls(record.tool_calls)
    yield "Model", escaped(_formatted(record.model))
    yield "Agent program", escaped(f"{_formatted(record.program)} {record.program_version or ''}")


def _cost(record: TrialRecord) -> str:
    if record.cost is None:
        return NOT_REPORTED
    return written(Style.DOLLARS, record.cost) + (" (estimate)" if record.cost_estimated else "")


def _tool_calls(calls: dict[str, int] | None) -> str:
    if calls is None:
        return NOT_REPORTED
    return ", ".join(f"{escaped(name)} {count}" for name, count in calls.items()) or "none"


def _formatted(value: float | str | None, unit: str = "") -> str:
    return NOT_REPORTED if value is None else f"{value}{unit}"
