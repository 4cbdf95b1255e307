"""Why OpenCode ended: from how it was stopped, its errors, and the reason of its last step."""

from swarm_bench.agents.opencode.log import Log
from swarm_bench.agents.reading.api_errors import find_reason
from swarm_bench.agents.reading.endings import (
    STOPPED,
    Ending,
    MessagePatterns,
    ending,
    find_message_cause,
    judge_missing_end,
    judge_success,
)
from swarm_bench.agents.reading.json_lines import Json, as_clause, as_count, as_object, as_text
from swarm_bench.core.outcome import AgentExit
from swarm_bench.core.status import Cause

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
FINAL = ("stop", *_REASONS)
"""Reasons of a step after which no other is made."""
BROKEN = ("unknown", "other", "error")
"""Reasons of a step whose stream came to no proper end."""


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
    if reason == FINAL[0] and text.strip() and error is not None:
        return Cause.FINISHED, as_clause(f"It failed after its answer: {_message(error)}")
    if error is not None and error.get("name") == "UnknownError" and log.error:
        return _find_message_cause(log.error), log.error
    if error is not None:
        return _find_failure(error), _message(error)
    if reason == FINAL[0]:
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
