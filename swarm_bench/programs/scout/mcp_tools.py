"""Tools of MCP servers. Importing this module costs half a second."""

import os
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, Self

import anyio
from anyio.abc import TaskStatus
from anyio.from_thread import BlockingPortal, start_blocking_portal

from swarm_bench.core.outcome import START_SECONDS
from swarm_bench.core.ports import ToolSpec
from swarm_bench.programs.scout.workspace_files import Refused
from swarm_bench.runtime.mcp.client import Answer, Connection, ServerFailed, open_connection

MAX_RESULT_CHARACTERS = 100_000


class McpTools:
    """Connections to all servers of a configuration; one that fails is reported and skipped."""

    def __init__(self, servers: Mapping[str, Mapping[str, Any]]) -> None:
        self._configs = servers
        self._stack = ExitStack()
        self._connections: dict[str, Connection] = {}
        self.status: dict[str, str] = {}
        """`connected` or `failed` by server, in the order of the configuration."""
        self.problems: list[str] = []
        """One sentence per server that failed, or has an odd list of tools."""

    def __enter__(self) -> Self:
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
            tool.of_server(name)
            for name, connection in self._connections.items()
            for tool in connection.tools
        ]

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Return the text of the answer. Raises `Refused` with the server's words when the tool
        fails."""
        for server, connection in self._connections.items():
            prefix = f"mcp__{server}__"
            if name.startswith(prefix):
                tool = name.removeprefix(prefix)
                try:
                    answer = self._portal.call(connection.call, tool, arguments)
                except ServerFailed as error:
                    raise Refused(str(error)) from error
                return _text(answer)
        raise Refused(f"There is no tool called {name}")

    def _connect(self, name: str, config: Mapping[str, Any]) -> None:
        try:
            _future, connection = self._portal.start_task(_serve, config)
        except ServerFailed as error:
            self.status[name] = "failed"
            self.problems.append(f"The MCP server {name} did not connect: {error}")
            return
        if connection.warning is not None:
            self.problems.append(f"Of the MCP server {name}, {connection.warning}")
        self.status[name] = "connected"
        self._connections[name] = connection


async def _serve(
    config: Mapping[str, Any], *, task_status: TaskStatus[Connection] = anyio.TASK_STATUS_IGNORED
) -> None:
    """Hold one server open until the portal stops. Raises when it does not connect in time."""
    # The whole environment, as Claude Code passes it on: the harness finds the processes of a
    # trial by a variable in it.
    async with open_connection(config, env=os.environ, seconds=_patience()) as connection:
        task_status.started(connection)
        await anyio.sleep_forever()


def _patience() -> float:
    """Return the seconds that a server has to connect: those of `MCP_TIMEOUT`, which Claude Code
    takes in milliseconds."""
    value = os.environ.get("MCP_TIMEOUT", "")
    return int(value) / 1000 if value.isdecimal() and int(value) else START_SECONDS


def _text(answer: Answer) -> str:
    text = answer.text
    if len(text) > MAX_RESULT_CHARACTERS:
        text = text[:MAX_RESULT_CHARACTERS] + "\n[output cut]"
    if answer.is_error:
        raise Refused(text or "The tool failed without a message")
    return text
