"""Why Claude Code ended. Neither its exit code nor `subtype` shows it: an answer that the provider
refused is a `success` with `is_error`, and an interrupted run ends with exit code 0.
"""

from collections.abc import Mapping
from pathlib import Path

from swarm_bench.agents.reading.api_errors import api_error, find_reason
from swarm_bench.agents.reading.endings import (
    STOPPED,
    Ending,
    MessagePatterns,
    ending,
    find_message_cause,
    judge_missing_end,
    judge_success,
    tail,
)
from swarm_bench.agents.reading.json_lines import Json, as_clause, as_count, as_list, as_text
from swarm_bench.agents.stream_json.transcript import Transcript
from swarm_bench.core.outcome import AgentExit
from swarm_bench.core.status import Cause
from swarm_bench.runtime.untrusted import open_untrusted
from swarm_bench.text.terminal import plain_text

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
    "billing_error": Cause.NO_CREDIT,
    "cloud_credential_error": Cause.NOT_AUTHORIZED,
    "rate_limit": Cause.RATE_LIMITED,
    "overloaded": Cause.PROVIDER_FAILED,
    "server_error": Cause.PROVIDER_FAILED,
    "model_not_found": Cause.UNKNOWN_MODEL,
    "max_output_tokens": Cause.ANSWER_CUT,
}
"""The program's own names for why it gave up. `invalid_request` and `unknown` can be anything."""

_STOP = r"(?:[.:]|\s*·|\s*$)"
_MESSAGES: MessagePatterns = (
    (rf"prompt is too long{_STOP}", Cause.CONTEXT_OVERFLOW),
    (rf"(your )?credit balance is too low{_STOP}", Cause.NO_CREDIT),
    (
        r"(claude ai |5-hour |weekly |\w+ weekly |session )?(usage )?limit reached\b"
        r"|you've (hit|reached) your [\w ]{0,40}limit\b|you're out of [\w ]{0,20}usage\b",
        Cause.NO_CREDIT,
    ),
    (
        rf"not logged in{_STOP}|invalid (api key|auth token){_STOP}|please run /login"
        rf"|oauth token (has |is |was )?(expired|revoked|invalid)|failed to authenticate{_STOP}"
        rf"|(this|your) organization has been disabled|your account does not have access",
        Cause.NOT_AUTHORIZED,
    ),
    (
        r"there's an issue with the selected model|.{0,80}model identifier is invalid",
        Cause.UNKNOWN_MODEL,
    ),
    (r"api error: claude's response exceeded the \d+ output token maximum", Cause.ANSWER_CUT),
    (r"request timed out\b", Cause.PROVIDER_FAILED),
    (r"reached max(imum number of)? turns", Cause.MAX_TURNS),
)
"""How the program begins to say what it has no field for. A model can say anything else."""

_LAST_LINES = 3
"""Lines of standard error that are examined."""
NO_RESULT = "There is no result event in the output"
_OUTPUT_BYTES = 8192


def find_cause(exit: AgentExit, transcript: Transcript) -> Ending:
    """Return why it ended, and a sentence on a failure."""
    if exit.stopped is not None:
        if exit.stopped == "timeout" and transcript.retrying is not None:
            return _judge_waiting(transcript.retrying)
        return STOPPED[exit.stopped], None
    if transcript.last is None:
        return _judge_missing_result(exit, transcript)
    if (failure := find_failure(transcript)) is not None:
        return failure
    if not isinstance(transcript.last.value.get("result"), str) and not transcript.text:
        return Cause.UNREADABLE_OUTPUT, "The result event has no answer in it"
    return judge_result(exit, transcript, None if exit.returncode == 0 else _last_line(exit))


def find_failure(transcript: Transcript) -> Ending | None:
    """Return why a run was no success that has a result, by what that says; `None` for one."""
    result = transcript.last.value if transcript.last else {}
    named_cause = _find_named_cause(result)
    if _has_failed(result, transcript):
        message = _failure_text(result)
        # What it calls a success, and an error, is what its model's request came to.
        is_success = result.get("subtype", "success") == "success"
        status = as_count(result.get("api_error_status"))
        cause = (
            named_cause
            or find_message_cause(_MESSAGES, message)
            or (api_error(message or "", status) if status is not None else None)
            or _ERRORS.get(transcript.error or "")
            or (find_reason(message) if is_success else api_error(message or ""))
        )
        return cause or Cause.ERROR_RESULT, message
    if named_cause is not None:
        return named_cause, f"The answer ended with {as_clause(result.get('stop_reason'))}"
    return None


def judge_result(exit: AgentExit, transcript: Transcript, last: str | None) -> Ending:
    """Judge a run whose result is a success. `last` is its last line about an error."""
    result = transcript.last.value if transcript.last else {}
    text, full_text = as_text(result.get("result")) or "", find_last_message(result, transcript)
    cause, detail = judge_success(exit, full_text, last)
    if cause is Cause.FINISHED and detail is None and text != full_text:
        part = "only a part of" if text.strip() else "nothing of"
        detail = f"The result has {part} the last message, which is the answer"
    return cause, detail


def find_last_message(result: Json, transcript: Transcript) -> str:
    """Return the text of a result, or all of the last message where the result has only a part of
    it, or words of the program instead."""
    text, full_text = as_text(result.get("result")) or "", transcript.text or ""
    part, message = text.strip(), full_text.strip()
    by_program = (
        transcript.program_message is not None and part == transcript.program_message.strip()
    )
    is_part = message.startswith(part) or message.endswith(part)
    return full_text if by_program or (is_part and part != message) else text


def find_answer(transcript: Transcript, cause: Cause) -> str | None:
    """Return the answer. With `is_error` the result has a message, which `detail` has and which
    must not be scored."""
    result = transcript.last.value if transcript.last else {}
    failed = result.get("is_error") is True or _find_refusal(transcript) is not None
    if failed or (not result and cause is not Cause.FINISHED):
        return None
    succeeded = result.get("subtype", "success") == "success"
    text = (
        find_last_message(result, transcript) if succeeded else as_text(result.get("result")) or ""
    )
    return text if text.strip() else None


def _judge_missing_result(exit: AgentExit, transcript: Transcript) -> Ending:
    printed = _read_head(exit.stdout)
    if (refused := _find_refusal(transcript)) is not None:
        cause = find_message_cause(_MESSAGES, refused) or _ERRORS.get(transcript.error or "")
        return cause or find_reason(refused), as_clause(refused)
    if not transcript.requests and exit.returncode != 0:
        lines = [line.strip() for line in tail(exit.stderr, _OUTPUT_BYTES).splitlines()]
        last = [line for line in lines if line][-_LAST_LINES:]
        for line in (*([printed] if "\n" not in printed else []), *reversed(last)):
            line = line.removeprefix("Error: ")
            # The words of others begin with a number, too.
            refused = api_error(line) if line.startswith("API Error") else None
            if (cause := find_message_cause(_MESSAGES, line) or refused) is not None:
                return cause, as_clause(printed) or _describe_ending(exit)
    has_events = transcript.has_events
    if judgement := judge_missing_end(
        exit, transcript.text, has_events=has_events, end="result", missing=NO_RESULT
    ):
        return judgement
    if not printed:
        return Cause.NO_OUTPUT, _describe_ending(exit)
    if exit.returncode != 0:
        return Cause.EXIT_CODE, _describe_ending(exit)
    return Cause.UNREADABLE_OUTPUT, NO_RESULT


def _find_named_cause(result: Json) -> Cause | None:
    for field, causes in _FIELDS:
        if (cause := causes.get(as_text(result.get(field)) or "")) is not None:
            return cause
    return None


def _failure_text(result: Json) -> str | None:
    """Return the agent's own message on its failure."""
    for value in (*as_list(result.get("errors")), result.get("result"), result.get("subtype")):
        if (message := as_clause(value)) is not None:
            return message
    return None


def _has_failed(result: Json, transcript: Transcript) -> bool:
    subtype = result.get("subtype", "success")
    if result.get("is_error") is True or subtype != "success":
        return True
    return _find_refusal(transcript) is not None


def _find_refusal(transcript: Transcript) -> str | None:
    """Return what the program says of a refusal in the place of its model's last answer."""
    message = transcript.program_message
    if (
        message is None
        or transcript.error is not None
        or find_message_cause(_MESSAGES, message) is not None
    ):
        return message
    is_named = find_reason(message, unknown=Cause.ERROR_RESULT) is not Cause.ERROR_RESULT
    return message if is_named else None


def _judge_waiting(retry: Json) -> Ending:
    """Judge a run that was to ask the provider again when its time was over."""
    status, error = as_count(retry.get("error_status")), as_clause(retry.get("error"))
    answer = " ".join(str(part) for part in (status, error) if part is not None)
    cause = _ERRORS.get(error or "") if status is None else find_reason(error, status)
    sentence = f"It waited to ask the provider again, whose answer was {answer or 'none'}"
    return cause or Cause.PROVIDER_FAILED, sentence


def _describe_ending(exit: AgentExit) -> str:
    """Return the exit code and the last line of standard error."""
    return ending(exit.returncode, _last_line(exit))


def _last_line(exit: AgentExit) -> str:
    return tail(exit.stderr, _OUTPUT_BYTES).strip().rpartition("\n")[2]


def _read_head(path: Path) -> str:
    """Return the beginning of what was printed; empty only when that was nothing but white
    space."""
    with open_untrusted(path) as file:
        for chunk in iter(lambda: file.read(_OUTPUT_BYTES), b""):
            if text := plain_text(chunk).strip():
                return text
    return ""
