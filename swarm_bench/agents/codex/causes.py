"""Why Codex ended: from how it was stopped, its last event, and the words of its errors."""

from swarm_bench.agents.codex.log import Log
from swarm_bench.agents.reading.endings import (
    STOPPED,
    MessagePatterns,
    by_message,
    by_status,
    ending,
)
from swarm_bench.agents.reading.json_lines import JsonObject, clause_of
from swarm_bench.core.outcome import AgentExit
from swarm_bench.core.status import Cause

_MESSAGES: MessagePatterns = (
    (r"model's context window|context_length_exceeded", Cause.CONTEXT_OVERFLOW),
    (r"reason: max_output_tokens", Cause.ANSWER_CUT),
    (r"reason: content_filter|flagged", Cause.REFUSED),
    (r"status:? 40[13]\b|Missing environment variable|Not logged in", Cause.NOT_AUTHORIZED),
    (r"status:? 429\b|rate limit|Quota exceeded|usage limit", Cause.RATE_LIMITED),
    (r"model.* (does not exist|is not supported|not found)", Cause.UNKNOWN_MODEL),
    (
        r"high demand|at capacity|stream disconnected|Connection failed|error sending request"
        r"|status:? 5\d\d\b|timed? ?out|timeout",
        Cause.PROVIDER_FAILED,
    ),
)


def cause_of(
    exit: AgentExit, end: JsonObject | None, error: str | None, log: Log
) -> tuple[Cause, str | None]:
    """Return the cause, and a sentence on a failure. Whether an answer is empty is not decided
    here."""
    if exit.stopped is not None:
        return STOPPED[exit.stopped], _last_error(error, log)
    if end is not None and end.value.get("type") == "turn.completed":
        return (
            (Cause.FINISHED, None)
            if exit.returncode == 0
            else (Cause.EXIT_CODE, ending(exit.returncode, log.last))
        )
    if end is not None:
        return _failure(error, log), _last_error(error, log)
    if log.unstarted is not None:
        return Cause.NOT_STARTED, f"Codex did not start: {log.unstarted}"
    if exit.stdout.stat().st_size == 0:
        return Cause.NO_OUTPUT, ending(exit.returncode, log.last)
    if exit.returncode != 0:
        return Cause.EXIT_CODE, ending(exit.returncode, log.last)
    return Cause.UNREADABLE_OUTPUT, "There is no end of a turn in the output"


def _failure(error: str | None, log: Log) -> Cause:
    """Look at the message before the status, which can mean several things."""
    return by_message(_MESSAGES, error) or by_status(log.status) or Cause.ERROR_RESULT


def _last_error(error: str | None, log: Log) -> str | None:
    failed = log.status is not None and log.status >= 400
    if error is None or not failed or str(log.status) in error:
        return error
    return clause_of(f"{error} (HTTP status {log.status})")
