"""What MCP servers say to our client, over the pipes of a real process."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio

from swarm_bench.runtime.mcp.client import ServerFailed, open_connection
from swarm_bench.text import tokens
from tests.fuzz.parts import joined, parts

_LINES = 4
"""Of the client: its greeting, its thanks, and the questions for the tools and of one of them."""
_PATIENCE = 0.2
"""Seconds; servers that never answer take no longer, and no processor time."""
_LONGEST = 10.0
"""Seconds for all of it, on a busy machine."""
_SAYS = 'for said; do IFS= read -r line; cat "$said"; done'
"""Says one thing after each line that it is told, and ends."""
_ABOUT = {"serverInfo": {"name": "s", "version": "1"}, "capabilities": {"tools": {}}}
_TOOL = {"name": "find", "description": "d", "inputSchema": {"type": "object"}}
RESULTS: tuple[Mapping[str, Any], ...] = (
    {"protocolVersion": "2025-06-18", "instructions": "i", **_ABOUT},
    {"tools": [_TOOL]},
    {"content": [{"type": "text", "text": "a.py:1"}], "isError": False},
)
_BESIDE = (
    b"",
    b'{"jsonrpc": "2.0", "id": 7, "result": {}}\n{"jsonrpc": "2.0", "id": null, "result": 1}\n',
    b'{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": ""}}\n',
    b'{"jsonrpc": "2.0", "id": "x", "method": "roots/list"}\nnot JSON \xff\xed\xa0\x80\n',
    b'{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}\n' * 20,
    b'{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "x"}}\n',
    b'{"jsonrpc": "2.0", "id": 3, "method": "sampling/createMessage", "params": {"a": []}}\n',
    b"[" * 5_000 + b"\n",
)
"""What others say before they answer; nobody asked."""


def servers() -> list[bytes]:
    """What an honest one says, and what those say that do not keep to the protocol."""
    return [_said(beside, first) for beside in _BESIDE for first in (1, 2)][:-1]


def _said(beside: bytes, first: int) -> bytes:
    """Answers under the ids of the questions if the first id is 1, as the client counts."""
    greeting, *others = (
        b"\n" + beside + json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode()
        for number, result in enumerate(RESULTS, first)
    )
    return joined(greeting + b"\n", b"", *(other + b"\n" for other in others))


def server(data: bytes, folder: Path) -> None:
    """It is connected and answers, or one line says why not; its descriptions can be counted."""
    names = [str(number) for number in range(_LINES)]
    for name, said in zip(names, parts(data, _LINES), strict=True):
        (folder / name).write_bytes(said.lstrip(b"\n"))
    config = {"command": "sh", "args": ["-c", _SAYS, "sh", *names]}
    clause = refusal(config, folder)
    assert clause.split()
    assert "\n" not in clause


def refusal(config: Mapping[str, Any], folder: Path) -> str:
    """Use a server, and return why it could not be used."""
    try:
        anyio.run(_use, config, folder)
    except ServerFailed as error:
        return str(error)
    return "none"


async def _use(config: Mapping[str, Any], folder: Path) -> None:
    with anyio.fail_after(_LONGEST):
        async with open_connection(config, env={}, cwd=folder, seconds=_PATIENCE) as found:
            assert tokens.count(found.instructions) >= 0
            assert all(tokens.count_tool(tool.of_server("s")) > 0 for tool in found.tools)
            with anyio.move_on_after(_PATIENCE):
                answer = await found.call("find", {"title": "x"}, seconds=_PATIENCE)
                assert isinstance(answer.text, str)
