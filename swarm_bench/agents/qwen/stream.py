"""Reads what Qwen Code prints (`--output-format stream-json`, or `json`) into an outcome.

Its events are like Claude Code's, but for what a prompt's tokens include and how a failure looks.
Before 0.24 a request that failed was a success, with the error in the place of the answer and exit
code 0; a used-up turn budget has no result event in any version.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from swarm_bench.agents.reading.api_errors import find_reason
from swarm_bench.agents.reading.endings import (
    STOPPED,
    Ending,
    MessagePatterns,
    apply_refusal,
    ending,
    find_message_cause,
    judge_missing_end,
    tail,
)
from swarm_bench.agents.reading.json_lines import (
    Json,
    as_amount,
    as_clause,
    as_count,
    as_list,
    as_object,
    as_text,
    read_objects,
)
from swarm_bench.agents.reading.saved_chats import answer_text, chats_in
from swarm_bench.agents.reading.tool_calls import (
    Span,
    Timeline,
    ToolCalls,
    count_tokens,
    make_span_until,
    parse_time,
)
from swarm_bench.agents.stream_json.failures import NO_RESULT, judge_result
from swarm_bench.agents.stream_json.failures import find_answer as _plain_answer_of
from swarm_bench.agents.stream_json.transcript import Transcript, servers_of, tools_of
from swarm_bench.agents.stream_json.transcript import usage_of as claude_usage_of
from swarm_bench.core.outcome import AgentExit, Outcome, Usage
from swarm_bench.core.status import Cause

CHATS = ".qwen/projects/*/chats/*.jsonl"
"""Pattern of the files below the home with the conversations. The events that are printed have no
times, and of a tool's result what a person would be shown."""
_TURN_LIMIT_CODE = 53
_ERROR_ANSWER = re.compile(
    r"(?:.*\n)?\[API Error: .*\]"
    r"(\n(Please wait|Possible quota|Rate limit|Quota exceeded)[^\n]*)*\s*",
    re.DOTALL,
)
"""An answer that is none, or that broke off: older versions call it a success."""
_MESSAGES: MessagePatterns = (
    (r"(\[API Error: )?(reached )?max(imum)? session turns", Cause.MAX_TURNS),
    (
        r"(\[API Error: )?model stream ended with(out a| no)? (empty response text|finish reason)",
        Cause.EMPTY_ANSWER,
    ),
)
_NOISE = ("Ripgrep not available", "⚠ SAFE MODE", "Retrying provider attempt", "Warning: MCP")
_NO_LOGIN = re.compile(
    r"(Error: )?(Please set an Auth method|No auth type|Missing API key|Auth method|Invalid auth)",
    re.I,
)
_STDERR_BYTES = 64 * 1024
_MESSAGE_FIELDS = ("result", "subtype")


@dataclass(frozen=True, kw_only=True)
class _ChatFigures:
    """The figures of tools in the conversations, by call id."""

    spans: dict[str, Span] = field(default_factory=dict)
    texts: dict[str, str | None] = field(default_factory=dict)
    """Results as the model got them; `None` for one that is not text alone."""


def read_outcome(exit: AgentExit) -> Outcome:
    """Read the outcome of a finished process."""
    transcript = Transcript(calls=ToolCalls.start(exit))
    for printed in read_objects(exit.stdout):
        transcript.add(printed)
    result = transcript.last.value if transcript.last else {}
    init = transcript.init or {}
    has_events = transcript.has_events
    requests = tuple(_read_requests(transcript).values())
    usage = read_usage(claude_usage_of(result.get("usage"))) if result else Usage.total(requests)
    has_answered = bool(requests or transcript.text)
    cause, detail = apply_refusal(find_cause(exit, transcript), exit, has_answered=has_answered)
    return Outcome(
        cause=cause,
        detail=detail,
        text=find_answer(transcript, cause),
        usage=usage,
        all_in=usage if result else Usage(),
        turn_usage=requests if has_events else None,
        turns=_count_turns(result, cause, requests) if has_events else None,
        duration_ms=as_amount(result.get("duration_ms")),
        api_ms=as_amount(result.get("duration_api_ms")) or None,
        model=transcript.answering_model,
        program_version=as_clause(init.get("qwen_code_version")),
        permission_denials=_count_denials(result) if result else None,
        subagents=transcript.subagents(["agent"]) if has_events else None,
        servers=servers_of(init),
        tools_offered=tools_of(init),
        payload=transcript.last.raw if transcript.last else None,
        **(_read_calls(transcript, exit) if has_events else {}),
    )


def read_usage(usage: Usage) -> Usage:
    """Split off what was cached: `input_tokens` include what was read from a cache, and what was
    written to one, of which there is no figure."""
    prompt, cached, output = usage.input, usage.cache_read, usage.output
    if not prompt and not output:
        return Usage()  # what it prints when no request was answered
    if prompt is None or cached is None or cached > prompt:
        return Usage(output=output)
    return Usage(input=prompt - cached, cache_read=cached, cache_create=0, output=output)


def _read_requests(transcript: Transcript) -> dict[str, Usage]:
    """Return the tokens per request. A text before a call is an event of its own, with zeros for
    figures."""
    requests = {key: read_usage(usage) for key, usage in transcript.requests.items()}
    return {key: usage for key, usage in requests.items() if usage != Usage()}


def _count_turns(result: Json, cause: Cause, requests: tuple[Usage, ...]) -> int | None:
    """Return its own figure, which counts a request that failed too, or else the answered
    requests."""
    stated = as_count(result.get("num_turns"))
    return len(requests) if stated is None or cause is not Cause.FINISHED else stated


def _figures_in(home: Path | None) -> _ChatFigures | None:
    entries = chats_in(home, CHATS) if home is not None else None
    if entries is None:
        return None
    figures = _ChatFigures()
    for entry in entries:
        event = as_object(as_object(entry.get("systemPayload")).get("uiEvent"))
        milliseconds = as_amount(event.get("duration_ms"))
        if event.get("event.name") == "qwen-code.tool_call" and milliseconds is not None:
            span = make_span_until(parse_time(event.get("event.timestamp")), milliseconds / 1000)
            if span is not None:
                figures.spans[as_text(event.get("call_id")) or ""] = span
        if entry.get("type") == "tool_result":
            key = as_text(as_object(entry.get("toolCallResult")).get("callId"))
            parts = as_object(entry.get("message")).get("parts")
            figures.texts[key or ""] = answer_text(parts)
    return figures


def _read_calls(transcript: Transcript, exit: AgentExit) -> dict[str, Any]:
    """Return what events and conversations show of calls."""
    requests, calls = _read_requests(transcript), transcript.calls
    chats = _figures_in(exit.home)
    spans, texts = (chats.spans, chats.texts) if chats else (None, None)
    timeline = Timeline(
        turns=transcript.number_turns(requests),
        end_times={call: span.end for call, span in (spans or {}).items()},
        usage=tuple(requests.values()),
        started=exit.started,
    )
    counts = None if texts is None else {k: count_tokens(texts.get(k)) for k in calls.answered}
    turn_texts = dict(_number_texts(transcript, requests))
    return calls.make_fields(timeline, spans, counts, texts, turn_texts)


def _number_texts(
    transcript: Transcript, requests: Mapping[str, Usage]
) -> Iterator[tuple[int, str]]:
    """Yield what was said in each request, by its number. A text in an event of its own is of the
    request that comes next."""
    text, number, callers = "", 0, frozenset(transcript.asked_in.values())
    for key in transcript.requests:
        text += transcript.turn_texts.get(key, "")
        if key in requests:
            number += 1
            if text:
                yield number, text
        if key in requests or key in callers:
            text = ""


def _count_denials(result: Json) -> dict[str, int]:
    refused = map(as_object, as_list(result.get("permission_denials")))
    return dict(Counter(as_text(denial.get("tool_name")) or "unknown" for denial in refused))


def find_cause(exit: AgentExit, transcript: Transcript) -> Ending:
    """Return the cause, and a sentence on a failure."""
    if exit.stopped is not None:
        return STOPPED[exit.stopped], None
    if transcript.last is None:
        return _judge_missing_result(exit, transcript)
    result = transcript.last.value
    if _has_failed(result):
        fields = (as_object(result.get("error")).get("message"), *map(result.get, _MESSAGE_FIELDS))
        message = next(filter(None, map(as_text, fields)), "")
        return _find_failure(message), as_clause(message)
    answer = as_text(result.get("result"))
    if answer is None and not transcript.text:
        return Cause.UNREADABLE_OUTPUT, "The result event has no answer in it"
    if answer and _ERROR_ANSWER.fullmatch(answer):
        message = answer[answer.rindex("[API Error: ") :]
        return _find_failure(message), as_clause(message)
    return judge_result(exit, transcript, next(reversed(_read_stderr(exit)), None))


def find_answer(transcript: Transcript, cause: Cause) -> str | None:
    """Return the answer, which may have an error in its place."""
    result = transcript.last.value if transcript.last else {}
    answer = None if _has_failed(result) else _plain_answer_of(transcript, cause)
    return None if answer is None or _ERROR_ANSWER.fullmatch(answer) else answer


def _has_failed(result: Json) -> bool:
    return result.get("is_error") is True or result.get("subtype", "success") != "success"


def _judge_missing_result(exit: AgentExit, transcript: Transcript) -> Ending:
    if exit.returncode == _TURN_LIMIT_CODE:
        return Cause.MAX_TURNS, None
    if exit.stdout.stat().st_size == 0:
        unready = exit.returncode == 1 and any(map(_NO_LOGIN.match, _read_stderr(exit)[-3:]))
        return Cause.NOT_AUTHORIZED if unready else Cause.NO_OUTPUT, _describe_ending(exit)
    if exit.returncode != 0:
        return Cause.EXIT_CODE, _describe_ending(exit)
    has_events = transcript.has_events
    judgement = judge_missing_end(
        exit, transcript.text, has_events=has_events, end="result", missing=NO_RESULT
    )
    return judgement or (Cause.UNREADABLE_OUTPUT, NO_RESULT)


def _find_failure(message: str) -> Cause:
    return find_message_cause(_MESSAGES, message) or find_reason(
        message, unknown=Cause.ERROR_RESULT
    )


def _describe_ending(exit: AgentExit) -> str:
    """Return the exit code, and the last line of standard error that is no noise."""
    return ending(exit.returncode, next(reversed(_read_stderr(exit)), None))


def _read_stderr(exit: AgentExit) -> list[str]:
    lines = tail(exit.stderr, _STDERR_BYTES).splitlines()
    return [line for line in lines if line.strip() and not line.startswith(_NOISE)]
