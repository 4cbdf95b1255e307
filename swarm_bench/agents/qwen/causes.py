"""Why Qwen Code ended. Before 0.24 a request that failed was a success, with the error in the place
of the answer and exit code 0; a used-up turn budget has no result event in any version."""

import re

from swarm_bench.agents.reading.api_errors import reason_of
from swarm_bench.agents.reading.endings import (
    STOPPED,
    Ending,
    MessagePatterns,
    by_message,
    ending,
    tail,
    without_end,
)
from swarm_bench.agents.reading.json_lines import Json, clause_of, object_of, text_of
from swarm_bench.agents.stream_json.failures import NO_RESULT, of_result
from swarm_bench.agents.stream_json.failures import answer_of as _plain_answer_of
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


def cause_of(exit: AgentExit, transcript: Transcript) -> Ending:
    """Return the cause, and a sentence on a failure."""
    if exit.stopped is not None:
        return STOPPED[exit.stopped], None
    if transcript.last is None:
        return _without_result(exit, transcript)
    result = transcript.last.value
    if _failed(result):
        fields = (object_of(result.get("error")).get("message"), *map(result.get, _MESSAGE_FIELDS))
        message = next(filter(None, map(text_of, fields)), "")
        return _failure(message), clause_of(message)
    answer = text_of(result.get("result"))
    if answer is None and not transcript.text:
        return Cause.UNREADABLE_OUTPUT, "The result event has no answer in it"
    if answer and _ERROR_ANSWER.fullmatch(answer):
        message = answer[answer.rindex("[API Error: ") :]
        return _failure(message), clause_of(message)
    return of_result(exit, transcript, next(reversed(_stderr(exit)), None))


def answer_of(transcript: Transcript, cause: Cause) -> str | None:
    """Return the answer, which may have an error in its place."""
    result = transcript.last.value if transcript.last else {}
    answer = None if _failed(result) else _plain_answer_of(transcript, cause)
    return None if answer is None or _ERROR_ANSWER.fullmatch(answer) else answer


def _failed(result: Json) -> bool:
    return result.get("is_error") is True or result.get("subtype", "success") != "success"


def _without_result(exit: AgentExit, transcript: Transcript) -> Ending:
    if exit.returncode == _TURN_LIMIT_CODE:
        return Cause.MAX_TURNS, None
    if exit.stdout.stat().st_size == 0:
        unready = exit.returncode == 1 and any(map(_NO_LOGIN.match, _stderr(exit)[-3:]))
        return Cause.NOT_AUTHORIZED if unready else Cause.NO_OUTPUT, _ending(exit)
    if exit.returncode != 0:
        return Cause.EXIT_CODE, _ending(exit)
    began = transcript.has_events
    lost = without_end(exit, transcript.text, began=began, end="result", missing=NO_RESULT)
    return lost or (Cause.UNREADABLE_OUTPUT, NO_RESULT)


def _failure(message: str) -> Cause:
    return by_message(_MESSAGES, message) or reason_of(message, unknown=Cause.ERROR_RESULT)


def _ending(exit: AgentExit) -> str:
    """Return the exit code, and the last line of standard error that is no noise."""
    return ending(exit.returncode, next(reversed(_stderr(exit)), None))


def _stderr(exit: AgentExit) -> list[str]:
    lines = tail(exit.stderr, _STDERR_BYTES).splitlines()
    return [line for line in lines if line.strip() and not line.startswith(_NOISE)]
