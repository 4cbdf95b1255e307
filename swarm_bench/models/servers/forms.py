"""The forms in which servers answer: one document, or the pieces of one, though nobody asked for a
stream; a text, or parts of which some are texts; and the words for why an answer ended."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, WrapValidator

from swarm_bench.core.roles.language_model import Finish
from swarm_bench.core.session.refusals import Refusal
from swarm_bench.models.servers.explanations import is_error, refusal_in

_ENDS: Mapping[Finish, tuple[str, ...]] = {
    "stop": (
        "stop", "stopped", "eos", "eos_token", "end", "end_turn", "end_of_turn", "stop_sequence",
        "stop_token", "word", "complete", "completed", "finished", "done", "tool_calls",
        "tool_call", "tool_use", "function_call",
    ),
    "length": (
        "length", "limit", "max_tokens", "max_output_tokens", "max_new_tokens", "max_length",
        "model_length", "model_context_window_exceeded", "context_length",
    ),
    "refused": (
        "content_filter", "content_filtered", "refusal", "safety", "sensitive", "blocklist",
        "prohibited_content", "recitation", "spii", "guardrail_intervened", "error_toxic",
    ),
}  # fmt: skip
_FINISHES = {word: finish for finish, ends in _ENDS.items() for word in ends}
_TROUBLES = (
    "error", "abort", "aborted", "cancelled", "canceled", "network_error", "server_error",
    "internal_error", "provider_error", "upstream_error", "timeout", "overloaded",
    "insufficient_system_resource", "engine_overloaded",
)  # fmt: skip
"""Ends that are the server's own, of which another request may know nothing."""
_DONE = "[DONE]"
_BEGINNINGS = (b"data:", b"event:", b"id:", b"retry:", b":")
_NO_ANSWER = ("think", "reason", "tool", "function", "refusal")
"""Of types of parts that are no part of the answer, though they may have a text."""


def _or_missing(value: Any, read: Callable[[Any], Any]) -> Any:
    try:
        return read(value)
    except ValueError:
        return None


_MOST_TOKENS = 2**53
Count = Annotated[Annotated[int, Field(ge=0, le=_MOST_TOKENS)] | None, WrapValidator(_or_missing)]
"""Tokens; what is no number of them is missing, and costs no answer."""


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
    """It came in pieces."""
    whole: bool = True
    """It is not known to have broken off."""

    def check_whole(self, *, ended: bool) -> None:
        """Raise `NoAnswer` where a stream broke off: nobody knows how the answer would end."""
        if self.streamed and not (self.whole or ended):
            raise NoAnswer(broken("its stream ends before the answer does"))


def body_of(content: bytes, kind: str = "") -> Body:
    """Read an answer, by its beginning and its `Content-Type`. Raises `ValueError`, and `NoAnswer`
    where it says that there is none."""
    body = _read(content.removeprefix(b"\xef\xbb\xbf").strip(), kind)
    for document in body.documents:
        if is_error(document):
            raise NoAnswer(refusal_in(document))
    return body


def finish_of(reason: str | None) -> Finish | None:
    """Return why an answer ended. Raises `NoAnswer` for an end that is none of an answer, or that
    nobody knows: the text may be the half of one."""
    word = (reason or "").strip().lower()
    word = word.removeprefix("finish_reason_").replace("-", "_")
    if not word or word in ("null", "none"):
        return None
    if word.startswith("<"):  # some name the token that ended it
        return "stop"
    if (finish := _FINISHES.get(word)) is not None:
        return finish
    if is_trouble(word):
        raise NoAnswer(broken(f"the answer ended with {word!r}"))
    raise NoAnswer(Refusal(text=f"the answer ended with {word!r}, which is no end of an answer"))


def is_trouble(reason: str | None) -> bool:
    """Tell whether an answer ended since its server, or the one behind it, failed."""
    return (reason or "").lower() in _TROUBLES


def broken(why: str) -> Refusal:
    """Make the refusal of a server that broke off."""
    return Refusal(codes=frozenset({"server_error"}), text=why)


def text_of(content: Any) -> str:
    """Return the text of an answer, or of its parts that are texts. Raises `ValueError` for what
    has none."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list | dict):
        return "".join(_pieces(content if isinstance(content, list) else [content]))
    raise ValueError(f"the answer is a {type(content).__name__}, and no text")


def types_of(content: Any) -> Iterator[str]:
    """Yield the types of the parts of an answer that have no text of it."""
    for part in content if isinstance(content, list) else ():
        kind = part.get("type") if isinstance(part, dict) else None
        if isinstance(kind, str) and not any(_pieces([part])):
            yield kind


def _pieces(parts: list[Any]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict):
            kind, text = str(part.get("type", "text")), part.get("text")
            text = text.get("value") if isinstance(text, dict) else text
            if isinstance(text, str) and not any(word in kind for word in _NO_ANSWER):
                yield text


def _read(content: bytes, kind: str) -> Body:
    if "event-stream" in kind or content.startswith(_BEGINNINGS):
        return _events(content)
    try:
        return Body(documents=(json.loads(content),))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except ValueError:
        lines = content.splitlines()
        if len(lines) < 2:
            raise
    return Body(documents=tuple(_in_lines(lines)), streamed=True, whole=False)


def _in_lines(lines: list[bytes]) -> Iterator[Any]:
    for number, line in enumerate(filter(None, lines)):
        try:
            yield json.loads(line)
        except (ValueError, RecursionError) as error:
            if not number:  # it was no stream
                raise ValueError("it is no JSON") from error
            raise NoAnswer(broken("its stream cannot be read to the end")) from error


def _events(content: bytes) -> Body:
    import httpx2  # it is loaded by now

    documents, whole = list[Any](), False
    headers = {"content-type": "text/event-stream"}
    # The last event counts, though some servers leave out the line behind it.
    asked = httpx2.Request("POST", "http://localhost")
    response = httpx2.Response(200, headers=headers, content=content + b"\n\n", request=asked)
    try:
        for event in httpx2.EventSource(response, max_event_size=len(content) + 2):
            data = event.data.strip()
            if data == _DONE:
                whole = True
            elif data:
                documents.append(_of_event(event.event, data))
    except (httpx2.HTTPError, ValueError, RecursionError) as error:
        if documents:
            raise NoAnswer(broken("its stream cannot be read to the end")) from error
        raise ValueError(f"its stream cannot be read: {error}") from error
    return Body(documents=tuple(documents), streamed=True, whole=whole)


def _of_event(name: str, data: str) -> Any:
    """Return what an event says; an error has a key of its own, and need be no JSON."""
    if name != "error":
        return json.loads(data)
    try:
        document = json.loads(data)
    except ValueError:
        document = data
    return document if is_error(document) else {"error": document}
