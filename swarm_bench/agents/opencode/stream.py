"""Reads what `opencode run --format json` prints into an outcome, with the log beside it."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from swarm_bench.agents.opencode.log import Log, read_log
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
    as_amount,
    as_clause,
    as_count,
    as_list,
    as_object,
    as_text,
    events_in,
    read_objects,
)
from swarm_bench.agents.reading.tool_calls import Span, Timeline, ToolCalls, count_tokens
from swarm_bench.core.figures import total
from swarm_bench.core.outcome import Activity, AgentExit, Outcome, Usage
from swarm_bench.core.status import Cause

_SHOWN_ARGUMENTS = ("filePath", "pattern", "query", "command", "description")
_NAMES = {
    "ContextOverflowError": Cause.CONTEXT_OVERFLOW,
    "ProviderAuthError": Cause.NOT_AUTHORIZED,
    "MessageOutputLengthError": Cause.ANSWER_CUT,
    "ContentFilterError": Cause.REFUSED,
    "ProviderModelNotFoundError": Cause.UNKNOWN_MODEL,
}
_MESSAGES: MessagePatterns = (
    (r"model not found\b|(the )?model \S+ (does not exist|is not supported)", Cause.UNKNOWN_MODEL),
    (r"(the )?(response|content|request) (was )?(blocked|refused|filtered) by", Cause.REFUSED),
)
"""How OpenCode begins to say it. What its provider says is read from the rest."""
_NO_END = "There is no end of a step in the output"
_REASONS = {"length": Cause.ANSWER_CUT, "content-filter": Cause.REFUSED}
_FINAL = ("stop", *_REASONS)
"""Reasons of a step after which no other is made."""
BROKEN = ("unknown", "other", "error")
"""Reasons of a step whose stream came to no proper end."""


@dataclass
class Transcript:
    """The state after the events so far. A call is printed with its result, so that none appears
    that was never answered."""

    started: bool = False
    steps: list[Usage] = field(default_factory=list)
    costs: list[float | None] = field(default_factory=list)
    reason: str | None = None
    """Reason why the last step ended; `None` while one is under way."""
    texts: list[str] = field(default_factory=list)
    """Texts of the last step, unless it called tools."""
    earlier: str = ""
    """Text of the step before, if it was to be the last one."""
    step_texts: dict[int, list[str]] = field(default_factory=dict)
    """Texts by their steps."""
    at: float | None = None
    """Time when the last event was printed, in seconds of the epoch."""
    calls: ToolCalls = field(default_factory=ToolCalls)
    """Calls by their index."""
    spans: dict[str, Span] = field(default_factory=dict)
    result_tokens: dict[str, int | None] = field(default_factory=dict)
    asked_in: dict[str, int] = field(default_factory=dict)
    """Step by the index of the call that was made in it."""
    denials: list[str] = field(default_factory=list)
    error: Json | None = None
    end: JsonObject | None = None

    def add(self, printed: JsonObject) -> None:
        event = printed.value
        part = as_object(event.get("part"))
        moment = as_amount(event.get("timestamp"))
        self.at = self.at if moment is None and self.at else (moment or 0) / 1000
        match event.get("type"):
            case "step_start":
                self.earlier = self.text if self.reason in _FINAL else ""
                self.started, self.reason, self.error = True, None, None
                self.texts.clear()
            case "text":
                text = as_text(part.get("text")) or ""
                self.texts.append(text)
                self.step_texts.setdefault(len(self.steps) + 1, []).append(text)
            case "tool_use":
                self._add_tool(part)
            case "step_finish":
                self.steps.append(read_usage(part))
                self.costs.append(as_amount(part.get("cost")))
                self.reason = as_text(part.get("reason")) or BROKEN[0]
                self.end = printed
            case "error":
                self.error, self.end = as_object(event.get("error")), printed

    @property
    def text(self) -> str:
        """The text of the last step, or of the one before, where the last has none."""
        text = "\n\n".join(self.texts)
        return text if text.strip() else self.earlier

    def _add_tool(self, part: Json) -> None:
        self.started = True
        self.earlier = ""
        self.texts.clear()
        name, state = as_text(part.get("tool")) or "unknown", as_object(part.get("state"))
        failed = state.get("status") == "error"
        if failed and "rejected permission" in (as_text(state.get("error")) or ""):
            self.denials.append(name)
        key, time = str(len(self.calls.tools)), as_object(state.get("time"))
        begin, end = as_amount(time.get("start")), as_amount(time.get("end"))
        if begin is not None and end is not None and end >= begin:
            self.spans[key] = Span(begin / 1000, end / 1000)
        result = state.get("error") if failed else _build_blocks(state)
        self.result_tokens[key] = count_tokens(result)
        self.calls.add(key, name, state.get("input"))
        self.calls.add_result(key, result, failed=failed)
        self.asked_in[key] = len(self.steps) + 1


def _build_blocks(state: Json) -> object:
    """Return a result as its server gave it: the texts are the output, and all else is attached."""
    output, attached = state.get("output"), as_list(state.get("attachments"))
    kinds = [as_text(as_object(attachment).get("mime")) or "" for attachment in attached]
    other_blocks = [{"type": kind.partition("/")[0]} for kind in kinds]
    return [{"type": "text", "text": output}, *other_blocks] if other_blocks else output


def read_outcome(exit: AgentExit) -> Outcome:
    """Read the outcome of a finished process."""
    transcript = Transcript(calls=ToolCalls.start(exit))
    for printed in read_objects(exit.stdout):
        transcript.add(printed)
    log = read_log(exit.stderr)
    last_text = transcript.text
    judgement = find_cause(
        exit, transcript.error, transcript.reason, log, text=last_text, at=transcript.at
    )
    cause, detail = apply_refusal(judgement, exit, has_answered=bool(transcript.steps or last_text))
    text = _find_answer(transcript, cause)
    started = transcript.started
    is_alone = log.exists and log.subagents == log.compactions == 0
    last_failed = transcript.error is not None
    return Outcome(
        cause=cause,
        detail=detail,
        text=text,
        model=log.model,
        program_version=log.version,
        permission_denials=dict(Counter(transcript.denials)) if started else None,
        retries=max(0, log.failed_requests - last_failed) if log.exists else None,
        compactions=log.compactions if log.exists else None,
        subagents=log.subagents if log.exists else None,
        servers=_read_servers(exit.servers, transcript, log),
        payload=transcript.end.raw if transcript.end else None,
        **_sum_steps(transcript, cause, is_alone=is_alone),
        **(_read_calls(transcript, exit) if started else {}),
    )


def _sum_steps(transcript: Transcript, cause: Cause, *, is_alone: bool) -> dict[str, Any]:
    """Return what the steps took; nothing for an answer whose step has no end, which says it."""
    if transcript.reason is None and cause is Cause.FINISHED:
        return {}
    usage = Usage.total(transcript.steps)
    return {
        "usage": usage,
        "all_in": usage if is_alone else Usage(),
        "turn_usage": tuple(transcript.steps) if transcript.started else None,
        "turns": len(transcript.steps) if transcript.started else None,
        "cost": total(transcript.costs) or None,  # 0 stands for a model without a price
    }


def _read_calls(transcript: Transcript, exit: AgentExit) -> dict[str, Any]:
    """Return what the events show of calls; those without a result do not appear in them."""
    timeline = Timeline(
        turns=transcript.asked_in,
        end_times={call: span.end for call, span in transcript.spans.items()},
        usage=transcript.steps,
        started=exit.started,
    )
    fields = transcript.calls.make_fields(
        timeline,
        transcript.spans,
        transcript.result_tokens,
        turn_texts={step: "\n\n".join(texts) for step, texts in transcript.step_texts.items()},
    )
    return {**fields, "tool_unanswered": None}


def read_activity(line: bytes) -> Activity | None:
    """Read events for the live view, which steps called tools, and which was the last."""
    return Activity.joined(map(_read_event, events_in(line)))


def _read_event(event: Json) -> Activity | None:
    part = as_object(event.get("part"))
    match event.get("type"):
        case "tool_use":
            return Activity(doing=_describe_call(part), over=False)
        case "text":
            return Activity(doing="writing", over=False)
        case "step_finish":
            reason = part.get("reason")
            return Activity(
                doing="working",
                usage=read_usage(part),
                request=as_text(part.get("messageID")),
                turns=int(reason == "tool-calls" or reason in BROKEN),
                over=reason in _FINAL,
            )
    return None


def read_usage(part: Json) -> Usage:
    """Read the tokens of a step. All are 0 when the provider sent none, and there is no total
    then."""
    tokens = as_object(part.get("tokens"))
    if not as_count(tokens.get("total")):
        return Usage()
    cache = as_object(tokens.get("cache"))
    output, thought = as_count(tokens.get("output")), as_count(tokens.get("reasoning"))
    return Usage(
        input=as_count(tokens.get("input")),
        cache_read=as_count(cache.get("read")),
        cache_create=as_count(cache.get("write")),
        output=None if output is None or thought is None else output + thought,
    )


def find_key(name: str) -> str:
    """Return a server's key. OpenCode puts the key, `_` and the tool's name together: so the model
    sees `mcp__<server>__<tool>`, and the output shows which server was called."""
    return f"mcp__{_plain(name)}_"


def _plain(name: str) -> str:
    """Replace in a server's name what the name of a tool cannot have."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def _describe_call(part: Json) -> str:
    arguments = as_object(as_object(part.get("state")).get("input"))
    argument = next(
        (text for name in _SHOWN_ARGUMENTS if (text := as_text(arguments.get(name)))), ""
    )
    name = as_text(part.get("tool")) or "a tool"
    return as_clause(f"{name} {argument}", 120) or "working"


def _find_answer(transcript: Transcript, cause: Cause) -> str | None:
    """Join the texts of a last step that came to its end: before that they may be remarks on the
    way."""
    text = transcript.text
    has_ended = transcript.error is None and transcript.reason not in (None, "tool-calls", *BROKEN)
    counts = has_ended or cause in (Cause.FINISHED, Cause.ANSWER_CUT)
    return text if text.strip() and counts else None


def _read_servers(names: Iterable[str], transcript: Transcript, log: Log) -> dict[str, str] | None:
    """Return the servers' statuses. OpenCode asks its model when every server has connected or
    failed; it names the failed."""
    if not (transcript.started and log.exists):
        return None
    failed = {_plain(name): log.unavailable.get(find_key(name)) for name in names}
    return {name: status or "connected" for name, status in failed.items()}


def find_cause(
    exit: AgentExit,
    error: Json | None,
    reason: str | None,
    log: Log,
    *,
    text: str,
    at: float | None,
) -> Ending:
    """Return the cause, and a sentence on a failure. `error` is the last error event's, if nothing
    followed it, `reason` and `text` are those of the last step, `at` is when the last event was
    printed."""
    if exit.stopped == "timeout" and error is None and log.error and log.failed_since(at):
        return _find_message_cause(log.error), log.error
    if exit.stopped is not None and (exit.stopped != "timeout" or error is None):
        return STOPPED[exit.stopped], _message(error) or log.error
    if reason == _FINAL[0] and text.strip() and error is not None:
        return Cause.FINISHED, as_clause(f"It failed after its answer: {_message(error)}")
    if error is not None and error.get("name") == "UnknownError" and log.error:
        return _find_message_cause(log.error), log.error
    if error is not None:
        return _find_failure(error), _message(error)
    if reason == _FINAL[0]:
        return judge_success(exit, text, log.last)
    if exit.returncode != 0 or reason in (None, "tool-calls"):
        return _judge_missing_end(exit, log, text, has_events=at is not None)
    if reason in BROKEN:
        return Cause.PROVIDER_FAILED, "The model's stream ended before its answer did"
    if reason in _REASONS:
        return _REASONS[reason], None
    return judge_success(exit, text, log.last)


def _find_failure(error: Json) -> Cause:
    name, data = str(error.get("name")), as_object(error.get("data"))
    if name in _NAMES:
        return _NAMES[name]
    message = as_text(data.get("message")) or f"API Error: {name}"
    return _find_message_cause(message, as_count(data.get("statusCode")))


def _find_message_cause(message: str, status: int | None = None) -> Cause:
    return find_message_cause(_MESSAGES, message) or find_reason(message, status)


def _message(error: Json | None) -> str | None:
    if error is None:
        return None
    data = as_object(error.get("data"))
    message = as_clause(data.get("message")) or as_clause(error.get("name"))
    status = as_count(data.get("statusCode"))
    return message if status is None else f"{message or 'Error'} (HTTP status {status})"


def _judge_missing_end(exit: AgentExit, log: Log, text: str, *, has_events: bool) -> Ending:
    detail = ending(exit.returncode, log.last)
    if exit.stdout.stat().st_size == 0:
        return Cause.NO_OUTPUT, detail
    if exit.returncode != 0:
        return Cause.EXIT_CODE, detail
    judgement = judge_missing_end(
        exit, text.strip(), has_events=has_events, end="step_finish", missing=_NO_END
    )
    return judgement or (Cause.UNREADABLE_OUTPUT, _NO_END)
