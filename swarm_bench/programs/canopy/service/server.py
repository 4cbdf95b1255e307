"""`swarm-bench-canopy-service`: canopy's HTTP service, one index for all agents of a swarm."""

import argparse
import asyncio
import hmac
import logging
import os
import signal
import socket
import sqlite3
import sys
from collections.abc import Awaitable, Callable, Collection
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NoReturn, TypeVar
from urllib.parse import urlsplit

import uvicorn
from h11 import IDLE, SEND_BODY
from pydantic import BaseModel, ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from swarm_bench.programs.canopy.defaults import REQUEST_BYTES
from swarm_bench.programs.canopy.errors import (
    Forbidden,
    Misdirected,
    ToolError,
    Unauthorized,
    start_diagnostics,
)
from swarm_bench.programs.canopy.service.endpoints import Endpoints
from swarm_bench.programs.canopy.service.requests import (
    AddBody,
    ExpandBody,
    PackBody,
    QueryBody,
    ReindexBody,
)
from swarm_bench.retrieval.canopy.backends import embedded_label

_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
_MAPPED = "::ffff:"
"""Beginning of an IPv4 address on a socket of both kinds."""
_NO_PAGE = ("none", "same-origin")
"""Values of `Sec-Fetch-Site`: the user typed the address, or follows a link of this service."""
STOP_SECONDS = 2
OPEN_ROUTES = ("/status", "/metrics")
"""canopy asks for no key there."""
BodyType = TypeVar("BodyType", bound=BaseModel)
Endpoint = Callable[[Request], Awaitable[Response]]
ARRIVAL_SECONDS = 20.0
"""Seconds from the beginning of a request, or of a connection without one, to its last byte."""


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
        if host not in {*self._names, address.removeprefix(_MAPPED)}:
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
    more_names = () if _is_local(address) else (socket.gethostname().lower(),)
    return frozenset({*_LOCAL_NAMES, address.lower(), *more_names})


def _is_local(address: str) -> bool:
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


def application(endpoints: Endpoints, gate: Middleware) -> Starlette:
    """Build the service as an ASGI application behind its gate."""

    def taking(model: type[BodyType], work: Callable[[BodyType], Any]) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            body = await _body(request, model)
            return JSONResponse(await run_in_threadpool(work, body))

        return endpoint

    def giving(work: Callable[[], Any]) -> Endpoint:
        async def endpoint(_request: Request) -> Response:
            return JSONResponse(await run_in_threadpool(work))

        return endpoint

    post = ["POST"]
    app = Starlette(
        routes=[
            Route("/repos/add", taking(AddBody, endpoints.add), methods=post),
            Route("/repos", giving(endpoints.repos)),
            Route("/reindex", taking(ReindexBody, endpoints.reindex), methods=post),
            Route("/query", taking(QueryBody, endpoints.query), methods=post),
            Route("/evidence_pack", taking(PackBody, endpoints.evidence_pack), methods=post),
            Route("/expand", taking(ExpandBody, endpoints.expand), methods=post),
            Route("/status", giving(endpoints.status)),
            Route("/metrics", giving(endpoints.read_metrics)),
        ],
        middleware=[gate],
        exception_handlers={
            ToolError: _answer_error,
            sqlite3.Error: _answer_error,
            OSError: _answer_error,
        },
    )
    # canopy knows its routes by their exact names.
    app.router.redirect_slashes = False
    return app


async def _body(request: Request, model: type[BodyType]) -> BodyType:
    """Read and check the body.

    Raises:
        HTTPException: with the status that canopy's web framework gives, and plain text.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and "+json" in kind):
        raise HTTPException(415, "Send the body with Content-Type: application/json")
    raw = await _read(request)
    try:
        return model.model_validate_json(raw)
    except ValidationError as error:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            raise HTTPException(400, f"The body is not JSON: {first['msg']}") from None
        field = ".".join(str(part) for part in first["loc"]) or "body"
        raise HTTPException(422, f"The body is wrong at {field}: {first['msg']}") from None


async def _read(request: Request) -> bytes:
    raw = bytearray()
    try:
        async for piece in request.stream():
            raw += piece
            if len(raw) > REQUEST_BYTES:
                raise HTTPException(413, f"The body is larger than {REQUEST_BYTES} bytes")
    except ClientDisconnect:  # nobody reads this
        raise HTTPException(408, "The body did not arrive") from None
    return bytes(raw)


async def _answer_error(_request: Request, error: Exception) -> Response:
    return envelope(error if isinstance(error, ToolError) else ToolError(str(error)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="swarm-bench-canopy-service",
        description="Embedded stand-in for canopy-service: one index for many agents, over HTTP.",
    )
    parser.add_argument("--version", action="version", version=embedded_label())
    parser.add_argument("--port", type=_port, default=3000, help="default 3000; 0 takes a free one")
    parser.add_argument("--bind", default="127.0.0.1", help="address, default 127.0.0.1")
    parser.add_argument(
        "--api-key",
        default=os.environ.get("CANOPY_API_KEY") or None,
        help="what clients must send as X-Api-Key; better set CANOPY_API_KEY, which nobody sees",
    )
    parser.add_argument(
        "--root",
        action="append",
        type=Path,
        default=[],
        metavar="PATH",
        help="serve only what is below this folder, and ask for the key on every route; repeatable",
    )
    return parser.parse_args()


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError("give a number from 0 to 65535")
    return int(text)


def _bound(address: str, port: int) -> socket.socket:
    """Open a listening socket, or end the program with one sentence."""
    try:
        family, _, _, _, socket_address = socket.getaddrinfo(
            address, port, type=socket.SOCK_STREAM
        )[0]
        # asyncio turns off Nagle's delay, 40 ms per answer, only where the protocol is named.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(socket_address)
        # From here on clients can connect; they wait until uvicorn takes them.
        listening.listen()
    except OSError as error:
        _give_up(f"Port {port} of {address} cannot be used ({error.strerror}); give another --port")
    return listening


def _give_up(sentence: str) -> NoReturn:
    sys.stderr.write(sentence + "\n")
    raise SystemExit(1)


def _end(_number: int, _frame: object) -> NoReturn:
    raise SystemExit(0)


def main() -> None:
    options = _options()
    if not options.api_key and not _is_local(options.bind):
        _give_up(f"Listening on {options.bind} needs a key; give --api-key, or bind to 127.0.0.1")
    # uvicorn stops in an orderly way and then hands the signal on: to this.
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, _end)
    start_diagnostics()
    listening = _bound(options.bind, options.port)
    address, port = listening.getsockname()[:2]
    # By name: this module is called __main__ when it is started with -m.
    logging.getLogger("swarm_bench.programs.canopy.service.server").info(
        "listening on http://%s:%d", address, port
    )
    gate = Middleware(
        Gate,
        names=names_of(options.bind),
        key=options.api_key,
        keyless=() if options.root else OPEN_ROUTES,
    )
    config = uvicorn.Config(
        application(Endpoints(options.root), gate),
        http=TimedProtocol,
        ws="none",
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    uvicorn.Server(config).run(sockets=[listening])


class TimedProtocol(H11Protocol):
    """A connection that closes when its request is not complete in time, however its bytes drip."""

    seconds = ARRIVAL_SECONDS
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state in {IDLE, SEND_BODY}:
            self._wait()
        else:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # The answer came before the whole request, or the next one has begun.
        if self.conn.their_state is SEND_BODY or self.conn.trailing_data[0]:
            self._wait()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.seconds, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


if __name__ == "__main__":
    main()
