"""Forms in which servers answer: one document, or the pieces of one, even without a request for a
stream; a text, or parts of which some are texts; and the words for why an answer ended."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, WrapValidator

from swarm_bench.core.refusal import Refusal
from swarm_bench.core.roles.language_model import Completion, Finish
from swarm_bench.models.servers.explanations import decode_body, is_error, refusal_in

_REASONS: Mapping[Finish, tuple[str, ...]] = {
    "stop": (
        "stop", "stopped", "eos", "eostoken", "eosfound", "end", "endturn", "endofturn",
        "endoftext", "stopsequence", "stoptoken", "stopstringfound", "word", "complete",
        "completed", "finish", "finished", "done", "toolcalls", "toolcall", "tooluse",
        "functioncall",
    ),
    "length": (
        "length", "limit", "maxtokens", "maxoutputtokens", "maxnewtokens", "maxlength",
        "modellength", "modelcontextwindowexceeded", "contextlength", "contextlengthreached",
        "tokenlimit", "maxcompletiontokens", "maxtokensreached", "lengthlimit",
        "maxpredictedtokensreached",
        # Of a server that ends what repeats itself.
        "repetition", "repetitiondetected",
    ),
    "refused": (
        "contentfilter", "contentfiltered", "refusal", "safety", "sensitive", "blocklist",
        "prohibitedcontent", "recitation", "spii", "guardrailintervened", "errortoxic",
    ),
}  # fmt: skip
"""Reasons that servers give for the end of an answer, in their letters alone: `end_turn`, `endTurn`
and `END-TURN` are one."""
_FINISHES = {word: finish for finish, reasons in _REASONS.items() for word in reasons}
_TROUBLES = (
    "error", "abort", "aborted", "cancelled", "canceled", "networkerror", "servererror",
    "internalerror", "providererror", "upstreamerror", "timeout", "overloaded",
    "insufficientsystemresource", "engineoverloaded", "modelunloaded", "failed",
)  # fmt: skip
"""Ends that are the server's own, of which another request may know nothing."""
_DONE = "[DONE]"
_BEGINNINGS = ("data:", "event:", "id:", "retry:")
_COMMENTS = re.compile(r"\A(?::.*(?:\n\s*|\Z))++")
"""Comments of a stream, which servers send to keep a connection open."""
_NO_ANSWER = ("think", "reason", "tool", "function", "refusal")
"""Words in the types of parts that are no part of the answer, though they may have a text."""
_TEXTS = ("text", "content", "value", "parts")
"""Keys below which the text of a part may stand."""
_DEEPEST = 6


def _read_or_none(value: Any, parse: Callable[[Any], Any]) -> Any:
    try:
        return parse(value)
    except ValueError:
        return None


OR_MISSING = WrapValidator(_read_or_none)
"""Validator for a value that is missing if it is of another type, and costs no answer."""
_MOST_TOKENS = 2**53
Count = Annotated[Annotated[int, Field(ge=0, le=_MOST_TOKENS)] | None, OR_MISSING]
"""Tokens."""


class NoAnswer(Exception):
    """A server says, in the form of an answer, that there is none."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.text)
        self.refusal = refusal


@dataclass(frozen=True, kw_only=True)
class Body:
    """What came as an answer."""

    documents: tuple[Any, ...]
    streamed: bool = False
    """Whether the body came in pieces."""
    is_complete: bool = True
    """Whether the body is not known to have broken off."""

    def check_whole(self, *, has_end: bool) -> None:
        """Raise `NoAnswer` where a stream broke off: the end of the answer is unknown."""
        if self.streamed and not (self.is_complete or has_end):
            raise NoAnswer(build_refusal("its stream ends before the answer does"))


def body_of(content: bytes, kind: str = "") -> Body:
    """Read an answer, by its beginning and its `Content-Type`. Raises `ValueError`, and `NoAnswer`
    where it says that there is none."""
    body = _read_body(content.removeprefix(b"\xef\xbb\xbf").strip(), kind)
    for document in body.documents:
        if is_error(document):
            raise NoAnswer(refusal_in(document))
    return body


def check_told(answer: Completion) -> Completion:
    """Return an answer. Raises `NoAnswer` for an empty one of which nothing is told: neither where
    its text is, nor why it ended, or else by a server that says that nothing was written."""
    silent = answer.finish is None or answer.usage.output == 0
    if silent and not (answer.text.strip() or answer.elsewhere or answer.finish == "refused"):
        raise NoAnswer(build_refusal("the answer is empty, and nothing was written"))
    return answer


def check_empty(body: Body) -> None:
    """Raise `NoAnswer` for the form of an answer that has none: where a policy is against the
    prompt, which Google says in its feedback and Azure in the results of its filters, and where
    whom a router asked has said nothing."""
    documents = [item for item in body.documents if isinstance(item, dict)]
    for document in documents:
        feedback, filters = document.get("promptFeedback"), document.get("prompt_filter_results")
        reason = feedback.get("blockReason") if isinstance(feedback, dict) else None
        if reason or _is_filtered(filters):
            problem = f"the prompt was blocked ({reason or 'content filter'})"
            raise NoAnswer(Refusal(codes=frozenset({"content_filter"}), text=problem))
    if body.streamed or any(item.keys() & {"choices", "usage"} for item in documents):
        raise NoAnswer(build_refusal("there is no answer in it"))


def _is_filtered(results: Any) -> bool:
    """Tell whether one of Azure's filters holds something back: they say so of every prompt."""
    if isinstance(results, list):
        return any(map(_is_filtered, results))
    if not isinstance(results, dict):
        return False
    return results.get("filtered") is True or any(map(_is_filtered, results.values()))


def finish_of(reason: str | None) -> Finish | None:
    """Return why an answer ended. Raises `NoAnswer` for an end that is none of an answer, or that
    is unknown: the text may be the half of one."""
    letters = _letters(reason)
    if letters in ("", "null", "none"):
        return None
    if (reason or "").lstrip().startswith("<"):  # some name the token that ended it
        return "stop"
    if (finish := _FINISHES.get(letters)) is not None:
        return finish
    if is_trouble(reason):
        raise NoAnswer(build_refusal(f"the answer ended with {reason!r}"))
    raise NoAnswer(Refusal(text=f"the answer ended with {reason!r}, which is no end of an answer"))


def is_trouble(reason: str | None) -> bool:
    """Tell whether an answer ended since its server, or the one behind it, failed."""
    return _letters(reason) in _TROUBLES


def _letters(reason: str | None) -> str:
    return "".join(filter(str.isalpha, (reason or "").lower())).removeprefix("finishreason")


def build_refusal(reason: str) -> Refusal:
    """Make the refusal of a server that broke off."""
    return Refusal(codes=frozenset({"server_error"}), text=reason)


def text_of(content: Any) -> str:
    """Return the text of an answer, or of its parts that are texts. Raises `ValueError` for what
    has none."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        return "".join(_pieces(content))
    if isinstance(content, dict) and content.keys() & {"type", *_TEXTS}:
        return "".join(_pieces([content]))
    raise ValueError(f"the answer is a {type(content).__name__}, and no text")


def types_of(content: Any) -> Iterator[str]:
    """Yield the types of the parts of an answer that have no text of it."""
    for part in content if isinstance(content, list) else [content]:
        kind = part.get("type") if isinstance(part, dict) else None
        if isinstance(kind, str) and not any(_pieces([part])):
            yield kind


def says(value: Any, depth: int = 0) -> bool:
    """Tell whether a field says anything."""
    if isinstance(value, dict) and depth < _DEEPEST:
        return any(says(item, depth + 1) for item in value.values())
    return bool(value)


def _pieces(parts: list[Any], depth: int = 0) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            yield part
        elif isinstance(part, list) and depth < _DEEPEST:
            yield from _pieces(part, depth + 1)
        elif isinstance(part, dict) and depth < _DEEPEST and _is_of_the_answer(part):
            text = next((part[key] for key in _TEXTS if part.get(key)), "")
            yield from _pieces([text], depth + 1)


def _is_of_the_answer(part: Mapping[str, Any]) -> bool:
    kind = str(part.get("type", "text"))
    return part.get("thought") is not True and not any(word in kind for word in _NO_ANSWER)


def _read_body(content: bytes, kind: str) -> Body:
    """Read an answer by its beginning, whatever it is called; a byte that is none of its characters
    costs one. Raises `NoAnswer` for nothing at all."""
    if not content:
        raise NoAnswer(build_refusal("the body is empty"))
    text = decode_body(content, kind) or content.decode(json.detect_encoding(content), "replace")
    text = _COMMENTS.sub("", text)
    if text.startswith(_BEGINNINGS):
        return _read_events(text)
    try:
        document = json.loads(text, strict=False)  # with line breaks in strings
        return Body(documents=tuple(document) if isinstance(document, list) else (document,))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except ValueError:
        lines = text.split("\n")
        if len(lines) < 2:
            raise
    return Body(documents=tuple(_read_lines(lines)), streamed=True, is_complete=False)


def _read_lines(lines: list[str]) -> Iterator[Any]:
    for number, line in enumerate(filter(str.strip, lines)):
        try:
            yield json.loads(line)
        except (ValueError, RecursionError) as error:
            if not number:  # it was no stream
                raise ValueError("it is no JSON") from error
            raise NoAnswer(build_refusal("its stream cannot be read to the end")) from error


def _read_events(text: str) -> Body:
    import httpx2  # it is loaded by now

    documents, is_complete, content = list[Any](), False, text.encode("utf-8", "replace")
    headers = {"content-type": "text/event-stream"}
    # The last event counts, though some servers leave out the line behind it.
    request = httpx2.Request("POST", "http://localhost")
    response = httpx2.Response(200, headers=headers, content=content + b"\n\n", request=request)
    try:
        for event in httpx2.EventSource(response, max_event_size=len(content) + 2):
            for data in _split_event(event.data.strip()):
                if data == _DONE:
                    is_complete = True
                elif data:
                    documents.append(_read_event(event.event, data))
    except (httpx2.HTTPError, ValueError, RecursionError) as error:
        if documents:
            raise NoAnswer(build_refusal("its stream cannot be read to the end")) from error
        raise ValueError(f"its stream cannot be read: {error}") from error
    return Body(documents=tuple(documents), streamed=True, is_complete=is_complete)


def _split_event(data: str) -> list[str]:
    """Return what an event has: some servers leave out the blank lines between events."""
    lines = [line.strip() for line in data.split("\n")]
    are_documents = all(line in ("", _DONE) or line[:1] + line[-1:] == "{}" for line in lines)
    return lines if are_documents else [data]


def _read_event(name: str, data: str) -> Any:
    """Return what an event says; an error has a key of its own, and need be no JSON."""
    if name != "error":
        return json.loads(data)
    try:
        document = json.loads(data)
    except ValueError:
        document = data
    return document if is_error(document) else {"error": document}
