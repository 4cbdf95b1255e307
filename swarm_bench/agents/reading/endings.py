"""What the ends of all programs have in common."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from swarm_bench.agents.reading.json_lines import broken_off, clause_of
from swarm_bench.agents.reading.terminal import plain_text
from swarm_bench.core.outcome import AgentExit, StopReason
from swarm_bench.core.status import Cause
from swarm_bench.runtime import untrusted

Ending = tuple[Cause, str | None]
"""A cause, and a sentence on a failure or on an end that is odd."""
_LONGEST_END = 8 * 1024 * 1024
"""Bytes."""
MessagePatterns = Sequence[tuple[str, Cause]]
"""Patterns, whatever the case of letters, and what they mean: first come, first served."""

STOPPED: Mapping[StopReason, Cause] = {
    "timeout": Cause.TIMEOUT,
    "output-limit": Cause.OUTPUT_LIMIT,
    "turn-limit": Cause.MAX_TURNS,
}


def by_message(patterns: MessagePatterns, message: str | None) -> Cause | None:
    """Return what the message of a failure means, by how it begins: further on it may quote a model
    or a tool. `None` when it is about something else."""
    for pattern, cause in patterns:
        if re.match(pattern, message or "", re.IGNORECASE):
            return cause
    return None


def without_end(exit: AgentExit, text: str | None, *, end: str, missing: str) -> Ending | None:
    """Judge a run that ended well, but for the event that ends it: a last text before a cut or
    missing end is the answer, and what broke off elsewhere is lost. `end` is a pattern of that
    event's type, `missing` says that it is not there. `None` when there is no answer."""
    if exit.returncode != 0:
        return None
    if (cut := broken_off(untrusted.tail(exit.stdout, _LONGEST_END))) is not None:
        part = "output" if "\n" in cut else "last line"
        what = f"The {part} is cut after {len(cut.encode())} bytes"
        is_end = re.search(rf'"type"\s*:\s*"(?:{end})"', cut[:200])
        if not is_end or not text:
            return Cause.OUTPUT_CUT, what
        return Cause.FINISHED, f"{what}; the last text before it is the answer"
    return (Cause.FINISHED, f"{missing}; its last text is the answer") if text else None


def ending(returncode: int | None, last: str | None) -> str:
    """Describe an end by the exit code and the last line of output."""
    code = "unknown" if returncode is None else returncode
    clause = clause_of(last)
    return f"Exit code {code}: {clause}" if clause else f"Exit code {code}"


def tail(path: Path, size: int) -> str:
    """Read the last `size` bytes of a file, as text without what is for a terminal."""
    return plain_text(untrusted.tail(path, size))
