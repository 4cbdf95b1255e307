"""What Gemini CLI's events say while it works."""

from swarm_bench.agents.gemini.names import treatment_name
from swarm_bench.agents.reading.json_lines import (
    Json,
    clause_of,
    events_in,
    may_end_document,
    object_of,
    text_of,
)
from swarm_bench.core.outcome import Activity

_SHOWN_ARGUMENTS = (
    "file_path", "absolute_path", "pattern", "query", "command", "dir_path", "path", "symbol",
)  # fmt: skip


def activity_of(line: bytes) -> Activity | None:
    """Read events for the live view, and the result, after which the program ends."""
    if may_end_document(line):
        return Activity(doing="working", over=True)
    return Activity.joined(map(_activity, events_in(line)))


def _activity(event: Json) -> Activity | None:
    match event.get("type"):
        case "message" if event.get("role") == "assistant":
            return Activity(doing="writing", over=False)
        case "tool_use":
            return Activity(doing=_doing(event), over=False)
        case "result":
            return Activity(doing="done", over=True)
    return None


def _doing(event: Json) -> str:
    name = treatment_name(text_of(event.get("tool_name")) or "a tool")
    arguments = object_of(event.get("parameters"))
    shown = next((arguments[key] for key in _SHOWN_ARGUMENTS if arguments.get(key)), "")
    return clause_of(f"{name} {text_of(shown) or ''}", 120) or "working"
