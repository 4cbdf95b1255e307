"""The one client of MCP servers, through the official SDK. Importing it costs half a second, so it
is imported where it is used.

A server is ended in the way the protocol asks for: end of input, then signals to its process
group. What a wrapper (`npx`, `sh -c`) leaves behind when it goes is not of that group any more;
servers that are ours carry a tag, and whatever carries it is ended.
"""

import logging
import math
import sys
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import urlsplit

import anyio
import httpx2
from mcp.client._transport import Transport
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import CONNECTION_CLOSED
from pydantic import ValidationError

from swarm_bench.core.outcome import START_SECONDS
from swarm_bench.core.ports import ToolSpec
from swarm_bench.core.validation import first_clause
from swarm_bench.runtime.last_words import listening
from swarm_bench.runtime.mcp.results import result_text
from swarm_bench.runtime.mcp.stdio import StdioServer
from swarm_bench.runtime.mcp.transports import HTTP_TYPES
from swarm_bench.runtime.ownership import OWNER, TAG, this_owner
from swarm_bench.runtime.process import GRACE
from swarm_bench.runtime.processes.launching import mortal
from swarm_bench.runtime.processes.trees import FAMILY, end_strays
from swarm_bench.runtime.sink import clean_text

_MAX_PAGES = 100
_LONGEST_REASON = 300
"""Characters of what a server says of its own trouble."""
_HTTP_TIMEOUT = httpx2.Timeout(30.0, read=300.0)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_FAILURES = (
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


class ServerFailed(Exception):
    """Why a server did not connect or answer: a clause, of which whoever asked makes a sentence."""


class CallRefused(ServerFailed):
    """Why a server refused a call, which it answered with an error of the protocol: it goes on."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a tool gave back. `text` is not cut."""

    text: str
    is_error: bool


@dataclass(frozen=True, kw_only=True)
class Connection:
    """A server that has been greeted and has listed its tools."""

    name: str
    title: str | None
    version: str | None
    instructions: str
    """What it tells a model about itself; often empty."""
    tools: tuple[ToolSpec, ...]
    """Under the names that the server gives them."""
    seconds: float
    """From its start until its tools were listed."""
    _client: Client = field(repr=False)
    _server: StdioServer | None = field(repr=False)

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Have a tool called, for as long as it takes. Raises `ServerFailed`, and
        `CallRefused` where the server can be asked on."""
        try:
            result = await self._client.call_tool(tool, dict(arguments))
        except _FAILURES as error:
            refused = isinstance(error, MCPError) and not _is_closed(error)
            kind = CallRefused if refused else ServerFailed
            raise kind(_reason(error, self._server)) from error
        read = result_text(result.model_dump(mode="json", by_alias=True, exclude_none=True))
        return Answer(text=read.text if read else "", is_error=bool(result.is_error))


@asynccontextmanager
async def connected(
    config: Mapping[str, Any],
    *,
    env: Mapping[str, str],
    cwd: Path | None = None,
    errors: TextIO = sys.stderr,
    seconds: float = START_SECONDS,
) -> AsyncIterator[Connection]:
    """Connect to a server of an `mcpServers` file for the block. `env` is the whole environment of
    its process but for the variables of the configuration; `cwd` is ours by default.

    Raises `ServerFailed` when it does not connect within `seconds`, or breaks off in the block.
    """
    server = _stdio(config, env, cwd, errors)
    for logger in ("mcp", "client"):  # the SDK's; it logs what servers say wrong, with tracebacks
        logging.getLogger(logger).setLevel(logging.CRITICAL)
    complete, raised = False, None
    try:
        # The scope cannot be left while the client is open, so its limit is lifted.
        with anyio.fail_after(seconds) as scope:
            async with AsyncExitStack() as stack:
                started = anyio.current_time()
                transport = server.streams() if server else await _http(config, stack)
                # As agent programs greet: the SDK would first ask with a method that older
                # servers lack.
                client = await stack.enter_async_context(Client(transport, mode="legacy"))
                connection = await _greeted(client, server, started)
                scope.deadline = math.inf
                try:
                    yield connection
                    complete = True
                except Exception as error:
                    raised = error
                    raise
    except _FAILURES as error:
        if raised is not None:  # by the block: the SDK's task groups have wrapped it
            raise raised from raised.__cause__
        if not complete:
            reason = _reason(error, server, seconds)
            raise ServerFailed(_where(config) + reason + _printed(server)) from error


@asynccontextmanager
async def own_server(
    config: Mapping[str, Any],
    *,
    env: Mapping[str, str],
    cwd: Path,
    tag: str,
    secrets: Collection[str],
    seconds: float = START_SECONDS,
) -> AsyncIterator[Connection]:
    """Connect like `connected` to a server that we start: `env` is its whole environment, its
    last words stand in the `ServerFailed` without `secrets`, and its tree is ended after the block.

    `tag` names the tree and must be unique among those that run at the same time.
    """
    marks = {TAG: tag, OWNER: this_owner()}
    with FAMILY.planted(tag) as tree, listening(secrets) as (stderr, last):
        try:
            async with connected(
                _mortal(config, env, cwd),
                env={**env, **marks},
                cwd=cwd,
                errors=stderr,
                seconds=seconds,
            ) as connection:
                yield connection
        except ServerFailed as error:
            ending = f"; its last words: {end}" if (end := last.text()) else ""
            reason = clean_text(str(error), secrets)[:_LONGEST_REASON]
            raise ServerFailed(f"{reason}{ending}") from error
        finally:
            with anyio.CancelScope(shield=True):
                await end_strays(tree, GRACE)


def _mortal(config: Mapping[str, Any], env: Mapping[str, str], cwd: Path) -> Mapping[str, Any]:
    """Make the configuration of a server that ends with us."""
    if not isinstance(config.get("command"), str):
        return config
    own = {**env, **config.get("env", {})}
    command, *arguments = mortal((config["command"], *config.get("args", [])), own, cwd)
    return {**config, "command": command, "args": arguments}


def _stdio(
    config: Mapping[str, Any], env: Mapping[str, str], cwd: Path | None, errors: TextIO
) -> StdioServer | None:
    """Return the server to start; `None` for a server that has an address."""
    if isinstance(config.get("url"), str) or not isinstance(config.get("command"), str):
        return None
    marks = {name: env[name] for name in (TAG, OWNER) if name in env}
    return StdioServer(
        argv=(config["command"], *config.get("args", [])),
        env={**env, **config.get("env", {}), **marks},
        cwd=cwd,
        errors=errors,
    )


async def _http(config: Mapping[str, Any], stack: AsyncExitStack) -> Transport:
    """Open the transport to a server at an address. Raises `ValueError` for a configuration that
    names no way to reach it."""
    url, kind = config.get("url"), config.get("type")
    if not isinstance(url, str):
        raise ValueError("its configuration has neither a command nor a url")
    if kind is not None and kind not in HTTP_TYPES:
        raise ValueError(
            f"its type is {kind!r}, which is not supported; give the url of its streamable "
            "HTTP, or a command"
        )
    http = httpx2.AsyncClient(
        headers=config.get("headers"),
        timeout=_HTTP_TIMEOUT,
        follow_redirects=True,
        trust_env=urlsplit(url).hostname not in _LOOPBACK,  # no proxy can reach those
    )
    return streamable_http_client(url, http_client=await stack.enter_async_context(http))


async def _greeted(client: Client, server: StdioServer | None, started: float) -> Connection:
    tools = await _list_tools(client)
    about = client.server_info
    return Connection(
        name=about.name if about else "",
        title=about.title if about else None,
        version=(about.version or None) if about else None,
        instructions=client.instructions or "",
        tools=tuple(tools),
        seconds=anyio.current_time() - started,
        _client=client,
        _server=server,
    )


async def _list_tools(client: Client) -> list[ToolSpec]:
    tools: list[ToolSpec] = []
    cursor = None
    for _ in range(_MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += [
            ToolSpec(name=tool.name, description=tool.description or "", schema=tool.input_schema)
            for tool in page.tools
        ]
        cursor = page.next_cursor
        if cursor is None:
            return tools
    raise ServerFailed(f"its list of tools does not end after {_MAX_PAGES} pages")


def _where(config: Mapping[str, Any]) -> str:
    """Return the address of a server, if any, without a login and what follows the path."""
    url = config.get("url")
    if not isinstance(url, str):
        return ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}: "


def _printed(server: StdioServer | None) -> str:
    """Quote what a server printed that is no message, to follow the reason."""
    if server is None or server.printed is None:
        return ""
    return f'; on its standard output it printed "{server.printed}", which is not MCP'


def _reason(
    error: BaseException, server: StdioServer | None, seconds: float = START_SECONDS
) -> str:
    """Write the innermost error in one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return f"no answer within {seconds:g} seconds (start_seconds of the mode file)"
    if isinstance(error, ValidationError):
        return f"what it answered is not MCP: {first_clause(error)}"
    if isinstance(error, MCPError):
        text = server.ending() if _is_closed(error) and server else error.message
        text = text.strip() or f"an error without a message, code {error.code}"
    elif isinstance(error, OSError) and error.strerror:
        text = f"{error.strerror}{f': {error.filename}' if error.filename else ''}"
    else:
        text = str(error)
    return " ".join(text.split()) or type(error).__name__


def _is_closed(error: MCPError) -> bool:
    # Servers use the SDK's code for errors of their own; its text tells them apart.
    return (error.code, error.message) == (CONNECTION_CLOSED, "Connection closed")
