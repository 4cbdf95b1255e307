"""An MCP server on stdin and stdout that has the tools of another one, and answers with passages
that have nothing to do with the question."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from swarm_bench.programs.placebo.irrelevant_answers import Answers
from swarm_bench.retrieval.placebo.material import NAME, VERSION, Identity, Material, PlaceboTool

PROTOCOLS = ("2024-11-05", "2025-03-26", "2025-06-18")
PARSE_ERROR, UNKNOWN_METHOD, WRONG_PARAMETERS = -32700, -32601, -32602

Json = dict[str, Any]


class _Refused(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Server:
    """An MCP server that answers one request after the other."""

    def __init__(self, material: Material, workspace: Path) -> None:
        self._material = material
        self._tools = {tool.name: tool for tool in material.tools}
        self._answers = Answers(material, workspace.resolve())

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
            result = self._result(request["method"], params if isinstance(params, dict) else {})
        except _Refused as error:
            return _error(request["id"], error.code, str(error))
        return {"jsonrpc": "2.0", "id": request["id"], "result": result}

    def _result(self, method: str, params: Mapping[str, Any]) -> Json:
        match method:
            case "initialize":
                return self._greeting(params.get("protocolVersion"))
            case "ping":
                return {}
            case "tools/list":
                return {"tools": [_listed(tool) for tool in self._material.tools]}
            case "tools/call":
                return self._called(params)
            case _:
                raise _Refused(UNKNOWN_METHOD, f"There is no method {method!r}")

    def _greeting(self, protocol: object) -> Json:
        greeting: Json = {
            "protocolVersion": protocol if protocol in PROTOCOLS else PROTOCOLS[-1],
            "capabilities": {"tools": {}},
            "serverInfo": _server_info(self._material.identity),
        }
        if self._material.instructions:
            greeting["instructions"] = self._material.instructions
        return greeting

    def _called(self, params: Mapping[str, Any]) -> Json:
        tool = self._tools.get(str(params.get("name")))
        if tool is None:
            raise _Refused(WRONG_PARAMETERS, f"There is no tool {params.get('name')!r}")
        arguments = params.get("arguments")
        answer = self._answers.answer(tool, arguments if isinstance(arguments, dict) else {})
        content = [{"type": "text", "text": answer.text}]
        return {"content": content, "isError": answer.is_error}


def _server_info(identity: Identity | None) -> Json:
    if identity is None:
        return {"name": NAME, "version": VERSION}
    title = {} if identity.title is None else {"title": identity.title}
    return {"name": identity.name, **title, "version": identity.version or ""}


def _listed(tool: PlaceboTool) -> Json:
    return {"name": tool.name, "description": tool.description, "inputSchema": tool.schema}


def _error(id_: object, code: int, message: str) -> Json:
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}
