"""An MCP server on stdin and stdout, which answers one request after the other. The official SDK
would take half a second of processor time in every server of a swarm."""

import json
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn

from swarm_bench.core.ports import ToolSpec

PROTOCOLS = ("2024-11-05", "2025-03-26", "2025-06-18")
PARSE_ERROR, UNKNOWN_METHOD, WRONG_PARAMETERS = -32700, -32601, -32602

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The text of a result."""

    text: str
    is_error: bool = False


class _Refused(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, kw_only=True)
class Server:
    """An MCP server with tools."""

    info: Json
    """Its `serverInfo`."""
    tools: Sequence[ToolSpec]
    call: Callable[[str, Mapping[str, Any]], Answer]
    """Calls a tool by its name."""
    instructions: str = ""

    def serve(self, lines: BinaryIO, replies: BinaryIO) -> None:
        """Answer requests until the input ends."""
        for line in lines:
            reply = self.reply(line) if line.strip() else None
            if reply is not None:
                replies.write(json.dumps(reply, separators=(",", ":")).encode() + b"\n")
                replies.flush()

    def reply(self, line: bytes) -> Json | None:
        """Answer one line; `None` when it needs no reply."""
        try:
            request = json.loads(line)
        except (ValueError, RecursionError):
            request = None
        if not isinstance(request, dict) or not isinstance(request.get("method"), str):
            return _error(None, PARSE_ERROR, "A line must be one JSON-RPC request")
        if "id" not in request:
            return None
        params = request.get("params")
        try:
            result = self._handle(request["method"], params if isinstance(params, dict) else {})
        except _Refused as error:
            return _error(request["id"], error.code, str(error))
        return {"jsonrpc": "2.0", "id": request["id"], "result": result}

    def _handle(self, method: str, params: Mapping[str, Any]) -> Json:
        match method:
            case "initialize":
                return self._greeting(params.get("protocolVersion"))
            case "ping":
                return {}
            case "tools/list":
                return {"tools": [_describe_tool(tool) for tool in self.tools]}
            case "tools/call":
                return self._call_tool(params)
            case _:
                raise _Refused(UNKNOWN_METHOD, f"There is no method {method!r}")

    def _greeting(self, protocol: object) -> Json:
        greeting: Json = {
            "protocolVersion": protocol if protocol in PROTOCOLS else PROTOCOLS[-1],
            "capabilities": {"tools": {}},
            "serverInfo": self.info,
        }
        if self.instructions:
            greeting["instructions"] = self.instructions
        return greeting

    def _call_tool(self, params: Mapping[str, Any]) -> Json:
        name, arguments = str(params.get("name")), params.get("arguments")
        if name not in {tool.name for tool in self.tools}:
            raise _Refused(WRONG_PARAMETERS, f"There is no tool {params.get('name')!r}")
        answer = self.call(name, arguments if isinstance(arguments, dict) else {})
        content = [{"type": "text", "text": answer.text}]
        return {"content": content, "isError": answer.is_error}


def serve_process(make_server: Callable[[], Server]) -> None:
    """Make a server, and have it answer what standard input asks until that ends, or the process
    is told to end."""
    signal.signal(signal.SIGTERM, _end)
    with suppress(KeyboardInterrupt, BrokenPipeError):
        make_server().serve(sys.stdin.buffer, sys.stdout.buffer)


def _describe_tool(tool: ToolSpec) -> Json:
    return {"name": tool.name, "description": tool.description, "inputSchema": tool.schema}


def _end(_number: int, _frame: object) -> NoReturn:
    raise SystemExit(0)


def _error(id_: object, code: int, message: str) -> Json:
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}
