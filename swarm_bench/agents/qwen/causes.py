"""Why Qwen Code ended. Before 0.24 a request that failed was a success, with the error in the place
of the answer and exit code 0; a used-up turn budget has no result event in any version."""

import re

from swarm_bench.agents.reading.api_errors import find_reason
from swarm_bench.agents.reading.endings import (
    STOPPED,
    Ending,
    MessagePatterns,
    ending,
    find_message_cause,
    judge_missing_end,
    tail,
)
from swarm_bench.agents.reading.json_lines import Json, as_clause, as_object, as_text
from swarm_bench.agents.stream_json.failures import NO_RESULT, judge_result
from swarm_bench.agents.stream_json.failures import find_answer as _plain_answer_of
from swarm_bench.agents.stream_json.transcript import Transcript
from swarm_bench.core.outcome import AgentExit
from swarm_bench.core.status import Cause

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
