"""What the ends of all programs have in common."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from swarm_bench.agents.reading.api_errors import refused_before
from swarm_bench.agents.reading.json_lines import as_clause, broken_off
from swarm_bench.core.outcome import AgentExit, StopReason
from swarm_bench.core.status import Cause
from swarm_bench.runtime import untrusted
from swarm_bench.text.terminal import plain_text

Ending = tuple[Cause, str | None]
"""A cause, and a sentence on a failure or on an end that is odd."""
_LONGEST_END = 8 * 1024 * 1024
"""Bytes."""
_LAST_BYTES = 8192
_UNEXPLAINED = (Cause.EXIT_CODE, Cause.NO_OUTPUT, Cause.UNREADABLE_OUTPUT, Cause.OUTPUT_CUT)
MessagePatterns = Sequence[tuple[str, Cause]]
"""Patterns, whatever the case of letters, and what they mean: first come, first served."""

STOPPED: Mapping[StopReason, Cause] = {
    "timeout": Cause.TIMEOUT,
    "output-limit": Cause.OUTPUT_LIMIT,
    "turn-limit": Cause.MAX_TURNS,
}


def find_message_cause(patterns: MessagePatterns, message: str | None) -> Cause | None:
    """Return what the message of a failure means, by how it begins: further on it may quote a model
    or a tool. `None` when it is about something else."""
    plain = (message or "").replace("’", "'")
    for pattern, cause in patterns:
        if re.match(pattern, plain, re.IGNORECASE):
            return cause
    return None


def judge_success(exit: AgentExit, text: str | None, last: str | None) -> Ending:
    """Judge a run that ended with the event of a success: a program that fails after that has
    answered. `last` is its last line about an error."""
    if exit.returncode == 0:
        return (Cause.FINISHED, None) if (text or "").strip() else (Cause.EMPTY_ANSWER, None)
    sentence = ending(exit.returncode, last)
    if not (text or "").strip():
        return Cause.EXIT_CODE, sentence
    return Cause.FINISHED, f"It failed after its answer. {sentence}"


def apply_refusal(judgement: Ending, exit: AgentExit, *, has_answered: bool) -> Ending:
    """Look for a refusal in what a program printed that failed without saying why, and whose model
    had answered no request (`has_answered`)."""
    if has_answered or exit.stopped is not None or judgement[0] not in _UNEXPLAINED:
        return judgement
    cause = refused_before(tail(exit.stderr, _LAST_BYTES), tail(exit.stdout, _LAST_BYTES))
    return judgement if cause is None else (cause, judgement[1])


def judge_missing_end(
    exit: AgentExit, text: str | None, *, has_events: bool, end: str, missing: str
) -> Ending | None:
    """Judge a run that ended well, but for the event that ends it: a last text before a cut or
    missing end is the answer, and what broke off elsewhere is lost. `has_events` tells whether
    there were events before, `end` is a pattern of that event's type, `missing` says that it is not
    there. `None` when there were no events."""
    if exit.returncode != 0:
        return None
    if (cut := broken_off(untrusted.tail(exit.stdout, _LONGEST_END))) is not None:
        part = "output" if "\n" in cut else "last line"
        clause = f"The {part} is cut after {len(cut.encode())} bytes"
        is_end = re.search(rf'"type"\s*:\s*"(?:{end})"', cut[:200])
        if not is_end or not text:
            return Cause.OUTPUT_CUT, clause
        return Cause.FINISHED, f"{clause}; the last text before it is the answer"
    if text:
        return Cause.FINISHED, f"{missing}; its last text is the answer"
    return (Cause.OUTPUT_CUT, missing) if has_events else None


def ending(returncode: int | None, last: str | None) -> str:
    """Describe an end by the exit code and the last line of output."""
    code = "unknown" if returncode is None else returncode
    clause = as_clause(last)
    return f"Exit code {code}: {clause}" if clause else f"Exit code {code}"


def tail(path: Path, size: int) -> str:
    """Read the last `size` bytes of a file, as text without what is for a terminal."""
    return plain_text(untrusted.tail(path, size))
