"""Reads what `codex exec --json` prints into an outcome, with the log that goes beside it."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from swarm_bench.agents.codex.log import (
    SHELL,
    Log,
    ToolUse,
    is_accepted_request,
    read_log,
    split_usage,
)
from swarm_bench.agents.reading.api_errors import find_reason
from swarm_bench.agents.reading.endings import (
    STOPPED,
    Ending,
    MessagePatterns,
    apply_refusal,
    ending,
    find_message_cause,
    judge_missing_end,
    judge_success,
)
from swarm_bench.agents.reading.json_lines import (
    Json,
    JsonObject,
    as_clause,
    as_count,
    as_object,
    as_text,
    events_in,
    read_objects,
)
from swarm_bench.agents.reading.tool_calls import Timeline, ToolCalls
from swarm_bench.core.outcome import Activity, AgentExit, Outcome, Usage
from swarm_bench.core.status import Cause

_RETRYING = "Reconnecting..."
_TOOLS = {"command_execution": SHELL, "file_change": "apply_patch", "web_search": "web_search"}
"""The name of a tool in the events, and in our records: the model has several for the first."""
_ARGUMENTS = ("command", "changes", "query")
"""Keys of an item that describe a call, where that has no arguments."""
_NOT_DONE = ("failed", "declined")
_MESSAGES: MessagePatterns = (
    (r"codex ran out of room in the model's context window", Cause.CONTEXT_OVERFLOW),
    (r"incomplete response returned, reason: max_output_tokens", Cause.ANSWER_CUT),
    (
        r"incomplete response returned, reason: content_filter"
        r"|(this|your) (request|input|prompt|content)\b.{0,60} (was|been) flagged",
        Cause.REFUSED,
    ),
    (
        r"you've hit your usage limit|you've reached your [\w ]{0,40}limit|quota exceeded"
        r"|your workspace is out of credits|to use codex with your chatgpt plan, upgrade",
        Cause.NO_CREDIT,
    ),
    (
        r"missing environment variable|not logged in\b|your access token could not",
        Cause.NOT_AUTHORIZED,
    ),
    (
        r"we.re currently experiencing high demand|selected model is at capacity"
        r"|timeout waiting for|idle timeout waiting",
        Cause.PROVIDER_FAILED,
    ),
)
"""Beginning of the message in which Codex says it. The message of its provider is read from the
rest."""
_NO_END = "There is no end of a turn in the output"


@dataclass
class Transcript:
    """The state after the events so far."""

    started: bool = False
    """Whether there was a conversation: without one, calls are unknown, not none."""
    text: str | None = None
    """The last message, unless a tool was called after it: then it was no answer."""
    calls: ToolCalls = field(default_factory=ToolCalls)
    """Calls by id of the item."""
    messages: list[tuple[int, str]] = field(default_factory=list)
    """Messages, each with the index of a call of its request, if there is one: one that was open
    then, or else the next."""
    denials: dict[str, str] = field(default_factory=dict)
    reconnects: int = 0
    _open: dict[str, int] = field(default_factory=dict)
    """Calls that have begun and not ended, with their indices."""
    error: str | None = None
    """The last error of the conversation, in the program's words."""
    end: JsonObject | None = None
    """`turn.completed` or `turn.failed`."""

    def add(self, printed: JsonObject) -> None:
        event = printed.value
        match event.get("type"):
            case "thread.started":
                self.started = True
            case "item.started" | "item.completed" as kind:
                self._add_item(as_object(event.get("item")), done=kind == "item.completed")
            case "error":
                self._add_error(event.get("message"))
            case "turn.failed":
                self._add_error(as_object(event.get("error")).get("message"))
                self.end = printed
            case "turn.completed":
                self.end = printed

    def _add_item(self, item: Json, *, done: bool) -> None:
        self.error = None  # it continues: a retry has helped
        if item.get("type") == "agent_message":
            text = as_text(item.get("text")) or ""
            if text.strip():  # it may close with an empty one
                self.text = text
                following = len(self.calls.tools)
                self.messages.append((next(iter(self._open.values()), following), text))
            return
        if (name := _find_tool(item)) is None:
            return
        key = as_text(item.get("id")) or f"call {len(self.calls.tools)}"
        if key not in self.calls.tools:
            self.text = None
            self._open[key] = len(self.calls.tools)
        described = {argument: item[argument] for argument in _ARGUMENTS if argument in item}
        self.calls.add(key, name, item.get("arguments") or described)
        if _was_denied(item):
            self.denials[key] = name
        if item.get("status") in _NOT_DONE:
            self.calls.failures[key] = name
        # At the end of a turn it completes what is open, in the state that it is in.
        if done and item.get("status") != "in_progress":
            content = item.get("result") or item.get("aggregated_output")
            self.calls.add_result(key, content)
            self._open.pop(key, None)

    def _add_error(self, message: object) -> None:
        clause = as_clause(message)
        self.reconnects += clause is not None and clause.startswith(_RETRYING)
        self.error = clause or self.error


def read_outcome(exit: AgentExit) -> Outcome:
    """Read the outcome of a finished process."""
    transcript = Transcript(calls=ToolCalls.start(exit))
    for printed in read_objects(exit.stdout):
        transcript.add(printed)
    log = read_log(exit.stderr)
    last, started = transcript.text, transcript.started
    end, error = transcript.end, transcript.error
    judgement = find_cause(exit, end, error, log, text=last, has_events=started)
    has_answered = bool(transcript.text or transcript.calls.tools or log.requests)
    cause, detail = apply_refusal(judgement, exit, has_answered=has_answered)
    text = _find_answer(transcript, cause)
    usage = _find_usage(transcript.end, log)
    # The log has the requests of sub-agents too: only if there were none are its requests turns.
    without_subagents = bool(log.requests) and Usage.total(log.requests) == usage
    turns = log.requests if without_subagents else ()
    return Outcome(
        cause=cause,
        detail=detail,
        text=text,
        usage=usage,
        all_in=Usage.total(log.requests),
        turn_usage=tuple(log.requests) if without_subagents else None,
        turns=len(log.requests) if without_subagents else None,
        model=as_clause(log.model),
        program_version=as_clause(log.version),
        permission_denials=dict(Counter(transcript.denials.values())) if started else None,
        retries=transcript.reconnects + log.retries if started and log.events else None,
        servers=_read_servers(transcript, log),
        payload=transcript.end.raw if transcript.end else None,
        **(_read_calls(transcript, log, turns, exit) if started else {}),
    )


def _read_uses(calls: dict[str, str], log: Log) -> dict[str, ToolUse]:
    """Match the calls with what the log has of them. Event and log have different ids of a call, so
    a tool is matched only where they have equally many; which is whose makes no difference to a
    sum."""
    uses: dict[str, ToolUse] = {}
    for name in set(calls.values()):
        keys = [key for key, tool in calls.items() if tool == name]
        logged = [use for use in log.tools.values() if _plain(use.tool) == _plain(name)]
        if len(logged) == len(keys):
            uses |= dict(zip(keys, logged, strict=True))
    return uses


def _read_calls(
    transcript: Transcript, log: Log, requests: Sequence[Usage], exit: AgentExit
) -> dict[str, Any]:
    """Return what events and log show of calls; without `requests`, turns mean nothing."""
    calls = transcript.calls
    uses = _read_uses(calls.tools, log) if log.events else {}
    spans = {key: use.span for key, use in uses.items() if use.span is not None}
    timeline = Timeline(
        turns={key: use.turn for key, use in uses.items()} if requests else {},
        end_times={key: span.end for key, span in spans.items()},
        usage=requests,
        started=exit.started,
    )
    if not log.events:
        return calls.make_fields(timeline, None, None)
    turn_texts = _number_texts(transcript, timeline)
    counts = {key: uses[key].tokens if key in uses else None for key in calls.tools}
    return calls.make_fields(timeline, spans, counts, turn_texts=turn_texts)


def _number_texts(transcript: Transcript, timeline: Timeline) -> dict[int, str]:
    """Join the messages of each request. The events show no requests, and only calls are matched
    with them: a message is of its call's, and after all calls of the last."""
    texts, calls = defaultdict[int, list[str]](list), [*transcript.calls.tools]
    for index, text in transcript.messages:
        is_last = index == len(calls)
        turn = len(timeline.usage) if is_last else timeline.turns.get(calls[index])
        if turn:
            texts[turn].append(text)
    return {turn: "\n\n".join(parts) for turn, parts in texts.items()}


def _plain(name: str) -> str:
    """Write a tool's name as the log does, which has it as the model sees it."""
    return re.sub(r"\W", "_", name)


def read_activity(line: bytes) -> Activity | None:
    """Read an event, or a line of the log, for the live view and the budget of turns. The events do
    not show when Codex asks its model, nor which calls came together; the log does."""
    if is_accepted_request(line):
        return Activity(doing="thinking", turns=1)
    return Activity.joined(map(_read_event, events_in(line)))


def _read_event(event: Json) -> Activity | None:
    kind = event.get("type")
    if kind == "turn.completed":
        usage = read_usage(as_object(event.get("usage")))
        return Activity(doing="done", usage=usage, request="turn", over=True)
    if kind == "turn.failed":
        return Activity(doing="done", over=True)
    if kind not in ("item.started", "item.completed"):
        return None
    item = as_object(event.get("item"))
    if item.get("type") == "agent_message":
        return Activity(doing="writing", over=False)
    if (name := _find_tool(item)) is None:
        return None
    argument = as_text(item.get("command")) or as_text(item.get("query")) or ""
    description = as_clause(f"{name} {argument}", 120) or name
    return Activity(doing=description, over=False)


def read_usage(usage: Json) -> Usage:
    """Read Codex's `usage` object."""
    names = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")
    return split_usage(*(as_count(usage.get(name)) for name in names))


def _find_tool(item: Json) -> str | None:
    """Return the name of the tool that an item is a call of; `None` when it is something else."""
    kind = as_text(item.get("type")) or ""
    if kind == "mcp_tool_call":
        server, tool = as_text(item.get("server")), as_text(item.get("tool"))
        return f"mcp__{server or 'unknown'}__{tool or 'unknown'}"
    if kind == "collab_tool_call":
        return as_text(item.get("tool")) or "unknown"
    return _TOOLS.get(kind)


def _was_denied(item: Json) -> bool:
    message = as_text(as_object(item.get("error")).get("message")) or ""
    return item.get("status") == "declined" or "requires approval" in message


def _find_answer(transcript: Transcript, cause: Cause) -> str | None:
    """Return the last message: before the end of its turn it may be only a remark on the way."""
    has_ended = transcript.end is not None and transcript.end.value.get("type") == "turn.completed"
    text = transcript.text or ""
    counts = has_ended or cause in (Cause.FINISHED, Cause.ANSWER_CUT)
    return text if text.strip() and counts else None


def _find_usage(end: JsonObject | None, log: Log) -> Usage:
    """Return the tokens of the end; of a run without an end, those that its requests had used."""
    usage = as_object(end.value.get("usage")) if end else {}
    return read_usage(usage) if usage else Usage.total(log.requests)


def _read_servers(transcript: Transcript, log: Log) -> dict[str, str] | None:
    """Return the servers' statuses. The log has all their names, and how many have connected: with
    settings of the user's own, that may be fewer."""
    if log.servers is None or not transcript.started:
        return None
    all_connected = log.catalogs >= len(log.servers)
    return dict.fromkeys(log.servers, "connected" if all_connected else "unknown")


def find_cause(
    exit: AgentExit,
    end: JsonObject | None,
    error: str | None,
    log: Log,
    *,
    text: str | None,
    has_events: bool,
) -> Ending:
    """Return the cause, and a sentence on a failure. `text` is the last message, if no tool was
    called after it."""
    if exit.stopped == "timeout" and (error or (log.status or 0) >= 300):
        return _find_failure(error, log), _last_error(error, log)
    if exit.stopped is not None:
        return STOPPED[exit.stopped], _last_error(error, log)
    if end is not None and end.value.get("type") == "turn.completed":
        return judge_success(exit, text, log.last)
    if end is not None:
        return _find_failure(error, log), _last_error(error, log)
    if log.unstarted is not None:
        return Cause.NOT_STARTED, f"Codex did not start: {log.unstarted}"
    if exit.stdout.stat().st_size == 0:
        return Cause.NO_OUTPUT, ending(exit.returncode, log.last)
    if exit.returncode != 0:
        return Cause.EXIT_CODE, ending(exit.returncode, log.last)
    judgement = judge_missing_end(
        exit, text, has_events=has_events, end=r"turn\.\w+", missing=_NO_END
    )
    return judgement or (Cause.UNREADABLE_OUTPUT, _NO_END)


def _find_failure(error: str | None, log: Log) -> Cause:
    """Look at Codex's own words first: a status can mean several things."""
    status = log.status if log.status is not None and log.status >= 300 else None
    return find_message_cause(_MESSAGES, error) or find_reason(error, status)


def _last_error(error: str | None, log: Log) -> str | None:
    failed = log.status is not None and log.status >= 400
    if error is None or not failed or str(log.status) in error:
        return error
    return as_clause(f"{error} (HTTP status {log.status})")
