"""Why OpenCode ended: from how it was stopped, its errors, and the reason of its last step."""

from swarm_bench.agents.opencode.log import Log
from swarm_bench.agents.reading.endings import (
    STOPPED,
    MessagePatterns,
    by_message,
    by_status,
    ending,
)
from swarm_bench.agents.reading.json_lines import Json, clause_of, count_of, object_of
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
    (r"model not found|model.* (does not exist|is not supported)", Cause.UNKNOWN_MODEL),
    (r"content.?filter|refus(ed|al) by|blocked by", Cause.REFUSED),
    (r"api key|unauthori[sz]ed|authentication", Cause.NOT_AUTHORIZED),
    (r"rate limit|too many requests|quota", Cause.RATE_LIMITED),
    (
        r"connect|socket|network|timed? ?out|overloaded|internal server error|stream",
        Cause.PROVIDER_FAILED,
    ),
)
_REASONS = {"length": Cause.ANSWER_CUT, "content-filter": Cause.REFUSED}
FINAL = ("stop", *_REASONS)
"""Reasons of a step after which no other is made."""
BROKEN = ("unknown", "other", "error")
"""Reasons of a step whose stream came to no proper end."""


def cause_of(
    exit: AgentExit, error: Json | None, reason: str | None, log: Log
) -> tuple[Cause, str | None]:
    """Return the cause, and a sentence on a failure. `error` is the last error event's, if nothing
    followed it, `reason` that of the last step. Whether an answer is empty is not decided here."""
    if exit.stopped is not None:
        return STOPPED[exit.stopped], _message(error) or log.error
    if error is not None and error.get("name") == "UnknownError" and log.error:
        return _by_message(log.error), log.error
    if error is not None:
        return _failure(error), _message(error)
    if exit.returncode != 0 or reason is None:
        return _without_end(exit, log)
    if reason in BROKEN:
        return Cause.PROVIDER_FAILED, "The model's stream ended before its answer did"
    return _REASONS.get(reason, Cause.FINISHED), None


def _failure(error: Json) -> Cause:
    name, data = str(error.get("name")), object_of(error.get("data"))
    if name in _NAMES:
        return _NAMES[name]
    status = by_status(count_of(data.get("statusCode")))
    return status or _by_message(f"{name} {data.get('message')}")


def _by_message(message: str) -> Cause:
    return by_message(_MESSAGES, message) or Cause.ERROR_RESULT


def _message(error: Json | None) -> str | None:
    if error is None:
        return None
    data = object_of(error.get("data"))
    message = clause_of(data.get("message")) or clause_of(error.get("name"))
    status = count_of(data.get("statusCode"))
    return message if status is None else f"{message or 'Error'} (HTTP status {status})"


def _without_end(exit: AgentExit, log: Log) -> tuple[Cause, str | None]:
    detail = ending(exit.returncode, log.last)
    if exit.stdout.stat().st_size == 0:
        return Cause.NO_OUTPUT, detail
    if exit.returncode != 0:
        return Cause.EXIT_CODE, detail
    return Cause.UNREADABLE_OUTPUT, "There is no end of a step in the output"
