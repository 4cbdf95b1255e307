"""Why Claude Code ended. Neither its exit code nor `subtype` shows it: an answer that the provider
refused is a `success` with `is_error`, and an interrupted run ends with exit code 0.
"""

from collections.abc import Mapping
from pathlib import Path

from swarm_bench.agents.reading.endings import (
    STOPPED,
    MessagePatterns,
    by_message,
    by_status,
    ending,
    tail,
)
from swarm_bench.agents.reading.json_lines import Json, clause_of, count_of, list_of, text_of
from swarm_bench.agents.stream_json.transcript import Transcript
from swarm_bench.core.outcome import AgentExit
from swarm_bench.core.status import Cause
from swarm_bench.runtime.untrusted import opened

_FIELDS: tuple[tuple[str, Mapping[str, Cause]], ...] = (
    (
        "subtype",
        {
            "error_max_turns": Cause.MAX_TURNS,
            "error_max_budget_usd": Cause.COST_LIMIT,
        },
    ),
    (
        "stop_reason",
        {
            "refusal": Cause.REFUSED,
            "max_tokens": Cause.ANSWER_CUT,
            "model_context_window_exceeded": Cause.CONTEXT_OVERFLOW,
        },
    ),
    (
        "terminal_reason",
        {
            "prompt_too_long": Cause.CONTEXT_OVERFLOW,
            "blocking_limit": Cause.CONTEXT_OVERFLOW,
            "rapid_refill_breaker": Cause.CONTEXT_OVERFLOW,
        },
    ),
    (
        "api_error",
        {
            "max_output_tokens": Cause.ANSWER_CUT,
            "connection_failed": Cause.PROVIDER_FAILED,
        },
    ),
)
"""Fields of a result that name the cause, first come first served."""

_ERRORS: Mapping[str, Cause] = {
    "authentication_failed": Cause.NOT_AUTHORIZED,
    "oauth_org_not_allowed": Cause.NOT_AUTHORIZED,
    "account_on_hold": Cause.NOT_AUTHORIZED,
    "verification_required": Cause.NOT_AUTHORIZED,
    "billing_error": Cause.NOT_AUTHORIZED,
    "cloud_credential_error": Cause.NOT_AUTHORIZED,
    "rate_limit": Cause.RATE_LIMITED,
    "overloaded": Cause.PROVIDER_FAILED,
    "server_error": Cause.PROVIDER_FAILED,
    "model_not_found": Cause.UNKNOWN_MODEL,
    "max_output_tokens": Cause.ANSWER_CUT,
}
"""The program's own names for why it gave up. `invalid_request` and `unknown` can be anything."""

_MESSAGES: MessagePatterns = (
    (r"prompt is too long|context (window|limit)", Cause.CONTEXT_OVERFLOW),
    (r"credit balance|billing", Cause.NOT_AUTHORIZED),
    (r"not logged in|invalid api key|/login|authenticat|oauth token", Cause.NOT_AUTHORIZED),
    (r"issue with the selected model|model identifier is invalid", Cause.UNKNOWN_MODEL),
    (r"output token maximum", Cause.ANSWER_CUT),
    (r"usage policy", Cause.REFUSED),
    (r"rate limit|usage limit|hit your limit|limit reached", Cause.RATE_LIMITED),
    (
        r"^request timed out|api error.*(overloaded|connect|timed out|server error)",
        Cause.PROVIDER_FAILED,
    ),
    (r"reached max(imum number of)? turns", Cause.MAX_TURNS),
)
"""What the program prints where no field names the cause; only sought in a failure's message."""

_OUTPUT_BYTES = 8192


def cause_of(exit: AgentExit, transcript: Transcript) -> tuple[Cause, str | None]:
    """Return why it ended, and a sentence on a failure."""
    if exit.stopped is not None:
        waiting = _retry_answer(transcript.retrying) if exit.stopped == "timeout" else None
        return STOPPED[exit.stopped], waiting
    if transcript.last is None:
        return _without_result(exit, transcript)
    result = transcript.last.value
    answer = result.get("result")
    failed = result.get("is_error") is True or result.get("subtype", "success") != "success"
    named = _named(result)
    if failed:
        message = _failure_text(result)
        cause = (
            named
            or by_status(count_of(result.get("api_error_status")))
            or _ERRORS.get(transcript.error or "")
            or by_message(_MESSAGES, message)
        )
        return cause or Cause.ERROR_RESULT, message
    if not isinstance(answer, str):
        return Cause.UNREADABLE_OUTPUT, "The result event has no answer in it"
    if named is not None:
        return named, f"The answer ended with {clause_of(result.get('stop_reason'))}"
    if exit.returncode != 0:
        return Cause.EXIT_CODE, _ending(exit)
    if not answer.strip():
        return Cause.EMPTY_ANSWER, None
    return Cause.FINISHED, None


def _without_result(exit: AgentExit, transcript: Transcript) -> tuple[Cause, str | None]:
    printed = _head(exit.stdout)
    if not transcript.has_events:
        cause = by_message(_MESSAGES, f"{printed} {tail(exit.stderr, _OUTPUT_BYTES)}")
        if cause is not None:
            return cause, clause_of(printed) or _ending(exit)
    if not printed:
        return Cause.NO_OUTPUT, _ending(exit)
    if exit.returncode != 0:
        return Cause.EXIT_CODE, _ending(exit)
    return Cause.UNREADABLE_OUTPUT, "There is no result event in the output"


def _named(result: Json) -> Cause | None:
    for field, causes in _FIELDS:
        if (cause := causes.get(text_of(result.get(field)) or "")) is not None:
            return cause
    return None


def _failure_text(result: Json) -> str | None:
    """Return the agent's own message on its failure."""
    for value in (*list_of(result.get("errors")), result.get("result"), result.get("subtype")):
        if (message := clause_of(value)) is not None:
            return message
    return None


def _retry_answer(retry: Json | None) -> str | None:
    if retry is None:
        return None
    status, error = count_of(retry.get("error_status")), clause_of(retry.get("error"))
    answer = " ".join(str(part) for part in (status, error) if part is not None)
    return f"It waited to ask the provider again, whose answer was {answer or 'none'}"


def _ending(exit: AgentExit) -> str:
    """Return the exit code and the last line of standard error."""
    return ending(exit.returncode, tail(exit.stderr, _OUTPUT_BYTES).strip().rpartition("\n")[2])


def _head(path: Path) -> str:
    """Return the beginning of what was printed; empty only when that was nothing but white
    space."""
    with opened(path) as file:
        for chunk in iter(lambda: file.read(_OUTPUT_BYTES), b""):
            if chunk.strip():
                return chunk.decode("utf-8", "replace").strip()
    return ""
