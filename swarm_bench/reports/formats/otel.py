"""Writes trials as spans after OpenTelemetry's conventions for generative AI, in OTLP/JSON: a
trace for each, on a line of its own."""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from swarm_bench.core.report.exported import ExportedSession, ExportedTrial, Message
from swarm_bench.core.treatment.conversation import ShownCall
from swarm_bench.reports.formats.facts import count_prompt_tokens, list_scores, list_trial_facts
from swarm_bench.reports.formats.json_values import clean, drop_missing, write_json

CONVENTIONS = "e8fc5751506258db1459d1bde47994e01dee922e"
"""Commit of open-telemetry/semantic-conventions-genai that the names are of: they may change."""
_INTERNAL, _CLIENT = 1, 3
"""Kinds of spans: within a process, and a request to a server."""
_ERROR = 2
_LAST = 2**63
"""Nanoseconds of the epoch that every reader takes."""
_NANOSECONDS = 1_000_000_000
_CONTENTS = frozenset({"detail", "evidence", "scores", "caveats", "verdict"})
"""Facts with texts in them, or of several parts."""
_COUNTS = ("offered", "calls", "failed", "unanswered", "retrieved", "start", "counters")
"""Entries of the evidence that quote nothing."""


def render_trace(session: ExportedSession, trial: ExportedTrial, *, contents: bool) -> str | None:
    """Write the spans of a trial on a line. With `contents`, also what was asked, called and
    answered. `None` for a trial without a start or an end: a span has both."""
    start, end = (_read_moment(trial.row.get(name)) for name in ("started_at", "ended_at"))
    if start is None or end is None:
        return None
    root = _make_root(session, trial, contents=contents)
    trace = _digest(32, session.id, trial.id, trial.row.get("attempt"))
    own = {"traceId": trace, "spanId": _digest(16, trace)}
    times = {"startTimeUnixNano": str(start), "endTimeUnixNano": str(end)}
    calls = trial.conversation.calls if trial.conversation else ()
    tools = [
        {
            "traceId": trace,
            "spanId": _digest(16, trace, number),
            "parentSpanId": own["spanId"],
            **_make_tool_span(call, contents=contents),
        }
        for number, call in enumerate(calls)
        if _find_times(call) is not None
    ]
    resource = {
        "service.name": "swarm-bench",
        "service.version": session.version,
        "swarm_bench.session": session.id,
        "swarm_bench.conventions.commit": CONVENTIONS,
    }
    scope = drop_missing({"name": "swarm-bench", "version": session.version})
    spans = [{**own, **root, **times}, *tools]
    return write_json(
        {
            "resourceSpans": [
                {
                    "resource": {"attributes": _list_attributes(resource)},
                    "scopeSpans": [{"scope": scope, "spans": spans}],
                }
            ]
        }
    )


def _make_root(session: ExportedSession, trial: ExportedTrial, *, contents: bool) -> dict[str, Any]:
    """Make the span of the trial, without its ids and times."""
    name, kind, operation = _name_operation(session, trial)
    usage, has_failed = trial.usage, trial.row["status"] not in ("completed", None)
    attributes = {
        **operation,
        "gen_ai.conversation.id": f"{session.id}/{trial.id}" if operation else None,
        "gen_ai.request.model": trial.requested_model,
        "gen_ai.response.model": trial.model,
        "gen_ai.usage.input_tokens": count_prompt_tokens(usage),
        "gen_ai.usage.output_tokens": usage.output,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_create,
        "error.type": trial.row.get("cause") if has_failed else None,
        **_list_facts(session, trial, contents=contents),
        **(_list_contents(trial) if contents else {}),
    }
    status = {"status": {"code": _ERROR}} if has_failed else {}
    return {"name": name, "kind": kind, "attributes": _list_attributes(attributes), **status}


def _name_operation(
    session: ExportedSession, trial: ExportedTrial
) -> tuple[str, int, dict[str, Any]]:
    """Return the name and the kind of the span, and what says which operation it is."""
    arm = str(trial.row["arm"])
    if trial.agent is not None and session.kind in ("agent", "model"):
        operation = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": trial.agent,
            "gen_ai.agent.version": trial.agent_version,
        }
        return f"invoke_agent {trial.agent}", _INTERNAL, operation
    if session.kind == "model":
        kind = "chat" if trial.extra.get("way") == "chat" else "text_completion"
        model = trial.requested_model or arm
        return f"{kind} {model}", _CLIENT, {"gen_ai.operation.name": kind}
    if session.kind == "search":
        return (
            f"retrieval {arm}",
            _CLIENT,
            {"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": arm},
        )
    return f"trial {arm}", _INTERNAL, {}


def _list_facts(
    session: ExportedSession, trial: ExportedTrial, *, contents: bool
) -> dict[str, Any]:
    """List the facts under names of our own; what may quote an agent only with `contents`."""
    facts = list_trial_facts(session, trial)
    evidence = facts.get("evidence") or {}
    scores = list_scores(session, trial)
    calls = trial.conversation.calls if trial.conversation else ()
    timeless = sum(_find_times(call) is None for call in calls)
    listed = {
        **{name: value for name, value in facts.items() if name not in _CONTENTS},
        **{f"evidence.{name}": evidence.get(name) for name in _COUNTS},
        **{
            f"score.{name}": value
            for name, value in scores.items()
            if contents or not isinstance(value, str)
        },
        "verdict": facts.get("verdict"),
        "void": any(caveat["void"] for caveat in facts.get("caveats", ())),
        "calls_without_time": timeless if trial.conversation else None,
        **({"detail": facts.get("detail"), "evidence": evidence or None} if contents else {}),
    }
    return {f"swarm_bench.{name}": value for name, value in listed.items()}


def _list_contents(trial: ExportedTrial) -> dict[str, Any]:
    """List what was asked and answered, in the form of the conventions."""
    asked = [_describe_message(message) for message in trial.prompt]
    answer = trial.answer and [_describe_message(Message(role="agent", text=trial.answer))]
    return {
        "gen_ai.input.messages": write_json(asked) if asked else None,
        "gen_ai.output.messages": write_json(answer) if answer else None,
    }


def _describe_message(message: Message) -> dict[str, Any]:
    role = "assistant" if message.role == "agent" else message.role
    return {"role": role, "parts": [{"type": "text", "content": message.text}]}


def _make_tool_span(call: ShownCall, *, contents: bool) -> dict[str, Any]:
    """Make the span of a call, without its ids."""
    start, end = _find_times(call) or (0, 0)
    quoted = {
        "gen_ai.tool.call.arguments": write_json(call.arguments),
        "gen_ai.tool.call.result": call.result,
    }
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.tool,
        "gen_ai.tool.call.id": call.id,
        "error.type": "tool_error" if call.failed else None,
        **(quoted if contents else {}),
    }
    return {
        "name": f"execute_tool {call.tool}",
        "kind": _INTERNAL,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(end),
        "attributes": _list_attributes(attributes),
        **({"status": {"code": _ERROR}} if call.failed else {}),
    }


def _find_times(call: ShownCall) -> tuple[int, int] | None:
    """Return when a call began and ended, in nanoseconds of the epoch; `None` where the transcript
    does not say, or says what cannot be."""
    if call.result_at is None or call.seconds is None:
        return None
    end = round(call.result_at * _NANOSECONDS)
    start = end - round(call.seconds * _NANOSECONDS)
    return (start, end) if 0 < start <= end < _LAST else None


def _list_attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """List attributes as OTLP/JSON has them, without those that are missing."""
    return [
        {"key": name, "value": _wrap(clean(value))}
        for name, value in values.items()
        if value is not None
    ]


def _wrap(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case str():
            return {"stringValue": value}
    return {"stringValue": write_json(value)}


def _read_moment(value: object) -> int | None:
    """Return a time of the table in nanoseconds of the epoch."""
    if not isinstance(value, str):
        return None
    return round(datetime.fromisoformat(value).timestamp() * _NANOSECONDS)


def _digest(digits: int, *parts: object) -> str:
    """Make an id, the same one in every export."""
    text = "\x00".join(map(str, parts)).encode("utf-8", "replace")
    return hashlib.sha256(text).hexdigest()[:digits]
