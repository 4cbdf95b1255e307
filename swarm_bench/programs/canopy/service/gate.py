"""Who may use the service: whoever has its key, or asks it by its own name where no key is
needed, and is no web page.

A page that a browser shows can send requests to this machine, and can give its own name this
machine's address (DNS rebinding): the first come with an `Origin`, or, for an image or a script,
with `Sec-Fetch-Site` alone, the others with that name as `Host`. The port of `Host` is not
compared: a forwarded one is another. starlette's TrustedHostMiddleware answers in words that are
not canopy's.
"""

import hmac
import socket
from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from swarm_bench.programs.canopy.errors import Forbidden, Misdirected, ToolError, Unauthorized

LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
MAPPED = "::ffff:"
"""Begins an IPv4 address on a socket of both kinds."""
_NO_PAGE = ("none", "same-origin")
"""Values of `Sec-Fetch-Site`: the user typed the address, or follows a link of this service."""


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
        """Raise `ToolError` for a request that is refused."""
        site = request.headers.get("sec-fetch-site", _NO_PAGE[0])
        if "origin" in request.headers or site not in _NO_PAGE:
            raise Forbidden("Web pages cannot use this service")
        if self._has_key(request):
            return
        # Not the path of `request.url`, which is made from `Host`.
        if self._key is not None and request.scope["path"] not in self._keyless:
            raise Unauthorized("The key is missing or wrong")
        address, _ = request.scope["server"]
        host = _host(request.headers.get("host", ""))
        if host not in {*self._names, address.removeprefix(MAPPED)}:
            raise Misdirected("The request is for another host than this service's")

    def _has_key(self, request: Request) -> bool:
        key = request.headers.get("x-api-key", "")
        return self._key is not None and hmac.compare_digest(key.encode(), self._key.encode())


def envelope(error: ToolError) -> Response:
    """Wrap what canopy answers instead of a result."""
    content = {"code": error.code, "message": str(error), "hint": error.hint}
    return JSONResponse(content, status_code=error.http_status)


def names_of(address: str) -> frozenset[str]:
    """List the names of a service that listens at an address or a name of this machine."""
    more_names = () if is_local(address) else (socket.gethostname().lower(),)
    return frozenset({*LOCAL_NAMES, address.lower(), *more_names})


def is_local(address: str) -> bool:
    """Tell whether only this machine can reach it."""
    try:
        return address == "localhost" or ip_address(address).is_loopback
    except ValueError:
        return False


def _host(header: str) -> str | None:
    """Parse the name in a `Host` header; `None` for one that cannot be read."""
    try:
        parts = urlsplit(f"//{header}")
        _ = parts.port  # raises for one that is no number
        return parts.hostname
    except ValueError:
        return None
