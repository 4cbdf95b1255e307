"""What servers say of their own errors, in the forms that there are: JSON with the reason at the
top or below, lists, pages, plain text."""

import html
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from swarm_bench.core.refusal import Refusal
from swarm_bench.runtime.retry_after import seconds_until

_DEEPEST = 6
_INNER = (
    "error", "errors", "fault", "detail", "details", "innererror", "inner_error", "base_resp",
    "metadata", "raw", "cause", "response", "body",
)  # fmt: skip
"""Keys below which the reason may stand."""
_TEXTS = (
    "message", "msg", "error_msg", "status_msg", "Message", "errorMessage", "error_message",
    "error_description", "errmsg", "faultstring", "description", "reason", "title",
)  # fmt: skip
_CODES = ("code", "type", "status", "error_code", "error_type", "status_code", "statusCode",
          "__type", "reason", "error", "errorCode", "Code")  # fmt: skip
_ANSWERS = ("choices", "content", "response", "tokens", "delta", "content_block")
"""Keys of what is an answer, or a piece of one."""
_ERRORS = ("errors", "detail", "fault", "error_code", "error_msg", "errorMessage", "errno")
"""Keys of what is none."""
_SHAPES = re.compile(
    r"missing|extra_forbidden|value_error\.(?:missing|extra)|type_error.*|\w+_type|\w+_parsing"
    r"|literal_error|enum|union_tag_\w+|json_invalid"
)
"""Types of complaints about the form of a request, which is that of all."""
_PAGE = re.compile(r"\s*<(?:!doctype html|html|head|body)\b", re.IGNORECASE)
_TITLE = re.compile(r"<(title|h1|Message)\b[^>]*>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_TAGS = re.compile(r"<(script|style)\b.*?</\1>|<[^<>]*>", re.IGNORECASE | re.DOTALL)
_SECONDS = re.compile(r"(\d{1,6}(?:\.\d{1,9})?)s")
_STATUS = re.compile(
    r'(?:\b(?:status(?: code)?|(?<!exit )code"?):?|API Error(?: \([^()\n]{,100}\))?:?|rejected'
    r"|HTTP|^|^[\w.]*Error:(?: (?:Client|Server) error ')?)\s*\(?([345]\d\d)\b",
    re.IGNORECASE,
)
_GOOD = ("0", "200", "ok", "success", "none", "")
_LONGEST, _LONGEST_TEXT = 64 * 1024, 4_000
"""Bytes of a body, and characters of a text, in which a reason is looked for."""


def refusal_of(
    content: bytes, state: int | None = None, headers: Mapping[str, str] | None = None
) -> Refusal:
    """Read what a server says instead of an answer."""
    headers = headers or {}
    first = content[:_LONGEST]
    text = decode_body(first, headers.get("content-type", "")) or first.decode("latin-1")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    header_codes = {
        headers[name].partition(":")[0] for name in ("x-amzn-errortype",) if name in headers
    }
    wait = seconds_until(headers.get("retry-after", "")) or 0
    if not isinstance(document, dict | list):
        plain = str(document) if isinstance(document, str) else _read_page(text)
        is_page = bool(_PAGE.match(text))
        return Refusal(
            state=state, text=plain, codes=frozenset(header_codes), wait=wait, is_page=is_page
        )
    return refusal_in(document, state, codes=frozenset(header_codes), wait=wait)


def refusal_in(
    document: Any, state: int | None = None, *, codes: frozenset[str] = frozenset(), wait: float = 0
) -> Refusal:
    """Read it from JSON. The state that it names itself counts where that of HTTP says nothing."""
    errors = list(_errors(document))
    texts = list(dict.fromkeys(text for error in errors for text in _texts(error)))
    found_codes = {code for error in errors for code in _codes(error)}
    if state is None or state == 400:
        state = next(
            (
                named_state
                for error in errors
                for named_state in _states(error)
                if named_state != state
            ),
            state,
        )
    return Refusal(
        state=state,
        codes=codes | found_codes,
        text=": ".join(texts[:3]),
        fields=frozenset(field for error in errors for field in _fields(error)),
        wait=wait or max((_retry(error) for error in errors), default=0),
    )


def refusal_in_text(text: str, state: int | None = None) -> Refusal:
    """Read what a program passes on of a refusal: words, with a state or JSON among them."""
    text = text[:_LONGEST_TEXT]
    if state is None and (match := _STATUS.search(text)):
        state = int(match[1])
    for begin in (at.start() for at in re.finditer(r"\{", text)):
        with suppress(ValueError, RecursionError):
            document, _ = json.JSONDecoder().raw_decode(text, begin)
            return refusal_in(document, state)
    return Refusal(state=state, text=text)


def is_error(document: Any) -> bool:
    """Tell whether a document that came as an answer says that there is none."""
    if isinstance(document, list):
        return any(map(is_error, document))
    if not isinstance(document, dict):
        return False
    error, base_response = document.get("error"), document.get("base_resp")
    if any(error.values()) if isinstance(error, dict) else error:
        return not (isinstance(error, dict) and _is_success(error))
    if any(document.get(key) for key in _ANSWERS) or isinstance(document.get("message"), dict):
        return False
    kinds = [str(document.get(key)).lower() for key in ("object", "type", "status")]
    is_error_kind = any(kind in ("error", "fail", "failed") for kind in kinds)
    coded = (document.get("code") or document.get("ret")) and any(_texts(document))
    failed = isinstance(base_response, dict) and base_response.get("status_code")
    signs = any(document.get(key) for key in _ERRORS) or document.get("success") is False
    return bool(is_error_kind or coded or failed or signs)


def _is_success(error: Mapping[str, Any]) -> bool:
    """Tell whether what stands in the place of an error says that there is none."""
    return str(error.get("code")).lower() in _GOOD and str(error.get("message")).lower() in _GOOD


def _errors(value: Any, depth: int = 0) -> Iterator[Any]:
    """Yield what may be an error, from the outside in."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for item in value[:5]:
            yield from _errors(item, depth + 1)
    elif isinstance(value, dict):
        yield value
        for key in _INNER:
            yield from _errors(value.get(key), depth + 1)
    elif isinstance(value, str) and depth:
        try:  # a router quotes whom it asked
            inner = json.loads(value) if value.lstrip()[:1] in ("{", "[") else value
        except (ValueError, RecursionError):
            inner = value
        if inner is value:
            yield value
        else:
            yield from _errors(inner, depth + 1)


def _texts(error: Any) -> Iterator[str]:
    if isinstance(error, str):
        yield " ".join(error.split())
        return
    for key in _TEXTS:
        text = error.get(key)
        if isinstance(text, str) and text.strip():
            yield " ".join(text.split())
            return


def _codes(error: Any) -> Iterator[str]:
    for key in _CODES if isinstance(error, dict) else ():
        if isinstance(code := error.get(key), str) and " " not in code.strip():
            yield code.rpartition("#")[2]


def _states(error: Any) -> Iterator[int]:
    for key in ("code", "status", "status_code", "statusCode", "error_code"):
        code = error.get(key) if isinstance(error, dict) else None
        if isinstance(code, str) and re.fullmatch(r"[345]\d\d", code):
            code = int(code)
        if isinstance(code, int) and not isinstance(code, bool) and 300 <= code < 600:
            yield code


def _fields(error: Any) -> Iterator[str]:
    """Yield the fields of whose values FastAPI complains, and not that they are there or not."""
    if not isinstance(error, dict) or _SHAPES.fullmatch(str(error.get("type"))):
        return
    path = error.get("loc")
    yield from (str(part) for part in (path if isinstance(path, list) else ()))


def _retry(error: Any) -> float:
    """Read how long Google asks to wait."""
    delay = error.get("retryDelay") if isinstance(error, dict) else None
    match = _SECONDS.fullmatch(delay) if isinstance(delay, str) else None
    return float(match[1]) if match else 0


def decode_body(content: bytes, kind: str) -> str | None:
    """Decode a body, as JSON is or as its header says; `None` where it is neither."""
    charset = re.search(r"charset=[\"']?([\w.:-]+)", kind, re.IGNORECASE)
    for encoding in (json.detect_encoding(content), *([charset[1]] if charset else ())):
        try:
            return content.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return None


def _read_page(text: str) -> str:
    """Return the title of a page, or else the first line of a text."""
    if text.lstrip().startswith("<"):
        title = _TITLE.search(text)
        text = html.unescape(title[2] if title else _TAGS.sub(" ", text)).strip()
    lines = (" ".join(line.split()) for line in text.splitlines())
    return next(filter(None, lines), "")
