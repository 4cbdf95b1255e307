"""Recognises answers of tools that are empty, or errors that only their words give away.

Both are judged conservatively: what is neither an empty value nor one of the phrases
below is an answer. A phrase counts at the beginning of a short text that does not look
like code and names no line of a file. The files that an error names make it no answer.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Literal

from swarm_bench.text.result_forms import has_no_rows, is_trouble, plain

_THINGS = (
    "(?:results?|match(?:es)?|hits?|files?|symbols?|documents?|nodes?|references?|occurrences?|"
    "entries|snippets?|items?|callers|callees|definitions?|handles?|places?|chunks?|passages?|rows?|"
    "records?|code)"
)
_NO_CLAUSE = r"(?! (?:yet )?(?:until|unless|when|while|by|during|in memory|since|as|if)\b)"
"""An explanation says when something is not there; an error, that it is not."""
EMPTY = (
    rf"(?:there (?:are|were) )?(?:no|zero|0) (?:[\w'-]+ ){{0,3}}?{_THINGS}\b(?! is | are )",
    r"(?:nothing|none) (?:was |were )?(?:found|matched|returned)\b",
    rf"(?:found|returned|matched|showing) (?:no|zero|0) (?:[\w'-]+ ){{0,3}}?{_THINGS}\b",
    rf"(?:the |your )?(?:search|query|lookup)\b[^\n]{{0,120}}?\b(?:returned|found|matched|gave|"
    rf"yielded|produced|had) (?:nothing|(?:no|zero|0) (?:[\w'-]+ ){{0,3}}?{_THINGS})\b"
    "(?! is | are | when )",
    r"(?:not found|none|null|n/a|empty|nothing|\(empty\)|\(none\)|\(no (?:output|results?)\)|"
    r"(?:no|empty) (?:output|content|response))\.?$",
    # As programs say it that show a model no empty result.
    r"(?:[\w:.'\"-]+ ){0,4}?(?:completed|succeeded|executed|ran|returned|finished|produced)\b"
    r"[^\n.]{0,30}?\b(?:no|without|an empty)(?: any)? (?:output|content|response)\b"
    r"(?: or errors?)?[.!]?$",
    r"(?:sorry[,.]? )?i (?:did not|didn't|could not|couldn't|was unable to) find any",
    "未找到",
)
"""Replies of a tool that found nothing."""
_ERRORS = (
    r"\[?(?:[A-Za-z_.]*(?:Error|Exception)|error|fatal|failed|failure|panic)[\]*]{0,3}"
    r"(?: \(\w+\))?: \S",
    r"\[?error[\]*]{0,3} ?-? ?(?:cannot|can't|could not|couldn't|unable to|failed to)\b",
    r"(?:(?:mcp|tool|search|query|internal|fatal|unexpected|execution|runtime|server) ){1,2}"
    r"(?:error|failure)(?: \(?-?\d{1,6}\)?)?(?:: \S| (?:while|when|during) \w+ing\b)",
    r"(?:the )?(?:search|query|lookup|request|operation|indexing|tool (?:execution|call)) failed"
    r"(?:[.!]?$|:| (?:on|for|while|because|after|with)\b)",
    r"error (?:executing|calling|running) (?:the )?tool\b|time-?out (?:while|when|during|after)\b",
    r"error (?:while |when |during )?(?:searching|reading|opening|loading|indexing|accessing)\b",
    r"(?:(?:connect|read|write|spawn|getaddrinfo|open|scandir|stat)(?: \S{1,80})? )?"
    r"E(?:NOENT|ACCES|PERM|ISDIR|NOTDIR|MFILE|CONNREFUSED|CONNRESET|TIMEDOUT|PIPE|NOSPC|BUSY|IO|"
    r"HOSTUNREACH|NOTFOUND|AI_AGAIN|NAMETOOLONG)(?:: \S| [\w.:[\]-]+$|$)",
    r"traceback \(most recent call last\):",
    r"(?:failed|unable) to \w+\b",
    r"(?:could not|couldn't|cannot|can't) (?:be )?(?:find|open|read|access|connect|load|search|"
    r"parse|locate|resolve|reach|found|opened|loaded)\b",
    r"(?:unknown|invalid|missing|unsupported) (?:required )?(?:tool|argument|param|parameter)s?"
    r"(?:[.!]?$| ?[:'\"`(]| \w+[.!]?$| (?:for|in) (?:the )?(?:tool|call|request)\b| \w*_\w*\b)",
    r"(?:the )?(?:\w+ )?timed out\b",
    r"connection (?:refused|reset|closed|aborted|failed|error)\b",
    r"(?:api )?rate limit(?:ed)?(?:[.:!]|$| (?:exceeded|reached|hit)\b)|too many requests\b",
    r"(?:http|status)(?: error| status| code){0,2}:? ?[45]\d\d\b",
    r"[45]\d\d:? (?:internal server error|bad gateway|service unavailable|gateway time-?out|"
    r"not found|unauthorized|forbidden|bad request|too many requests)\b",
    r"(?:please )?(?:run|call|build|create|execute) [^.\n]{0,60}?\bindex\w*\b[^.\n]{0,30}?"
    r"\b(?:first|before)\b",
    # A service that is not well, and nothing follows but an explanation.
    r"(?:oops|sorry)?[,.! ]{0,3}(?:something|an (?:internal|unexpected|unknown) error|an error) "
    r"(?:went wrong|occurred)\b(?! (?:is|are) )",
    r"(?:(?:internal )?server error|bad gateway|unauthori[sz]ed|forbidden|not authenticated|"
    r"(?:the )?service (?:is )?(?:temporarily |currently )?unavailable|"
    r"authentication (?:failed|required)|(?:\w+ )?deadline exceeded|"
    r"invalid (?:api[ _-]?key|token|credentials)(?: provided)?)(?:[.:!,;(\[]|$| \()",
    r"request failed with (?:status )?(?:code )?[45]\d\d\b",
    r"(?:[\w./-]+: ){0,3}command not found\b|rpc error: code\b",
    r"(?:the )?index(?:ing)? (?:is )?(?:still )?(?:in progress|being built|running)(?:[.:!,;(]|$)",
    r"(?:[\w-]+ ){0,4}?(?:backend|server|service|daemon|database|upstream) "
    r"(?:(?:is|was|currently) )*(?:unreachable|unavailable|offline|down|"
    r"not (?:responding|reachable))(?:[.:!,;(\[]|$)",
    r"(?:permission|access) denied\b",
    r"no such (?:file|directory|tool|index|project|repository)\b",
    # An index that is not there.
    r"(?:[\w'\"./-]+ ){0,6}?(?:index|graph|map|database|repository|project|codebase|workspace)\b"
    r"[^.\n]{0,80}?\b(?:not (?:been |yet )*(?:found|built|indexed|initiali[sz]ed|created|available|"
    rf"exist|loaded|ready)|does not exist|doesn't exist|is missing|has no index)\b{_NO_CLAUSE}",
    r"(?:[\w'\"./-]+ ){0,6}?not (?:been |yet )*indexed\b" + _NO_CLAUSE,
    r"no (?:[\w-]+ ){0,3}?(?:index|graph|project|repository)\b[^.\n]{0,40}?"
    r"\b(?:found|loaded|available|active|exists?|built|yet)\b",
    r"[^\n]{0,80}尚?未(?:构建|建立|创建)?索引",
    r"错误[::]",
)
"""Replies of a tool that could not answer, and does not say so by `isError`."""

Kind = Literal["empty", "error"]

MAX_ERROR_LENGTH = 2000
"""Characters of a text that can be an error; ast-mcp and codegraph explain their errors at
length."""
MAX_LINE_LENGTH = 300
"""Characters of its first line, which has the phrase."""

_ZERO = re.compile(
    r"(?:(?:total|number of) )?(?:results?|match(?:es)?|hits?|found|total)(?: found| count)?: ?"
    r"(?:0|none)\.?$",
    re.IGNORECASE,
)
"""Text that counts results, and has none, when nothing but `_SIDE_LINES` follow."""
_HEADING = re.compile(
    r"(?:#+ |[^\n]*:$|(?:your |the )?(?:search(?:ed|ing)?(?: results?| query| term)?|results?|"
    r"query|question|pattern|term|keyword)s?(?: for|:)? )",
    re.IGNORECASE,
)
"""Beginning, or end, of a line that repeats the question before the answer."""
_SIDE_LINES = re.compile(
    r"(?:#|query|search|question|pattern|term|time|took|elapsed|duration|tip|hint|try)\b|#+ ",
    re.IGNORECASE,
)
_SEARCHED = re.compile(
    r"\b(?:(?:searched|scanned|checked|examined|looked (?:in|at))(?: [\w ]{1,30})?|(?:files|paths|"
    r"folders|directories) (?:that were )?(?:searched|scanned|checked|examined))(?: \(\d+\))?:$",
    re.IGNORECASE,
)
"""End of a line before a list of what was searched."""
_MOST_TERMS = 3
"""Most terms in a line of such a list: a mark, a number, a file."""
_MAX_HEADINGS = 2
_DECODER = json.JSONDecoder()
_BETWEEN = re.compile(r"[ \t\r\n,]*")
_EMPTY = re.compile("|".join(EMPTY), re.IGNORECASE)
_ERROR = re.compile("|".join(_ERRORS), re.IGNORECASE)
_CODE = re.compile(
    r"[{}]|;$|^[ \t]|^(?://|\d+[\t:|]|@|<)|\w\.\w{1,5}:\d|= ?(?:None|True|False|null|\d)|"
    r": ?(?:str|int|bool|float|string|number)\b|[\w)\]] ?[:=]=? ?[\w'\"(\[].*[)\]]$|"
    r"\b(?:def|class|return|raise|import|func|function|fn|const|let|var|throw)(?: \w| ?\()"
)
"""Signs that a line is of a program, or points into one."""
_DECORATION = re.compile(r"^(?:[^\w\"'/.,:;@$%&(){}<>\[\]=+|\\^?~]|_)+|[\s*_`]+$")
"""Marks of lists and headings, and symbols such as a cross."""
_STAMP = re.compile(r"\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?Z?\]?:? ")
"""The time at the beginning of a line of a log."""
_ADDRESS = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}:\d{1,5}\b")
_TIPS = re.compile(
    r"\W*(?:tips?|hints?|suggestions?|try|check|consider|note|you (?:can|could|may))\b",
    re.IGNORECASE,
)
_FILE_NAME = re.compile(r"\w[/\\]|\w\.[A-Za-z]\w{0,9}\b")
"""A file, in a term without blanks."""
_MAX_NAMED = 1 << 20
"""Characters of a text whose files are taken out."""
_PATH = re.compile(r"\w[/\\]|\w{2,}\.[A-Za-z]\w{0,5}\b")
_BRACKETED = re.compile(r"[(\[]([^()\[\]]*)[)\]]\.?$")
_PROSE = re.compile(r"\b(?:lives?|handling|(?:is|are) (?:handled|defined|implemented|raised)) in\b")
_TAGS = re.compile(r"<[^<>]*>")
_NO_RESULTS = re.compile(
    r"<(?:search_?)?(?:results?|matches|hits)\b(?: [^<>]*)?\b(?:count|total|found)=[\"']0[\"']"
    r"[^<>]*>|<(results?|matches|hits)(?: ?/>|></\1>)",
    re.IGNORECASE,
)

_METADATA_KEYS = frozenset(
    {
        *("guidance", "hint", "hints", "help", "tip", "tips", "meta", "metadata", "stats"),
        *("statistics", "pagination", "query", "params", "parameters", "arguments", "request"),
        *("input", "warnings", "suggestions", "nextsteps", "usage", "timing", "filters"),
        *("searched", "searchedfiles", "searchedpaths", "filessearched", "pathssearched"),
        *("scanned", "scannedfiles", "filesscanned", "checked", "lookedin", "tried", "skipped"),
    }
)
"""Keys that are about an answer, and not of it; without underscores."""
_RESULTS = frozenset(
    {
        *("results", "result", "matches", "hits", "items", "handles", "files", "nodes", "symbols"),
        *("documents", "snippets", "places", "locations", "references", "entries", "data"),
        *("chunks", "candidates", "paths", "occurrences", "content", "contents", "edges"),
        *("findings", "output", "rows", "records", "answers", "functions", "classes"),
    }
)
"""Keys whose value is the answer."""
_TEXTS = frozenset(
    {*("text", "content", "contents", "source", "code", "body", "snippet", "answer"),
     *("markdown", "result", "results", "output", "summary", "message", "detail")}
)  # fmt: skip
"""Keys whose value, when it is a text, can be the answer."""
_FAILED = frozenset({"error", "failed", "failure"})
_NAMES = frozenset({"files", "paths"})
"""Keys of files that an error may be about: they are none of its results."""
_NOT_THERE = re.compile(r"(?:page |route |endpoint |url )?not found[.!]?", re.IGNORECASE)
"""Reply of a server to an address that it does not have."""
_PROBLEM = frozenset(
    {"detail", "message", "status", "statuscode", "code", "error", "title", "type", "timestamp"}
    | {"documentation_url", "request_id", "requestid", "path", "instance"}
)
"""Keys beside it."""


def kind_of(text: str) -> Kind | None:
    """Tell an answer with nothing in it (`empty`) and an error in words (`error`) from one that
    says something (`None`). Several JSON values in one text, and a text after them, are judged
    together."""
    try:
        parts = list(_judge_parts(text))
    except RecursionError:
        return None
    if all(part == "empty" for part in parts):
        return "empty"
    return "error" if "error" in parts and None not in parts else None


def _judge_parts(text: str) -> Iterator[Kind | None]:
    """Yield the kind of each JSON value and of the text after them; stop at one that is an
    answer."""
    text, at = plain(text).strip("\r\n").rstrip(), 0
    while text[at : at + 1] in ("{", "[", '"'):
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        yield (part := _judge_value(value))
        if part is None:
            return
        at = _BETWEEN.match(text, end).end()  # type: ignore[union-attr]
    if at < len(text):
        yield _judge_words(text[at:])


def _judge_words(text: str) -> Kind | None:
    if (kind := _judge_short(text)) is not None or len(text) > _MAX_NAMED:
        return kind
    return "error" if _judge_short(_drop_paths(text)) == "error" else None


def _drop_paths(text: str) -> str:
    """Take out the files that a text names, but not a line that begins with one and says more."""
    lines = text.split("\n")
    for at, terms in enumerate(map(str.split, lines)):
        remaining = " ".join(term for term in terms if not _FILE_NAME.search(term))
        if not re.search(r"\w", remaining):
            lines[at] = ""
        elif not _FILE_NAME.search(terms[0]) and any(map(_FILE_NAME.search, terms)):
            lines[at] = remaining
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip()


def _judge_short(text: str) -> Kind | None:
    if not text.strip():
        return "empty"
    if len(text) > MAX_ERROR_LENGTH:
        return None
    if has_no_rows(text):
        return "empty"
    if is_trouble(text):
        return "error"
    if text.startswith("<"):
        nothing = _NO_RESULTS.search(text) and not _TAGS.sub("", text).strip()
        return "empty" if nothing else None
    lines = text.strip("\r\n").split("\n")
    for at in [at for at, line in enumerate(lines) if line.strip()][: _MAX_HEADINGS + 1]:
        line = _ADDRESS.sub("host", lines[at])
        if len(line) > MAX_LINE_LENGTH or _CODE.search(line):
            return None
        if kind := _judge_line(line.strip(), lines[at + 1 :]):
            return kind
        if not _HEADING.match(line.strip()):
            return None
    return None


def _judge_line(line: str, following_lines: list[str]) -> Kind | None:
    """Judge a line in front of the rest of a text."""
    statement = _DECORATION.sub("", _STAMP.sub("", line))
    if inner := _BRACKETED.fullmatch(statement):
        statement = inner[1]
    if _ERROR.match(statement):
        return None if _PROSE.search(statement) else "error"
    if _ZERO.match(statement):
        return "empty" if all(map(_SIDE_LINES.match, filter(str.strip, following_lines))) else None
    if not _EMPTY.match(statement):
        return None
    return (
        "empty"
        if _are_tips(following_lines) or _are_searched([statement, *following_lines])
        else None
    )


def _are_tips(lines: list[str]) -> bool:
    """Tell whether lines behind an empty answer are its explanation: one paragraph with it, or
    advice that names no file."""
    blank = next((at for at, line in enumerate(lines) if not line.strip()), len(lines))
    behind = [line for line in lines[blank:] if line.strip()]
    if not behind:
        return True
    return bool(_TIPS.match(behind[0])) and not any(map(_PATH.search, behind))


def _are_searched(lines: list[str]) -> bool:
    """Tell whether a line of an empty answer announces what was searched, and nothing but files
    stands behind it."""
    at = next((at for at, line in enumerate(lines) if _SEARCHED.search(line)), len(lines))
    behind = [line.split() for line in lines[at + 1 :] if line.strip()]
    are_files = all(_FILE_NAME.search(terms[-1]) and len(terms) <= _MOST_TERMS for terms in behind)
    return bool(behind) and are_files and not any(map(str.strip, lines[1:at]))


def _judge_value(value: Any) -> Kind | None:
    if isinstance(value, str):
        return _judge_words(value) if value.strip() else "empty"
    if isinstance(value, list):
        kinds = {_judge_value(item) for item in value}
        return "empty" if not kinds - {"empty"} else ("error" if kinds == {"error"} else None)
    if isinstance(value, dict):
        return _judge_object(value)
    return "empty" if value is None else None


def _judge_object(value: dict[str, Any]) -> Kind | None:
    answer = {
        key: inner
        for key, inner in value.items()
        if key.lower().replace("_", "") not in _METADATA_KEYS
    }
    texts = {
        key: _judge_value(inner)
        for key, inner in answer.items()
        if isinstance(inner, str) and inner.strip() and key.lower() in _TEXTS
    }
    containers = {key: inner for key, inner in answer.items() if isinstance(inner, list | dict)}
    if _has_failed(value):
        return "error"
    if _says_error(value):
        result_keys = [
            key for key, inner in containers.items() if inner and key.lower() in _RESULTS
        ]
        return "error" if set(result_keys) <= _NAMES else None
    if None in texts.values():
        return None
    if "error" in texts.values() and not any(containers.values()):
        return "error"
    kinds = {_judge_value(inner) for inner in containers.values()}
    if kinds - {"empty"}:
        return "error" if kinds <= {"empty", "error"} and not texts else None
    if not any(inner for key, inner in answer.items() if key not in {**containers, **texts}):
        return "empty"
    return "empty" if any(key.lower() in _RESULTS for key in containers) else None


def _has_failed(value: dict[str, Any]) -> bool:
    """Tell whether an object says that all of it failed, whatever else is in it."""
    fields = {key.lower(): inner for key, inner in value.items()}
    if any(fields.get(key) is False for key in ("success", "ok")):
        return True
    status = fields.get("status")
    if isinstance(status, str) and status.lower() in _FAILED:
        return True
    detail = fields.get("detail", fields.get("message"))
    nowhere = isinstance(detail, str) and _NOT_THERE.fullmatch(detail.strip())
    return fields.get("iserror") is True or (bool(nowhere) and fields.keys() <= _PROBLEM)


def _says_error(value: dict[str, Any]) -> bool:
    fields = {key.lower(): inner for key, inner in value.items()}
    code, errors = fields.get("code"), fields.get("errors")
    numbers = [fields.get(key) for key in ("statuscode", "status_code", "status")]
    if any(type(number) is int and 400 <= number < 600 for number in numbers):
        return True
    if type(code) is int and code < 0:
        return True
    if errors and isinstance(errors, list) and all(map(_is_message, errors)):
        return True
    return isinstance(fields.get("error"), str | dict) and bool(fields["error"])


def _is_message(error: object) -> bool:
    """Tell whether an item of `errors` is of the call: those of a program have their files."""
    if isinstance(error, dict):
        return "message" in error and not {"file", "filename", "filepath", "uri"} & error.keys()
    return isinstance(error, str) and not _FILE_NAME.search(error)
