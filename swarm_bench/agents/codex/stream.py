"""Reads what `codex exec --json` prints into an outcome, with the log that goes beside it."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from swarm_bench.agents.codex.causes import cause_of
from swarm_bench.agents.codex.log import SHELL, Log, ToolUse, is_accepted_request, read_log, split
from swarm_bench.agents.reading.call_arguments import Commands
from swarm_bench.agents.reading.endings import unless_refused
from swarm_bench.agents.reading.json_lines import (
    Json,
    JsonObject,
    clause_of,
    count_of,
    events_in,
    object_of,
    objects,
    text_of,
)
from swarm_bench.agents.reading.retrieved import Retrievals, Timeline
from swarm_bench.agents.reading.tool_answers import ToolAnswers
from swarm_bench.agents.reading.tool_costs import seconds_by_tool, tokens_by_tool
from swarm_bench.core.outcome import Activity, AgentExit, Outcome, Usage
from swarm_bench.core.status import Cause

_RETRYING = "Reconnecting..."
_TOOLS = {"command_execution": SHELL, "file_change": "apply_patch", "web_search": "web_search"}
"""The name of a tool in the events, and in our records: the model has several for the first."""
_ARGUMENTS = ("arguments", "command", "changes", "query")
"""What the kinds of items have of a call."""
_NOT_DONE = ("failed", "declined")


@dataclass
class Transcript:
    """The state after the events so far."""

    started: bool = False
    """Whether there was a conversation: without one, calls are unknown, not none."""
    text: str | None = None
    """The last message, unless a tool was called after it: then it was no answer."""
    calls: dict[str, str] = field(default_factory=dict)
    """Tool name by id of the item."""
    failures: dict[str, str] = field(default_factory=dict)
    unanswered: dict[str, str] = field(default_factory=dict)
    denials: dict[str, str] = field(default_factory=dict)
    answers: ToolAnswers = field(default_factory=ToolAnswers)
    commands: Commands = field(default_factory=Commands)
    retrievals: Retrievals = field(default_factory=Retrievals)
    reconnects: int = 0
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
                self._item(object_of(event.get("item")), done=kind == "item.completed")
            case "error":
                self._error(event.get("message"))
            case "turn.failed":
                self._error(object_of(event.get("error")).get("message"))
                self.end = printed
            case "turn.completed":
                self.end = printed

    def _item(self, item: Json, *, done: bool) -> None:
        self.error = None  # it continues: a retry has helped
        if item.get("type") == "agent_message":
            text = text_of(item.get("text")) or ""
            if text.strip():  # it may close with an empty one
                self.text = text
            return
        if (name := tool_of(item)) is None:
            return
        key = text_of(item.get("id")) or f"call {len(self.calls)}"
        if key not in self.calls:
            self.text = None
        self.calls[key] = name
        # At the end of a turn it completes what is open, in the state that it is in.
        if done and item.get("status") != "in_progress":
            self.unanswered.pop(key, None)
        else:
            self.unanswered[key] = name
        if item.get("status") in _NOT_DONE:
            self.failures[key] = name
        if _was_denied(item):
            self.denials[key] = name
        self.answers.ask(key, name, item.get("arguments"))
        self.commands.ask(name, item.get("arguments") or item)
        self.retrievals.ask(key, name, [item.get(argument) for argument in _ARGUMENTS])
        if key not in self.unanswered:
            result = item.get("result")
            self.answers.answer(key, result, failed=key in self.failures)
            shown = result or item.get("aggregated_output")
            self.retrievals.answer(key, shown, failed=key in self.failures)

    def _error(self, message: object) -> None:
        clause = clause_of(message)
        self.reconnects += clause is not None and clause.startswith(_RETRYING)
        self.error = clause or self.error


def outcome_of(exit: AgentExit) -> Outcome:
    """Read the outcome of a finished process."""
    transcript = Transcript(answers=ToolAnswers.of(exit), retrievals=Retrievals.of(exit))
    for printed in objects(exit.stdout):
        transcript.add(printed)
    log = read_log(exit.stderr)
    last, began = transcript.text, transcript.started
    judged = cause_of(exit, transcript.end, transcript.error, log, text=last, began=began)
    answered = bool(transcript.text or transcript.calls or log.requests)
    cause, detail = unless_refused(judged, exit, answered=answered)
    text = _answer(transcript, cause)
    usage = _usage(transcript.end, log)
    # The log has the requests of sub-agents too: only if there were none are its requests turns.
    without_subagents = bool(log.requests) and Usage.total(log.requests) == usage
    started = transcript.started
    uses = _uses(transcript.calls, log) if started and log.events else None
    timeline = _timeline(uses or {}, log.requests if without_subagents else (), exit)
    return Outcome(
        cause=cause,
        detail=detail,
        text=text,
        usage=usage,
        all_in=Usage.total(log.requests),
        turn_usage=tuple(log.requests) if without_subagents else None,
        turns=len(log.requests) if without_subagents else None,
        model=clause_of(log.model),
        program_version=clause_of(log.version),
        tool_calls=_counted(transcript.calls) if started else None,
        tool_failures=_counted(transcript.failures) if started else None,
        tool_unanswered=_counted(transcript.unanswered) if started else None,
        tool_seconds=None if uses is None else _tool_seconds(transcript.calls, uses),
        tool_result_tokens=None if uses is None else _tool_tokens(transcript.calls, uses),
        tool_answers=transcript.answers.all() if started else None,
        retrieved=transcript.retrievals.all(timeline) if started else None,
        permission_denials=_counted(transcript.denials) if started else None,
        retries=transcript.reconnects + log.retries if started and log.events else None,
        servers=_servers(transcript, log),
        payload=transcript.end.raw if transcript.end else None,
        **transcript.commands.outcome_fields(started),
    )


def _uses(calls: dict[str, str], log: Log) -> dict[str, ToolUse]:
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


def _timeline(uses: dict[str, ToolUse], requests: Sequence[Usage], exit: AgentExit) -> Timeline:
    """Return when the calls came to their ends; without `requests`, turns mean nothing."""
    return Timeline(
        turns={key: use.turn for key, use in uses.items()} if requests else {},
        ends={key: use.span.end for key, use in uses.items() if use.span is not None},
        usage=requests,
        started=exit.started,
    )


def _tool_seconds(calls: dict[str, str], uses: dict[str, ToolUse]) -> dict[str, float] | None:
    spans = {key: use.span for key, use in uses.items() if use.span is not None}
    return seconds_by_tool(calls, spans)


def _tool_tokens(calls: dict[str, str], uses: dict[str, ToolUse]) -> dict[str, int]:
    counts = {key: uses[key].tokens if key in uses else None for key in calls}
    return tokens_by_tool(calls, counts)


def _plain(name: str) -> str:
    """Write a tool's name as the log does, which has it as the model sees it."""
    return re.sub(r"\W", "_", name)


def activity_of(line: bytes) -> Activity | None:
    """Read an event, or a line of the log, for the live view and the budget of turns. The events do
    not show when Codex asks its model, nor which calls came together; the log does."""
    if is_accepted_request(line):
        return Activity(doing="thinking", turns=1)
    return Activity.joined(map(_activity, events_in(line)))


def _activity(event: Json) -> Activity | None:
    kind = event.get("type")
    if kind == "turn.completed":
        usage = usage_of(object_of(event.get("usage")))
        return Activity(doing="done", usage=usage, request="turn", over=True)
    if kind == "turn.failed":
        return Activity(doing="done", over=True)
    if kind not in ("item.started", "item.completed"):
        return None
    item = object_of(event.get("item"))
    if item.get("type") == "agent_message":
        return Activity(doing="writing", over=False)
    if (name := tool_of(item)) is None:
        return None
    shown = text_of(item.get("command")) or text_of(item.get("query")) or ""
    doing = clause_of(f"{name} {shown}", 120) or name
    return Activity(doing=doing, over=False)


def usage_of(usage: Json) -> Usage:
    """Read Codex's `usage` object."""
    names = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")
    return split(*(count_of(usage.get(name)) for name in names))


def tool_of(item: Json) -> str | None:
    """Return the name of the tool that an item is a call of; `None` when it is something else."""
    kind = text_of(item.get("type")) or ""
    if kind == "mcp_tool_call":
        server, tool = text_of(item.get("server")), text_of(item.get("tool"))
        return f"mcp__{server or 'unknown'}__{tool or 'unknown'}"
    if kind == "collab_tool_call":
        return text_of(item.get("tool")) or "unknown"
    return _TOOLS.get(kind)


def _was_denied(item: Json) -> bool:
    message = text_of(object_of(item.get("error")).get("message")) or ""
    return item.get("status") == "declined" or "requires approval" in message


def _answer(transcript: Transcript, cause: Cause) -> str | None:
    """Return the last message: before the end of its turn it may be only a remark on the way."""
    ended = transcript.end is not None and transcript.end.value.get("type") == "turn.completed"
    text = transcript.text or ""
    counts = ended or cause in (Cause.FINISHED, Cause.ANSWER_CUT)
    return text if text.strip() and counts else None


def _usage(end: JsonObject | None, log: Log) -> Usage:
    """Return the tokens of the end; of a run without an end, those that its requests had used."""
    usage = object_of(end.value.get("usage")) if end else {}
    return usage_of(usage) if usage else Usage.total(log.requests)


def _servers(transcript: Transcript, log: Log) -> dict[str, str] | None:
    """Return the servers' statuses. The log has all their names, and how many have connected: with
    settings of the user's own, that may be fewer."""
    if log.servers is None or not transcript.started:
        return None
    all_connected = log.catalogs >= len(log.servers)
    return dict.fromkeys(log.servers, "connected" if all_connected else "unknown")


def _counted(names: dict[str, str]) -> dict[str, int]:
    return dict(Counter(names.values()))
