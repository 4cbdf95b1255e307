"""What a provider's error means, from the message in which Gemini CLI and Qwen Code pass it on."""

import re

from swarm_bench.agents.reading.endings import MessagePatterns, by_message, by_status
from swarm_bench.core.status import Cause

_STATUS = re.compile(r"""(?:\bstatus(?:\ code)?:?|"code":|API\ Error:)\s*(\d{3})\b""", re.X | re.I)
_MESSAGES: MessagePatterns = (
    (
        r"token count\b.{0,60}\bexceeds|context.?(length|window)|maximum context|prompt is too long"
        r"|input tokens exceed",
        Cause.CONTEXT_OVERFLOW,
    ),
    (r"resource.{0,10}exhausted|rate.?limit|quota|too many requests", Cause.RATE_LIMITED),
    (
        r"api.?key not (valid|found)|(invalid|incorrect|missing|no) .{0,20}api.?key"
        r"|unauthenticated|permission_denied|unauthori[sz]ed",
        Cause.NOT_AUTHORIZED,
    ),
    (r"model\S* .{0,80}(not found|does not exist|not supported)", Cause.UNKNOWN_MODEL),
    (
        r"fetch failed|connection error|econnrefused|econnreset|enotfound|socket hang up"
        r"|premature close|terminated|timed? ?out|timeout|overloaded|unavailable|internal error"
        r"|stream ended",
        Cause.PROVIDER_FAILED,
    ),
)
"""First come, first served; only looked for in the message of a failure."""


def api_error(message: str) -> Cause | None:
    """Return the cause that a message names; `None` when it is about something else."""
    # Everything can be wrong with a request (400), and a context that is too long has several.
    if (overflow := by_message(_MESSAGES[:1], message)) is not None:
        return overflow
    causes = (by_status(int(code)) for code in _STATUS.findall(message))
    return next(filter(None, causes), None) or by_message(_MESSAGES[1:], message)
