"""What a provider's refusal means, from the words in which a program passes it on: by the table for
models behind servers."""

import re
from itertools import pairwise

from swarm_bench.core.status import Cause
from swarm_bench.models.servers.explanations import refusal_in_text

_OPENING = (
    r"\[?API Error\b|_?Api(?:Call)?Error\b|AI_\w{,40}Error\b|Error when talking to \w+ API"
    r"|exception \w{,40}Error: "
    r"|(?:\w{1,40}\.){,4}\w{,40}(?:API|Api|Connection|Timeout|Quota|RateLimit|ModelNotFound)"
    r"\w{,40}Error:"
    r"|Attempt \d+ failed\b|unexpected status \d{3}\b|exceeded retry limit\b|got status: "
    r"|stream (?:disconnected|error|closed)\b|(?:request )?error sending request\b"
    r"|http \d{3}\s*(?:$|[:,])"
    r"|Connection (?:error|failed|lost)\b|Unable to connect\b|Cannot connect to API\b"
    r"|Request timed? ?out\b|fetch failed\b|terminated \(cause|Resource has been exhausted\b"
    r"|You(?:'ve| have)? (?:hit|reached|exceeded|exhausted) (?:your|the)\b|Quota exceeded\b"
    r"|(?:The )?(?:provided )?API key (?:not|is|was|expired)"
    r"|(?:Missing|Invalid|Incorrect) API key(?: for\b| provided\b|[.:]|\s*$)"
    r"|The input token count\b|models?/\S+ is not\b|[45]\d\d \{"
    r'|\{\s*"(?:error|type"\s*:\s*"error|detail|message)'
)
"""Beginning of the words with which programs report that their provider refused: their own words,
not those of a model."""
_IS_REFUSAL = re.compile(rf"(?:Error: )?(?:{_OPENING}|[45]\d\d \w)")
_LINE = re.compile(rf"^(?:Error: )?(?:{_OPENING})", re.MULTILINE)
_ERROR_LINE = re.compile(
    rf"^(?:{_OPENING}|[\[( ]?(?:[\w.]{{,100}}(?:Error|Exception)|ERROR|error|FATAL|Fatal)\b"
    r"[\w ()-]{,60}:|[A-Z][\w ]{,30} (?:[Ee]rror|failed):|(?:Failed|failed|Unable|unable) to )",
    re.MULTILINE,
)
"""Beginning of a log line which says that something failed."""
_OF_TOOLS = re.compile(
    r"(?:\w*Error: )?(?:error executing tool|command failed|the tool\b|tool \S+ "
    r"|(?:ENOENT|EACCES|EISDIR|ENOTDIR|ENOSPC|EEXIST|EPERM|ELOOP|EMFILE|EROFS)\b)"
    r"|.{,60}\bmcp(?:error)?\b"
    r"|(?:Type|Range|Reference|Syntax|Key|Value|Index|Name|Attribute|Assertion|Import)Error: "
    r"(?!fetch failed|terminated)",
    re.IGNORECASE,
)
"""How programs begin to tell of what is not their provider's: of a tool, a server of tools, a file,
a defect of their own."""
_UNREACHED = re.compile(
    r"\bE(?:CONN(?:REFUSED|RESET|ABORTED)|NOTFOUND|TIMEDOUT|AI_AGAIN|(?:HOST|NET)UNREACH)\b"
    r"|\b(?:could not|couldn't) resolve host\b|\bname or service not known\b"
    r"|\blocal issuer certificate\b|\bcertificate (?:in certificate chain|has expired|verif)"
    r"|\brequested url returned error: [345]\d\d|\bfetch failed\b",
    re.IGNORECASE,
)
"""Errors of the system where a server cannot be reached, and those of fetches where it can."""
_LONGEST = 4_000
"""Characters of a message that are looked at."""
_LAST = 8_192
"""Characters at the end of a log in which a reason is looked for."""


def api_error(message: str, status: int | None = None) -> Cause | None:
    """Return what a message means that begins as a provider's refusal does, or that has the HTTP
    status of one; `None` when it is about something else."""
    if status is None and not _IS_REFUSAL.match(message):
        return None
    return refusal_in_text(message, status).cause


def find_reason(
    message: str | None, status: int | None = None, *, unknown: Cause = Cause.PROVIDER_FAILED
) -> Cause:
    """Return what a message means in which a program says itself that its model did not answer:
    `unknown`, where it names no reason that a provider has."""
    if status is None and (not message or _OF_TOOLS.match(message)):
        return Cause.ERROR_RESULT
    return _find_named_cause(message or "", status) or unknown


def refused_before(log: str, printed: str) -> Cause | None:
    """Return the cause of a program's last errors that occurred before its model had answered
    anything; `None` when none of them is a provider's. The only line of its own `log` is about its
    failure, whatever it begins with; what it `printed` may be any text."""
    if (cause := last_error(log) or last_error(printed)) is not None:
        return cause
    line = log.strip()
    return None if "\n" in line or _OF_TOOLS.match(line) else _find_named_cause(line, None)


def last_error(log: str) -> Cause | None:
    """Return what the errors mean that stand last in a log; `None` when none is a provider's."""
    log = log[-_LAST:]
    starts = [line.start() for line in _ERROR_LINE.finditer(log)]
    for begin, end in reversed(list(pairwise([*starts, len(log)]))):
        message = log[begin:end].lstrip("[( ")
        if not _OF_TOOLS.match(message) and (cause := _find_named_cause(message, None)) is not None:
            return cause
    return None


def _find_named_cause(message: str, status: int | None) -> Cause | None:
    """Return the reason that a message names: by its words, or because it begins as a refusal."""
    refusal = refusal_in_text(message, status)
    unknown = refusal.cause is Cause.PROVIDER_FAILED and not refusal.passes
    is_refusal = _IS_REFUSAL.match(message) and not message.startswith("{")
    is_named = is_refusal or _UNREACHED.search(message) or not unknown
    return refusal.cause if status is not None or is_named else None


def last_refusal(log: str) -> str | None:
    """Return a log from its last line on that begins as a provider's refusal does."""
    starts = [line.start() for line in _LINE.finditer(log)]
    return log[starts[-1] : starts[-1] + _LONGEST] if starts else None
