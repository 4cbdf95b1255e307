"""What the wire formats of several APIs have in common."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from swarm_bench.core.outcome import Usage
from swarm_bench.core.ports import Message
from swarm_bench.models.rehearsal.faults import ErrorKind

_PIECE = 200

_Body = TypeVar("_Body", bound=BaseModel)


class TextPart(BaseModel):
    """A part of a message, as both APIs of OpenAI have it."""

    text: str | None = None
    refusal: str | None = None


def text_in(content: str | list[TextPart] | None) -> str:
    """Join the texts of a message's content."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(text for part in content if (text := part.text or part.refusal))


def parse(shape: type[_Body], body: Mapping[str, Any]) -> _Body:
    """Read the body in the API's shape. Raises `ValueError` with one sentence when it has
    another."""
    try:
        return shape.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(str(step) for step in first["loc"])
        # The words for this one name a class of ours.
        says = "Input should be an object" if first["type"] == "model_type" else first["msg"]
        raise ValueError(f"{field or 'The body'}: {says}.") from None
    except RecursionError:
        raise ValueError("The body is nested too deeply.") from None


def json_text(value: object) -> str:
    """Write compact JSON. Raises `ValueError` when the value is nested too deeply."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise ValueError("The body is nested too deeply.") from None


def arguments_in(text: str, tool: str) -> dict[str, Any]:
    """Parse the arguments of a call, which the APIs of OpenAI carry as a JSON text."""
    try:
        arguments = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        raise ValueError(f"The arguments of a call of {tool} are not a JSON object.")
    return arguments


def join_messages(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Join what an API spreads over several messages in a row: an assistant's text and calls, and
    the results of one turn's calls."""
    messages_joined: list[Message] = []
    for message in messages:
        last = messages_joined[-1] if messages_joined else None
        if last is not None and last.role == message.role == "assistant":
            text = "\n".join(part for part in (last.text, message.text) if part)
            messages_joined[-1] = replace(last, text=text, calls=last.calls + message.calls)
        elif last is not None and _only_results(last) and _only_results(message):
            messages_joined[-1] = replace(last, results=last.results + message.results)
        else:
            messages_joined.append(message)
    return tuple(messages_joined)


def _only_results(message: Message) -> bool:
    return message.role == "user" and bool(message.results) and not message.text


def prompt_tokens(usage: Usage) -> int:
    """Sum all that was sent, cached or not. Raises `ValueError` when it was not counted."""
    if usage.input is None or usage.cache_read is None or usage.cache_create is None:
        raise ValueError("The tokens of the request were not counted.")
    return usage.input + usage.cache_read + usage.cache_create


def output_tokens(usage: Usage) -> int:
    """Return the tokens of the answer. Raises `ValueError` when they were not counted."""
    if usage.output is None:
        raise ValueError("The tokens of the answer were not counted.")
    return usage.output


def pieces(text: str) -> Iterator[str]:
    """Yield a text as it arrives in a stream; nothing for an empty one."""
    for start in range(0, len(text), _PIECE):
        yield text[start : start + _PIECE]


def event(data: Mapping[str, Any], name: str | None = None, end: str = "\n") -> str:
    """Format a server-sent event with its blank line. It is in ASCII, so that a text with half a
    surrogate pair, which JSON can carry, can be sent back."""
    head = "" if name is None else f"event: {name}{end}"
    return f"{head}data: {ascii_json(data)}{end}{end}"


def ascii_json(data: Mapping[str, Any]) -> str:
    """Write compact JSON that can be sent whatever its texts are."""
    return json.dumps(data, separators=(",", ":"))


@dataclass(frozen=True, kw_only=True)
class _Wording:
    type: str
    code: str | None
    says: str = ""


_WORDINGS = {
    "rate_limit": _Wording(
        type="requests", code="rate_limit_exceeded", says="Rate limit reached for requests."
    ),
    "server_error": _Wording(
        type="server_error",
        code=None,
        says="The server had an error while processing your request.",
    ),
    "overloaded": _Wording(
        type="service_unavailable_error",
        code="server_is_overloaded",
        says="Our servers are currently overloaded. Please try again later.",
    ),
    "unauthorized": _Wording(
        type="invalid_request_error",
        code="invalid_api_key",
        says="Incorrect API key provided.",
    ),
    "context_overflow": _Wording(
        type="invalid_request_error",
        code="context_length_exceeded",
        says="Your input exceeds the context window of this model. Please adjust your input and "
        "try again.",
    ),
}
"""Programs look for these words and codes, so they stand before ours."""
_BAD_REQUEST = _Wording(type="invalid_request_error", code=None)


def error_body(kind: ErrorKind, sentence: str, param: str) -> dict[str, Any]:
    """Build the body. `param` names the field of the request that holds the conversation."""
    wording = _WORDINGS.get(kind, _BAD_REQUEST)
    return {
        "error": {
            "message": f"{wording.says} {sentence}".strip(),
            "type": wording.type,
            "param": param if kind == "context_overflow" else None,
            "code": wording.code,
        }
    }
