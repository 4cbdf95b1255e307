"""Tools of MCP servers, through the official SDK. Importing this module costs half a second."""

import logging
import math
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack, ExitStack
from typing import Any, Self

import anyio
import httpx2
from anyio.abc import TaskStatus
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client._transport import Transport
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import TextContent

from swarm_bench.agents.scout_program.files import Refused
from swarm_bench.core.ports import ToolSpec

CONNECT_SECONDS = 30.0
MAX_RESULT_CHARACTERS = 100_000
_MAX_PAGES = 100
_HTTP_TIMEOUT = httpx2.Timeout(30.0, read=300.0)
_FAILURES = (
    OSError,
    ValueError,
    RuntimeError,
    ExceptionGroup,
    MCPError,
    httpx2.HTTPError,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.EndOfStream,
)


class _Connection:
    """One connected server, living in a task of its own."""

    def __init__(self, client: Client, tools: list[ToolSpec]) -> None:
        self.client = client
        self.tools = tools


class McpTools:
    """Connections to all servers of a configuration; one that fails is reported and left out."""

    def __init__(self, servers: Mapping[str, Mapping[str, Any]]) -> None:
        self._configs = servers
        self._stack = ExitStack()
        self._connections: dict[str, _Connection] = {}
        self.status: dict[str, str] = {}
        """`connected` or `failed` by server, in the order of the configuration."""
        self.problems: list[str] = []
        """One sentence per server that failed."""

    def __enter__(self) -> Self:
        # The SDK logs what it also raises, with a traceback.
        logging.getLogger("mcp").setLevel(logging.CRITICAL)
        with ExitStack() as stack:
            self._portal: BlockingPortal = stack.enter_context(start_blocking_portal())
            for name, config in self._configs.items():
                self._connect(name, config)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *details: object) -> None:
        self._portal.call(self._portal.stop, True)
        self._stack.close()

    @property
    def specs(self) -> list[ToolSpec]:
        """Every tool, under the name that the model sees."""
        return [
            ToolSpec(
                name=f"mcp__{name}__{tool.name}", description=tool.description, schema=tool.schema
            )
            for name, connection in self._connections.items()
            for tool in connection.tools
        ]

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The text of the answer. Raises `Refused` with the server's words when the tool fails."""
        for server, connection in self._connections.items():
            prefix = f"mcp__{server}__"
            if name.startswith(prefix):
                tool = name.removeprefix(prefix)
                text: str = self._portal.call(_call, connection.client, tool, dict(arguments))
                return text
        raise Refused(f"There is no tool called {name}")

    def _connect(self, name: str, config: Mapping[str, Any]) -> None:
        try:
            _future, connection = self._portal.start_task(_serve, config)
        except _FAILURES as error:
            self.status[name] = "failed"
            self.problems.append(f"The MCP server {name} did not connect: {_reason(error)}")
            return
        self.status[name] = "connected"
        self._connections[name] = connection


async def _serve(
    config: Mapping[str, Any], *, task_status: TaskStatus[_Connection] = anyio.TASK_STATUS_IGNORED
) -> None:
    """Holds one server open until the portal stops. Raises when it does not connect in time."""
    with anyio.fail_after(CONNECT_SECONDS) as scope:
        async with AsyncExitStack() as stack:
            server = await _transport(config, stack)
            client = await stack.enter_async_context(Client(server))
            connection = _Connection(client, await _list_tools(client))
            # The scope cannot be left while the client is open, so its limit is lifted.
            scope.deadline = math.inf
            task_status.started(connection)
            await anyio.sleep_forever()


async def _transport(
    config: Mapping[str, Any], stack: AsyncExitStack
) -> StdioServerParameters | Transport:
    """How to reach a server. Raises `ValueError` for a configuration that says neither way."""
    headers = config.get("headers")
    if isinstance(url := config.get("url"), str):
        http = httpx2.AsyncClient(headers=headers, timeout=_HTTP_TIMEOUT, follow_redirects=True)
        return streamable_http_client(url, http_client=await stack.enter_async_context(http))
    if not isinstance(config.get("command"), str):
        raise ValueError("its configuration has neither a command nor a url")
    # The whole environment, as Claude Code passes it on: the harness finds the processes of a
    # trial by a variable in it.
    return StdioServerParameters(
        command=config["command"],
        args=config.get("args", []),
        env={**os.environ, **config.get("env", {})},
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
            break
    return tools


async def _call(client: Client, tool: str, arguments: dict[str, Any]) -> str:
    try:
        result = await client.call_tool(tool, arguments)
    except _FAILURES as error:
        raise Refused(_reason(error)) from error
    text = "\n".join(
        block.text if isinstance(block, TextContent) else f"[{block.type}]"
        for block in result.content
    )
    if len(text) > MAX_RESULT_CHARACTERS:
        text = text[:MAX_RESULT_CHARACTERS] + "\n[output cut]"
    if result.is_error:
        raise Refused(text or "The tool failed without a message")
    return text


def _reason(error: BaseException) -> str:
    """The first sentence of the innermost error."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return f"no answer within {CONNECT_SECONDS:.0f} seconds"
    words = error.message if isinstance(error, MCPError) else str(error)
    return " ".join(words.split()) or type(error).__name__
