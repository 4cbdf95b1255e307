"""What Gemini CLI's events say while it works."""

from swarm_bench.agents.gemini.names import treatment_name
from swarm_bench.agents.reading.json_lines import (
    Json,
    as_clause,
    as_object,
    as_text,
    events_in,
    may_end_document,
)
from swarm_bench.core.outcome import Activity

_SHOWN_ARGUMENTS = (
    "file_path", "absolute_path", "pattern", "query", "command", "dir_path", "path", "symbol",
)  # fmt: skip


def read_activity(line: bytes) -> Activity | None:
    """Read events for the live view, and the result, after which the program ends."""
    if may_end_document(line):
        return Activity(doing="working", over=True)
    return Activity.joined(map(_read_event, events_in(line)))


def _read_event(event: Json) -> Activity | None:
    match event.get("type"):
        case "message" if event.get("role") == "assistant":
            return Activity(doing="writing", over=False)
        case "tool_use":
            return Activity(doing=_describe_call(event), over=False)
        case "result":
            return Activity(doing="done", over=True)
    return None


def _describe_call(event: Json) -> str:
    name = treatment_name(as_text(event.get("tool_name")) or "a tool")
    arguments = as_object(event.get("parameters"))
    argument = next((arguments[key] for key in _SHOWN_ARGUMENTS if arguments.get(key)), "")
    return as_clause(f"{name} {as_text(argument) or ''}", 120) or "working"
