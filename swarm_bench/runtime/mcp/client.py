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
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import urlsplit

import anyio
import httpx2
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp.types import CONNECTION_CLOSED
from pydantic import ValidationError

from swarm_bench.core.outcome import START_SECONDS
from swarm_bench.core.ports import ToolSpec
from swarm_bench.core.validation import first_clause
from swarm_bench.runtime.last_words import listening
from swarm_bench.runtime.mcp.http import ENDED_SESSION, HttpServer
from swarm_bench.runtime.mcp.results import read_result
from swarm_bench.runtime.mcp.stdio import StdioServer
from swarm_bench.runtime.mcp.transports import HTTP_TYPES
from swarm_bench.runtime.ownership import OWNER, TAG, this_owner
from swarm_bench.runtime.process import GRACE
from swarm_bench.runtime.processes.launching import mortal
from swarm_bench.runtime.processes.trees import FAMILY, end_strays
from swarm_bench.runtime.sink import clean_text

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
"""Advice where HTTP with SSE is named, which is not supported."""
_LONGEST_REASON = 300
"""Characters of what a server says of its own trouble."""
_MOST_PAGES = 1000
_MOST_EMPTY = 100
"""Pages without a tool, after which no other is asked for."""


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


def _describe_other_output(server: Server | None) -> str:
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
        return text + _describe_other_output(server)
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
        return server.ending() + _describe_other_output(server)
    text = " ".join(error.message.split())
    return text or f"an error without a message, code {error.code}"


def _is_of_events(url: str) -> bool:
    return urlsplit(url).path.rstrip("/").endswith("/sse")


def is_closed(error: BaseException) -> bool:
    # Servers use the SDK's code for errors of their own; its text tells them apart.
    closed = CONNECTION_CLOSED, "Connection closed"
    return isinstance(error, MCPError) and (error.code, error.message) == closed


class ServerFailed(Exception):
    """A server did not connect or answer: the reason is a clause, of which the caller makes a
    sentence."""


class CallRefused(ServerFailed):
    """Why a server refused a call, which it answered with an error of the protocol, or with what is
    not MCP: it goes on."""


class SessionEnded(CallRefused):
    """A server has no session any more, in its words: one that stands for a server elsewhere,
    and does not open another one. It is started anew."""


class TurnedAway(CallRefused):
    """A server over HTTP answers no client at present, or not us: it lacks a key, money or time, or
    is broken. That is no answer to the call."""


class LateAnswer(ServerFailed):
    """A call was not answered in time."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a tool gave back. `text` is not cut."""

    text: str
    is_error: bool
    waited: float = 0.0
    """Seconds of the call that were not the tool's: a server over HTTP had asked to wait, or its
    session had ended."""


@dataclass(frozen=True, kw_only=True)
class Connection:
    """A server that has been greeted and has listed its tools."""

    name: str
    title: str | None
    version: str | None
    instructions: str
    """Instructions with which the server describes itself to a model; often empty."""
    tools: tuple[ToolSpec, ...]
    """Under the names that the server gives them."""
    seconds: float
    """Time from its start until its tools were listed."""
    warning: str | None = None
    """Problem with its list of tools, as a clause."""
    _client: Client = field(repr=False)
    _server: Server = field(repr=False)

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        seconds: float = math.inf,
        may_repeat: bool = False,
    ) -> Answer:
        """Have a tool called; `may_repeat` for a call that changes nothing, and so may be made
        again where it is not known whether it was done. Raises `ServerFailed`: `CallRefused` where
        the server can be asked on, `SessionEnded`, `TurnedAway` and `LateAnswer`."""
        self._server.begin(anyio.current_time() + seconds, may_repeat=may_repeat)
        with anyio.move_on_after(seconds) as limit:
            try:
                result = await self._client.call_tool(tool, dict(arguments))
            except FAILURES as error:
                clause = describe_reason(error, self._server)
                # An answer that is not MCP is one to this call: the server goes on.
                goes_on = isinstance(error, MCPError | ValueError | RuntimeError)
                if not goes_on or is_closed(error):
                    raise ServerFailed(clause) from error
                if self._server.turns_away:
                    raise TurnedAway(clause) from error
                has_ended = ENDED_SESSION.search(clause) is not None
                raise (SessionEnded if has_ended else CallRefused)(clause) from error
        if limit.cancelled_caught:
            raise LateAnswer(
                f"no answer within {seconds:g} s{_describe_other_output(self._server)}"
            )
        read = read_result(result.model_dump(mode="json", by_alias=True, exclude_none=True))
        return Answer(
            text=read.text if read else "",
            is_error=bool(result.is_error),
            waited=self._server.waiting_seconds,
        )


@asynccontextmanager
async def open_connection(
    config: Mapping[str, Any],
    *,
    env: Mapping[str, str],
    cwd: Path | None = None,
    errors: TextIO = sys.stderr,
    seconds: float = START_SECONDS,
    secrets: Collection[str] | None = None,
) -> AsyncIterator[Connection]:
    """Connect to a server of an `mcpServers` file for the block. `env` is the whole environment of
    its process but for the variables of the configuration; `cwd` is ours by default. `secrets` are
    in nothing that is quoted of it; `None` if none are known. Raises `ServerFailed` when it does
    not connect within `seconds`, or breaks off in the block."""
    server: Server | None = None
    for logger in ("mcp", "client"):  # the SDK's; it logs what servers say wrong, with tracebacks
        logging.getLogger(logger).setLevel(logging.CRITICAL)
    complete, raised = False, None
    try:
        # The scope cannot be left while the client is open, so its limit is lifted.
        with anyio.fail_after(seconds) as scope:
            started = anyio.current_time()
            server = _server(config, env, cwd, errors, secrets)
            server.begin(started + seconds, may_repeat=True)
            # As agent programs greet: the SDK would first ask with a method that older servers
            # lack.
            async with Client(server.streams(), mode="legacy") as client:
                connection = await _greet(client, server, started)
                scope.deadline = math.inf
                try:
                    yield connection
                    complete = True
                except Exception as error:
                    raised = error
                    raise
    except FAILURES as error:
        if raised is not None:  # by the block: the SDK's task groups have wrapped it
            raise raised from raised.__cause__
        if not complete:
            raise ServerFailed(address(config) + describe_reason(error, server, seconds)) from error


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
    with FAMILY.hold_tree(tag) as tree, listening(secrets) as (stderr, last):
        try:
            async with open_connection(
                _make_mortal(config, env, cwd),
                env={**env, **marks},
                cwd=cwd,
                errors=stderr,
                seconds=seconds,
                secrets=secrets,
            ) as connection:
                yield connection
        except ServerFailed as error:
            ending = f"; its last words: {end}" if (end := last.text()) else ""
            clause = clean_text(str(error), secrets)[:_LONGEST_REASON]
            raise type(error)(f"{clause}{ending}") from error
        finally:
            with anyio.CancelScope(shield=True):
                await end_strays(tree, GRACE)


def _make_mortal(config: Mapping[str, Any], env: Mapping[str, str], cwd: Path) -> Mapping[str, Any]:
    """Make the configuration of a server that ends with us."""
    if not isinstance(config.get("command"), str):
        return config
    environment = {**env, **config.get("env", {})}
    command, *arguments = mortal((config["command"], *config.get("args", [])), environment, cwd)
    return {**config, "command": command, "args": arguments}


def _server(
    config: Mapping[str, Any],
    env: Mapping[str, str],
    cwd: Path | None,
    errors: TextIO,
    secrets: Collection[str] | None,
) -> Server:
    """Return the server of a configuration, which is not reached yet. Raises `ValueError` for one
    that names no way to reach it."""
    url, kind, command = (config.get(key) for key in ("url", "type", "command"))
    if isinstance(url, str):
        if kind is not None and kind not in HTTP_TYPES:
            raise ValueError(
                f"its type is {kind!r}, which is not supported; give the url of its streamable "
                "HTTP, or a command"
            )
        return HttpServer(url, config.get("headers"), secrets)
    if not isinstance(command, str):
        raise ValueError("its configuration has neither a command nor a url")
    marks = {name: env[name] for name in (TAG, OWNER) if name in env}
    return StdioServer(
        argv=(command, *config.get("args", [])),
        env={**env, **config.get("env", {}), **marks},
        cwd=cwd,
        errors=errors,
        secrets=secrets,
    )


async def _greet(client: Client, server: Server, started: float) -> Connection:
    tools, warning = await list_tools(client)
    info = client.server_info
    return Connection(
        name=info.name if info else "",
        title=info.title if info else None,
        version=(info.version or None) if info else None,
        instructions=client.instructions or "",
        tools=tools,
        warning=warning,
        seconds=anyio.current_time() - started,
        _client=client,
        _server=server,
    )


class _EndlessList(ValueError):
    """A list with new tools on every page, more than anybody has."""


async def list_tools(client: Client) -> tuple[tuple[ToolSpec, ...], str | None]:
    """Return the tools, each once, and what is wrong with the list: a clause. A list that repeats
    itself, by a cursor that was there before or by tools that all were, is at its end: some servers
    name a next page always. Raises `EndlessList`."""
    tools: dict[str, ToolSpec] = {}
    cursors = set[str]()
    cursor, empty = None, 0
    for _ in range(_MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        specs = {
            tool.name: ToolSpec(
                name=tool.name, description=tool.description or "", schema=tool.input_schema
            )
            for tool in page.tools
        }
        is_new = not specs or not specs.keys() <= tools.keys()  # an empty page is none of its end
        tools |= {name: spec for name, spec in specs.items() if name not in tools}
        cursor = page.next_cursor
        if cursor is None:
            return tuple(tools.values()), None
        empty += not specs
        if cursor in cursors or not is_new or empty == _MOST_EMPTY:
            break
        cursors.add(cursor)
    else:
        raise _EndlessList(f"its list of tools does not end after {_MOST_PAGES} pages")
    return tuple(tools.values()), "its list of tools repeats itself; each tool is taken once"
