"""What the ends of all programs have in common."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from swarm_bench.agents.reading.json_lines import clause_of
from swarm_bench.agents.reading.terminal import plain_text
from swarm_bench.core.outcome import StopReason
from swarm_bench.core.status import Cause
from swarm_bench.runtime import untrusted

MessagePatterns = Sequence[tuple[str, Cause]]
"""Patterns, whatever the case of letters, and what they mean: first come, first served."""

STOPPED: Mapping[StopReason, Cause] = {
    "timeout": Cause.TIMEOUT,
    "output-limit": Cause.OUTPUT_LIMIT,
    "turn-limit": Cause.MAX_TURNS,
}
_STATUSES: Mapping[int, Cause] = {
    401: Cause.NOT_AUTHORIZED,
    402: Cause.NOT_AUTHORIZED,
    403: Cause.NOT_AUTHORIZED,
    404: Cause.UNKNOWN_MODEL,
    408: Cause.PROVIDER_FAILED,
    413: Cause.CONTEXT_OVERFLOW,
    429: Cause.RATE_LIMITED,
}


def by_status(status: int | None) -> Cause | None:
    """Return what the HTTP status of a provider's answer means; anything can be wrong with a
    400."""
    if status is not None and 500 <= status < 600:
        return Cause.PROVIDER_FAILED
    return None if status is None else _STATUSES.get(status)


def by_message(patterns: MessagePatterns, message: str | None) -> Cause | None:
    """Return what the message of a failure means; `None` when it is about something else."""
    for pattern, cause in patterns:
        if re.search(pattern, message or "", re.IGNORECASE):
            return cause
    return None


def ending(returncode: int | None, last: str | None) -> str:
    """Describe an end by the exit code and the last line of output."""
    code = "unknown" if returncode is None else returncode
    clause = clause_of(last)
    return f"Exit code {code}: {clause}" if clause else f"Exit code {code}"


def tail(path: Path, size: int) -> str:
    """Read the last `size` bytes of a file, as text without what is for a terminal."""
    return plain_text(untrusted.tail(path, size))
