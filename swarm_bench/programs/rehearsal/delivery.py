"""Puts an answer on the wire, whole or in the way in which providers fail to."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import anyio
from starlette.types import Receive, Scope, Send

JSON = "application/json"
EVENTS = "text/event-stream"


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """A response, as an ASGI application."""

    body: bytes
    media_type: str = JSON
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    silence: float = 0
    """Seconds between the head and the first byte of the body."""
    is_broken: bool = False
    """Whether the connection is closed in the middle of the body."""

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        headers = {"content-type": self.media_type, **self.headers}
        if self.media_type == JSON:  # a stream does not know its length
            headers["content-length"] = str(len(self.body))
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": self.status, "headers": raw})
        await anyio.sleep(self.silence)
        if self.is_broken:
            # uvicorn closes the connection of an application that ends before its response does.
            first_half = self.body[: len(self.body) // 2]
            await send({"type": "http.response.body", "body": first_half, "more_body": True})
        else:
            await send({"type": "http.response.body", "body": self.body})
