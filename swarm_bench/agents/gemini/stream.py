"""Reads what Gemini CLI prints (`--output-format stream-json`, or `json`) into an outcome.

Nothing here trusts the output: a figure of a wrong type is missing, and text that is no JSON is
passed over. The exit code is an HTTP status modulo 256, or 0 for an empty answer.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from swarm_bench.agents.gemini.home import HomeFigures, figures_in, read_usage
from swarm_bench.agents.gemini.names import treatment_name
from swarm_bench.agents.reading.api_errors import api_error, find_reason, last_refusal
from swarm_bench.agents.reading.endings import (
    STOPPED,
    Ending,
    MessagePatterns,
    apply_refusal,
    ending,
    find_message_cause,
    judge_missing_end,
    judge_success,
    tail,
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
    read_objects,
)
from swarm_bench.agents.reading.tool_calls import (
    Span,
    Timeline,
    ToolCalls,
    count_tokens,
    make_span,
    parse_time,
)
from swarm_bench.core.figures import total
from swarm_bench.core.outcome import AgentExit, Outcome, Usage
from swarm_bench.core.status import Cause

_STDERR_BYTES = 1024 * 1024
_RETRY = re.compile(r"^Attempt \d+ failed\b.*\. Retrying ", re.MULTILINE)
_NO_LOGIN_CODE, _TURN_LIMIT_CODE = 41, 53
_NO_LOGIN = re.compile(r"^(?:Please set an Auth method|Invalid auth method)\b", re.MULTILINE)
_MESSAGES: MessagePatterns = (
    (r"(reached )?max(imum)? session turns", Cause.MAX_TURNS),
    (
        r"(the )?(model )?response (was |stopped )?(truncated because it exceeded the token limit"
        r"|due to token limits?)",
        Cause.ANSWER_CUT,
    ),
    (
        r"(the )?(model )?response was blocked\b|response stopped due to (safety|recitation"
        r"|prohibited|blocklist|sensitive|unsupported language)",
        Cause.REFUSED,
    ),
    (
        r"(the )?model returned an empty response|(the )?model .{0,40}(no final response text"
        r"|without any text)|(invalid stream: )?.{0,20}no final response text",
        Cause.EMPTY_ANSWER,
    ),
)
"""Messages of the program itself, in its `error` events and in the error of its result."""
_ATTEMPT = re.compile(r"^Attempt \d+ failed\b.*$", re.MULTILINE)
_NO_RESULT = "There is no result event in the output"
_NOISE = re.compile(r"^(\s*at |Warning: |YOLO mode|\[STARTUP\]|Ripgrep is|[\s{}\[\]]*$)")


@dataclass
class _Transcript:
    """The state after the events so far."""

    init: Json | None = None
    result: JsonObject | None = None
    document: JsonObject | None = None
    """The one object that `--output-format json` prints."""
    errors: list[Json] = field(default_factory=list)
    """Since its model last spoke: what came before did not stop it."""
    calls: ToolCalls = field(default_factory=ToolCalls)
    asked_in: dict[str, int] = field(default_factory=dict)
    """Turns by the ids of calls."""
    end_times: dict[str, float] = field(default_factory=dict)
    """Times when results were printed, in seconds of the epoch."""
    spans: dict[str, Span] = field(default_factory=dict)
    """Spans of calls that were made with no call of another tool: the results of calls made
    together are printed together, when the slowest of them has come."""
    turns: int = 0
    answer: list[str] = field(default_factory=list)
    """The pieces of text since the last result of a tool."""
    turn_texts: dict[int, list[str]] = field(default_factory=dict)
    """The pieces of text by their turns."""
    _speaking: bool = False
    _open: dict[str, datetime | None] = field(default_factory=dict)
    """Times of the calls whose results are to come, or are coming."""

    def add(self, printed: JsonObject) -> None:
        event = printed.value
        match event.get("type"):
            case "init":
                self.init = self.init or event
            case "message" if event.get("role") == "assistant":
                self._speak()
                text = as_text(event.get("content")) or ""
                self.answer.append(text)
                self.turn_texts.setdefault(self.turns, []).append(text)
            case "tool_use":
                self._speak()
                key = as_text(event.get("tool_id")) or f"call {len(self.calls.tools)}"
                tool = treatment_name(as_text(event.get("tool_name")) or "unknown")
                self.calls.add(key, tool, event.get("parameters"))
                self.asked_in[key] = self.turns
                self._open[key] = parse_time(event.get("timestamp"))
            case "tool_result":
                self._tool_result(event)
            case "error":
                self.errors.append(event)
            case "result":
                self.result = printed
            case None if "session_id" in event and "response" in event:
                self.document = printed

    def _speak(self) -> None:
        """Count a request: text and calls between two results of tools belong to the same."""
        if not self._speaking:
            self.turns += 1
            self._open.clear()
        self._speaking = True
        self.errors.clear()

    def _tool_result(self, event: Json) -> None:
        self._speaking = False
        self.answer.clear()
        key = as_text(event.get("tool_id"))
        if key is None or key not in self.calls.tools:
            return
        self.calls.add_result(key, event.get("output"), failed=event.get("status") == "error")
        if end := parse_time(event.get("timestamp")):
            self.end_times[key] = end.timestamp()
        span = make_span(self._open.get(key), parse_time(event.get("timestamp")))
        if span is not None and len({self.calls.tools[call] for call in self._open}) == 1:
            self.spans[key] = span


def read_outcome(exit: AgentExit) -> Outcome:
    """Read the outcome of a finished process."""
    transcript = _Transcript(calls=ToolCalls.start(exit))
    for printed in read_objects(exit.stdout):
        transcript.add(printed)
    stderr = tail(exit.stderr, _STDERR_BYTES).strip()
    if transcript.result is None and transcript.document is not None:
        return _read_document(exit, transcript.document, stderr)
    result = transcript.result.value if transcript.result else {}
    stats = as_object(result.get("stats"))
    text = "".join(transcript.answer)
    succeeded = result.get("status") == "success"
    turns = transcript.turns
    judgement = find_cause(exit, result, transcript.errors, text=text, stderr=stderr, turns=turns)
    cause, detail = apply_refusal(judgement, exit, has_answered=turns > 0)
    started = transcript.init is not None
    home = figures_in(exit.home, exit.servers) if started else HomeFigures()
    return Outcome(
        cause=cause,
        detail=detail,
        text=_find_answer(text, cause, finished=succeeded and not transcript.errors),
        usage=_read_stream_usage(stats) if stats else Usage.total(home.turn_usage or ()),
        all_in=_read_stream_usage(stats),
        turn_usage=home.turn_usage,
        turns=transcript.turns or None if started else None,
        duration_ms=_find_duration(stats),
        model=_find_model(transcript.init, as_object(stats.get("models"))),
        retries=len(_RETRY.findall(stderr)) if started else None,
        servers=home.servers,
        payload=transcript.result.raw if transcript.result else None,
        **(_read_calls(transcript, home, exit) if started else {}),
    )


def _read_calls(transcript: _Transcript, home: HomeFigures, exit: AgentExit) -> dict[str, Any]:
    """Return what is known of calls. The model got the results in the home; those printed are for a
    person."""
    usage, texts, calls = home.turn_usage or (), home.answers, transcript.calls
    timeline = Timeline(
        turns=transcript.asked_in,
        end_times=transcript.end_times,
        usage=usage if len(usage) == transcript.turns else (),
        started=exit.started,
    )
    counts = None if texts is None else {k: count_tokens(texts.get(k)) for k in calls.answered}
    turn_texts = {turn: "".join(pieces) for turn, pieces in transcript.turn_texts.items()}
    return calls.make_fields(timeline, transcript.spans, counts, texts, turn_texts)


def _read_document(exit: AgentExit, printed: JsonObject, stderr: str) -> Outcome:
    """Read the outcome of `--output-format json`, which a user can choose with `--agent-arg`."""
    document = printed.value
    text = as_text(document.get("response")) or ""
    error = document.get("error")
    result = {"status": "error" if error else "success", "error": error}
    warnings = [{"message": message} for message in as_list(document.get("warnings"))]
    cause, detail = find_cause(exit, result, warnings, text=text, stderr=stderr, turns=0)
    stats = as_object(document.get("stats"))
    models = [as_object(model) for model in as_object(stats.get("models")).values()]
    tools = as_object(as_object(stats.get("tools")).get("byName"))
    return Outcome(
        cause=cause,
        detail=detail,
        text=_find_answer(text, cause, finished=not error and not warnings),
        usage=_read_model_usage(models),
        all_in=_read_model_usage(models),
        turns=total(as_count(as_object(model.get("api")).get("totalRequests")) for model in models),
        tool_calls=_count_by_name(tools, "count") if stats else None,
        tool_failures=_count_by_name(tools, "fail") if stats else None,
        tool_seconds=_find_seconds(tools) if stats else None,
        retries=len(_RETRY.findall(stderr)),
        payload=printed.raw,
    )


def _find_answer(text: str, cause: Cause, *, finished: bool) -> str | None:
    """Return the answer: where it complained about something, it stopped, and its text is none."""
    counts = finished or cause in (Cause.FINISHED, Cause.ANSWER_CUT)
    return text if text.strip() and counts else None


def _read_stream_usage(stats: Json) -> Usage:
    all_tokens, prompt = as_count(stats.get("total_tokens")), as_count(stats.get("input_tokens"))
    candidates, cached = as_count(stats.get("output_tokens")), as_count(stats.get("cached"))
    # It gives thoughts no figure of their own: they are what the total holds beyond the prompt
    # and the candidates. Without a total the thoughts are unknown.
    output = None
    if all_tokens is not None and prompt is not None and all_tokens >= prompt + (candidates or 0):
        output = all_tokens - prompt
    return _usage(prompt, cached, output)


def _read_model_usage(models: list[Json]) -> Usage:
    tokens = [as_object(model.get("tokens")) for model in models]

    def sum_of(*names: str) -> int | None:
        return total(as_count(of_model.get(name)) for of_model in tokens for name in names)

    return _usage(sum_of("prompt"), sum_of("cached"), sum_of("candidates", "thoughts"))


def _usage(prompt: int | None, cached: int | None, output: int | None) -> Usage:
    """Drop zeros throughout: they are printed when no request was answered, and are no figures."""
    return read_usage(prompt, cached, output) if prompt or output else Usage()


def _find_duration(stats: Json) -> float | None:
    """Return the duration: on an error it prints 0, which is no measure."""
    return float(as_count(stats.get("duration_ms")) or 0) or None


def _find_model(init: Json | None, models: Json) -> str | None:
    """Return the model that was asked for, if no other answered in its place; `auto` and the like
    are no name of a model."""
    requested = as_clause((init or {}).get("model"))
    used = [
        name for name, figures in models.items() if as_count(as_object(figures).get("total_tokens"))
    ]
    if requested not in used and len(used) == 1:
        return as_clause(used[0])
    return None if requested is None or requested.startswith("auto") else requested


def _find_seconds(tools: Json) -> dict[str, float] | None:
    """Return the seconds by tool, of those that were called once: it sums up calls that were made
    together. `None` when there are tools and none has a time."""
    called_tools = {name: as_object(tool) for name, tool in tools.items()}
    called_tools = {
        name: tool for name, tool in called_tools.items() if as_count(tool.get("count"))
    }
    seconds = {
        treatment_name(as_text(name) or "unknown"): milliseconds / 1000
        for name, tool in called_tools.items()
        if as_count(tool.get("count")) == 1
        and (milliseconds := as_amount(tool.get("durationMs"))) is not None
    }
    return seconds if seconds or not called_tools else None


def _count_by_name(tools: Json, key: str) -> dict[str, int]:
    counts = Counter[str]()
    for name, tool in tools.items():
        counts[treatment_name(as_text(name) or "unknown")] += (
            as_count(as_object(tool).get(key)) or 0
        )
    return dict(+counts)


def find_cause(
    exit: AgentExit, result: Json, errors: Sequence[Json], *, text: str, stderr: str, turns: int
) -> Ending:
    """Return the cause, and a sentence on a failure. `result` is empty when there was none;
    `errors` are the events with something to complain about, `text` is the answer, `turns` are the
    requests that were answered."""
    if exit.stopped == "timeout" and (attempt := _retry_answer(stderr)) is not None:
        since = exit.stderr.stat().st_mtime_ns > exit.stdout.stat().st_mtime_ns
        return find_reason(attempt) if since or not turns else Cause.TIMEOUT, attempt
    if exit.stopped is not None:
        return STOPPED[exit.stopped], None
    complaints = [as_text(error.get("message")) or "" for error in errors]
    match result.get("status"):
        case "success" if complaints:
            # A loop that it noticed, turns that it used up: it stopped, and calls that a success.
            last = complaints[-1]
            # It may be of a server of tools.
            cause = find_message_cause(_MESSAGES, last) or api_error(last)
            return cause or Cause.ERROR_RESULT, as_clause(last)
        case "success":
            return judge_success(exit, text, _last_line(stderr))
        case "error":
            message = as_text(as_object(result.get("error")).get("message")) or "".join(complaints)
            return _find_failure(message), as_clause(message)
    return _judge_missing_result(exit, stderr, text, has_events=turns > 0)


def _judge_missing_result(exit: AgentExit, stderr: str, text: str, *, has_events: bool) -> Ending:
    if exit.returncode == _TURN_LIMIT_CODE:
        return Cause.MAX_TURNS, None
    if exit.returncode == _NO_LOGIN_CODE or (exit.returncode and _NO_LOGIN.search(stderr)):
        return Cause.NOT_AUTHORIZED, _describe_ending(exit, stderr)
    if exit.returncode and (cause := api_error(last_refusal(stderr) or "")) is not None:
        return cause, _describe_ending(exit, stderr)
    if exit.stdout.stat().st_size == 0:
        return Cause.NO_OUTPUT, _describe_ending(exit, stderr)
    if exit.returncode != 0:
        return Cause.EXIT_CODE, _describe_ending(exit, stderr)
    judgement = judge_missing_end(
        exit, text.strip(), has_events=has_events, end="result", missing=_NO_RESULT
    )
    return judgement or (Cause.UNREADABLE_OUTPUT, _NO_RESULT)


def _find_failure(message: str) -> Cause:
    return find_message_cause(_MESSAGES, message) or find_reason(message)


def _retry_answer(stderr: str) -> str | None:
    attempts = _ATTEMPT.findall(stderr)
    return as_clause(attempts[-1]) if attempts else None


def _describe_ending(exit: AgentExit, stderr: str) -> str:
    return ending(exit.returncode, _last_line(stderr))


def _last_line(stderr: str) -> str | None:
    """Return the last line of standard error that is no noise."""
    lines = [line for line in stderr.split("\n") if not _NOISE.match(line)]
    messages = [line for line in lines if '"message":' in line] or lines
    return next(reversed(messages), None)
