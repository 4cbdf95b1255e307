"""Why Codex ended: from how it was stopped, its last event, and the words of its errors."""

from swarm_bench.agents.codex.log import Log
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
from swarm_bench.agents.reading.json_lines import JsonObject, as_clause
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
