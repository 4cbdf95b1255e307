"""Who is let in to the service: whoever asks it by its own name, with its key, and is no web page.

A page that a browser shows can send requests to this machine, and can give its own name this
machine's address (DNS rebinding): the first come with an `Origin`, the others with that name as
`Host`. starlette's TrustedHostMiddleware looks at no port, and answers in words that are not
canopy's.
"""

import hmac
import socket
from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from swarm_bench.retrieval.embedded.errors import Forbidden, Misdirected, ToolError, Unauthorized

LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
HTTP_PORT = 80
MAPPED = "::ffff:"
"""Begins an IPv4 address on a socket of both kinds."""


class Gate:
    """Middleware that turns requests away before their bodies are read."""

    def __init__(
        self, app: ASGIApp, *, names: Collection[str], key: str | None, keyless: Collection[str]
    ) -> None:
        self._app = app
        self._names = names
        self._key = key
        self._keyless = keyless

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if scope["type"] == "http":
                self._check(Request(scope))
        except ToolError as error:
            await envelope(error)(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _check(self, request: Request) -> None:
        """Raises `ToolError` for a request that is not let in."""
        address, port = request.scope["server"]
        host, wanted = _authority(request.headers.get("host", ""))
        if host not in {*self._names, address.removeprefix(MAPPED)} or wanted != port:
            raise Misdirected("The request is for another host or port than this service's")
        if "origin" in request.headers:
            raise Forbidden("Web pages cannot use this service")
        if self._key is None or request.url.path in self._keyless:
            return
        key = request.headers.get("x-api-key", "")
        if not hmac.compare_digest(key.encode(), self._key.encode()):
            raise Unauthorized("The key is missing or wrong")


def envelope(error: ToolError) -> Response:
    """What canopy answers instead of a result."""
    content = {"code": error.code, "message": str(error), "hint": error.hint}
    return JSONResponse(content, status_code=error.http_status)


def names_of(address: str) -> frozenset[str]:
    """What a service is called that listens at an address or a name of this machine."""
    others = () if is_local(address) else (socket.gethostname().lower(),)
    return frozenset({*LOCAL_NAMES, address.lower(), *others})


def is_local(address: str) -> bool:
    """Whether only this machine can reach it."""
    try:
        return address == "localhost" or ip_address(address).is_loopback
    except ValueError:
        return False


def _authority(host: str) -> tuple[str | None, int | None]:
    """Name and port of a `Host` header; neither of one that cannot be read."""
    try:
        parts = urlsplit(f"//{host}")
        return parts.hostname, HTTP_PORT if parts.port is None else parts.port
    except ValueError:
        return None, None
