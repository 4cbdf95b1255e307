"""Why Qwen Code ended. Before 0.24 a request that failed was a success, with the error in the place
of the answer and exit code 0; a used-up turn budget has no result event in any version."""

import re

from swarm_bench.agents.reading.api_errors import api_error
from swarm_bench.agents.reading.endings import STOPPED, MessagePatterns, by_message, ending, tail
from swarm_bench.agents.reading.json_lines import Json, clause_of, object_of, text_of
from swarm_bench.agents.stream_json.transcript import Transcript
from swarm_bench.core.outcome import AgentExit
from swarm_bench.core.status import Cause

Ending = tuple[Cause, str | None]

_TURN_LIMIT_CODE = 53
_ERROR_ANSWER = re.compile(r"\[API Error: [^\n]*\](\n(Please wait|Possible quota)[^\n]*)?\s*")
"""The whole of an answer that is none: older versions call it a success."""
_MESSAGES: MessagePatterns = (
    (r"max(imum)? session turns", Cause.MAX_TURNS),
    (r"empty response text|no finish reason", Cause.EMPTY_ANSWER),
)
_NOISE = ("Ripgrep not available", "⚠ SAFE MODE", "Retrying provider attempt", "Warning: MCP")
_STDERR_BYTES = 64 * 1024
_MESSAGE_FIELDS = ("result", "subtype")


def cause_of(exit: AgentExit, transcript: Transcript) -> Ending:
    """Return the cause, and a sentence on a failure."""
    if exit.stopped is not None:
        return STOPPED[exit.stopped], None
    if transcript.last is None:
        return _without_result(exit)
    result = transcript.last.value
    if _failed(result):
        fields = (object_of(result.get("error")).get("message"), *map(result.get, _MESSAGE_FIELDS))
        message = next(filter(None, map(text_of, fields)), "")
        return _failure(message), clause_of(message)
    answer = text_of(result.get("result"))
    if answer is None:
        return Cause.UNREADABLE_OUTPUT, "The result event has no answer in it"
    if _ERROR_ANSWER.fullmatch(answer):
        return _failure(answer), clause_of(answer)
    if exit.returncode != 0:
        return Cause.EXIT_CODE, _ending(exit)
    return (Cause.FINISHED, None) if answer.strip() else (Cause.EMPTY_ANSWER, None)


def answer_of(result: Json) -> str | None:
    """Return the answer in a result event, which may have an error in its place."""
    answer = text_of(result.get("result")) or ""
    is_answer = answer.strip() and not _failed(result) and not _ERROR_ANSWER.fullmatch(answer)
    return answer if is_answer else None


def _failed(result: Json) -> bool:
    return result.get("is_error") is True or result.get("subtype", "success") != "success"


def _without_result(exit: AgentExit) -> Ending:
    message = " ".join(_stderr(exit))
    if exit.returncode == _TURN_LIMIT_CODE:
        return Cause.MAX_TURNS, None
    if exit.stdout.stat().st_size == 0:
        unready = "auth" in message and exit.returncode == 1
        return Cause.NOT_AUTHORIZED if unready else Cause.NO_OUTPUT, _ending(exit)
    if exit.returncode != 0:
        return Cause.EXIT_CODE, _ending(exit)
    return Cause.UNREADABLE_OUTPUT, "There is no result event in the output"


def _failure(message: str) -> Cause:
    return by_message(_MESSAGES, message) or api_error(message) or Cause.ERROR_RESULT


def _ending(exit: AgentExit) -> str:
    """Return the exit code, and the last line of standard error that is no noise."""
    return ending(exit.returncode, next(reversed(_stderr(exit)), None))


def _stderr(exit: AgentExit) -> list[str]:
    lines = tail(exit.stderr, _STDERR_BYTES).splitlines()
    return [line for line in lines if line.strip() and not line.startswith(_NOISE)]
