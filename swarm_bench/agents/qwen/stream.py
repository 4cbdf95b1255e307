"""Reads what Qwen Code prints (`--output-format stream-json`, or `json`) into an outcome.

Its events are like Claude Code's, but for what a prompt's tokens include and how a failure looks.
"""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from swarm_bench.agents.qwen.causes import answer_of, cause_of
from swarm_bench.agents.reading.endings import unless_refused
from swarm_bench.agents.reading.json_lines import (
    Json,
    amount_of,
    clause_of,
    count_of,
    list_of,
    object_of,
    objects,
    text_of,
)
from swarm_bench.agents.reading.retrieved import Retrievals, Timeline
from swarm_bench.agents.reading.saved_chats import answer_text, chats_in
from swarm_bench.agents.reading.tool_answers import ToolAnswers
from swarm_bench.agents.reading.tool_costs import (
    Span,
    before,
    moment_of,
    seconds_by_tool,
    tokens_by_tool,
    tokens_of,
)
from swarm_bench.agents.stream_json.transcript import Transcript, servers_of, tools_of
from swarm_bench.agents.stream_json.transcript import usage_of as claude_usage_of
from swarm_bench.core.outcome import AgentExit, Outcome, Retrieved, Usage
from swarm_bench.core.status import Cause

CHATS = ".qwen/projects/*/chats/*.jsonl"
"""Pattern of the files below the home with the conversations. The events that are printed have no
times, and of a tool's result what a person would be shown."""


@dataclass(frozen=True, kw_only=True)
class _ChatFigures:
    """The figures of tools in the conversations, by call id."""

    spans: dict[str, Span] = field(default_factory=dict)
    texts: dict[str, str | None] = field(default_factory=dict)
    """Results as the model got them; `None` for one that is not text alone."""


def outcome_of(exit: AgentExit) -> Outcome:
    """Read the outcome of a finished process."""
    transcript = Transcript(answers=ToolAnswers.of(exit), retrievals=Retrievals.of(exit))
    for printed in objects(exit.stdout):
        transcript.add(printed)
    result = transcript.last.value if transcript.last else {}
    init = transcript.init or {}
    shown = transcript.has_events
    requests = tuple(_answered(transcript).values())
    usage = usage_of(claude_usage_of(result.get("usage"))) if result else Usage.total(requests)
    answered = bool(requests or transcript.text)
    cause, detail = unless_refused(cause_of(exit, transcript), exit, answered=answered)
    chats = _figures_in(exit.home) if shown else None
    return Outcome(
        cause=cause,
        detail=detail,
        text=answer_of(transcript, cause),
        usage=usage,
        all_in=usage if result else Usage(),
        turn_usage=requests if shown else None,
        turns=_turns(result, cause, requests) if shown else None,
        duration_ms=amount_of(result.get("duration_ms")),
        api_ms=amount_of(result.get("duration_api_ms")) or None,
        model=transcript.answering_model,
        program_version=clause_of(init.get("qwen_code_version")),
        tool_calls=dict(Counter(transcript.calls.values())) if shown else None,
        tool_failures=dict(Counter(transcript.failures.values())) if shown else None,
        tool_unanswered=dict(Counter(transcript.unanswered.values())) if shown else None,
        tool_seconds=None if chats is None else seconds_by_tool(transcript.calls, chats.spans),
        tool_result_tokens=_result_tokens(transcript, chats),
        tool_answers=transcript.answers.all() if shown else None,
        retrieved=_retrieved(transcript, chats, exit) if shown else None,
        permission_denials=_denials(result) if result else None,
        subagents=_subagents(transcript) if shown else None,
        servers=servers_of(init),
        tools_offered=tools_of(init),
        payload=transcript.last.raw if transcript.last else None,
        **transcript.commands.outcome_fields(shown),
    )


def usage_of(usage: Usage) -> Usage:
    """Split off what was cached: `input_tokens` include what was read from a cache, and what was
    written to one, of which there is no figure."""
    prompt, cached, output = usage.input, usage.cache_read, usage.output
    if not prompt and not output:
        return Usage()  # what it prints when no request was answered
    if prompt is None or cached is None or cached > prompt:
        return Usage(output=output)
    return Usage(input=prompt - cached, cache_read=cached, cache_create=0, output=output)


def _answered(transcript: Transcript) -> dict[str, Usage]:
    """Return the tokens per request. A text before a call is an event of its own, with zeros for
    figures."""
    requests = {key: usage_of(usage) for key, usage in transcript.requests.items()}
    return {key: usage for key, usage in requests.items() if usage != Usage()}


def _turns(result: Json, cause: Cause, requests: tuple[Usage, ...]) -> int | None:
    """Return its own figure, which counts a request that failed too, or else the answered
    requests."""
    stated = count_of(result.get("num_turns"))
    return len(requests) if stated is None or cause is not Cause.FINISHED else stated


def _figures_in(home: Path | None) -> _ChatFigures | None:
    entries = chats_in(home, CHATS) if home is not None else None
    if entries is None:
        return None
    figures = _ChatFigures()
    for entry in entries:
        event = object_of(object_of(entry.get("systemPayload")).get("uiEvent"))
        milliseconds = amount_of(event.get("duration_ms"))
        if event.get("event.name") == "qwen-code.tool_call" and milliseconds is not None:
            span = before(moment_of(event.get("event.timestamp")), milliseconds / 1000)
            if span is not None:
                figures.spans[text_of(event.get("call_id")) or ""] = span
        if entry.get("type") == "tool_result":
            key = text_of(object_of(entry.get("toolCallResult")).get("callId"))
            parts = object_of(entry.get("message")).get("parts")
            figures.texts[key or ""] = answer_text(parts)
    return figures


def _result_tokens(transcript: Transcript, chats: _ChatFigures | None) -> dict[str, int] | None:
    if chats is None:
        return None
    counts = {key: tokens_of(chats.texts.get(key)) for key in transcript.result_tokens}
    return tokens_by_tool(transcript.calls, counts)


def _retrieved(
    transcript: Transcript, chats: _ChatFigures | None, exit: AgentExit
) -> tuple[Retrieved, ...]:
    chats = chats or _ChatFigures()
    answered = _answered(transcript)
    return transcript.retrievals.all(
        Timeline(
            turns=transcript.turns_of(answered),
            ends={call: span.end for call, span in chats.spans.items()},
            usage=tuple(answered.values()),
            started=exit.started,
        ),
        chats.texts,
    )


def _subagents(transcript: Transcript) -> int:
    started = Counter(transcript.calls.values()) - Counter(transcript.failures.values())
    return started["agent"]


def _denials(result: Json) -> dict[str, int]:
    refused = map(object_of, list_of(result.get("permission_denials")))
    return dict(Counter(text_of(denial.get("tool_name")) or "unknown" for denial in refused))
