"""Why Codex ended: from how it was stopped, its last event, and the words of its errors."""

from swarm_bench.agents.codex.log import Log
from swarm_bench.agents.reading.api_errors import reason_of
from swarm_bench.agents.reading.endings import (
    STOPPED,
    Ending,
    MessagePatterns,
    by_message,
    ending,
    of_success,
    without_end,
)
from swarm_bench.agents.reading.json_lines import JsonObject, clause_of
from swarm_bench.core.outcome import AgentExit
from swarm_bench.core.status import Cause

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
"""How Codex begins to say it. What its provider says is read from the rest."""
_NO_END = "There is no end of a turn in the output"


def cause_of(
    exit: AgentExit,
    end: JsonObject | None,
    error: str | None,
    log: Log,
    *,
    text: str | None,
    began: bool,
) -> Ending:
    """Return the cause, and a sentence on a failure. `text` is the last message, if no tool was
    called after it."""
    if exit.stopped == "timeout" and (error or (log.status or 0) >= 300):
        return _failure(error, log), _last_error(error, log)
    if exit.stopped is not None:
        return STOPPED[exit.stopped], _last_error(error, log)
    if end is not None and end.value.get("type") == "turn.completed":
        return of_success(exit, text, log.last)
    if end is not None:
        return _failure(error, log), _last_error(error, log)
    if log.unstarted is not None:
        return Cause.NOT_STARTED, f"Codex did not start: {log.unstarted}"
    if exit.stdout.stat().st_size == 0:
        return Cause.NO_OUTPUT, ending(exit.returncode, log.last)
    if exit.returncode != 0:
        return Cause.EXIT_CODE, ending(exit.returncode, log.last)
    lost = without_end(exit, text, began=began, end=r"turn\.\w+", missing=_NO_END)
    return lost or (Cause.UNREADABLE_OUTPUT, _NO_END)


def _failure(error: str | None, log: Log) -> Cause:
    """Look at Codex's own words first: a status can mean several things."""
    status = log.status if log.status is not None and log.status >= 300 else None
    return by_message(_MESSAGES, error) or reason_of(error, status)


def _last_error(error: str | None, log: Log) -> str | None:
    failed = log.status is not None and log.status >= 400
    if error is None or not failed or str(log.status) in error:
        return error
    return clause_of(f"{error} (HTTP status {log.status})")
