"""Why a server did not connect or answer, as clauses on one line."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
from mcp.shared.exceptions import MCPError
from mcp.types import CONNECTION_CLOSED
from pydantic import ValidationError

from swarm_bench.core.outcome import START_SECONDS
from swarm_bench.core.validation import first_clause
from swarm_bench.runtime.mcp.http import HttpServer
from swarm_bench.runtime.mcp.stdio import StdioServer

Server = StdioServer | HttpServer
FAILURES = (
    OSError,
    ValueError,
    RuntimeError,
    ExceptionGroup,
    MCPError,
    httpx2.HTTPError,
    httpx2.InvalidURL,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.EndOfStream,
)
_OLDER = "; /sse is mostly of the older transport: give the url of its streamable HTTP, often /mcp"
"""What helps where HTTP with SSE is named, which is not supported."""


def address(config: Mapping[str, Any]) -> str:
    """Return the address of a server, if any, without a login and what follows the path."""
    url = config.get("url")
    if not isinstance(url, str):
        return ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}: "


def describe_other_output(server: Server | None) -> str:
    """Say what a server that has not answered said instead, to follow the reason."""
    clause = server.other_output() if server else None
    return f"; {clause}" if clause else ""


def describe_reason(
    error: BaseException,
    server: Server | None,
    seconds: float = START_SECONDS,
) -> str:
    """Write the innermost error in one line, with what the server said instead of an answer."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        text = f"no answer within {seconds:g} seconds (start_seconds of the mode file)"
        return text + describe_other_output(server)
    if isinstance(error, ValidationError):
        clause = first_clause(error).removesuffix("; put it into quotes")  # is for files
        return f"what it answered is not MCP: {clause}"
    if isinstance(error, MCPError):
        return _describe_refusal(error, server)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.strerror}{f': {error.filename}' if error.filename else ''}"
    else:
        text = str(error)
    return " ".join(text.split()) or type(error).__name__


def _describe_refusal(error: MCPError, server: Server | None) -> str:
    """Write what a server answered that is an error of the protocol, or how it ended."""
    if isinstance(server, HttpServer) and (refusal := server.other_output()):
        is_older = refusal.startswith(("HTTP 404", "HTTP 405")) and _is_of_events(server.url)
        return f"{refusal}{_OLDER}" if is_older else refusal
    if isinstance(server, StdioServer) and is_closed(error):
        return server.ending() + describe_other_output(server)
    text = " ".join(error.message.split())
    return text or f"an error without a message, code {error.code}"


def _is_of_events(url: str) -> bool:
    return urlsplit(url).path.rstrip("/").endswith("/sse")


def is_closed(error: BaseException) -> bool:
    # Servers use the SDK's code for errors of their own; its text tells them apart.
    closed = CONNECTION_CLOSED, "Connection closed"
    return isinstance(error, MCPError) and (error.code, error.message) == closed
