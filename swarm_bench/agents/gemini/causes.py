"""Why Gemini CLI ended. Its exit code is an HTTP status modulo 256, or 0 for an empty answer."""

import re
from collections.abc import Sequence

from swarm_bench.agents.reading.api_errors import api_error, find_reason, last_refusal
from swarm_bench.agents.reading.endings import (
    STOPPED,
    Ending,
    MessagePatterns,
    ending,
    find_message_cause,
    judge_missing_end,
    judge_success,
)
from swarm_bench.agents.reading.json_lines import Json, as_clause, as_object, as_text
from swarm_bench.core.outcome import AgentExit
from swarm_bench.core.status import Cause

_NO_LOGIN_CODE, _TURN_LIMIT_CODE = 41, 53
_NO_LOGIN = re.compile(r"^(?:Please set an Auth method|Invalid auth method)\b", re.MULTILINE)
_MESSAGES: MessagePatterns = (
    (r"(reached )?max(imum)? session turns", Cause.MAX_TURNS),
    (
        r"(the )?(model )?response (was |stopped )?(truncated because it exceeded the token limit"
        r"|due to token limits?)",
        Cause.ANSWER_CUT,
    ),
    (
        r"(the )?(model )?response was blocked\b|response stopped due to (safety|recitation"
        r"|prohibited|blocklist|sensitive|unsupported language)",
        Cause.REFUSED,
    ),
    (
        r"(the )?model returned an empty response|(the )?model .{0,40}(no final response text"
        r"|without any text)|(invalid stream: )?.{0,20}no final response text",
        Cause.EMPTY_ANSWER,
    ),
)
"""Messages of the program itself, in its `error` events and in the error of its result."""
_ATTEMPT = re.compile(r"^Attempt \d+ failed\b.*$", re.MULTILINE)
_NO_RESULT = "There is no result event in the output"
_NOISE = re.compile(r"^(\s*at |Warning: |YOLO mode|\[STARTUP\]|Ripgrep is|[\s{}\[\]]*$)")


def find_cause(
    exit: AgentExit, result: Json, errors: Sequence[Json], *, text: str, stderr: str, turns: int
) -> Ending:
    """Return the cause, and a sentence on a failure. `result` is empty when there was none;
    `errors` are the events with something to complain about, `text` is the answer, `turns` are the
    requests that were answered."""
    if exit.stopped == "timeout" and (attempt := _retry_answer(stderr)) is not None:
        since = exit.stderr.stat().st_mtime_ns > exit.stdout.stat().st_mtime_ns
        return find_reason(attempt) if since or not turns else Cause.TIMEOUT, attempt
    if exit.stopped is not None:
        return STOPPED[exit.stopped], None
    complaints = [as_text(error.get("message")) or "" for error in errors]
    match result.get("status"):
        case "success" if complaints:
            # A loop that it noticed, turns that it used up: it stopped, and calls that a success.
            last = complaints[-1]
            # It may be of a server of tools.
            cause = find_message_cause(_MESSAGES, last) or api_error(last)
            return cause or Cause.ERROR_RESULT, as_clause(last)
        case "success":
            return judge_success(exit, text, _last_line(stderr))
        case "error":
            message = as_text(as_object(result.get("error")).get("message")) or "".join(complaints)
            return _find_failure(message), as_clause(message)
    return _judge_missing_result(exit, stderr, text, has_events=turns > 0)


def _judge_missing_result(exit: AgentExit, stderr: str, text: str, *, has_events: bool) -> Ending:
    if exit.returncode == _TURN_LIMIT_CODE:
        return Cause.MAX_TURNS, None
    if exit.returncode == _NO_LOGIN_CODE or (exit.returncode and _NO_LOGIN.search(stderr)):
        return Cause.NOT_AUTHORIZED, _describe_ending(exit, stderr)
    if exit.returncode and (cause := api_error(last_refusal(stderr) or "")) is not None:
        return cause, _describe_ending(exit, stderr)
    if exit.stdout.stat().st_size == 0:
        return Cause.NO_OUTPUT, _describe_ending(exit, stderr)
    if exit.returncode != 0:
        return Cause.EXIT_CODE, _describe_ending(exit, stderr)
    judgement = judge_missing_end(
        exit, text.strip(), has_events=has_events, end="result", missing=_NO_RESULT
    )
    return judgement or (Cause.UNREADABLE_OUTPUT, _NO_RESULT)


def _find_failure(message: str) -> Cause:
    return find_message_cause(_MESSAGES, message) or find_reason(message)


def _retry_answer(stderr: str) -> str | None:
    attempts = _ATTEMPT.findall(stderr)
    return as_clause(attempts[-1]) if attempts else None


def _describe_ending(exit: AgentExit, stderr: str) -> str:
    return ending(exit.returncode, _last_line(stderr))


def _last_line(stderr: str) -> str | None:
    """Return the last line of standard error that is no noise."""
    lines = [line for line in stderr.split("\n") if not _NOISE.match(line)]
    messages = [line for line in lines if '"message":' in line] or lines
    return next(reversed(messages), None)
