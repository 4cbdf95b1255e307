"""What a provider's refusal means, from the words in which a program passes it on: by the table for
models behind servers."""

import json
import re
from contextlib import suppress

from swarm_bench.core.session.refusals import Refusal
from swarm_bench.core.status import Cause
from swarm_bench.models.servers.explanations import refusal_in

_OPENING = (
    r"\[?API Error\b|_?Api(?:Call)?Error\b|AI_\w*Error\b|Error when talking to \w+ API"
    r"|exception \w*Error: "
    r"|\w*(?:API|Api|Connection|Timeout|Quota|RateLimit|ModelNotFound)\w*Error:"
    r"|Attempt \d+ failed\b|unexpected status \d{3}\b|exceeded retry limit\b|got status: "
    r"|stream (?:disconnected|error|closed)\b|(?:request )?error sending request\b|http \d{3}\b"
    r"|Connection (?:error|failed|lost)\b|Unable to connect\b|Cannot connect to API\b"
    r"|Request timed? ?out\b|fetch failed\b|terminated \(cause|Resource has been exhausted\b"
    r"|You(?:'ve| have)? (?:hit|reached|exceeded|exhausted) (?:your|the)\b|Quota exceeded\b"
    r"|(?:The )?(?:provided )?API key (?:not|is|was|expired)"
    r"|(?:Missing|Invalid|Incorrect) API key(?: for\b| provided\b|[.:]|\s*$)"
    r"|The input token count\b|models?/\S+ is not\b|[45]\d\d [\w{]"
    r'|\{\s*"(?:error|type"\s*:\s*"error|detail|message)'
)
"""How programs begin to tell that their provider refused: in words of theirs, not of a model."""
_IS_REFUSAL = re.compile(rf"(?:Error: )?(?:{_OPENING})")
_LINE = re.compile(rf"^(?:Error: )?(?:{_OPENING})", re.MULTILINE)
_STATUS = re.compile(
    r'(?:\bstatus(?: code)?:?|"code":|API Error:|rejected|HTTP|^|^Error:)\s*\(?([345]\d\d)\b',
    re.IGNORECASE,
)
_LONGEST = 4_000
"""Characters of a message that are looked at."""


def api_error(message: str, status: int | None = None) -> Cause | None:
    """Return what a message means that begins as a provider's refusal does, or that has the HTTP
    status of one; `None` when it is about something else."""
    if status is None and not _IS_REFUSAL.match(message):
        return None
    message = message[:_LONGEST]
    if status is None and (named := _STATUS.search(message)):
        status = int(named[1])
    for begin in (at.start() for at in re.finditer(r"\{", message[:_LONGEST])):
        with suppress(ValueError, RecursionError):
            document, _ = json.JSONDecoder().raw_decode(message, begin)
            return refusal_in(document, status).cause
    return Refusal(state=status, text=message).cause


def last_refusal(log: str) -> str | None:
    """Return a log from its last line on that begins as a provider's refusal does."""
    begins = [line.start() for line in _LINE.finditer(log)]
    return log[begins[-1] : begins[-1] + _LONGEST] if begins else None
