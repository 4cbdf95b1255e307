"""Errors as OpenAI words them, the same in all of its APIs."""

from dataclasses import dataclass
from typing import Any

from swarm_bench.models.rehearsal.faults import ErrorKind


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
